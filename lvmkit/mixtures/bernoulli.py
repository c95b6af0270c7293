"""Mixture of independent Bernoulli features: clusters of patients from their diagnoses."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lvmkit import decompose
from lvmkit.core import features, moved
from lvmkit.core.distinct import Distinct, column_sums, distinct_rows
from lvmkit.core.linalg import (
    generator_of,
    impute_diagonal,
    significant,
    top_eigenpairs,
    whitener_of,
)
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import callback_of
from lvmkit.core.typing import Array, Counts, Labels, Progress, RandomState
from lvmkit.core.validation import (
    DataWarning,
    listed,
    refuse_shape,
    require_flag,
    require_number,
    require_seed,
    sample_weights,
    with_gaps,
)
from lvmkit.decompose import Components, completion, svtd
from lvmkit.mixtures import e_step
from lvmkit.mixtures._base import (
    SPARE_DIRECTIONS,
    MixtureModel,
    labels_of,
    of_rows,
    state_order,
)
from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.em import EMResult, StoppedBy, accelerated, run_em
from lvmkit.mixtures.families import BERNOULLI, Prior
from lvmkit.mixtures.initialization import (
    DENSE_MOMENTS,
    Method,
    asvtd_start,
    bernoulli_start,
    clipped_components,
    corrected_start,
    given_params,
    padded,
    part,
    random_start,
    silent,
)
from lvmkit.mixtures.missing import observed_mask
from lvmkit.mixtures.search import Tried, best_start, caution_of, nearest_clusters
from lvmkit.moments import POISSON, RAW, Moments, Weighting, WhitenedMoments
from lvmkit.moments.whitened import Whitened

GIVEN = "given"
"""Value of `observed`: all entries but NaN are."""
NOT_OBSERVED = ", or judge rows with gaps by predict_proba(X, observed=...)"
NOT_FITTED = (
    ", or fit to the other rows and judge these by predict_proba(X, observed='given') afterwards"
)

INITS = ("search", "corrected", "asvtd", "3v-mom", "3v-tpm", "random")
CORRECTED_CLUSTERS, MANY_CLUSTERS = 16, 32
"""Beyond so many clusters a search does without the corrected moments, of k⁴ operations, then without any, of n·k²."""


@dataclass(frozen=True, eq=False)
class StreamedMoments:
    """Moments of 0/1 rows: the second as a matrix, the third along a basis that all blocks share."""

    second: Moments  # Of d features
    third: WhitenedMoments  # Along an orthonormal basis (d, q), its `whitener`

    @classmethod
    def of(
        cls,
        X: Counts,
        weighting: Weighting,
        k: int,
        basis: Array | None = None,
        sample_weight: Array | None = None,
    ) -> Self:
        """Sum the rows of `X`. X (n, d), basis (d, q), sample_weight (n,)."""
        second = Moments.of(X, weighting, sample_weight=sample_weight)
        if basis is None:
            m2 = second.m2
            if weighting.factorial:
                m2 = m2 + np.diag(impute_diagonal(m2, min(k, len(m2)), tol=1e-3).diagonal)
            basis = top_eigenpairs(m2, min(k + SPARE_DIRECTIONS, len(m2)))[1]
        third = WhitenedMoments.of(
            X,
            basis,
            weighting,
            second=second.second,
            dtype=np.float32,
            sample_weight=sample_weight,
        )
        return cls(second, third)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together; both must share the basis."""
        return type(self)(self.second + other.second, self.third + other.third)

    def whitened(self, k: int) -> Whitened:
        """Return moments whitened along the k leading directions of the second moment, within the basis."""
        m2, basis = self.second.m2, self.third.whitener
        if self.second.weighting.factorial:
            imputed = impute_diagonal(m2, k, tol=1e-3)
            leading, vectors = imputed.values, imputed.vectors
        else:
            leading, vectors = top_eigenpairs(m2, k)
        inside = basis.T @ vectors
        values, turn = top_eigenpairs((inside * leading) @ inside.T, k)
        kept = significant(values)
        if not kept.any():
            msg = (
                f"no features occur together in the {self.second.n_samples} rows so far, and init='corrected' reads "
                "clusters off such pairs; pass rows with two features or more first, or choose init='asvtd'"
            )
            raise ValueError(msg)
        values, turn = values[kept], turn[:, kept]
        A = whitener_of(values, turn)
        slices = np.matmul(np.matmul(A.T, self.third.slices), A)
        W = basis @ A
        # The basis is that of the first block; what all rows show of the pairs may reach beyond it.
        image = (vectors * leading) @ (vectors.T @ W)
        return Whitened.from_slices(self.second.m1, W, image, slices)


