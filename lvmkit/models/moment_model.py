"""What all models of counts do that are learned from moments: sums that add, then one decomposition."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from lvmkit import _rows, decompose
from lvmkit._checks import DataWarning, listed, require_number
from lvmkit._typing import Array, Progress, RandomState
from lvmkit.decompose import Components
from lvmkit.families import Family
from lvmkit.models.row_model import RowModel
from lvmkit.models.starts import silent
from lvmkit.moments import WhitenedMoments
from lvmkit.streams import single_threaded_blas
from lvmkit.subspaces import SubspaceMoments, leading_basis
from lvmkit.weightings import Weighting, row_totals
from lvmkit.whitened import Whitened, with_slices

DECOMPOSITIONS: dict[str, Callable[..., Components]] = {
    "joint_diagonalization": decompose.joint_diagonalization,
    "svtd": decompose.svtd,
    "svd": decompose.svd,
    "power": decompose.power,
    "als": decompose.als,
    "random_projections": decompose.random_projections,
}

SPARE_DIRECTIONS = 10
"""Directions more than states that the first block of a stream fixes for all later ones."""

LARGE_CLIP = 0.5
"""Share of a topic's, or a state's, mass that was clipped above which the model warns."""


class MomentModel(RowModel):
    """Counts are summed to moments, and the moments decomposed: `fit`, `partial_fit`, `fit_moments`.

    A model adds its weighting, α₀ and its family's valid set.

    Attributes
    ----------
    moments_ : SubspaceMoments
        The sums that the parameters were read off; sums of other rows under its basis may be added.
    clipped_ : float
        Share of the centers' mass that was negative and was clipped to 0, in [0, 1]: large if n_components is
        too large or the rows too few.
    """

    _family: ClassVar[Family]

    n_components: int
    decomposition: str
    random_state: RandomState
    round_counts: bool

    moments_: SubspaceMoments
    clipped_: float

    def fit_moments(self, moments: SubspaceMoments) -> Self:
        """Read the parameters off sums of moments, for instance of several sites.

        Parameters
        ----------
        moments : SubspaceMoments
            Sums over all rows: `a.moments_ + b.moments_`, where b was summed under the basis of a.

        Returns
        -------
        MomentModel
            Itself, fitted; without `labels_`.

        Raises
        ------
        ValueError
            If the decomposition needs the rows ("svtd").
        """
        self._check_options()
        require_number(self.n_components, "n_components", least=1, whole=True)
        self.n_features_in_ = len(moments.basis)
        with single_threaded_blas():
            self._decompose(moments, self._whitened(moments))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add the moments of more rows, and read the parameters off all of them.

        The first call looks for the leading directions of its rows, 10 more than there are states, and later
        ones sum along the same: the first block should be large and typical, thousands of rows. Rows are not
        kept; EM, which would have to see all of them again, is not run.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Counts; every call with the same features.
        y : None
            Ignored.

        Returns
        -------
        MomentModel
            Itself, fitted to all rows so far; without `labels_`.

        Raises
        ------
        ValueError
            As for `fit`, or if the decomposition is "svtd", which needs all rows at once.
        """
        del y
        first = not hasattr(self, "moments_")
        rows = self._validated(X, reset=first)
        if self.decomposition == "svtd":
            msg = "partial_fit cannot use decomposition='svtd', which needs all rows at once; choose another"
            raise ValueError(msg)
        self._check_options()
        self._require_size(rows)
        rows, weighting = self._weighed(rows)
        with single_threaded_blas():
            if first:
                q = min(self.n_components + SPARE_DIRECTIONS, rows.shape[1])
                basis = leading_basis(rows, weighting, q, alpha0=self._alpha0())
                moments = SubspaceMoments.of(rows, basis, weighting)
            else:
                moments = self.moments_ + SubspaceMoments.of(rows, self.moments_.basis, weighting)
            self._decompose(moments, self._whitened(moments))
        return self

    def _fit_rows(self, rows: Any, progress: Progress | None) -> Any:
        """Fit to checked rows; return the rows that were summed."""
        tell = progress or silent
        self._check_options()
        self._require_size(rows)
        self._tell_absent(rows)
        summed, weighting = self._weighed(rows)
        with single_threaded_blas():
            tell("directions", 0.0)
            alpha0 = self._alpha0()
            basis = leading_basis(summed, weighting, self.n_components, alpha0=alpha0)
            tell("third moments", 0.5)
            moments = SubspaceMoments.of(summed, basis, weighting)
            self._tell_short(moments)
            tell("decomposition", 0.8)
            whitened = self._whitened(moments)
            if self.decomposition == "svtd":
                sums = WhitenedMoments.of(summed, whitened.whitener, weighting)
                plain = moments.second / max(moments.divisors[1], 1e-300)
                along = np.linalg.lstsq(moments.basis, whitened.whitener, rcond=None)[0]
                whitened = with_slices(whitened, sums.slices, plain @ along, alpha0)
            self._decompose(moments, whitened)
        return rows

    def _whitened(self, moments: SubspaceMoments) -> Whitened:
        """Return what the decomposition sees, of as many states as the second moment supports."""
        rank = moments.rank(alpha0=self._alpha0())
        if rank < self.n_components:
            msg = (
                f"n_components={self.n_components}, but the second moment of the data supports only {rank}: "
                "the others have weight 0 and the overall mean as their center. "
                f"Choose n_components <= {max(rank, 1)}, or fit more rows."
            )
            warnings.warn(msg, DataWarning, stacklevel=5)
        return moments.whitened(max(1, min(rank, self.n_components)), alpha0=self._alpha0())

    def _decompose(self, moments: SubspaceMoments, whitened: Whitened) -> None:
        """Set the parameters, states ordered by weight."""
        found = DECOMPOSITIONS[self.decomposition](whitened, random_state=self.random_state)
        order = np.argsort(-found.weights, kind="stable")
        missing = self.n_components - len(order)
        mean = np.tile(moments.m1, (missing, 1))
        centers = np.vstack([found.centers[order], mean])
        self.weights_ = np.append(found.weights[order], np.zeros(missing))
        self.centers_ = self._family.project(centers)
        size = np.abs(centers).sum()
        self.clipped_ = float(np.maximum(-centers, 0).sum() / size) if size else 0.0
        self.moments_ = moments
        self.annotations_ = {}
        if self.clipped_ > LARGE_CLIP:
            msg = (
                f"{self.clipped_:.0%} of the mass of the centers was negative and was clipped; "
                f"n_components={self.n_components} is more than these rows show clearly."
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _weighed(self, rows: Any) -> tuple[Any, Weighting]:
        """Return the rows to sum, and how they enter."""
        raise TypeError(type(self).__name__)

    def _alpha0(self) -> float:
        """Return the sum of the Dirichlet parameters; 0 for a mixture."""
        return 0.0

    def _check_options(self) -> None:
        """Refuse options out of range."""
        require_number(self.n_components, "n_components", least=1, whole=True)
        if self.decomposition not in DECOMPOSITIONS:
            msg = f"decomposition={self.decomposition!r} is unknown; choose one of {listed(DECOMPOSITIONS, 6)}"
            raise ValueError(msg)

    def _require_size(self, rows: Any) -> None:
        """Refuse data that cannot carry so many states."""
        if self.n_components > rows.shape[1]:
            msg = (
                f"n_components={self.n_components}, and X has {rows.shape[1]} feature(s); "
                "moments can tell apart at most as many states as there are features"
            )
            raise ValueError(msg)
        if not rows.sum():
            msg = "X holds nothing: all its entries are 0"
            raise ValueError(msg)

    def _tell_absent(self, rows: Any) -> None:
        """Say which features no row has."""
        absent = np.flatnonzero(np.asarray(rows.sum(axis=0)).ravel() == 0)
        if len(absent):
            names = getattr(self, "feature_names_in_", np.arange(rows.shape[1]))[absent]
            msg = (
                f"{len(absent)} of {rows.shape[1]} features occur in no row ({listed(names)}): "
                "they are 0 in every state"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _tell_short(self, moments: SubspaceMoments) -> None:
        """Say how many rows carry no third-order information; refuse if all do."""
        if moments.divisors[2] <= 0:
            msg = (
                f"all {moments.n_samples} rows of X, with {len(moments.basis)} feature(s), have fewer than 3 words, "
                "and the third moment needs 3 of one row; join short texts, or use PoissonMixture"
            )
            raise ValueError(msg)
        if moments.n_short:
            msg = (
                f"{moments.n_short:,} of {moments.n_samples:,} rows have fewer than 3 words and carry no "
                "third-order information; they enter the lower moments only"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)

    def _accepted(self, rows: Any) -> Any:
        """Return counts as float32 rows, or refuse what is not a count."""
        rows = _rows.as_float32_rows(rows)
        if self.round_counts:
            rows = rows.copy()
            values = rows.data if sparse.issparse(rows) else rows
            np.rint(values, out=values)
            rows = _rows.as_float32_rows(rows)
        _rows.require_counts(rows, getattr(self, "feature_names_in_", None), type(self).__name__)
        return rows

    def _tell_empty(self, rows: Any) -> None:
        """Say how many rows to judge hold no known feature."""
        empty = int(np.count_nonzero(row_totals(rows) == 0))
        if empty:
            msg = f"{empty:,} of {rows.shape[0]:,} rows hold none of the model's features and get its weights"
            warnings.warn(msg, DataWarning, stacklevel=3)

    def _smoothed_centers(self, share: float) -> Array:
        """Mix a share of the overall frequencies into centers from moments; given ones are taken as they are."""
        if not hasattr(self, "clipped_"):
            return self.centers_
        smoothed: Array = (1 - share) * self.centers_ + share * (self.weights_ @ self.centers_)
        return smoothed

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
