"""Real nonnegative factorization by HALS: the initialization of integer ones, and their upper bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.sustain.mttkrp import Pool, mttkrp_by_mode, over_blocks
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import gram

MANTISSA = 52
"""Bits of a whole number below which sums have no rounding, whatever their order."""

MOST_BITS = 14
"""Bits of a real score; columns of 16 million and more have fewer, so that sums of their products are exact."""

GRID = 16
"""Bits of a real score, under the largest of its column, in the end."""

BLOCK = 8_000
"""Entries of a block: all components' lie in a core's cache."""


@dataclass(frozen=True)
class RealFactors:
    """A non-negative factorization; its weights are absorbed, columns are balanced between the modes."""

    factors: list[Array]  # (R, I_n): One per mode, a component per row
    fit: float  # 1 - |X - X_hat| / |X|
    n_iter: int  # Passes over all modes


def nonnegative(
    data: Unfolded,
    n_components: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-4,
    max_iter: int = 100,
    pool: Pool = None,
    tell: Callable[[int, float], None] = lambda step, fit: None,
) -> RealFactors:
    """Factorize counts into real non-negative factors by hierarchical alternating least squares."""
    # Cichocki 2009. The same two products per pass as the integer factorization.
    # Scores are whole numbers times a power of two per component: a fixed-point arithmetic in which all sums are exact,
    # so that their order, which differs between processors and BLAS kernels, does not matter. Otherwise last bits would
    # grow from pass to pass until scores near one half are rounded differently, and phenotypes would depend on the
    # machine.
    factors, scale = _drawn(data.shape, n_components, rng)
    inner: list[Any] = [gram(factor) for factor in factors]
    products_of = mttkrp_by_mode(data, factors, pool=pool)
    trace = [-np.inf]
    for _ in range(max_iter):
        for mode, factor in enumerate(factors):
            products = products_of(mode)
            others = np.prod([g for n, g in enumerate(inner) if n != mode], axis=0)
            inner[mode] = _update(factor, products, others, scale, pool)
        trace.append(fit_of(data, factors[-1], products, scale, inner))
        tell(len(trace) - 1, trace[-1])
        if abs(trace[-1] - trace[-2]) < tol:
            break
    return RealFactors(balance_columns(factors, scale), trace[-1], len(trace) - 1)


def fit_of(
    data: Unfolded, factor: Array, products: Array, weights: Any, inner: list[Array]
) -> float:
    """Return the fit 1 - |X - X_hat| / |X| from the last mode's products, without forming X_hat."""
    along = np.einsum("ri,ri->r", factor, products, dtype=np.float64)
    squared = weights @ np.prod(inner, axis=0) @ weights
    missed = data.squared_norm - 2 * weights @ along + squared
    return float(1 - np.sqrt(max(missed, 0) / data.squared_norm))


def balance_columns(factors: Sequence[Array], scale: Array) -> list[Array]:
    """Give the columns of a component the same length in every mode, and round their entries to a grid, (R, I_n)."""
    lengths = np.sqrt([np.einsum("ri,ri->r", f, f, dtype=np.float64) for f in factors])
    common = np.prod([scale, *lengths], axis=0) ** (1 / len(factors))
    shares = common / np.where(lengths > 0, lengths, 1)
    return [
        _on_grid(factor * share[:, None], GRID).astype(np.float32)
        for factor, share in zip(factors, shares, strict=True)
    ]


def _drawn(
    shape: Sequence[int], n_components: int, rng: np.random.Generator
) -> tuple[list[Array], Array]:
    """Draw factors (R, I_n) from 0.1 to 1.1, as whole numbers; and what each component is multiplied by, (R,)."""
    factors, unit = [], 1.0
    for size in shape:
        real = rng.random((n_components, size), dtype=np.float32) + np.float32(0.1)
        factors.append(np.rint(np.ldexp(real, _bits(size) - 1)))
        unit = np.ldexp(unit, 1 - _bits(size))
    return factors, np.full(n_components, unit)


def _bits(size: int) -> int:
    """Return how many bits an entry of a column may have, so that sums of their products are exact."""
    return min(MOST_BITS, (MANTISSA - size.bit_length()) // 2)


def _update(factor: Array, products: Array, others: Array, scale: Array, pool: Pool) -> Array:
    """Set each column, and its power of two in `scale`, to its best given all others; return their products."""
    # A column whose component has died out in another mode stays: nothing is known of it.
    bits, before = _bits(factor.shape[1]), scale.copy()
    alive = np.flatnonzero(np.diag(others) > 0)
    # No entry of the best column exceeds that of the products alone, since nothing is negative.
    bounds = np.maximum(products.max(axis=1)[alive], 0) / np.diag(others)[alive]
    scale[alive] = np.ldexp(1.0, np.frexp(bounds)[1] - bits)
    divisors = np.diag(others) * scale
    earlier = np.tri(len(scale), k=-1, dtype=bool)  # columns that have been updated before this one
    shares: Array = (
        others * np.where(earlier, scale, before) / np.where(divisors > 0, divisors, 1)[:, None]
    )
    np.fill_diagonal(shares, 0)
    shares = _on_grid(shares, MANTISSA - bits - len(scale).bit_length())

    def update(start: int, stop: int) -> Array:
        block = factor[:, start:stop].astype(np.float64)
        for k in alive:
            best = products[k, start:stop] / divisors[k]
            best -= shares[k] @ block
            np.maximum(best, 0, out=best)
            np.rint(best, out=block[k])
        factor[:, start:stop] = block
        return block @ block.T

    inner = np.zeros(others.shape)
    for part in over_blocks(update, factor.shape[1], pool=pool, size=BLOCK):
        inner += part
    return inner


def _on_grid(values: Array, bits: int) -> Array:
    """Round to multiples of a power of two, of which the largest value has so many bits (along the last axis)."""
    unit = np.frexp(np.abs(values).max(axis=-1, keepdims=True))[1] - bits
    return np.ldexp(np.rint(np.ldexp(values, -unit)), unit)
