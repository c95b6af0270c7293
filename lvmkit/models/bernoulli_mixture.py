"""Mixture of independent Bernoulli features: clusters of patients from their diagnoses."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_scalar, validate_data

from lvmkit import _rows, mixtures
from lvmkit._checks import DataWarning
from lvmkit._typing import Array, Labels, Progress, RandomState
from lvmkit.em import EMResult, StoppedBy, run_em
from lvmkit.families import BERNOULLI, Prior
from lvmkit.mixtures import MixtureParams
from lvmkit.models.starts import asvtd_start, corrected_start, random_start
from lvmkit.streams import single_threaded_blas

LARGE_CLIP = 0.02
"""Mean change per entry, in probability, above which clipping the start is worth a warning."""


class BernoulliMixture(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Cluster 0/1 rows by a mixture of independent Bernoulli features.

    Starts from a decomposition of the moments, then raises the likelihood by EM. Deterministic: the same
    data give the same clusters on every run, in whatever order rows and features come.

    Parameters
    ----------
    n_components : int, default=8
        Number of clusters k, 1 to the number of features.
    init : {"corrected", "asvtd", "random"} or (weights, centers), default="corrected"
        "corrected" removes the bias of the moments of 0/1 data before decomposing them; "asvtd" is the
        documents' Algorithm 2 to the letter; "random" draws `n_init` starts and keeps the best; a pair of
        arrays (k,) and (k, d) starts there.
    n_init : int, default=1
        Number of starts if `init="random"`.
    tol : float, default=1e-6
        EM stops when the objective (log-likelihood plus log prior) rises by less, in nats per row.
    weights_tol : float or None, default=None
        EM also stops when the Euclidean norm of the change of the weights is smaller. The documents use
        0.01, which stops early.
    max_iter : int, default=500
        At most so many EM steps.
    prior : float, default=1.0
        Imaginary rows, at the overall prevalences, that every cluster receives. Keeps probabilities inside
        (0, 1), so that a code never seen in a cluster does not make it impossible there.
    binarize : float or None, default=None
        Entries above it count as 1. None: the data must be 0/1 already.
    random_state : int, Generator or None, default=0
        Seed of `init="random"`; the other starts use none. None draws a fresh seed at every fit.

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each cluster, largest first.
    centers_ : array (k, d)
        Probability of each feature in each cluster.
    labels_ : array of int (n,)
        Cluster of each row of the data fitted.
    n_iter_ : int
        EM steps made.
    stopped_by_ : {"tol", "weights", "max_iter"}
        The rule that ended EM.
    log_likelihoods_ : array (n_iter_,)
        Mean log-likelihood plus log prior, nats per row, before each step.
    clipped_ : float
        Mean absolute change per entry when the start was clipped to [0, 1]: large if k is too large or
        the rows too few.
    data_fingerprint_ : str
        Hash of the rows fitted.
    annotations_ : dict
        Names and notes given to the clusters, kept by `lvmkit.save`.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : array of str (d,)
        Names of the features, if the data had any.

    Notes
    -----
    Ruffini et al. 2017, Algorithm 2 and section 3.4; Ruffini thesis, chapter 4. The E step includes the
    log weights. One EM step costs 2·nnz·k multiply-adds and n·k exponentials; the start one pass of
    nnz·k(k+1)/2. Sparse rows stay sparse.

    Examples
    --------
    >>> from lvmkit.datasets import make_bernoulli_mixture
    >>> data = make_bernoulli_mixture(2000, 60, 3, random_state=0)
    >>> model = BernoulliMixture(n_components=3).fit(data.X)
    >>> from lvmkit.scores import adjusted_rand
    >>> adjusted_rand(model.labels_, data.labels) > 0.9
    True
    """

    weights_: Array
    centers_: Array
    labels_: Labels
    n_iter_: int
    stopped_by_: StoppedBy
    log_likelihoods_: Array
    clipped_: float
    data_fingerprint_: str
    annotations_: dict[str, Any]

    def __init__(
        self,
        n_components: int = 8,
        *,
        init: Any = "corrected",
        n_init: int = 1,
        tol: float = 1e-6,
        weights_tol: float | None = None,
        max_iter: int = 500,
        prior: float = 1.0,
        binarize: float | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.weights_tol = weights_tol
        self.max_iter = max_iter
        self.prior = prior
        self.binarize = binarize
        self.random_state = random_state

    @classmethod
    def from_parameters(
        cls, weights: Any, centers: Any, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Return a fitted model with the given parameters, in the given order.

        Parameters
        ----------
        weights : array (k,)
            Probability of each cluster; normalized to sum 1.
        centers : array (k, d)
            Probability of each feature in each cluster.
        feature_names : sequence of str, optional
            Names of the d features.

        Returns
        -------
        BernoulliMixture
            Ready to predict; it has no `labels_`.

        Raises
        ------
        ValueError
            If shapes disagree or numbers lie outside their range.

        Examples
        --------
        >>> m = BernoulliMixture.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> m.predict(np.array([[1, 0], [0, 1]]))
        array([0, 1])
        """
        params = _given(weights, centers, None, None)
        model = cls(n_components=len(params.weights))
        model.weights_, model.centers_ = params
        model.n_features_in_ = params.centers.shape[1]
        model.annotations_ = {}
        if feature_names is not None:
            if len(feature_names) != model.n_features_in_:
                msg = f"feature_names has {len(feature_names)} names; centers have {model.n_features_in_} features"
                raise ValueError(msg)
            model.feature_names_in_ = np.asarray(feature_names, dtype=object)
        return model

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None) -> Self:
        """Find clusters in the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            0/1 rows, or anything with `binarize`.
        y : None
            Ignored.
        progress : callable (str, float), optional
            Told the stage and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        BernoulliMixture
            Itself, fitted.

        Raises
        ------
        ValueError
            If entries are not 0/1, n_components exceeds the features or what the data support, or an
            option is out of range.

        Warns
        -----
        ConvergenceWarning
            If EM ran out of steps.
        DataWarning
            If much of the start had to be clipped.
        """
        del y
        rows = self._validated(X, reset=True)
        self._check_options(*rows.shape)
        tell = progress or _silent
        with single_threaded_blas():
            prior = Prior.around(_column_sums(rows), rows.shape[0], self.prior)
            result = self._best_of_starts(rows, prior, tell)
            self._keep(rows, result)
        tell("done", 1.0)
        if self.stopped_by_ == "max_iter":
            msg = (
                f"EM made max_iter={self.max_iter} steps and the objective still rises by more than "
                f"tol={self.tol:g} nats per row; raise max_iter or tol."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Labels:
        """Return the most probable cluster of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labelled ones may have their features in any order.

        Returns
        -------
        array of int (n,)
            Clusters, 0 to k-1.
        """
        check_is_fitted(self, "weights_")
        return mixtures.most_likely(self._validated(X, reset=False), self._params(), BERNOULLI)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of every cluster for each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labelled ones may have their features in any order.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        check_is_fitted(self, "weights_")
        rows = self._validated(X, reset=False)
        return mixtures.posteriors(mixtures.log_joint(rows, self._params(), BERNOULLI))

    def partial(self, X: Any, observed: Any = None) -> Array:
        """Return posteriors when some features of the rows are not known.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or AnnData (n, d)
            Rows. In a dense array NaN marks what is missing, if `observed` is not given.
        observed : array of bool (n, d) or (d,), sequence of int or of str, optional
            What was observed: a mask, or the indexes or names of the features known for every row.

        Returns
        -------
        array (n, k)
            P(cluster | observed features); rows sum to 1. A row with nothing observed gets the weights.

        Raises
        ------
        ValueError
            If the mask has another shape, or a name is unknown.

        Examples
        --------
        >>> m = BernoulliMixture.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> m.partial(np.array([[1.0, np.nan], [np.nan, np.nan]])).round(2)
        array([[0.9, 0.1],
               [0.5, 0.5]])
        """
        check_is_fitted(self, "weights_")
        matrix = _rows.aligned(X, getattr(self, "feature_names_in_", None))
        if observed is None:
            matrix = np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
            observed = ~np.isnan(matrix)
            matrix = np.where(observed, matrix, 0.0)
        rows = self._validated(matrix, reset=False)
        mask = self._mask(observed, rows.shape)
        slopes, _ = BERNOULLI.linear(self.centers_)
        absent = np.log1p(-np.clip(self.centers_, 1e-12, 1 - 1e-12))
        if mask.ndim == 1:
            scores = rows @ (slopes * mask).T + absent @ mask
        else:
            known = rows.multiply(mask) if sparse.issparse(rows) else rows * mask
            scores = known @ slopes.T + mask @ absent.T
        with np.errstate(divide="ignore"):
            return mixtures.posteriors(scores + np.log(self.weights_))

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        array (n,)
            Nats.
        """
        check_is_fitted(self, "weights_")
        return mixtures.log_densities(self._validated(X, reset=False), self._params(), BERNOULLI)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        float
            Nats per row; larger is better.
        """
        del y
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the rows.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows.

        Returns
        -------
        float
            −2 log-likelihood + (k − 1 + k·d) log n; smaller is better.
        """
        log_densities = self.score_samples(X)
        k, d = self.centers_.shape
        return float(-2 * log_densities.sum() + (k - 1 + k * d) * np.log(len(log_densities)))

    def sample(self, n_samples: int = 1, *, random_state: RandomState = 0) -> tuple[Any, Labels]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, Generator or None, default=0
            Seed.

        Returns
        -------
        X : sparse rows (n_samples, d), float32
            0/1 rows.
        labels : array of int (n_samples,)
            The cluster each was drawn from.
        """
        check_is_fitted(self, "weights_")
        check_scalar(n_samples, "n_samples", int, min_val=1)
        generator = _generator(random_state)
        labels = generator.choice(len(self.weights_), size=n_samples, p=self.weights_)
        blocks = [
            BERNOULLI.sample(self.centers_[labels[start : start + 20_000]], generator)
            for start in range(0, n_samples, 20_000)
        ]
        return sparse.csr_array(sparse.vstack(blocks, format="csr")), labels

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _params(self) -> MixtureParams:
        """Return the fitted parameters."""
        return MixtureParams(self.weights_, self.centers_)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """Return float32 rows of zeros and ones, in the order of the fit."""
        names = None
        if reset:
            matrix, names = _rows.unwrapped(X)
        else:
            matrix = _rows.aligned(X, getattr(self, "feature_names_in_", None))
        labelled = matrix is not X
        with warnings.catch_warnings():
            if labelled:  # the names were matched above, the bare matrix has none to compare
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            rows = validate_data(
                self, matrix, reset=reset, accept_sparse="csr", dtype=np.float32, ensure_min_samples=1 + reset
            )
        if reset and labelled and names is not None:
            self.feature_names_in_ = names
        if self.binarize is not None:
            return _rows.binarized(rows, self.binarize)
        rows = _rows.as_float32_rows(rows)
        _rows.require_binary(rows, getattr(self, "feature_names_in_", None))
        return rows

    def _check_options(self, n: int, d: int) -> None:
        """Refuse options out of range."""
        check_scalar(self.n_components, "n_components", int, min_val=1)
        check_scalar(self.n_init, "n_init", int, min_val=1)
        check_scalar(self.max_iter, "max_iter", int, min_val=1)
        check_scalar(self.tol, "tol", (int, float), min_val=0)
        check_scalar(self.prior, "prior", (int, float), min_val=0, include_boundaries="neither")
        if self.weights_tol is not None:
            check_scalar(self.weights_tol, "weights_tol", (int, float), min_val=0)
        if self.n_components > d:
            msg = f"n_components={self.n_components} needs at least as many features; X has n_features = {d}. Lower n_components."
            raise ValueError(msg)
        if self.n_components > n:
            msg = f"n_components={self.n_components} needs at least as many rows; X has n_samples = {n}. Lower n_components."
            raise ValueError(msg)
        if isinstance(self.init, str) and self.init not in ("corrected", "asvtd", "random"):
            msg = f"init={self.init!r} is unknown; choose 'corrected', 'asvtd', 'random' or a pair (weights, centers)."
            raise ValueError(msg)

    def _best_of_starts(self, X: Any, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
        """Run EM from every start and keep the best end; the moments give one start."""
        if self.init != "random" if isinstance(self.init, str) else True:
            return self._run(X, self._start(X, prior, tell), prior, lambda s, f: tell(s, 0.5 + 0.5 * f))
        generator = _generator(self.random_state)
        best: EMResult[MixtureParams] | None = None
        for i in range(self.n_init):
            share: Callable[[str, float], None] = lambda s, f, i=i: tell(s, (i + f) / self.n_init)  # type: ignore[misc]  # noqa: E731
            start = random_start(X, self.n_components, prior, generator)
            result = self._run(X, start, prior, share)
            if best is None or result.log_likelihoods[-1] > best.log_likelihoods[-1]:
                best = result
        self.clipped_ = 0.0
        assert best is not None  # noqa: S101  # n_init >= 1 was checked
        return best

    def _start(self, X: Any, prior: Prior, tell: Progress) -> MixtureParams:
        """Return the start that `init` names, clipped to valid probabilities."""
        if not isinstance(self.init, str):
            self.clipped_ = 0.0
            return _given(*self.init, self.n_components, X.shape[1])
        if self.n_components == 1:
            self.clipped_ = 0.0
            return MixtureParams(np.ones(1), prior.mean[None, :])
        begin = corrected_start if self.init == "corrected" else asvtd_start
        found = begin(X, self.n_components, lambda stage, done: tell(stage, 0.5 * done))
        valid = BERNOULLI.project(found.centers)
        self.clipped_ = float(np.abs(valid - found.centers).mean())
        if self.clipped_ > LARGE_CLIP:
            msg = (
                f"the centers found from the moments lay outside [0, 1] by {self.clipped_:.3f} per entry and were "
                f"clipped; n_components={self.n_components} is large for {X.shape[0]} rows."
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        return MixtureParams(found.weights, valid)

    def _run(
        self, X: Any, start: MixtureParams, prior: Prior, tell: Progress
    ) -> EMResult[MixtureParams]:
        """Run EM from one start."""
        return run_em(
            mixtures.smoothed(start, X.shape[0], prior, BERNOULLI),
            mixtures.em_step(X, BERNOULLI, prior),
            tol=self.tol,
            max_iter=self.max_iter,
            weights_of=lambda params: params.weights,
            weights_tol=self.weights_tol,
            progress=tell,
        )

    def _keep(self, X: Any, result: EMResult[MixtureParams]) -> None:
        """Set the fitted attributes, clusters ordered by weight."""
        order = np.argsort(-result.params.weights, kind="stable")
        self.weights_ = result.params.weights[order]
        self.centers_ = result.params.centers[order]
        self.n_iter_ = len(result.log_likelihoods)
        self.stopped_by_ = result.stopped_by
        self.log_likelihoods_ = result.log_likelihoods
        self.labels_ = mixtures.most_likely(X, self._params(), BERNOULLI)
        self.data_fingerprint_ = _rows.fingerprint(X)
        self.annotations_ = {}

    def _mask(self, observed: Any, shape: tuple[int, int]) -> Array:
        """Return a mask (d,) or (n, d) of what was observed, as numbers."""
        given = np.asarray(observed)
        if given.dtype == bool:
            if given.shape not in ((shape[1],), shape):
                msg = f"observed has shape {given.shape}; expected ({shape[1]},) or {shape}"
                raise ValueError(msg)
            return given.astype(np.float64)
        mask = np.zeros(shape[1])
        mask[[self._position(feature, shape[1]) for feature in given.tolist()]] = 1.0
        return mask

    def _position(self, feature: Any, d: int) -> int:
        """Return the index of a feature given by index or name."""
        if isinstance(feature, int) and 0 <= feature < d:
            return feature
        names = list(getattr(self, "feature_names_in_", []))
        if feature in names:
            return names.index(feature)
        msg = f"observed names the feature {feature!r}, which the model does not have; it has {d} features"
        raise ValueError(msg)


def _silent(stage: str, done: float) -> None:
    """Report nothing."""


def _column_sums(X: Any) -> Array:
    """Count the rows that have each feature."""
    return np.asarray(X.sum(axis=0), dtype=np.float64).ravel()


def _generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator from any accepted seed."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def _given(weights: Any, centers: Any, k: int | None, d: int | None) -> MixtureParams:
    """Check parameters that the user gave."""
    w, c = np.asarray(weights, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    expected = (k if k is not None else len(w), d if d is not None else c.shape[-1])
    if w.ndim != 1 or c.shape != expected or len(w) != expected[0]:
        msg = f"weights and centers have shapes {w.shape} and {c.shape}; expected ({expected[0]},) and {expected}"
        raise ValueError(msg)
    if not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        msg = f"weights must be non-negative and not all zero; found {w.min()}"
        raise ValueError(msg)
    if not ((c >= 0) & (c <= 1)).all():
        msg = f"centers must lie in [0, 1]; found {np.nanmin(c)} to {np.nanmax(c)}"
        raise ValueError(msg)
    return MixtureParams(w / w.sum(), c)
