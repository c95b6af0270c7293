"""Base classes of models of counts: input validation, moments that add, one decomposition, and EM."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from lvmkit import decompose
from lvmkit.core import features
from lvmkit.core.distinct import Distinct, column_sums, distinct_rows
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import callback_of
from lvmkit.core.stored import require_shape
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import (
    DataWarning,
    listed,
    require_flag,
    require_number,
    require_seed,
    sample_weights,
)
from lvmkit.mixtures import e_step
from lvmkit.mixtures._base import (
    SPARE_DIRECTIONS,
    MixtureModel,
    RowModel,
    labels_of,
    of_rows,
    state_order,
)
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.em import StoppedBy, accelerated
from lvmkit.mixtures.families import MULTINOMIAL, Family, Prior
from lvmkit.mixtures.initialization import given_params, part
from lvmkit.mixtures.search import Tried, best_start, caution_of, nearest_clusters
from lvmkit.moments import WhitenedMoments
from lvmkit.moments.subspaces import SubspaceMoments, leading_basis
from lvmkit.moments.weightings import EQUAL_ROWS, POISSON, POOLED, Weighting, row_totals
from lvmkit.moments.whitened import Whitened, with_slices


class CountModel(RowModel):
    """Base of models of counts: validation of rows and of moments."""

    round_counts: bool

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _accepted(self, rows: Any, names: features.Labels) -> Any:
        """Return counts as float32 rows, or refuse what is not a count."""
        # Before single precision, which has no room for 16,777,217.
        rows = features.canonical(rows)
        if self.round_counts and rows.dtype.kind == "f":
            rows = rows.copy()
            values = rows.data if sparse.issparse(rows) else rows
            np.rint(values, out=values)
            rows = features.canonical(rows)
        features.require_counts(rows, names, type(self).__name__)
        return features.in_float32(rows)

    def _tell_empty(self, rows: Any) -> None:
        """Warn of rows without any known feature."""
        empty = int(np.count_nonzero(row_totals(rows) == 0))
        if empty:
            msg = f"{empty:,} of {rows.shape[0]:,} rows hold none of the model's features and get its weights"
            warnings.warn(msg, DataWarning, stacklevel=3)

    def _require_counted(self, rows: Any) -> None:
        """Refuse rows that are all 0; warn of features that occur in no row."""
        if not rows.sum():
            msg = "X holds nothing: all its entries are 0"
            raise ValueError(msg)
        absent = np.flatnonzero(np.asarray(rows.sum(axis=0)).ravel() == 0)
        if len(absent):
            names = getattr(self, "feature_names_in_", np.arange(rows.shape[1]))[absent]
            msg = (
                f"{len(absent)} of {rows.shape[1]} features occur in no row ({listed(names)}): "
                "they are 0 in every state"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _require_long(self, moments: SubspaceMoments) -> None:
        """Refuse moments without a third order."""
        if moments.divisors[2] <= 0:
            msg = (
                f"all {moments.n_samples} rows, with {len(moments.basis)} feature(s), have fewer than 3 words, "
                "and the third moment needs 3 of one row; join short texts, or use PoissonMixture"
            )
            raise ValueError(msg)

    def _tell_short(self, moments: SubspaceMoments) -> None:
        """Warn of rows too short for the third moment."""
        if moments.n_short:
            msg = (
                f"{moments.n_short:,} of {moments.n_samples:,} rows have fewer than 3 words and carry no "
                "third-order information; they enter the lower moments only"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)


def given_topics(weights: Any, centers: Any) -> MixtureParams:
    """Validate and normalize given topics. weights (k,), centers (k, d)."""
    params = given_params(weights, centers, None, None, upper=None)
    empty = np.flatnonzero(params.centers.sum(axis=1) == 0)
    if len(empty):
        msg = f"topic(s) {listed(empty)} have no word: every row of centers needs an entry above 0"
        raise ValueError(msg)
    return MixtureParams(params.weights, MULTINOMIAL.project(params.centers))


def require_smoothing(share: Any) -> None:
    """Refuse a share of the overall frequencies that is negative, or leaves nothing of the centers."""
    require_number(share, "smoothing", least=0)
    if share >= 1:
        msg = f"smoothing is a share, at least 0 and below 1; found {share!r}"
        raise ValueError(msg)


LARGE_CLIP = 0.5
"""Share of a topic's, or a state's, mass that was clipped above which the model warns."""


_SUMS = {
    f"moments_{name}": name
    for name in ("basis", "divisors", "first", "second", "third", "singles", "cubes")
}
"""Arrays of a file, and what they are called in the sums."""
_WEIGHTINGS = {weighting.name: weighting for weighting in (EQUAL_ROWS, POISSON, POOLED)}


class MomentModel(CountModel):
    """Base of models learned from moments of counts: `fit`, `partial_fit`, `fit_moments`."""

    # A model adds its weighting, α₀ and its family's valid set.

    _family: ClassVar[Family]

    n_components: int
    decomposition: str
    random_state: RandomState
    round_counts: bool

    # Sums that the parameters were read off; sums of other rows under its basis may be added
    moments_: SubspaceMoments
    # Share of the centers' mass that was negative and was clipped: large with too many components, or few rows
    clipped_: float

    _array_kinds: ClassVar[dict[str, str]] = RowModel._array_kinds | dict.fromkeys(_SUMS, "f")

    def fit_moments(self, moments: SubspaceMoments) -> Self:
        """Read the parameters off sums of moments, for instance of several sites.

        As by `fit`, states are ordered by weight and `annotations_` begin empty.

        Parameters
        ----------
        moments : SubspaceMoments
            Sums over all rows: `a.moments_ + b.moments_`, where b was summed under the basis of a.

        Returns
        -------
        MomentModel
            Itself, fitted; without `labels_`, and without EM.

        Raises
        ------
        TypeError
            If it is given something else.
        ValueError
            If the sums are weighted as another model needs them, have fewer features than there are states or
            no third-order information, or the decomposition needs the rows ("svtd").

        Warns
        -----
        DataWarning
            If the moments show fewer states than n_components, or much had to be clipped.
        """
        self._check_options()
        self._require_sums(moments)
        self.n_features_in_ = len(moments.basis)
        if len(getattr(self, "feature_names_in_", ())) != self.n_features_in_:
            self.__dict__.pop("feature_names_in_", None)
        self._read_off(moments)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Add the moments of more rows, and read the parameters off all of them.

        The first call looks for the leading directions of its rows, 10 more than there are states, and later
        ones sum along the same: the first block should be large and typical, thousands of rows. Rows are not
        kept; EM, which would have to see all of them again, is not run. It orders the states by weight; in
        later calls each keeps its number, found by its center, and so its name in `annotations_`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; every call with the same features. Later blocks may be as small, or as empty, as they come.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.

        Returns
        -------
        MomentModel
            Itself, fitted to all rows so far; without `labels_`.

        Raises
        ------
        ValueError
            As for `fit`; if the decomposition is "svtd", which needs all rows at once; or if the model has
            parameters but no `moments_` to add to.

        Warns
        -----
        DataWarning
            As for `fit`; if a later block is empty; or if names in `annotations_` may not fit any more.
        """
        del y
        first = not hasattr(self, "weights_")
        self._require_stream(X, first=first)
        rows = self._validated(X, reset=first)
        self._check_options()
        self._require_features(rows.shape[1])
        weight = sample_weights(sample_weight, rows.shape[0], X)
        with single_threaded_blas():
            if first:
                self._begin(rows, weight)
            else:
                self._go_on(rows, weight)
        return self

    def _begin(self, rows: Any, weight: Array | None) -> None:
        """Fix the directions of a stream by its first block, and sum it."""
        self._require_counted(rows)
        summed, weighting = self._summed(rows), self._weighting()
        q = min(self.n_components + SPARE_DIRECTIONS, rows.shape[1])
        basis = leading_basis(summed, weighting, q, alpha0=self._alpha0(), sample_weight=weight)
        moments = SubspaceMoments.of(summed, basis, weighting, sample_weight=weight)
        self._require_long(moments)
        self._tell_short(moments)
        self._decompose(moments, self._whitened(moments))

    def _go_on(self, rows: Any, weight: Array | None) -> None:
        """Add a later block; states, and what is noted about them, keep their numbers."""
        sums, old, notes = self.moments_, self.centers_, self.annotations_
        block = SubspaceMoments.of(
            self._summed(rows), sums.basis, self._weighting(), sample_weight=weight
        )
        if rows.sum():
            self._tell_short(block)
        else:
            msg = f"all entries of these {rows.shape[0]:,} rows are 0; they count as rows without words"
            warnings.warn(msg, DataWarning, stacklevel=3)
        moments, same = sums + block, len(old) == self.n_components
        self._decompose(moments, self._whitened(moments), like=old if same else None)
        self._keep_annotations(notes, old)

    def _read_off(self, moments: SubspaceMoments) -> None:
        """Set the parameters from moments of all rows."""
        self._require_long(moments)
        with single_threaded_blas():
            self._decompose(moments, self._whitened(moments))

    def _fit_rows(self, rows: Any, weight: Array | None, progress: Progress | None) -> Distinct:
        """Fit to checked rows; return them without repetitions, the features of centers and sums as they came."""
        tell = callback_of(progress)
        self._check_options()
        self._require_features(rows.shape[1])
        self._require_counted(rows if weight is None else rows[weight > 0])
        data = distinct_rows(rows, weight)
        summed, weighting, often = self._summed(data.rows), self._weighting(), data.weight
        with single_threaded_blas():
            tell("directions", 0.0)
            alpha0 = self._alpha0()
            basis = leading_basis(
                summed, weighting, self.n_components, alpha0=alpha0, sample_weight=often
            )
            tell("third moments", 0.5)
            moments = SubspaceMoments.of(summed, basis, weighting, sample_weight=often)
            self._require_long(moments)
            self._tell_short(moments)
            tell("decomposition", 0.8)
            whitened = self._whitened(moments)
            if self.decomposition == "svtd":
                sums = WhitenedMoments.of(summed, whitened.whitener, weighting, sample_weight=often)
                plain = moments.second / max(moments.divisors[1], 1e-300)
                along = np.linalg.lstsq(moments.basis, whitened.whitener, rcond=None)[0]
                whitened = with_slices(whitened, sums.slices, plain @ along, alpha0)
            self._decompose(moments, whitened)
        self.centers_ = data.unsorted(self.centers_)
        self.moments_ = _as_they_came(moments, data)
        return data

    def _whitened(self, moments: SubspaceMoments) -> Whitened:
        """Return whitened moments of as many states as the second moment has rank for."""
        rank = moments.rank(alpha0=self._alpha0())
        if rank < self.n_components:
            q = moments.basis.shape[1]
            reason = (
                f"the second moment is positive along only {rank} of its {q} leading directions, noise included. "
                "The number of groups is usually much smaller: lvmkit.scores.select_n_components compares several"
                if q >= self.n_components
                else f"the moments were summed along {q} directions and show at most {rank} states, whatever the "
                "rows hold. To look for more, sum all rows again: by fit, or by partial_fit of a new model"
            )
            msg = (
                f"n_components={self.n_components}, but {reason}. The moments give the other states weight 0 "
                "and the overall mean as their center."
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        return moments.whitened(max(1, min(rank, self.n_components)), alpha0=self._alpha0())

    def _decompose(
        self, moments: SubspaceMoments, whitened: Whitened, *, like: Array | None = None
    ) -> None:
        """Set the parameters, states ordered as the centers that they resemble, or by weight."""
        found = decompose.BY_NAME[self.decomposition](whitened, random_state=self.random_state)
        missing = self.n_components - len(found.weights)
        centers = np.vstack([found.centers, np.tile(moments.m1, (missing, 1))])
        weights, valid = np.append(found.weights, np.zeros(missing)), self._family.project(centers)
        order = state_order(weights, valid, like)
        self.weights_, self.centers_ = weights[order], valid[order]
        size = np.abs(centers).sum()
        self.clipped_ = float(np.maximum(-centers, 0).sum() / size) if size else 0.0
        self.moments_ = moments
        self.annotations_ = {}
        self._forget_rows()
        self._derive()
        if self.clipped_ > LARGE_CLIP:
            msg = (
                f"{self.clipped_:.0%} of the mass of the centers was negative and was clipped; "
                f"n_components={self.n_components} is more than these rows show clearly: choose fewer "
                "(scores.select_n_components compares numbers), or pass more or longer rows, or leave out rare features"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _derive(self) -> None:
        """Set the attributes that follow from the parameters."""

    def _weighting(self) -> Weighting:
        """Return the weighting of rows in the moments."""
        raise NotImplementedError

    def _summed(self, rows: Any) -> Any:
        """Return the rows that enter the moments."""
        return rows

    def _alpha0(self) -> float:
        """Return the sum of the Dirichlet parameters; 0 for a mixture."""
        return 0.0

    def _to_arrays(self) -> dict[str, Any]:
        """Return the sums that the parameters were read off, if there are any."""
        arrays, sums = super()._to_arrays(), getattr(self, "moments_", None)
        if sums is not None:
            arrays |= {key: getattr(sums, name) for key, name in _SUMS.items()}
        return arrays

    def _header_parts(self) -> dict[str, Any]:
        """Return how the sums are weighted, and of how many rows they are."""
        sums = getattr(self, "moments_", None)
        if sums is None:
            return {}
        about = {"weighting": sums.weighting.name}
        return {"moments": about | {name: getattr(sums, name) for name in ("n_samples", "n_short")}}

    def _take_more(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take the sums that the parameters were read off."""
        super()._take_more(header, arrays)
        about = header.get("moments")
        if about is None:
            return
        d, q = self.n_features_in_, arrays["moments_basis"].shape[-1]
        shapes = {"basis": (d, q), "divisors": (3,), "first": (d,), "second": (d, q)}
        shapes |= {"third": (d, q), "singles": (d,), "cubes": (q, q, q)}
        for key, name in _SUMS.items():
            require_shape(arrays, key, shapes[name])
        counts = [about[name] for name in ("n_samples", "n_short")]
        if not all(type(n) in (int, float) for n in counts) or not 0 <= counts[1] <= counts[0]:
            msg = f"its sums are of {counts[0]!r} rows, {counts[1]!r} of them short"
            raise ValueError(msg)
        if arrays["moments_divisors"].min() < 0:
            msg = "divisors of its sums are negative"
            raise ValueError(msg)
        self.moments_ = SubspaceMoments(
            weighting=_WEIGHTINGS[about["weighting"]],
            n_samples=counts[0],
            n_short=counts[1],
            **{name: arrays[key] for key, name in _SUMS.items()},
        )

    def _check_options(self) -> None:
        """Refuse options out of range."""
        require_number(self.n_components, "n_components", least=1, whole=True)
        require_flag(self.round_counts, "round_counts")
        require_seed(self.random_state)
        if not isinstance(self.decomposition, str) or self.decomposition not in decompose.BY_NAME:
            msg = f"decomposition={self.decomposition!r} is unknown; choose one of {listed(decompose.BY_NAME, 6)}"
            raise ValueError(msg)

    def _require_features(self, d: int) -> None:
        """Refuse more states than moments of so many features can tell apart."""
        if self.n_components > d:
            msg = (
                f"n_components={self.n_components}, and the data have {d} feature(s); "
                "moments can tell apart at most as many states as there are features"
            )
            raise ValueError(msg)

    def _require_sums(self, moments: Any) -> None:
        """Refuse moments of another type or weighting."""
        if not isinstance(moments, SubspaceMoments):
            msg = (
                "fit_moments needs SubspaceMoments, as fitted models have in moments_; "
                f"found {moments!r} ({type(moments).__name__})"
            )
            raise TypeError(msg)
        if moments.weighting != self._weighting():
            msg = (
                f"this {type(self).__name__} needs sums weighted {self._weighting().name}; found "
                f"{moments.weighting.name}. Sum the rows again, or choose the model that they were summed for"
            )
            raise ValueError(msg)
        self._require_features(len(moments.basis))

    def _require_stream(self, X: Any, *, first: bool) -> None:
        """Refuse a block that cannot begin or continue a stream."""
        if self.decomposition == "svtd":
            msg = "partial_fit cannot use decomposition='svtd', which needs all rows at once; choose another"
            raise ValueError(msg)
        if first and np.shape(X)[:-1] == (1,):
            msg = (
                "the first block fixes the directions along which all later ones are summed, and needs many rows; "
                "found 1 row (1 sample). Collect rows, thousands if possible, before the first partial_fit"
            )
            raise ValueError(msg)
        if not first and not hasattr(self, "moments_"):
            self._refuse_to_forget()

    def _smoothed_centers(self, share: float) -> Array:
        """Mix a share of the overall frequencies into centers from moments; leave given ones unchanged."""
        if not hasattr(self, "clipped_"):
            return self.centers_
        smoothed: Array = (1 - share) * self.centers_ + share * (self.weights_ @ self.centers_)
        return smoothed


def _as_they_came(moments: SubspaceMoments, data: Distinct) -> SubspaceMoments:
    """Return moments with their features in the order of the rows that users passed."""
    of_features = ("basis", "first", "second", "third", "singles")
    parts: dict[str, Any] = {
        name: data.unsorted(getattr(moments, name).T).T for name in of_features
    }
    return replace(moments, **parts)


class MomentMixture(MomentModel, MixtureModel):
    """Base of mixtures of counts: learned from moments, optionally refined by EM."""

    # A model adds its family, its weighting, the mean of its prior, and `__init__`, from whose signature scikit-learn
    # reads the options. `predict` and `predict_proba` are not joined with those above: warnings count the frames up to
    # the caller's line.

    em: bool
    tol: float
    max_iter: int
    prior: float
    smoothing: float

    tried_: list[Tried]  # What the search for the start of EM tried; empty without EM
    caution_: str  # Why the states may be more than the rows show, in numbers; "" if nothing speaks against them
    labels_: Labels = of_rows("predict")  # (n,): State of each row of the data fitted
    n_iter_: int  # EM steps made; 0 without EM
    stopped_by_: StoppedBy | str  # "moments" without EM, else the rule that ended it
    # (n_iter_,): Mean log-likelihood plus log prior, nats per row, before each step
    objective_trace_: Array
    data_fingerprint_: str  # Hash of the rows fitted

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Find the states of the rows of `X`.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts: whole numbers of at least 0.
        y : None
            Ignored.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; a weight of 2 is the same as two such rows. Of AnnData also the
            name of a column of `obs`.
        progress : callable (str, float), optional
            Told the stage and the fraction done, 0 to 1; raising from it cancels.

        Returns
        -------
        MomentMixture
            Itself, fitted.

        Raises
        ------
        ValueError
            If entries are no counts or all 0, no row has three words, there are fewer features than states, or an
            option is out of range.
        TypeError
            If an option has the wrong type.

        Warns
        -----
        DataWarning
            If features occur in no row, rows are too short for the third moment, the moments show fewer states
            than n_components (they give the others weight 0 and the overall mean), much had to be clipped, or two
            states could be one.
        ConvergenceWarning
            If EM ran out of steps.
        """
        del y
        tell = callback_of(progress)
        rows = self._validated(X, reset=True)
        weight = sample_weights(sample_weight, rows.shape[0], X)
        data = self._fit_rows(rows, weight, part(tell, 0.0, 0.2 if self.em else 0.9))
        self.tried_, self.caution_ = [], ""
        if self.em:
            with single_threaded_blas():
                self._refine(data, part(tell, 0.2, 0.9))
        self.labels_ = labels_of(rows, data, self._params(), self._family)
        self.data_fingerprint_ = features.fingerprint(rows)
        tell("done", 1.0)
        self._warn_if_unfinished()
        return self

    def predict(self, X: Any) -> Labels:
        """Return the most probable state of each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array of int (n,)
            States, 0 to k-1.

        Warns
        -----
        DataWarning
            If rows hold none of the model's features, or features are unknown or missing.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        self._tell_empty(rows)
        return e_step.most_likely(rows, self._params(), self._family)

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probability of every state for each row.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; labeled ones may have their features in any order, unknown ones are ignored.

        Returns
        -------
        array (n, k)
            Rows sum to 1.

        Warns
        -----
        DataWarning
            If rows hold none of the model's features, or features are unknown or missing.
        """
        self._require_fitted()
        rows = self._validated(X, reset=False)
        self._tell_empty(rows)
        return e_step.posteriors(e_step.log_joint(rows, self._params(), self._family))

    def _derive(self) -> None:
        """Reset the attributes of EM."""
        self.n_iter_, self.stopped_by_, self.objective_trace_ = 0, "moments", np.zeros(0)

    def _refine(self, data: Distinct, tell: Progress) -> None:
        """Raise the likelihood by EM, from the best start that a search finds; states ordered by weight again."""
        sums = column_sums(data)
        prior = self._prior(sums, data.total)
        centers = self._smoothed_centers(self.smoothing)[:, data.features]
        start = e_step.smoothed(
            MixtureParams(self.weights_, centers), data.total, prior, self._family
        )
        if self.n_components > 1:
            found = best_start(
                data,
                self.n_components,
                self._family,
                prior,
                moments=[lambda rows: start] * 2,
                tell=part(tell, 0.0, 0.9),
            )
            start, self.tried_ = found
        result = accelerated(
            start,
            e_step.em_step(data.rows, self._family, prior, data.weight),
            self._family,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=part(tell, 0.9, 1.0),
        )
        order = np.argsort(-result.params.weights, kind="stable")
        params = MixtureParams(*(part[order] for part in result.params))
        self.weights_, self.centers_ = params.weights, data.unsorted(params.centers)
        self.n_iter_ = len(result.log_likelihoods)
        self.stopped_by_, self.objective_trace_ = result.stopped_by, result.log_likelihoods
        if self.n_components > 1:
            nearest = nearest_clusters(data, params, self._family, prior)
            self.caution_ = caution_of(nearest, self.n_components, data.total)
        if self.caution_:
            warnings.warn(self.caution_, DataWarning, stacklevel=4)

    def _prior(self, sums: Array, n: float) -> Prior:
        """Return the prior of EM. sums (d,): of n rows."""
        raise NotImplementedError

    def _params(self) -> MixtureParams:
        """Return the parameters of prediction; those from moments are smoothed, as noise makes zeros there."""
        refined = getattr(self, "n_iter_", 0) > 0
        centers = self.centers_ if refined else self._smoothed_centers(self.smoothing)
        return MixtureParams(self.weights_, centers)

    def _check_options(self) -> None:
        """Refuse options out of range."""
        super()._check_options()
        require_flag(self.em, "em")
        require_number(self.max_iter, "max_iter", least=1, whole=True)
        require_number(self.tol, "tol", least=0)
        require_number(self.prior, "prior", least=0, above=True)
        require_smoothing(self.smoothing)
