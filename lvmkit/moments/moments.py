"""First and second moments, and third moments through a whitener, as sums over rows that add."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from lvmkit.core.arguments import checked
from lvmkit.core.parallel import map_blocks, sum_blocks
from lvmkit.core.typing import Array, Counts
from lvmkit.core.validation import finite_array, sample_weights, summable
from lvmkit.moments.cooccurrence import first_and_second, rows_at_once
from lvmkit.moments.weightings import (
    Weighting,
    counted,
    n_counted,
    row_divisors,
    row_totals,
)
from lvmkit.moments.whitened import Whitened

WIDE = 1_000
"""Beyond so many features the d×d sums of several blocks at once would take more memory than they save time."""


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of rows, as sums that add.

    Attributes
    ----------
    weighting : Weighting
        How rows enter.
    n_samples : int or float
        Rows summed so far, or the sum of their weights.
    divisors : array (3,)
        Divisors of order 1, 2 and 3.
    first : array (d,)
        Σ a₁ x.
    second : array (d, d)
        Σ a₂ (xxᵀ − diag x); without the diagonal term if the weighting is not factorial.

    Examples
    --------
    >>> from lvmkit.moments import RAW, Moments
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> Moments.of(X[:1], RAW) + Moments.of(X[1:], RAW) == Moments.of(X, RAW)
    True
    >>> Moments.of(X, RAW).m1.round(3)
    array([0.667, 0.667])
    """

    weighting: Weighting
    n_samples: float
    divisors: Array
    first: Array
    second: Array

    @classmethod
    @checked(d=0)
    def zero(cls, d: int, weighting: Weighting) -> Self:
        """Return the moments of no rows, the neutral element of `+`.

        Parameters
        ----------
        d : int
            Number of features.
        weighting : Weighting
            How rows will enter.

        Returns
        -------
        Moments
            All sums zero.
        """
        return cls(weighting, 0, np.zeros(3), np.zeros(d), np.zeros((d, d)))

    @classmethod
    @checked()
    def of(cls, X: Counts, weighting: Weighting, *, sample_weight: Array | None = None) -> Self:
        """Sum the rows of `X`, block by block on a pool of threads.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            Counts or 0/1.
        weighting : Weighting
            How rows enter.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; once if not given.

        Returns
        -------
        Moments
            Costs one pass over the pairs of entries within rows, or n·d² multiply-adds for dense rows.
        """
        X = summable(X)
        sample_weight = sample_weights(sample_weight, X.shape[0])
        d = X.shape[1]
        total = cls.zero(d, weighting)

        def block_sums(block: Any, weight: Array | None = None) -> tuple[Array, Array, Any]:
            totals = row_totals(block)
            divisors = row_divisors(weighting, totals, weight)
            return divisors, *first_and_second(block, weighting, totals, weight)

        workers = 1 if d > WIDE else None
        for divisors, first, second in map_blocks(
            block_sums, X, rows_at_once(X), along=sample_weight, workers=workers
        ):
            for target, part in zip(
                (total.divisors, total.first, total.second), (divisors, first, second), strict=True
            ):
                np.add(target, part, out=target)
        n_samples = n_counted(X, sample_weight)
        return cls(weighting, n_samples, total.divisors, total.first, total.second)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together."""
        _require_same_weighting(self, other)
        if len(self.first) != len(other.first):
            msg = f"moments of {len(self.first)} features cannot be added to those of {len(other.first)}"
            raise ValueError(msg)
        return type(self)(
            self.weighting,
            self.n_samples + other.n_samples,
            self.divisors + other.divisors,
            self.first + other.first,
            self.second + other.second,
        )

    def __eq__(self, other: object) -> bool:
        """Tell whether all sums agree to 1e-12, relative to the largest entry."""
        if not isinstance(other, Moments) or self.weighting != other.weighting:
            return NotImplemented if not isinstance(other, Moments) else False
        return self.n_samples == other.n_samples and all(
            _agree(a, b)
            for a, b in (
                (self.divisors, other.divisors),
                (self.first, other.first),
                (self.second, other.second),
            )
        )

    __hash__ = None  # type: ignore[assignment]  # equality has a tolerance, so no hash can respect it

    @property
    def m1(self) -> Array:
        """First moment (d,)."""
        return _divided(self.first, self.divisors[0])

    @property
    def m2(self) -> Array:
        """Second moment (d, d), symmetric."""
        return _divided(self.second, self.divisors[1])


@dataclass(frozen=True, eq=False)
class WhitenedMoments:
    """Third moments seen through a whitener W (d, k): d slices of k×k instead of d×d×d numbers.

    Attributes
    ----------
    weighting : Weighting
        How rows enter.
    whitener : array (d, k)
        W.
    n_samples : int or float
        Rows summed so far, or the sum of their weights.
    divisors : array (3,)
        Divisors of order 1, 2 and 3.
    first : array (d,)
        Σ a₁ x.
    third : array (d, k(k+1)/2)
        Σ a₃ x ⊗ (zzᵀ), z = Wᵀx, upper triangle; products of an entry with itself included.
    pairs : array (d, k + k(k+1)/2)
        Σ a₃ (xxᵀ − diag x) · [W, products of the columns of W]; what the coinciding indexes need. Zeros if
        the weighting is not factorial.
    singles : array (d,)
        Σ a₃ x.
    """

    weighting: Weighting
    whitener: Array
    n_samples: float
    divisors: Array
    first: Array
    third: Array
    pairs: Array
    singles: Array

    @classmethod
    @checked()
    def of(
        cls,
        X: Counts,
        whitener: Array,
        weighting: Weighting,
        *,
        second: Array | None = None,
        dtype: npt.DTypeLike = np.float64,
        sample_weight: Array | None = None,
    ) -> Self:
        """Sum the rows of `X`: nnz·k(k+1)/2 multiply-adds, no tensor formed.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            Counts or 0/1.
        whitener : array (d, k)
            W, so that WᵀM2W is the identity.
        weighting : Weighting
            How rows enter.
        second : array (d, d), optional
            Σ (xxᵀ − diag x), as `Moments.second` holds it for weightings that weigh all rows 1; given, the
            coinciding indexes cost a product of it instead of two more passes over the rows.
        dtype : dtype, default=float64
            Precision within a block; float32 halves the time at a relative error of 2e-7. Sums of blocks are
            float64.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; once if not given.

        Returns
        -------
        WhitenedMoments
            The sums.
        """
        X = summable(X)
        sample_weight = sample_weights(sample_weight, X.shape[0])
        d = X.shape[1]
        whitener = finite_array(whitener, "whitener", (None, None))
        k = whitener.shape[1]
        if len(whitener) != d:
            msg = f"whitener must have as many rows as X has features, {d}; found {len(whitener)}"
            raise ValueError(msg)
        second = None if second is None else finite_array(second, "second", (d, d))
        dtype = _precision(dtype)
        W = np.ascontiguousarray(whitener, dtype=dtype)
        rows, columns = np.triu_indices(k)
        with_pairs = weighting.factorial and second is None
        products = np.hstack([W, W[:, rows] * W[:, columns]])

        def block_sums(block: Any, often: Array | None = None) -> tuple[Array, ...]:
            block = block.astype(dtype, copy=False)
            totals = row_totals(block)
            Z = block @ W
            weight = counted(weighting.row_weight(3, totals), often).astype(dtype)
            third = block.T @ _products(Z, None if (weight == 1).all() else weight)
            first = block.T @ counted(weighting.row_weight(1, totals), often).astype(dtype)
            singles = block.T @ weight
            pairs = block.T @ (weight[:, None] * (block @ products)) if with_pairs else np.zeros(1)
            return row_divisors(weighting, totals, often), first, third, singles, pairs

        divisors, first, third, singles, pairs = sum_blocks(block_sums, X, along=sample_weight)
        wide = products.astype(np.float64)
        if weighting.factorial:
            pairs = pairs - singles[:, None] * wide if second is None else second @ wide
        else:
            pairs = np.zeros(products.shape)
        n_samples = n_counted(X, sample_weight)
        return cls(weighting, whitener, n_samples, divisors, first, third, pairs, singles)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together; both must share the whitener."""
        _require_same_weighting(self, other)
        if not np.array_equal(self.whitener, other.whitener):
            msg = "whitened moments add only under the same whitener; whiten both parts with one of them"
            raise ValueError(msg)
        return type(self)(
            self.weighting,
            self.whitener,
            self.n_samples + other.n_samples,
            self.divisors + other.divisors,
            self.first + other.first,
            self.third + other.third,
            self.pairs + other.pairs,
            self.singles + other.singles,
        )

    @property
    def m1(self) -> Array:
        """First moment (d,)."""
        return _divided(self.first, self.divisors[0])

    @property
    def slices(self) -> Array:
        """H (d, k, k), H_r = Wᵀ M3_r W, coinciding indexes removed if the weighting is factorial."""
        W, k = self.whitener, self.whitener.shape[1]
        rows, columns = np.triu_indices(k)
        upper = self.third
        if self.weighting.factorial:
            linear, square = self.pairs[:, :k], self.pairs[:, k:]
            upper = upper - square - self.singles[:, None] * (W[:, rows] * W[:, columns])
            upper = upper - W[:, rows] * linear[:, columns] - linear[:, rows] * W[:, columns]
        full = np.empty((len(W), k, k))
        full[:, rows, columns] = full[:, columns, rows] = _divided(upper, self.divisors[2])
        return full

    def whitened(self) -> Whitened:
        """Return what a decomposition needs of the sums.

        Returns
        -------
        Whitened
            With slices. The whitener must be U S^(-1/2), so that its pseudoinverse gives E.
        """
        image = np.linalg.pinv(self.whitener).T
        return Whitened.from_slices(self.m1, self.whitener, image, self.slices)


