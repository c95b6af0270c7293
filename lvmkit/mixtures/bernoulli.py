"""Mixture of independent Bernoulli features: clusters of patients from their diagnoses."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lvmkit import decompose
from lvmkit.core import features, moved
from lvmkit.core.distinct import Distinct
from lvmkit.core.linalg import generator_of
from lvmkit.core.options import Option, number, one_of, seed
from lvmkit.core.typing import Array, Progress, RandomState
from lvmkit.core.validation import DataWarning, listed, refuse_shape, with_gaps
from lvmkit.mixtures import e_step
from lvmkit.mixtures._base import BaseMixture
from lvmkit.mixtures._counts import EM_OPTIONS
from lvmkit.mixtures._moments import BinaryMoments
from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.em import EMResult, accelerated, run_em
from lvmkit.mixtures.families import BERNOULLI, Prior
from lvmkit.mixtures.initialization import (
    FINE,
    ROUGH,
    Method,
    asvtd_start,
    bernoulli_start,
    clipped_components,
    corrected_start,
    given_params,
    part,
    random_start,
    silent,
)
from lvmkit.mixtures.missing import observed_mask
from lvmkit.mixtures.search import best_start
from lvmkit.moments import WhitenedMoments

GIVEN = "given"
"""Value of `observed`: all entries but NaN are."""
NOT_OBSERVED = ", or judge rows with gaps by predict_proba(X, observed=...)"
NOT_FITTED = (
    ", or fit to the other rows and judge these by predict_proba(X, observed='given') afterwards"
)

INITS = ("search", "corrected", "asvtd", "3v-mom", "3v-tpm", "random")
CORRECTED_CLUSTERS, MANY_CLUSTERS = 16, 32
"""Beyond so many clusters a search does without the corrected moments, of k⁴ operations, then without any, of n·k²."""

START = ("init_weights", "init_centers")
"""Under which files keep a start that was given as arrays."""


def _init(value: Any, name: str) -> None:
    """Refuse what names no start and is none."""
    named = isinstance(value, str) and value in INITS
    if not named and not (isinstance(value, (tuple, list)) and len(value) == 2):
        msg = f"{name}={value!r} is unknown; choose one of {listed(INITS)} or a pair (weights, centers)."
        raise ValueError(msg)


class BernoulliMixture(BaseMixture):
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
    moments_ : WhitenedMoments
        After `partial_fit` and `fit_moments`: the sums that the parameters were read off. `fit` keeps none.
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
    Rows that come in blocks go through `partial_fit`: moments alone, without EM, and q² numbers for each feature, with
    q = k + 10 directions.
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
    _sums = WhitenedMoments
    _array_kinds: ClassVar[dict[str, str]] = BaseMixture._array_kinds | dict.fromkeys(START, "f")
    _options: ClassVar[Mapping[str, Option]] = EM_OPTIONS | {
        "n_components": number(1, whole=True),
        "init": _init,
        "decomposition": one_of(decompose.BY_NAME, optional=True),
        "n_init": number(1, whole=True),
        "weights_tol": number(0, optional=True),
        "random_state": seed,
    }

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

    def _check_options(self) -> None:
        """Refuse options out of range, or that do nothing together."""
        super()._check_options()
        named = isinstance(self.init, str)
        if not self.em and named and self.init == "random":
            msg = "em=False takes the parameters from the moments, and init='random' uses none; choose another init"
            raise ValueError(msg)
        if self.decomposition is not None and not (named and self.init in INITS[1:3]):
            msg = (
                f"decomposition={self.decomposition!r} is for init='corrected' or 'asvtd'; with init={self.init!r} "
                "leave it out"
            )
            raise ValueError(msg)

    def _require_data(self, rows: Any) -> None:
        """Refuse fewer rows than clusters, and rows without any feature."""
        self._require_block(rows)
        if not rows.sum():
            msg = "no row of X has any feature: all entries are 0 (after binarize, if it was given)"
            raise ValueError(msg)

    def _require_block(self, rows: Any) -> None:
        """Refuse fewer rows than clusters."""
        n = rows.shape[0]
        if self.n_components > n:
            msg = (
                f"n_components={self.n_components} needs at least as many rows; X has n_samples = {n}. "
                "Lower n_components."
            )
            raise ValueError(msg)

    def _streams(self) -> bool:
        """Return whether `init` is computed from moments that add; raise if not."""
        if isinstance(self.init, str) and self.init in INITS[:3]:
            return True
        msg = (
            "partial_fit adds moments and needs init='search', 'corrected' or 'asvtd'; "
            f"found init={self.init!r}"
        )
        raise AttributeError(msg)

    def _reader(self) -> BinaryMoments:
        """Complete the entries with coinciding indexes, unless the start is that of the document."""
        corrected = not (isinstance(self.init, str) and self.init == "asvtd")
        return BinaryMoments(self.n_components, self._method(), corrected, self.prior)

    def _prior(self, sums: Array, n: float) -> Prior:
        """Return pseudo-counts at the overall prevalences."""
        return Prior.around(sums, n, self.prior)

    def _run(self, data: Distinct, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
        """Run EM from the start that `init` names; of random ones keep the best end."""
        result = self._best_of_starts(data, prior, tell)
        self.__dict__.pop("moments_", None)  # those of a stream that was before
        return result

    def _to_arrays(self) -> dict[str, Any]:
        """Return also the start that was given as arrays."""
        arrays = super()._to_arrays()
        if isinstance(self.init, str):
            return arrays
        return arrays | dict(zip(START, map(np.asarray, self.init), strict=True))

    def _take_more(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take also the start that was given as arrays."""
        super()._take_more(header, arrays)
        if all(key in arrays for key in START):
            weights, centers = (arrays[key] for key in START)
            given_params(weights, centers, None, self.n_features_in_)
            self.set_params(init=(weights, centers))

    def _best_of_starts(
        self, data: Distinct, prior: Prior, tell: Progress
    ) -> EMResult[MixtureParams]:
        """Run EM from one start, or from random ones, of which the best end is kept."""
        if not isinstance(self.init, str) or self.init != "random":
            share = 0.9 if self._searches() else 0.5
            start = self._start(data, prior, part(tell, 0.0, share))
            return self._raised(data, start, prior, part(tell, share, 1.0))
        generator = generator_of(self.random_state)
        ends = []
        for i in range(self.n_init):
            start = random_start(data.rows, self.n_components, prior, generator, data.weight)
            tell_end = part(tell, i / self.n_init, (i + 1) / self.n_init)
            ends.append(self._raised(data, start, prior, tell_end))
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
            tol=ROUGH if self.em else FINE,
        )
        return start

    def _searches(self) -> bool:
        """Return whether the start is searched; without EM there is no likelihood to search by."""
        return isinstance(self.init, str) and self.init == "search" and self.em

    def _method(self) -> Method:
        """Return the decomposition and its seed."""
        named = self.decomposition
        return Method(None if named is None else decompose.BY_NAME[named], self.random_state)

    def _raised(
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


def _from_moments(data: Distinct, *, init: str, k: int, prior: Prior) -> MixtureParams:
    """Return the start that the moments of rows give; what it warns of does not matter for a search."""
    begin = asvtd_start if init == "asvtd" else corrected_start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found, _ = clipped_components(begin(data.rows, k, silent, sample_weight=data.weight))
    return smoothed(found, data.total, prior, BERNOULLI)
