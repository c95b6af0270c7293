"""Mixture of independent Bernoulli features: clusters of patients from their diagnoses."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lvmkit import decompose
from lvmkit.core import features
from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import (
    listed,
    refuse_shape,
    require_flag,
    require_number,
    require_seed,
    teller,
    with_gaps,
)
from lvmkit.mixtures import e_step
from lvmkit.mixtures.bernoulli_stream import BernoulliStream
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import EMResult, run_em
from lvmkit.mixtures.families import BERNOULLI, Prior
from lvmkit.mixtures.initialization import Method, bernoulli_start, given_params, part, random_start
from lvmkit.mixtures.missing import observed_mask
from lvmkit.mixtures.row_model import of_rows

NOT_OBSERVED = ", or judge rows with gaps by partial(X, observed)"

INITS = ("corrected", "asvtd", "3v-mom", "3v-tpm", "random")


class BernoulliMixture(BernoulliStream):
    """Cluster 0/1 rows by a mixture of independent Bernoulli features.

    Starts from a decomposition of the moments, then raises the likelihood by EM. Deterministic: the same
    data give the same clusters on every run, in whatever order rows and features come.

    Parameters
    ----------
    n_components : int, default=8
        Number of clusters k, at most the number of rows.
    init : {"corrected", "asvtd", "3v-mom", "3v-tpm", "random"} or (weights, centers), default="corrected"
        "corrected" removes the bias of the moments of 0/1 data before decomposing them; "asvtd" is
        Algorithm 2 of Ruffini 2017 to the letter; "3v-mom" and "3v-tpm" (Anandkumar 2012b, 2014) use moments
        between three groups of features, for comparison; "random" draws `n_init` starts and keeps the best; a
        pair of arrays (k,) and (k, d) starts there.
    decomposition : str or None, default=None
        How "corrected" and "asvtd" decompose the moments: a name of `lvmkit.decompose.BY_NAME`, such as "power".
        None: by joint diagonalization and by SVTD. The three-view starts bring their own.
    em : bool, default=True
        Raise the likelihood by EM; without, the parameters are those that the moments gave.
    n_init : int, default=1
        Number of starts if `init="random"`.
    tol : float, default=1e-5
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
        Seed of `init="random"`, of the three-view starts and of randomized decompositions; the others use none.
        None draws a fresh seed at every fit.

    Attributes
    ----------
    weights_ : array (k,)
        Probability of each cluster, largest first.
    centers_ : array (k, d)
        Probability of each feature in each cluster.
    labels_ : array of int (n,)
        Cluster of each row of the data fitted.
    n_iter_ : int
        EM steps made; 0 without EM.
    stopped_by_ : {"tol", "weights", "max_iter", "moments"}
        The rule that ended EM; "moments" without EM.
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
    Rows that come in blocks go through `partial_fit`: moments alone, without EM.
    Ruffini 2017, Algorithm 2 and section 3.4; Ruffini thesis, chapter 4. The E step includes the
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

    _family = BERNOULLI

    labels_: Labels = of_rows("predict")
    data_fingerprint_: str

    def __init__(
        self,
        n_components: int = 8,
        *,
        init: Any = "corrected",
        decomposition: str | None = None,
        em: bool = True,
        n_init: int = 1,
        tol: float = 1e-5,
        weights_tol: float | None = None,
        max_iter: int = 500,
        prior: float = 1.0,
        binarize: float | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.decomposition = decomposition
        self.em = em
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
        params = given_params(weights, centers, None, None)
        model = cls(n_components=len(params.weights))
        model.weights_, model.centers_ = params
        model._name_features(feature_names)
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
            If entries are not 0/1 or all 0, there are fewer rows than n_components, or an option is out of
            range.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        ConvergenceWarning
            If EM ran out of steps.
        DataWarning
            If n_components is larger than what the moments of the data support.
        """
        del y
        rows = self._validated(X, reset=True)
        self._check_options(rows.shape[0])
        if not rows.sum():
            msg = "no row of X has any feature: all entries are 0 (after binarize, if it was given)"
            raise ValueError(msg)
        tell = teller(progress)
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

    def partial(self, X: Any, observed: Any = None) -> Array:
        """Return posteriors when some features of the rows are not known.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or AnnData (n, d)
            Rows. In a dense array NaN marks what is missing, if `observed` is not given.
        observed : array of bool (n, d) or (d,), DataFrame of bool, sequence of int or of str, optional
            What was observed: a mask in the order of the columns of `X` (a DataFrame is matched by name), or
            the model's indexes or names of the features known for every row. Features of the model that
            labelled `X` does not have were not observed.

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
        names = getattr(self, "feature_names_in_", None)
        matrix, place = features.placed(X, names, remedy=NOT_OBSERVED)
        place = np.arange(self.n_features_in_) if place is None else place
        refuse_shape(matrix, "X")
        if observed is None:
            matrix = with_gaps(matrix, rows=features.row_names(X), columns=names)
            observed = ~np.isnan(matrix)
            matrix = np.where(observed, matrix, 0.0)
            mask = observed * (place >= 0.0)
        else:
            mask = observed_mask(observed, place, np.shape(X), names)
        rows = self._checked_rows(
            matrix, (features.row_names(X), names), reset=False, labelled=True
        )
        slopes, _ = BERNOULLI.linear(self.centers_)
        absent = np.log1p(-np.clip(self.centers_, 1e-12, 1 - 1e-12))
        if mask.ndim == 1:
            scores = rows @ (slopes * mask).T + absent @ mask
        else:
            known = rows.multiply(mask) if sparse.issparse(rows) else rows * mask
            scores = known @ slopes.T + mask @ absent.T
        with np.errstate(divide="ignore"):
            return e_step.posteriors(scores + np.log(self.weights_))

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Binarize the rows, or refuse what is not 0/1."""
        # Before single precision, in which 1e-50 is 0 and 1 + 1e-9 is 1.
        rows = features.canonical(rows)
        if self.binarize is not None:
            return features.binarized(rows, self.binarize)
        features.require_binary(rows, names)
        return features.in_float32(rows)

    def _remedy(self, *, reset: bool) -> str:
        """Return that new rows may have gaps."""
        return "" if reset else NOT_OBSERVED

    def _check_options(self, n: int) -> None:
        """Refuse options out of range."""
        require_number(self.n_components, "n_components", least=1, whole=True)
        require_number(self.n_init, "n_init", least=1, whole=True)
        require_number(self.max_iter, "max_iter", least=1, whole=True)
        require_number(self.tol, "tol", least=0)
        require_number(self.prior, "prior", least=0, above=True)
        require_flag(self.em, "em")
        require_seed(self.random_state)
        if self.weights_tol is not None:
            require_number(self.weights_tol, "weights_tol", least=0)
        if self.n_components > n:
            msg = (
                f"n_components={self.n_components} needs at least as many rows; X has n_samples = {n}. "
                "Lower n_components."
            )
            raise ValueError(msg)
        named = isinstance(self.init, str) and self.init in INITS
        if not named and not (isinstance(self.init, (tuple, list)) and len(self.init) == 2):
            msg = f"init={self.init!r} is unknown; choose one of {listed(INITS)} or a pair (weights, centers)."
            raise ValueError(msg)
        if not self.em and named and self.init == "random":
            msg = "em=False takes the parameters from the moments, and init='random' uses none; choose another init"
            raise ValueError(msg)
        self._check_decomposition()

    def _check_decomposition(self) -> None:
        """Refuse a decomposition that is unknown, or that the start would not use."""
        if self.decomposition is None:
            return
        if not isinstance(self.decomposition, str) or self.decomposition not in decompose.BY_NAME:
            msg = f"decomposition={self.decomposition!r} is unknown; choose one of {listed(decompose.BY_NAME, 6)}"
            raise ValueError(msg)
        if not isinstance(self.init, str) or self.init not in INITS[:2]:
            msg = (
                f"decomposition={self.decomposition!r} is for init='corrected' or 'asvtd'; with init={self.init!r} "
                "leave it out"
            )
            raise ValueError(msg)

    def _best_of_starts(self, X: Any, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
        """Run EM from every start and keep the best end; the moments give one start."""
        if not isinstance(self.init, str) or self.init != "random":
            start, self.clipped_ = bernoulli_start(
                X,
                self.n_components,
                self.init,
                prior,
                part(tell, 0.0, 0.5),
                method=self._method(),
            )
            return self._run(X, start, prior, part(tell, 0.5, 1.0))
        self.clipped_ = 0.0
        generator = generator_of(self.random_state)
        ends = [
            self._run(
                X,
                random_start(X, self.n_components, prior, generator),
                prior,
                part(tell, i / self.n_init, (i + 1) / self.n_init),
            )
            for i in range(self.n_init)
        ]
        return max(ends, key=lambda end: float(end.log_likelihoods[-1]))

    def _method(self) -> Method:
        """Return how to decompose."""
        named = self.decomposition
        return Method(None if named is None else decompose.BY_NAME[named], self.random_state)

    def _run(
        self, X: Any, start: MixtureParams, prior: Prior, tell: Progress
    ) -> EMResult[MixtureParams]:
        """Run EM from one start, or take the start for the end."""
        inside = e_step.smoothed(start, X.shape[0], prior, BERNOULLI)
        if not self.em:
            return EMResult(MixtureParams(start.weights, inside.centers), np.zeros(0), "moments")
        return run_em(
            inside,
            e_step.em_step(X, BERNOULLI, prior),
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
        self.labels_ = e_step.most_likely(X, self._params(), BERNOULLI)
        self.data_fingerprint_ = features.fingerprint(X)
        self.annotations_ = {}
        self.__dict__.pop("moments_", None)  # those of a stream that was before


def _column_sums(X: Any) -> Array:
    """Count the rows that have each feature."""
    return np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
