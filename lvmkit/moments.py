"""Moments of rows of counts: sums over rows, so that those of two parts add to those of the whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from lvmkit._typing import Array, Counts
from lvmkit.linalg import top_eigenpairs
from lvmkit.streams import map_blocks, sum_blocks

PAIRS_PER_FLOP = 100
"""Counting one pair of entries of a row costs about as much as so many multiply-adds of a dense product."""


@dataclass(frozen=True)
class Weighting:
    """How a row with total t enters the sums of order 1, 2 and 3, and what divides them.

    The weight of a row and the divisor are kept apart: the divisor is itself a sum over rows, so both add.

    Attributes
    ----------
    name : str
        Name shown in messages; two weightings with the same name are the same.
    row_weight : callable (order, totals) -> array (n,)
        Weight of each row.
    divisor : callable (order, totals) -> array (n,)
        What each row adds to the divisor.
    factorial : bool
        Whether products of an entry with itself are left out (factorial moments), which makes the moments
        of counts unbiased; without, the moments are the raw ones of the documents.
    """

    name: str
    row_weight: Callable[[int, Array], Array]
    divisor: Callable[[int, Array], Array]
    factorial: bool = True

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same name."""
        return isinstance(other, Weighting) and self.name == other.name

    def __hash__(self) -> int:
        """Hash by name."""
        return hash(self.name)


def _ones(_: int, totals: Array) -> Array:
    """Weigh every row 1."""
    return np.ones_like(totals)


def _falling(order: int, totals: Array) -> Array:
    """Return t(t−1)…(t−order+1), the number of ordered draws from a row."""
    steps = np.maximum(totals[:, None] - np.arange(order), 0)
    product: Array = steps.prod(axis=1)
    return product


def _inverse_falling(order: int, totals: Array) -> Array:
    """Return 1/(t(t−1)…), 0 for rows too short to have a product of that order."""
    draws = _falling(order, totals)
    return np.divide(1.0, draws, out=np.zeros_like(draws), where=draws > 0)


def _long_enough(order: int, totals: Array) -> Array:
    """Count the rows that carry information of that order."""
    counted: Array = (_falling(order, totals) > 0).astype(np.float64)
    return counted


