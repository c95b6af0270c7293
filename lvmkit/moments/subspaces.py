"""Moments of many features along few directions, as sums over rows that add."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import fix_signs, significant
from lvmkit.core.parallel import sum_blocks
from lvmkit.core.typing import Array, Counts
from lvmkit.core.validation import finite_array, sample_weights, summable
from lvmkit.moments.weightings import (
    Weighting,
    counted,
    n_counted,
    row_divisors,
    row_totals,
    whole_if,
)
from lvmkit.moments.whitened import Whitened, symmetrized

CORE_ROWS = 1_000
"""Rows whose third moments are summed at once: their scores stay in a core's cache."""

FEATURES_AT_ONCE = 2_000
"""Features whose coinciding indexes are removed at once: k²/2 numbers for each."""

LARGEST_DENSE = 4_000
"""Up to so many features a second moment may be formed, if nearly all its directions are wanted."""


@dataclass(frozen=True, eq=False)
class SubspaceMoments:
    """Moments up to the third along the columns of a basis, as sums that add.

    Holds q³ + 3dq numbers for q directions, so that d may be tens of thousands.

    Attributes
    ----------
    weighting : Weighting
        How rows enter; must be factorial.
    basis : array (d, q)
        B, any columns that together nearly span the centers.
    n_samples : int or float
        Rows summed so far, or the sum of their weights.
    n_short : int or float
        Of these, rows too short to carry third-order information.
    divisors : array (3,)
        Divisors of order 1, 2 and 3.
    first : array (d,)
        Σ a₁x.
    second : array (d, q)
        Σ a₂(xxᵀ − diag x)B.
    third : array (d, q)
        Σ a₃(xxᵀ − diag x)B.
    singles : array (d,)
        Σ a₃x.
    cubes : array (q, q, q)
        Σ a₃ z⊗z⊗z, z = Bᵀx; products of an entry with itself included.

    Examples
    --------
    >>> from lvmkit.moments.weightings import POOLED
    >>> X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    >>> parts = SubspaceMoments.of(X[:1], np.eye(3), POOLED) + SubspaceMoments.of(X[1:], np.eye(3), POOLED)
    >>> np.allclose(parts.cubes, SubspaceMoments.of(X, np.eye(3), POOLED).cubes)
    True
    """

    weighting: Weighting
    basis: Array
    n_samples: float
    n_short: float
    divisors: Array
    first: Array
    second: Array
    third: Array
    singles: Array
    cubes: Array

    @classmethod
    @checked()
    def of(
        cls,
        X: Counts,
        basis: Array,
        weighting: Weighting,
        *,
        sample_weight: Array | None = None,
    ) -> Self:
        """Sum the rows of `X`: 3·nnz·q + n·q³/3 multiply-adds, row blocks on a pool of threads.

        Parameters
        ----------
        X : sparse rows or array (n, d)
            Counts.
        basis : array (d, q)
            B.
        weighting : Weighting
            How rows enter.
        sample_weight : array (n,), optional
            How often each row counts, at least 0; once if not given.

        Returns
        -------
        SubspaceMoments
            The sums.
        """
        X = summable(X)
        sample_weight = sample_weights(sample_weight, X.shape[0])
        basis = finite_array(basis, "basis", (None, None))
        if len(basis) != X.shape[1]:
            msg = (
                f"basis must have as many rows as X has features, {X.shape[1]}; found {len(basis)}"
            )
            raise ValueError(msg)
        with np.errstate(over="ignore"):
            B = np.ascontiguousarray(basis, dtype=np.float32)

        @np.errstate(over="ignore", invalid="ignore")  # told below, in words
        def block_sums(block: Any, often: Array | None = None) -> tuple[Any, ...]:
            block = block.astype(np.float32, copy=False)
            totals = row_totals(block)
            Z = np.asarray(block @ B)
            a1, a2, a3 = (
                counted(weighting.row_weight(order, totals), often) for order in (1, 2, 3)
            )
            twos, threes = (
                block.T @ (a[:, None].astype(np.float32) * Z) - (block.T @ a)[:, None] * basis
                for a in (a2, a3)
            )
            missing = weighting.divisor(3, totals) == 0
            short = np.count_nonzero(missing) if often is None else often[missing].sum()
            divisors = row_divisors(weighting, totals, often)
            return divisors, block.T @ a1, twos, threes, block.T @ a3, _cubes(Z, a3), short

        sums = sum_blocks(block_sums, X, along=sample_weight)
        divisors, first, twos, threes, singles, cubes, short = sums
        _require_summed(X, twos, threes, cubes)
        full = _filled(cubes)
        parts = (divisors, first, twos, threes, singles, full)
        n_short = whole_if(float(short))
        return cls(weighting, basis, n_counted(X, sample_weight), n_short, *parts)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together; both must share weighting and basis."""
        if self.weighting != other.weighting or not np.array_equal(self.basis, other.basis):
            msg = "moments add only under the same weighting and basis; sum both parts with those of one of them"
            raise ValueError(msg)
        return type(self)(
            self.weighting,
            self.basis,
            self.n_samples + other.n_samples,
            self.n_short + other.n_short,
            self.divisors + other.divisors,
            self.first + other.first,
            self.second + other.second,
            self.third + other.third,
            self.singles + other.singles,
            self.cubes + other.cubes,
        )

    @property
    def m1(self) -> Array:
        """First moment (d,)."""
        return self.first / max(self.divisors[0], 1e-300)

    @property
    def core(self) -> Array:
        """Third moment (q, q, q) along the basis, coinciding indexes removed."""
        q = self.basis.shape[1]
        rows, columns = np.triu_indices(q)
        products = np.zeros((q, len(rows)))
        for start in range(0, len(self.basis), FEATURES_AT_ONCE):
            part = slice(start, start + FEATURES_AT_ONCE)
            B = self.basis[part]
            pairs = B[:, rows] * B[:, columns]
            # Where h = l, in all three positions; where r = h = l besides, once.
            products += (self.third[part] + B * self.singles[part, None] / 3).T @ pairs
        left_out: Array = np.empty((q, q, q))
        left_out[:, rows, columns] = left_out[:, columns, rows] = products
        left_out = 3 * symmetrized(left_out)
        result: Array = (self.cubes - left_out) / max(self.divisors[2], 1e-300)
        return result

    @checked(n_components=1, alpha0=0)
    def whitened(self, n_components: int, *, alpha0: float = 0.0) -> Whitened:
        """Return the moments that decompose into states, of a mixture or of a Dirichlet allocation.

        Parameters
        ----------
        n_components : int
            Number of states k, at most q.
        alpha0 : float, default=0
            Sum of the Dirichlet parameters; 0 for a mixture, where every row has one state.

        Returns
        -------
        Whitened
            Without slices. Those of an allocation are scaled so that Σ ω_j μ_j⊗μ_j and Σ ω_j μ_j⊗μ_j⊗μ_j, with
            ω = α/α₀, are what they stand for: every decomposition fits both models.

        Notes
        -----
        Ruffini thesis, Theorem 3.3.1, times (α₀+1) and (α₀+1)(α₀+2)/2. Directions in which the second moment
        is not positive are left out: k is at most `rank`, and at least 1.
        """
        mean, along = self.m1, self.basis.T @ self.m1
        values, vectors = np.linalg.eigh(self._second_along(alpha0))
        values, vectors = values[::-1][:n_components], fix_signs(vectors[:, ::-1][:, :n_components])
        # With no positive direction at all the mean is the only state; any whitener shows it.
        values = np.where(significant(values), values, np.abs(values).max(initial=1e-300))
        mix = vectors / np.sqrt(values)
        b = mix.T @ along
        image = self.second / max(self.divisors[1], 1e-300)
        plain = self._second_along(0.0)
        image = (alpha0 + 1) * (image @ mix) - alpha0 * np.outer(mean, b)
        core = turned(self.core, mix)
        if alpha0:
            cross = 3 * symmetrized(b[:, None, None] * (mix.T @ plain @ mix))
            core = (alpha0 + 1) * ((alpha0 + 2) * core - alpha0 * cross) / 2
            core = core + alpha0**2 * b[:, None, None] * b[:, None] * b
        return Whitened(mean, self.basis @ mix, image, core)

    @checked(alpha0=0)
    def rank(self, *, alpha0: float = 0.0) -> int:
        """Return how many states the second moment can show within the basis, at most.

        Parameters
        ----------
        alpha0 : float, default=0
            As for `whitened`.

        Returns
        -------
        int
            Its positive directions. Noise makes some positive too: it is a bound, no estimate.
        """
        return int(significant(np.linalg.eigvalsh(self._second_along(alpha0))[::-1]).sum())

    def _second_along(self, alpha0: float) -> Array:
        """Second moment (q, q) along the basis, of a Dirichlet allocation if alpha0 is not 0."""
        along = self.basis.T @ self.m1
        plain = self.basis.T @ (self.second / max(self.divisors[1], 1e-300))
        second: Array = (alpha0 + 1) * (plain + plain.T) / 2 - alpha0 * np.outer(along, along)
        return second


def turned(core: Array, mix: Array) -> Array:
    """Return a symmetric tensor in new coordinates: T(A·, A·, A·), (k, k, k). core (q, q, q), mix (q, k)."""
    result: Array = np.einsum("abc,ai,bj,cl->ijl", core, mix, mix, mix, optimize=True)
    return result


def _require_summed(X: Any, *sums: Array) -> None:
    """Refuse rows of which products leave the range of single precision."""
    if not all(np.isfinite(part).all() for part in sums):
        largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
        msg = (
            f"X holds numbers up to {largest:g}: products with the basis leave the range of single precision, in which "
            "they are summed. Divide it by a number"
        )
        raise ValueError(msg)


def _cubes(Z: Array, weight: Array) -> Array:
    """Sum a·z⊗z⊗z over rows; only entries whose first index is the smallest are right."""
    q = Z.shape[1]
    total = np.zeros((q, q, q))
    for start in range(0, len(Z), CORE_ROWS):
        some = np.ascontiguousarray(Z[start : start + CORE_ROWS].T)
        scaled = some * weight[start : start + CORE_ROWS].astype(np.float32)
        for a in range(q):
            total[a, a:, a:] += (some[a:] * scaled[a]) @ some[a:].T
    return total


def _filled(cubes: Array) -> Array:
    """Copy the entries whose first index is the smallest to all orders of their indexes."""
    i, j, k = np.ogrid[: len(cubes), : len(cubes), : len(cubes)]
    low, high = np.minimum(np.minimum(i, j), k), np.maximum(np.maximum(i, j), k)
    filled: Array = cubes[low, i + j + k - low - high, high]
    return filled


@checked(q=1, alpha0=0, tol=0)
def leading_basis(
    X: Counts,
    weighting: Weighting,
    q: int,
    *,
    alpha0: float = 0.0,
    tol: float = 1e-2,
    sample_weight: Array | None = None,
) -> Array:
    """Find the directions in which the second moment is largest, features weighted by their frequency.

    Parameters
    ----------
    X : sparse rows or array (n, d)
        Counts.
    weighting : Weighting
        How rows enter; must be factorial.
    q : int
        Number of directions, at most d.
    alpha0 : float, default=0
        As for `SubspaceMoments.whitened`.
    tol : float, default=1e-2
        Stop when a further block of vectors changes every eigenvalue by less, relative to it.
    sample_weight : array (n,), optional
        How often each row counts, at least 0; once if not given.

    Returns
    -------
    array (d, q)
        B = DV, V the leading eigenvectors of D M₂ D, D = diag(m₁)^(-1/2): noise of counts grows with their
        mean, and D makes it even. On exact moments every D gives the same answer; on samples this one is
        more accurate than D = 1.

    Notes
    -----
    Rows are only multiplied by vectors: no d×d matrix is formed. Costs 2·nnz·(q+10) multiply-adds a step,
    usually four to six of them.
    """
    X = summable(X, least_rows=1)
    sample_weight = sample_weights(sample_weight, X.shape[0])
    if q > X.shape[1]:
        msg = f"q={q} directions need as many features; X has {X.shape[1]}"
        raise ValueError(msg)
    totals = row_totals(X)
    divisors = row_divisors(weighting, totals, sample_weight)
    a1, a2 = (counted(weighting.row_weight(order, totals), sample_weight) for order in (1, 2))
    mean = np.asarray(X.T @ a1).ravel() / max(divisors[0], 1e-300)
    diagonal = np.asarray(X.T @ a2).ravel()
    D = np.where(mean > 0, np.where(mean > 0, mean, 1.0) ** -0.5, 0.0)
    plain = bool((a2 == 1).all())

    def product(V: Array) -> Array:
        V = D[:, None] * V
        V32 = V.astype(np.float32)

        @np.errstate(over="ignore", invalid="ignore")  # told below, in words
        def block_product(block: Any, weight: Array | None = None) -> tuple[Array]:
            block = block.astype(np.float32, copy=False)
            Z = np.asarray(block @ V32)
            if weight is not None:
                Z *= weight[:, None].astype(np.float32)
            return (block.T @ Z,)

        sums = sum_blocks(block_product, X, along=None if plain else a2)[0]
        _require_summed(X, sums)
        image = (sums - diagonal[:, None] * V) / max(divisors[1], 1e-300)
        if alpha0:
            image = (alpha0 + 1) * image - alpha0 * np.outer(mean, mean @ V)
        return D[:, None] * image

    return D[:, None] * leading_eigenvectors(product, len(mean), q, start=mean, tol=tol)


def leading_eigenvectors(
    product: Callable[[Array], Array],
    d: int,
    k: int,
    *,
    start: Array,
    tol: float,
    oversample: int = 10,
    max_blocks: int = 8,
) -> Array:
    """Return the k algebraically largest eigenvectors of a symmetric operator on blocks of vectors, (d, k)."""
    # Block Krylov iteration with full orthogonalization (Musco 2015). The start is a choice of features, so
    # that nothing depends on chance, nor on the order of rows or features.
    width = min(k + oversample, d)
    if d <= min(3 * width, LARGEST_DENSE):
        dense = product(np.eye(d))
        return fix_signs(
            linalg.eigh((dense + dense.T) / 2, subset_by_index=(d - k, d - 1))[1][:, ::-1]
        )
    block = np.zeros((d, width), dtype=np.float32)
    block[np.argsort(-start, kind="stable")[:width], np.arange(width)] = 1.0
    basis, seen, old = block, np.zeros((0, 0)), np.zeros(k)
    for _ in range(max_blocks):
        image = product(block).astype(np.float32)
        along = basis.T @ image
        seen = np.block([[seen, along[: len(seen)]], [along[: len(seen)].T, along[len(seen) :]]])
        values, mix = np.linalg.eigh((seen + seen.T) / 2)
        top = values[::-1][:k]
        if (np.abs(top - old) <= tol * np.abs(top)).all():
            break
        old = top
        block = _orthonormal(image - basis @ along, basis)
        if not 0 < block.shape[1] <= d - basis.shape[1]:
            break
        basis = np.hstack([basis, block])
    vectors = basis[:, : len(mix)] @ mix[:, ::-1][:, :k]
    return fix_signs(np.linalg.qr(vectors.astype(np.float64)).Q)


def _orthonormal(block: Array, basis: Array) -> Array:
    """Return an orthonormal basis of a block already projected off another; lost directions are left out."""
    for again in (False, True):  # a round is exact only to the square of the block's condition
        if again:
            block = block - basis @ (basis.T @ block)
        values, vectors = np.linalg.eigh(block.T @ block)
        kept = values > values.max(initial=0.0) * 1e-6
        block = block @ (vectors[:, kept] / np.sqrt(values[kept]))
    return block