@checked()
def second_moment_operator(
    X: Counts, weighting: Weighting, *, sample_weight: Array | None = None
) -> LinearOperator:
    """Return M2 as an operator: for many features, products with it cost passes over the data only.

    Parameters
    ----------
    X : sparse rows or array (n, d)
        Counts or 0/1.
    weighting : Weighting
        How rows enter.
    sample_weight : array (n,), optional
        How often each row counts, at least 0; once if not given.

    Returns
    -------
    LinearOperator (d, d)
        Multiplies vectors and blocks of vectors by the same M2 that `Moments.m2` holds.
    """
    X = summable(X, least_rows=1)
    sample_weight = sample_weights(sample_weight, X.shape[0])
    totals = row_totals(X)
    weight = counted(weighting.row_weight(2, totals), sample_weight)
    divisor = float(counted(weighting.divisor(2, totals), sample_weight).sum())
    diagonal = np.asarray(X.T @ weight).ravel() if weighting.factorial else np.zeros(X.shape[1])

    def product(V: Array) -> Array:
        V = np.asarray(V, dtype=np.float64)
        wide = V[:, None] if V.ndim == 1 else V

        def block_product(block: Any, weight: Array) -> tuple[Array]:
            block = block.astype(np.float64, copy=False)
            return (block.T @ (weight[:, None] * (block @ wide)),)

        sums = sum_blocks(block_product, X, along=weight)[0]
        image = (sums - diagonal[:, None] * wide) / divisor
        return image[:, 0] if V.ndim == 1 else image

    return LinearOperator(
        (X.shape[1], X.shape[1]), matvec=product, matmat=product, rmatvec=product, dtype=np.float64
    )