def _adds(model: Any) -> bool:
    """Return whether `init` is computed from additive moments; raise if not."""
    if isinstance(model.init, str) and model.init in ("search", "corrected", "asvtd"):
        return True
    msg = (
        "partial_fit adds moments and needs init='search', 'corrected' or 'asvtd'; "
        f"found init={model.init!r}"
    )
    raise AttributeError(msg)


class BernoulliMixture(MixtureModel):
    """Cluster 0/1 rows by a mixture of independent Bernoulli features.

    Starts where a search without chance finds the highest likelihood, among others from a decomposition of the
    moments, then raises the likelihood by EM. Deterministic: the same data give the same clusters on every run, in
    whatever order rows and features come.

    Parameters
    ----------
    n_components : int, default=8
        Number of clusters k, at most the number of rows.
    init : {"search", "corrected", "asvtd", "3v-mom", "3v-tpm", "random"} or (weights, centers), default="search"
        "search" grows clusters by splits, takes in those that the moments show, and splits and merges while
        the likelihood rises; without `em`, and in `partial_fit`, it is "corrected". "corrected" removes the bias of
        the moments of 0/1 data before decomposing them; "asvtd" is Algorithm 2 of Ruffini 2017 to the letter; "3v-mom"
        and "3v-tpm" (Anandkumar 2012b, 2014) use moments between three groups of features, for comparison; "random"
        draws `n_init` starts and keeps the best; a pair of arrays (k,) and (k, d) starts there.
    decomposition : str or None, default=None
        How "corrected" and "asvtd", if they are named, decompose the moments: a name of
        `lvmkit.decompose.BY_NAME`, such as "power".
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
        Prior pseudo-counts per component, centered on the overall prevalences. Keeps probabilities inside
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
    converged_ : bool
        Whether EM ended by one of its rules, or there was none to end; False if it ran out of steps.
    objective_trace_ : array (n_iter_,)
        Mean log-likelihood plus log prior, nats per row, before each step.
    tried_ : list of Tried
        What the search tried, in order: the move, the objective where it ended, whether it was kept. Empty with
        another `init`.
    caution_ : str
        Why the clusters may be more than the rows show, in numbers; "" if nothing speaks against them.
    clipped_ : float
        Mean absolute change per entry when the start was clipped to [0, 1]: large if k is too large or
        the rows too few; 0 after a search, which does not rest on moments.
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
    Ruffini 2017, Algorithm 2 and section 3.4; Ruffini thesis, chapter 4; splits and merges: Ueda 2000. The
    E step includes the log weights. One EM step costs 2·nnz·k multiply-adds and n·k exponentials, on the distinct
    rows; every third step is a longer one along the last two (Varadhan 2008). The search costs as much as
    a few runs of EM, the start from moments one pass of nnz·k(k+1)/2. Sparse rows stay sparse.

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
    moments_: StreamedMoments
    tried_: list[Tried]
    caution_: str
    clipped_: float
    n_iter_: int
    stopped_by_: StoppedBy
    objective_trace_: Array

    def __init__(
        self,
        n_components: int = 8,
        *,
        init: Any = "search",
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
        return cls(n_components=len(params.weights))._with_params(params, feature_names)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find clusters in the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            0/1 rows, or anything with `binarize`.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.
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
            If n_components is larger than what the rows support, or the moments, where the start is read off them.
        """
        del y
        rows = self._validated(X, reset=True)
        self._check_options(rows.shape[0])
        weight = sample_weights(sample_weight, rows.shape[0], X)
        data = distinct_rows(rows, weight)
        if not data.rows.sum():
            msg = "no row of X has any feature: all entries are 0 (after binarize, if it was given)"
            raise ValueError(msg)
        tell = callback_of(progress)
        with single_threaded_blas():
            prior = Prior.around(column_sums(data), data.total, self.prior)
            self.clipped_, self.tried_, self.caution_ = 0.0, [], ""
            result = self._best_of_starts(data, prior, tell)
            params = self._keep(rows, data, result)
            if self.em and self.n_components > 1:
                nearest = nearest_clusters(data, params, BERNOULLI, prior)
                self.caution_ = caution_of(nearest, self.n_components, data.total)
        if self.caution_:
            warnings.warn(self.caution_, DataWarning, stacklevel=2)
        tell("done", 1.0)
        self._warn_if_unfinished()
        return self

    @available_if(_adds)
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Add the moments of more rows, and read the parameters off all of them.

        The first call looks for the leading directions of its rows, 10 more than there are clusters, and later
        ones sum along the same: the first block should be large and typical, thousands of rows. Rows are not
        kept; EM, which would have to see all of them again, is not run. It orders the clusters by weight; in
        later calls each keeps its number, found by its center, and so its name in `annotations_`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            0/1 rows, or anything with `binarize`; every call with the same features, at most 4,000.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.

        Returns
        -------
        BernoulliMixture
            Itself, fitted to all rows so far; without `labels_`.

        Raises
        ------
        ValueError
            If entries are not 0/1, all rows so far are empty or have one feature, the features are too many, or
            the model has parameters, given or from a file, but no `moments_` to add to.

        Warns
        -----
        DataWarning
            If n_components is larger than what the moments show; if a fit is forgotten, because `fit` keeps no
            moments; or if names in `annotations_` may not fit any more.
        """
        del y
        before = getattr(self, "moments_", None)
        if before is None and hasattr(self, "weights_"):
            self._begin_anew()
        rows = self._validated(X, reset=before is None)
        self._check_options(rows.shape[0] + int(before.second.n_samples if before else 0))
        if rows.shape[1] > DENSE_MOMENTS:
            msg = (
                f"partial_fit keeps a matrix of all pairs of features and takes at most {DENSE_MOMENTS:,}; "
                f"X has {rows.shape[1]:,}. Group the features, or use fit."
            )
            raise ValueError(msg)
        weighting = RAW if self.init == "asvtd" else POISSON
        with single_threaded_blas():
            basis = before.third.whitener if before else None
            weight = sample_weights(sample_weight, rows.shape[0], X)
            sums = StreamedMoments.of(rows, weighting, self.n_components, basis, weight)
            total = before + sums if before else sums
            if before is None:
                self._read_off(total, None)
            else:
                old, notes = self.centers_, self.annotations_
                self._read_off(total, old if len(old) == self.n_components else None)
                self._keep_annotations(notes, old)
        self.moments_ = total
        return self

    def predict_proba(self, X: Any, *, observed: Any = None) -> Array:
        """Return the posterior probability of every cluster for each row, also where features are not known.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Rows; labelled ones may have their features in any order.
        observed : array of bool (n, d) or (d,), DataFrame of bool, sequence of int or of str, or "given", optional
            What was observed: a mask in the order of the columns of `X` (a DataFrame is matched by name), or
            the model's indexes or names of the features known for every row. "given": all entries of a dense array
            but NaN. Features of the model that labelled `X` does not have were not observed. If not given,
            everything was observed, and features that `X` does not have are absent.

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
        >>> m.predict_proba(np.array([[1.0, np.nan], [np.nan, np.nan]]), observed="given").round(2)
        array([[0.9, 0.1],
               [0.5, 0.5]])
        """
        if observed is None:
            return super().predict_proba(X)
        check_is_fitted(self, "weights_")
        names = getattr(self, "feature_names_in_", None)
        matrix, place = features.matched_columns(X, names, remedy=NOT_OBSERVED)
        place = np.arange(self.n_features_in_) if place is None else place
        refuse_shape(matrix, "X")
        if isinstance(observed, str) and observed == GIVEN:
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

    def _partial(self, X: Any, observed: Any = None) -> Array:
        """Return posteriors by `predict_proba` as its old name `partial` did."""
        return self.predict_proba(X, observed=GIVEN if observed is None else observed)

    partial = moved.OldMethod(_partial, "predict_proba(X, observed=...)")

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Binarize the rows, or refuse what is not 0/1."""
        # Before single precision, in which 1e-50 is 0 and 1 + 1e-9 is 1.
        rows = features.canonical(rows)
        if self.binarize is not None:
            return features.binarized(rows, self.binarize)
        features.require_binary(rows, names)
        return features.in_float32(rows)

    def _remedy(self, *, reset: bool) -> str:
        """Return the remedy for rows with gaps."""
        return NOT_FITTED if reset else NOT_OBSERVED

    def _check_stored(self) -> None:
        """Refuse options out of range."""
        self._check_options(sys.maxsize)

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
        if not isinstance(self.init, str) or self.init not in INITS[1:3]:
            msg = (
                f"decomposition={self.decomposition!r} is for init='corrected' or 'asvtd'; with init={self.init!r} "
                "leave it out"
            )
            raise ValueError(msg)

    def _best_of_starts(
        self, data: Distinct, prior: Prior, tell: Progress
    ) -> EMResult[MixtureParams]:
        """Run EM from the start that `init` names; of random ones keep the best end."""
        if not isinstance(self.init, str) or self.init != "random":
            share = 0.9 if self._searches() else 0.5
            start = self._start(data, prior, part(tell, 0.0, share))
            return self._run(data, start, prior, part(tell, share, 1.0))
        generator = generator_of(self.random_state)
        ends = []
        for i in range(self.n_init):
            start = random_start(data.rows, self.n_components, prior, generator, data.weight)
            tell_end = part(tell, i / self.n_init, (i + 1) / self.n_init)
            ends.append(self._run(data, start, prior, tell_end))
        return max(ends, key=lambda end: float(end.log_likelihoods[-1]))

    def _start(self, data: Distinct, prior: Prior, tell: Progress) -> MixtureParams:
        """Return the start: given, searched or from moments."""
        k = self.n_components
        if not isinstance(self.init, str):
            given = given_params(self.init[0], self.init[1], k, data.rows.shape[1])
            return given._replace(centers=given.centers[:, data.features])
        if self._searches() and k > 1:
            named = ["corrected", "asvtd"] if k <= CORRECTED_CLUSTERS else ["asvtd", "asvtd"]
            named = named if k <= MANY_CLUSTERS else []
            moments = [partial(_from_moments, init=init, k=k, prior=prior) for init in named]
            found = best_start(data, k, BERNOULLI, prior, moments=moments, tell=tell)
            self.tried_ = found.tried
            return found.params
        start, self.clipped_ = bernoulli_start(
            data.rows,
            k,
            "corrected" if self.init == "search" else self.init,
            prior,
            tell,
            method=self._method(),
            sample_weight=data.weight,
        )
        return start

    def _searches(self) -> bool:
        """Return whether the start is searched; without EM there is no likelihood to search by."""
        return isinstance(self.init, str) and self.init == "search" and self.em

    def _method(self) -> Method:
        """Return the decomposition and its seed."""
        named = self.decomposition
        return Method(None if named is None else decompose.BY_NAME[named], self.random_state)

    def _run(
        self, data: Distinct, start: MixtureParams, prior: Prior, tell: Progress
    ) -> EMResult[MixtureParams]:
        """Run EM from one start; without `em`, return the start."""
        inside = start
        if not self.tried_:
            inside = e_step.smoothed(start, data.total, prior, BERNOULLI)
        if not self.em:
            return EMResult(MixtureParams(start.weights, inside.centers), np.zeros(0), "moments")
        step = e_step.em_step(data.rows, BERNOULLI, prior, data.weight)
        if self.weights_tol is None:
            return accelerated(
                inside, step, BERNOULLI, tol=self.tol, max_iter=self.max_iter, progress=tell
            )
        return run_em(  # the rule is about plain steps
            inside,
            step,
            tol=self.tol,
            max_iter=self.max_iter,
            weights_of=lambda params: params.weights,
            weights_tol=self.weights_tol,
            progress=tell,
        )

    def _keep(self, X: Any, data: Distinct, result: EMResult[MixtureParams]) -> MixtureParams:
        """Set the fitted attributes, clusters ordered by weight; return them, features ordered as in the data."""
        order = np.argsort(-result.params.weights, kind="stable")
        params = MixtureParams(*(part[order] for part in result.params))
        self.weights_ = params.weights
        self.centers_ = data.unsorted(params.centers)
        self.n_iter_ = len(result.log_likelihoods)
        self.stopped_by_ = result.stopped_by
        self.objective_trace_ = result.log_likelihoods
        self.labels_ = labels_of(X, data, self._params(), BERNOULLI)
        self.data_fingerprint_ = features.fingerprint(X)
        self.annotations_ = {}
        self.__dict__.pop("moments_", None)  # those of a stream that was before
        return params

    def _begin_anew(self) -> None:
        """Warn that a fit's parameters are forgotten; refuse where they cannot be fitted again."""
        if not hasattr(self, "labels_"):
            self._refuse_to_forget()
        msg = (
            "fit keeps no moments that rows could be added to: its parameters are forgotten, and a stream begins "
            "with these rows; call partial_fit from the first block on"
        )
        warnings.warn(msg, DataWarning, stacklevel=3)

    def _read_off(self, moments: StreamedMoments, like: Array | None) -> None:
        """Set the parameters from moments, clusters ordered as before, or by weight."""
        n, k = moments.second.n_samples, self.n_components
        prior = Prior.around(moments.second.first, n, self.prior)
        if not moments.second.first.any():
            msg = f"none of the {n} rows so far has any feature: all entries are 0; pass other rows first"
            raise ValueError(msg)
        seen = moments.whitened(min(k, moments.third.whitener.shape[1]))
        rank = len(seen.core)
        if rank < k:
            msg = (
                f"the moments of the rows so far show {rank} directions, n_components={k} needs as many; "
                f"{k - rank} of the clusters are empty. Choose n_components <= {rank}, or begin a new stream."
            )
            warnings.warn(msg, DataWarning, stacklevel=3)
        start, self.clipped_ = clipped_components(padded(self._decomposed(seen), k, prior.mean))
        order = state_order(start.weights, start.centers, like)
        start = MixtureParams(start.weights[order], start.centers[order])
        self.weights_ = start.weights
        self.centers_ = smoothed(start, n, prior, BERNOULLI).centers
        self.n_iter_, self.stopped_by_, self.objective_trace_ = 0, "moments", np.zeros(0)
        self.annotations_ = {}
        self._forget_rows()

    def _decomposed(self, seen: Whitened) -> Components:
        """Return the states that the start's decomposition finds; a single one is the mean."""
        if len(seen.core) == 1:
            return Components(seen.m1[None, :], np.ones(1))
        method = self._method()
        if self.init != "asvtd":
            return completion(seen, decompose=method.decompose, random_state=method.random_state)
        return (method.decompose or svtd)(seen, random_state=method.random_state)


def _from_moments(data: Distinct, *, init: str, k: int, prior: Prior) -> MixtureParams:
    """Return the start that the moments of rows give; what it warns of does not matter for a search."""
    begin = asvtd_start if init == "asvtd" else corrected_start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found, _ = clipped_components(begin(data.rows, k, silent, sample_weight=data.weight))
    return smoothed(found, data.total, prior, BERNOULLI)