RAW = Weighting("RAW", _ones, _ones, factorial=False)
"""Plain averages of xxᵀ and x⊗x⊗x (Ruffini et al. 2017, section 3.2): biased on coinciding indexes."""
POISSON = Weighting("POISSON", _ones, _ones)
"""Averages without coinciding indexes (Ruffini thesis, Proposition 1.2.1)."""
POOLED = Weighting("POOLED", _ones, _falling)
"""Every pair and triple of draws counts the same (Ruffini thesis, Theorem 3.2.1)."""
EQUAL_ROWS = Weighting("EQUAL_ROWS", _inverse_falling, _long_enough)
"""Every row long enough counts the same (Zou et al. 2013)."""


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of rows, as sums that add.

    Attributes
    ----------
    weighting : Weighting
        How rows enter.
    n_samples : int
        Rows summed so far.
    divisors : array (3,)
        Divisors of order 1, 2 and 3.
    first : array (d,)
        Σ a₁ x.
    second : array (d, d)
        Σ a₂ (xxᵀ − diag x); without the diagonal term if the weighting is not factorial.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> Moments.of(X[:1], RAW) + Moments.of(X[1:], RAW) == Moments.of(X, RAW)
    True
    >>> Moments.of(X, RAW).m1.round(3)
    array([0.667, 0.667])
    """

    weighting: Weighting
    n_samples: int
    divisors: Array
    first: Array
    second: Array

    @classmethod
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
    def of(cls, X: Counts, weighting: Weighting) -> Self:
        """Sum the rows of `X`, block by block on a pool of threads.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            Counts or 0/1.
        weighting : Weighting
            How rows enter.

        Returns
        -------
        Moments
            Costs one pass over the pairs of entries within rows, or n·d² multiply-adds for dense rows.
        """
        total = cls.zero(X.shape[1], weighting)

        def block_sums(block: Any) -> tuple[Array, Array, Any]:
            totals = _totals(block)
            return _divisors(weighting, totals), *_first_and_second(block, weighting, totals)

        for divisors, first, second in map_blocks(block_sums, X):
            for target, part in zip(
                (total.divisors, total.first, total.second), (divisors, first, second), strict=True
            ):
                np.add(target, part, out=target)
        return cls(weighting, X.shape[0], total.divisors, total.first, total.second)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together."""
        if self.weighting != other.weighting:
            msg = f"moments weighted {self.weighting.name} cannot be added to {other.weighting.name}"
            raise ValueError(msg)
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
            for a, b in ((self.divisors, other.divisors), (self.first, other.first), (self.second, other.second))
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
    n_samples : int
        Rows summed so far.
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
    n_samples: int
    divisors: Array
    first: Array
    third: Array
    pairs: Array
    singles: Array

    @classmethod
    def of(
        cls,
        X: Counts,
        whitener: Array,
        weighting: Weighting,
        *,
        second: Array | None = None,
        dtype: npt.DTypeLike = np.float64,
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

        Returns
        -------
        WhitenedMoments
            The sums.
        """
        k = whitener.shape[1]
        W = np.ascontiguousarray(whitener, dtype=dtype)
        rows, columns = np.triu_indices(k)
        with_pairs = weighting.factorial and second is None
        products = np.hstack([W, W[:, rows] * W[:, columns]])

        def block_sums(block: Any) -> tuple[Array, ...]:
            block = block.astype(dtype, copy=False)
            totals = _totals(block)
            Z = block @ W
            weight = weighting.row_weight(3, totals).astype(dtype)
            third = block.T @ _products(Z, None if (weight == 1).all() else weight)
            first = block.T @ weighting.row_weight(1, totals).astype(dtype)
            singles = block.T @ weight
            pairs = block.T @ (weight[:, None] * (block @ products)) if with_pairs else np.zeros(1)
            return _divisors(weighting, totals), first, third, singles, pairs

        divisors, first, third, singles, pairs = sum_blocks(block_sums, X)
        wide = products.astype(np.float64)
        if weighting.factorial:
            pairs = pairs - singles[:, None] * wide if second is None else second @ wide
        else:
            pairs = np.zeros(products.shape)
        return cls(weighting, whitener, X.shape[0], divisors, first, third, pairs, singles)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together; both must share the whitener."""
        if self.weighting != other.weighting:
            msg = f"moments weighted {self.weighting.name} cannot be added to {other.weighting.name}"
            raise ValueError(msg)
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


def second_moment_operator(X: Counts, weighting: Weighting) -> LinearOperator:
    """Return M2 as an operator: for many features, products with it cost passes over the data only.

    Parameters
    ----------
    X : sparse rows or array (n, d)
        Counts or 0/1.
    weighting : Weighting
        How rows enter.

    Returns
    -------
    LinearOperator (d, d)
        Multiplies vectors and blocks of vectors by the same M2 that `Moments.m2` holds.
    """
    totals = _totals(X)
    weight = weighting.row_weight(2, totals)
    divisor = float(weighting.divisor(2, totals).sum())
    diagonal = np.asarray(X.T @ weight).ravel() if weighting.factorial else np.zeros(X.shape[1])

    def product(V: Array) -> Array:
        V = np.asarray(V, dtype=np.float64)
        wide = V[:, None] if V.ndim == 1 else V

        def block_product(block: Any) -> tuple[Array]:
            block = block.astype(np.float64, copy=False)
            scaled = weighting.row_weight(2, _totals(block))[:, None] * (block @ wide)
            return (block.T @ scaled,)

        image = (sum_blocks(block_product, X)[0] - diagonal[:, None] * wide) / divisor
        return image[:, 0] if V.ndim == 1 else image

    return LinearOperator(
        (X.shape[1], X.shape[1]), matvec=product, matmat=product, rmatvec=product, dtype=np.float64
    )


def whitener_of(values: Array, vectors: Array) -> Array:
    """Return W = U S^(-1/2) from eigenpairs; directions without variance get zeros.

    Parameters
    ----------
    values : array (k,)
        Eigenvalues, largest first.
    vectors : array (d, k)
        Eigenvectors in columns.

    Returns
    -------
    array (d, k)
        The whitener.
    """
    usable = significant(values)
    scale = np.where(usable, values, 1.0) ** -0.5
    return vectors * np.where(usable, scale, 0.0)


def significant(values: Array) -> npt.NDArray[np.bool_]:
    """Tell which eigenvalues are positive beyond rounding.

    Parameters
    ----------
    values : array (k,)
        Eigenvalues, largest first.

    Returns
    -------
    array of bool (k,)
        True where larger than 1e-10 of the largest.
    """
    mask: npt.NDArray[np.bool_] = values > max(float(values.max()), 0.0) * 1e-10
    return mask


def whiten(m2: Array | LinearOperator, k: int) -> tuple[Array, Array]:
    """Whiten with the k leading eigenpairs of the second moment.

    Parameters
    ----------
    m2 : array (d, d) or LinearOperator
        Second moment.
    k : int
        Number of latent states.

    Returns
    -------
    whitener : array (d, k)
        W, WᵀM2W = identity.
    values : array (k,)
        The eigenvalues, largest first.
    """
    values, vectors = top_eigenpairs(m2, k)
    return whitener_of(values, vectors), values


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


def _totals(X: Any) -> Array:
    """Return the sum of every row."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def _divisors(weighting: Weighting, totals: Array) -> Array:
    """Return the divisors of the three orders."""
    return np.array([weighting.divisor(order, totals).sum() for order in (1, 2, 3)])


def _divided(total: Array, divisor: float) -> Array:
    """Divide, leaving zeros where nothing was summed."""
    return total / divisor if divisor > 0 else np.zeros_like(total)


def _agree(a: Array, b: Array) -> bool:
    """Compare to 1e-12 of the largest entry."""
    scale = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= 1e-12 * scale)


def _first_and_second(block: Any, weighting: Weighting, totals: Array) -> tuple[Array, Array]:
    """Sum Σ a₁x and Σ a₂(xxᵀ − diag x) over one block."""
    weight = weighting.row_weight(2, totals)
    first = np.asarray(block.T @ weighting.row_weight(1, totals)).ravel()
    if sparse.issparse(block) and _counting_is_cheaper(block):
        second = _count_pairs(block, weight)
    else:
        dense = block.toarray() if sparse.issparse(block) else np.asarray(block)
        dense = dense.astype(np.float64)
        second = dense.T @ (weight[:, None] * dense)
    if weighting.factorial:
        index = np.arange(len(first))
        second[index, index] -= np.asarray(block.T @ weight).ravel()
    return first, second


def _counting_is_cheaper(block: Any) -> bool:
    """Compare the number of pairs within rows with the cost of a dense product."""
    lengths = np.diff(block.indptr).astype(np.float64)
    pairs = (lengths * (lengths - 1)).sum() / 2
    return bool(pairs * PAIRS_PER_FLOP < block.shape[0] * float(block.shape[1]) ** 2)


def _count_pairs(block: Any, weight: Array) -> Array:
    """Sum a·xxᵀ by counting the pairs of entries of every row, rows of one length at a time."""
    d, starts, lengths = block.shape[1], block.indptr[:-1], np.diff(block.indptr)
    plain = bool((block.data == 1).all()) and bool((weight == 1).all())
    flats, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for length in np.unique(lengths[lengths > 1]):
        rows = np.flatnonzero(lengths == length)
        places = starts[rows] + np.arange(length)[:, None]
        index = block.indices[places].astype(np.int64)
        entries = None if plain else block.data[places].astype(np.float64)
        for step in range(1, length):
            flats.append((index[:-step] * d + index[step:]).ravel())
            if entries is not None:
                values.append((entries[:-step] * entries[step:] * weight[rows]).ravel())
    flat = np.concatenate(flats)
    upper = np.bincount(flat, weights=None if plain else np.concatenate(values), minlength=d * d)
    second = upper.reshape(d, d).astype(np.float64)
    second = second + second.T
    squares = block.multiply(block).T @ weight
    index = np.arange(d)
    second[index, index] += np.asarray(squares).ravel()
    return second