def _require_same_weighting(one: Any, other: Any) -> None:
    """Refuse to add sums in which rows are weighted differently."""
    if one.weighting != other.weighting:
        msg = f"moments weighted {one.weighting.name} cannot be added to {other.weighting.name}"
        raise ValueError(msg)


def _precision(dtype: Any) -> npt.DTypeLike:
    """Return a type of floating-point numbers that blocks may be summed in."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if dtype is None or found is None or found not in (np.float32, np.float64):
        msg = f"dtype must be float32 or float64; found {dtype!r:.60}"
        raise TypeError(msg)
    return found


def _products(Z: Array, weight: Array | None) -> Array:
    """Return the products of all pairs of columns, upper triangle, a run of columns at a time."""
    k = Z.shape[1]
    products = np.empty((len(Z), k * (k + 1) // 2), dtype=Z.dtype)
    scaled, start = Z if weight is None else weight[:, None] * Z, 0
    for column in range(k):
        stop = start + k - column
        np.multiply(Z[:, column:], scaled[:, column : column + 1], out=products[:, start:stop])
        start = stop
    return products


def _divided(total: Array, divisor: float) -> Array:
    """Divide, leaving zeros where nothing was summed."""
    return total / divisor if divisor > 0 else np.zeros_like(total)


def _agree(a: Array, b: Array) -> bool:
    """Compare to 1e-12 of the largest entry."""
    scale = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= 1e-12 * scale)
