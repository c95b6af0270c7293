"""Sums of moments that models are learned from: how they are made, added, read and stored."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.spatial.distance import cdist

from lvmkit import decompose
from lvmkit.core.distinct import Distinct, column_sums
from lvmkit.core.linalg import impute_diagonal, significant, top_eigenpairs, whitener_of
from lvmkit.core.stored import require_shape
from lvmkit.core.typing import Array, Progress
from lvmkit.core.validation import warn
from lvmkit.decompose import Components, completion
from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.families import BERNOULLI, Family, Prior
from lvmkit.mixtures.initialization import (
    FINE,
    ROUGH,
    Method,
    clipped_components,
    padded,
    second_moment,
    silent,
)
from lvmkit.moments import POISSON, RAW, Moments, SubspaceMoments, WhitenedMoments
from lvmkit.moments.subspaces import leading_basis
from lvmkit.moments.weightings import EQUAL_ROWS, POOLED, Weighting, n_counted
from lvmkit.moments.whitened import Whitened, with_slices

SPARE_DIRECTIONS = 10
"""Directions more than states that the first block of a stream fixes for all later ones."""

SINGLE = 1e-6
"""Share of the largest eigenvalue below which one may be rounding of sums in single precision."""

LARGE_CLIP = 0.5
"""Share of a topic's, or a state's, mass that was clipped above which the model warns."""

Sums = TypeVar("Sums", SubspaceMoments, WhitenedMoments)


class States(NamedTuple):
    """What moments show."""

    params: MixtureParams
    """Weights (k,) and valid centers (k, d)."""
    clipped: float
    """How much of the centers was not valid."""

    def ordered(self, like: Array | None) -> "States":
        """Return them numbered as the centers that they resemble, or by weight. like (k, d)."""
        weights, centers = self.params
        if like is None:
            order = np.argsort(-weights, kind="stable")
        else:
            order = np.asarray(linear_sum_assignment(cdist(like, centers, "cityblock"))[1])
        return self._replace(params=MixtureParams(weights[order], centers[order]))


class MomentReader(ABC, Generic[Sums]):
    """How moments of one model are summed, and what they show."""

    n_components: int

    @abstractmethod
    def begin(self, rows: Any, weight: Array | None) -> Sums:
        """Fix the directions of a stream by its first block, and sum it. rows (n, d), weight (n,)."""

    @abstractmethod
    def update(self, sums: Sums, rows: Any, weight: Array | None) -> Sums:
        """Add a block to sums along the same directions. rows (n, d), weight (n,)."""

    @abstractmethod
    def states(self, sums: Sums) -> States:
        """Read the states off sums."""

    @abstractmethod
    def require(self, sums: Any, model: str) -> None:
        """Refuse sums that are not such, or are weighted otherwise, or show nothing."""

    def require_features(self, d: int) -> None:
        """Refuse more states than moments of so many features can tell apart."""
        if self.n_components > d:
            msg = (
                f"n_components={self.n_components}, and the data have {d} feature(s); "
                "moments can tell apart at most as many states as there are features"
            )
            raise ValueError(msg)


def _as_they_are(rows: Any) -> Any:
    """Return the rows."""
    return rows


@dataclass(frozen=True)
class CountMoments(MomentReader[SubspaceMoments]):
    """Moments of counts along few directions, without bias where indexes coincide."""

    n_components: int
    weighting: Weighting
    family: Family
    method: Method
    alpha0: float = 0.0  # Sum of the Dirichlet parameters; 0 for a mixture
    summed: Callable[[Any], Any] = _as_they_are  # Makes of rows what is summed

    def begin(self, rows: Any, weight: Array | None) -> SubspaceMoments:
        """Fix the directions of a stream by its first block, and sum it. rows (n, d), weight (n,)."""
        self._require_streaming()
        self.require_features(rows.shape[1])
        q = min(self.n_components + SPARE_DIRECTIONS, rows.shape[1])
        return self._along(self.summed(rows), q, weight, silent)

    def update(self, sums: SubspaceMoments, rows: Any, weight: Array | None) -> SubspaceMoments:
        """Add a block to sums along the same directions. rows (n, d), weight (n,)."""
        self._require_streaming()
        self.require_features(rows.shape[1])
        block = SubspaceMoments.of(
            self.summed(rows), sums.basis, self.weighting, sample_weight=weight
        )
        if rows.sum():
            _tell_short(block)
        else:
            warn(
                f"all entries of these {rows.shape[0]:,} rows are 0; they count as rows without words"
            )
        return sums + block

    def fit(self, data: Distinct, tell: Progress) -> tuple[SubspaceMoments, States]:
        """Return sums of all rows, features as they came, and the states they show, features as in the data."""
        rows, weight = self.summed(data.rows), data.weight
        sums = self._along(rows, self.n_components, weight, tell)
        tell("decomposition", 0.8)
        seen = self._whitened(sums)
        if self.method.decompose is decompose.svtd:
            third = WhitenedMoments.of(rows, seen.whitener, self.weighting, sample_weight=weight)
            plain = sums.second / max(sums.divisors[1], 1e-300)
            along = np.linalg.lstsq(sums.basis, seen.whitener, rcond=None)[0]
            seen = with_slices(seen, third.slices, plain @ along, self.alpha0)
        return _as_they_came(sums, data), self._decomposed(sums, seen).ordered(None)

    def states(self, sums: SubspaceMoments) -> States:
        """Read the states off sums."""
        return self._decomposed(sums, self._whitened(sums))

    def require(self, sums: Any, model: str) -> None:
        """Refuse sums that are not such, or are weighted otherwise, or show nothing."""
        _require_kind(sums, SubspaceMoments)
        if sums.weighting != self.weighting:
            msg = (
                f"this {model} needs sums weighted {self.weighting.name}; found "
                f"{sums.weighting.name}. Sum the rows again, or choose the model that they were summed for"
            )
            raise ValueError(msg)
        self.require_features(len(sums.basis))
        _require_long(sums)

    def _along(self, rows: Any, q: int, weight: Array | None, tell: Progress) -> SubspaceMoments:
        """Sum rows along their q leading directions. rows (n, d), weight (n,)."""
        tell("directions", 0.0)
        basis = leading_basis(rows, self.weighting, q, alpha0=self.alpha0, sample_weight=weight)
        tell("third moments", 0.5)
        sums = SubspaceMoments.of(rows, basis, self.weighting, sample_weight=weight)
        _require_long(sums)
        _tell_short(sums)
        return sums

    def _require_streaming(self) -> None:
        """Refuse a decomposition that sums along few directions do not suffice for."""
        if self.method.decompose is decompose.svtd:
            msg = "partial_fit cannot use decomposition='svtd', which needs all rows at once; choose another"
            raise ValueError(msg)

    def _whitened(self, sums: SubspaceMoments) -> Whitened:
        """Return whitened moments of as many states as the second moment has rank for."""
        rank = sums.rank(alpha0=self.alpha0)
        if rank < self.n_components:
            q = sums.basis.shape[1]
            reason = (
                f"the second moment is positive along only {rank} of its {q} leading directions, noise included. "
                "The number of groups is usually much smaller: lvmkit.scores.select_n_components compares several"
                if q >= self.n_components
                else f"the moments were summed along {q} directions and show at most {rank} states, whatever the "
                "rows hold. To look for more, sum all rows again: by fit, or by partial_fit of a new model"
            )
            warn(
                f"n_components={self.n_components}, but {reason}. The moments give the other states weight 0 "
                "and the overall mean as their center."
            )
        return sums.whitened(max(1, min(rank, self.n_components)), alpha0=self.alpha0)

    def _decomposed(self, sums: SubspaceMoments, seen: Whitened) -> States:
        """Return the states that a decomposition finds, and what is missing of them at the mean."""
        assert self.method.decompose is not None
        found = self.method.decompose(seen, random_state=self.method.random_state)
        centers, weights, _ = padded(found, self.n_components, sums.m1)
        size = np.abs(centers).sum()
        clipped = float(np.maximum(-centers, 0).sum() / size) if size else 0.0
        if clipped > LARGE_CLIP:
            warn(
                f"{clipped:.0%} of the mass of the centers was negative and was clipped; "
                f"n_components={self.n_components} is more than these rows show clearly: choose fewer "
                "(scores.select_n_components compares numbers), or pass more or longer rows, or leave out rare features"
            )
        return States(MixtureParams(weights, self.family.project(centers)), clipped)


@dataclass(frozen=True)
class BinaryMoments(MomentReader[WhitenedMoments]):
    """Moments of 0/1 rows: pairs of a feature and a direction, and of a feature and two directions."""

    n_components: int
    method: Method
    corrected: bool  # Whether entries with coinciding indexes are completed, or left as they are in 0/1 rows
    prior: float  # Pseudo-counts that keep probabilities inside (0, 1)

    def begin(self, rows: Any, weight: Array | None) -> WhitenedMoments:
        """Fix the directions of a stream by its first block, and sum it. rows (n, d), weight (n,)."""
        d, k = rows.shape[1], self.n_components
        second = second_moment(rows, POISSON, weight)
        pairs = second.m2 if isinstance(second, Moments) else second
        if self.corrected:
            diagonal = impute_diagonal(pairs, min(k, d), tol=ROUGH).diagonal
        else:
            diagonal = column_sums(rows, weight) / n_counted(rows, weight)
        basis = top_eigenpairs(_with_diagonal(pairs, diagonal), min(k + SPARE_DIRECTIONS, d))[1]
        return _along(rows, basis, weight, second)

    def update(self, sums: WhitenedMoments, rows: Any, weight: Array | None) -> WhitenedMoments:
        """Add a block to sums along the same directions. rows (n, d), weight (n,)."""
        return sums + _along(rows, sums.whitener, weight, second_moment(rows, POISSON, weight))

    def states(self, sums: WhitenedMoments) -> States:
        """Read the states off sums."""
        k, n = self.n_components, sums.n_samples
        seen = self._whitened(sums)
        rank = len(seen.core)
        if rank < k:
            warn(
                f"the moments of the rows so far show {rank} directions, n_components={k} needs as many; "
                f"{k - rank} of the clusters are empty. Choose n_components <= {rank}, or begin a new stream."
            )
        params, clipped = clipped_components(padded(self._decomposed(seen), k, sums.m1))
        prior = Prior.around(sums.first, n, self.prior)
        centers = smoothed(params, n, prior, BERNOULLI).centers
        return States(MixtureParams(params.weights, centers), clipped)

    def require(self, sums: Any, model: str) -> None:
        """Refuse sums that are not such, or are weighted otherwise, or show nothing."""
        _require_kind(sums, WhitenedMoments)
        if sums.weighting != POISSON:
            msg = f"this {model} needs sums weighted POISSON; found {sums.weighting.name}. Sum the rows again"
            raise ValueError(msg)
        if not sums.first.any():
            msg = (
                f"none of the {sums.n_samples} rows so far has any feature: all entries are 0; "
                "pass other rows first"
            )
            raise ValueError(msg)

    def _whitened(self, sums: WhitenedMoments) -> Whitened:
        """Return moments whitened along the leading directions of the second moment, within the basis."""
        basis, n = sums.whitener, max(sums.divisors[1], 1e-300)
        image = sums.pairs[:, : basis.shape[1]] / n
        k = min(self.n_components, basis.shape[1])
        diagonal = _fitting_diagonal(image, basis, k) if self.corrected else sums.m1
        image = image + diagonal[:, None] * basis
        values, turn = _top(basis.T @ image, k)
        if not len(values):
            msg = (
                f"no features occur together in the {sums.n_samples} rows so far, and init='corrected' reads "
                "clusters off such pairs; pass rows with two features or more first, or choose init='asvtd'"
            )
            raise ValueError(msg)
        A = whitener_of(values, turn)
        read = sums if self.corrected else replace(sums, weighting=RAW)
        slices = np.matmul(np.matmul(A.T, read.slices), A)
        # The basis is that of the first block; what all rows show of the pairs may reach beyond it.
        return Whitened.from_slices(sums.m1, basis @ A, image @ A, slices)

    def _decomposed(self, seen: Whitened) -> Components:
        """Return the states that the decomposition finds; a single one is the mean."""
        if len(seen.core) == 1:
            return Components(seen.m1[None, :], np.ones(1))
        named, random_state = self.method
        if self.corrected:
            return completion(seen, decompose=named, random_state=random_state)
        return (named or decompose.svtd)(seen, random_state=random_state)


def _along(
    rows: Any, basis: Array, weight: Array | None, second: Moments | LinearOperator
) -> WhitenedMoments:
    """Sum 0/1 rows along a basis; the second moment saves passes where it is a matrix. basis (d, q)."""
    return WhitenedMoments.of(
        rows,
        basis,
        POISSON,
        second=second.second if isinstance(second, Moments) else None,
        dtype=np.float32,
        sample_weight=weight,
    )


def _with_diagonal(pairs: Array | LinearOperator, diagonal: Array) -> Array | LinearOperator:
    """Put a diagonal into a matrix that has none. pairs (d, d), diagonal (d,)."""
    if isinstance(pairs, LinearOperator):
        return pairs + aslinearoperator(sparse.diags_array(diagonal))
    return pairs + np.diag(diagonal)


def _fitting_diagonal(image: Array, basis: Array, k: int) -> Array:
    """Return the diagonal that fits a matrix of rank k of which all other entries are known along a basis, (d,)."""
    # As `impute_diagonal`, of the matrix M that its products S with a basis B stand for: S C⁺ Sᵀ, C = BᵀS (Nyström).
    diagonal = np.zeros(len(basis))
    for _ in range(200):
        along = image + diagonal[:, None] * basis
        values, turn = _top(basis.T @ along, k)
        if not len(values):
            break
        updated = ((along @ whitener_of(values, turn)) ** 2).sum(axis=1)
        change = float(np.linalg.norm(updated - diagonal))
        diagonal = updated
        if change <= FINE * np.linalg.norm(diagonal):
            break
    return diagonal


def _top(inside: Array, k: int) -> tuple[Array, Array]:
    """Return the leading eigenpairs of a second moment within a basis, k or as many as are positive. inside (q, q)."""
    values, turn = top_eigenpairs((inside + inside.T) / 2, k)
    kept = significant(values) & (values > SINGLE * values[0])
    return values[kept], turn[:, kept]


def _as_they_came(sums: SubspaceMoments, data: Distinct) -> SubspaceMoments:
    """Return sums with their features in the order of the rows that users passed."""
    of_features = ("basis", "first", "second", "third", "singles")
    parts: dict[str, Any] = {name: data.unsorted(getattr(sums, name).T).T for name in of_features}
    return replace(sums, **parts)


def _require_kind(sums: Any, kind: type) -> None:
    """Refuse what are no sums of a kind."""
    if not isinstance(sums, kind):
        msg = (
            f"fit_moments needs {kind.__name__}, as fitted models have in moments_; "
            f"found {sums!r:.80} ({type(sums).__name__})"
        )
        raise TypeError(msg)


def _require_long(sums: SubspaceMoments) -> None:
    """Refuse sums without a third order."""
    if sums.divisors[2] <= 0:
        msg = (
            f"all {sums.n_samples} rows, with {len(sums.basis)} feature(s), have fewer than 3 words, "
            "and the third moment needs 3 of one row; join short texts, or use PoissonMixture"
        )
        raise ValueError(msg)


def _tell_short(sums: SubspaceMoments) -> None:
    """Warn of rows too short for the third moment."""
    if sums.n_short:
        warn(
            f"{sums.n_short:,} of {sums.n_samples:,} rows have fewer than 3 words and carry no "
            "third-order information; they enter the lower moments only"
        )


_PARTS: dict[type, tuple[str, ...]] = {
    SubspaceMoments: ("basis", "divisors", "first", "second", "third", "singles", "cubes"),
    WhitenedMoments: ("whitener", "divisors", "first", "third", "pairs", "singles"),
}
"""Arrays of sums, which files keep with a prefix."""
SUM_KINDS = dict.fromkeys({f"moments_{name}" for names in _PARTS.values() for name in names}, "f")
_WEIGHTINGS = {weighting.name: weighting for weighting in (EQUAL_ROWS, POISSON, POOLED)}


def sums_to_arrays(sums: Any) -> dict[str, Any]:
    """Return the arrays of sums as files keep them."""
    return {f"moments_{name}": getattr(sums, name) for name in _PARTS[type(sums)]}


def sums_to_header(sums: Any) -> dict[str, Any]:
    """Return how sums are weighted, and of how many rows they are."""
    short = {"n_short": sums.n_short} if isinstance(sums, SubspaceMoments) else {}
    return {"weighting": sums.weighting.name, "n_samples": sums.n_samples, **short}


def sums_from_arrays(kind: type, about: Any, arrays: dict[str, Any], d: int) -> Any:
    """Return sums of d features from the arrays of a file; refuse what does not fit together."""
    counts = {"n_samples": about["n_samples"]}
    if kind is SubspaceMoments:
        counts["n_short"] = about["n_short"]
    n, short = counts["n_samples"], counts.get("n_short", 0)
    if not all(type(number) in (int, float) for number in (n, short)) or not 0 <= short <= n:
        msg = f"its sums are of {n!r} rows, {short!r} of them short"
        raise ValueError(msg)
    q = arrays["moments_basis" if kind is SubspaceMoments else "moments_whitener"].shape[-1]
    shapes = {"divisors": (3,), "cubes": (q, q, q)} | dict.fromkeys(("first", "singles"), (d,))
    shapes |= dict.fromkeys(("basis", "whitener", "second"), (d, q))
    pairs = q * (q + 1) // 2
    shapes |= {"third": (d, q if kind is SubspaceMoments else pairs), "pairs": (d, q + pairs)}
    for name in _PARTS[kind]:
        require_shape(arrays, f"moments_{name}", shapes[name])
    if arrays["moments_divisors"].min() < 0:
        msg = "divisors of its sums are negative"
        raise ValueError(msg)
    parts = {name: arrays[f"moments_{name}"] for name in _PARTS[kind]}
    return kind(weighting=_WEIGHTINGS[about["weighting"]], **counts, **parts)
