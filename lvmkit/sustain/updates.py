"""Optimal update of one integer factor, column by column (Perros 2018, Algorithm 2)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.sustain.mttkrp import BLOCK_ROWS, over_blocks
from lvmkit.sustain.unfolding import EXACT

Weights = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Box:
    """The whole numbers that a factor's entries may be."""

    least: int  # Bounds, both allowed; 0 lies within, and so does 1
    most: int  # Bounds, both allowed; 0 lies within, and so does 1

    def nearest(self, values: Array) -> Array:
        """Round half away from zero and clip, in place."""
        np.clip(values, self.least, self.most, out=values)
        return round_half_away(values, signed=self.least < 0)


def round_half_away(values: Array, *, signed: bool = True) -> Array:
    """Round to the nearest whole number, halves away from zero, in place."""
    if not signed:
        values += 0.5
        return np.floor(values, out=values)
    sign = np.sign(values)
    np.abs(values, out=values)
    values += 0.5
    np.floor(values, out=values)
    values *= sign
    return values


def gram(factor: Array) -> Array:
    """Return the inner products of a factor's columns (R, R), exact for whole numbers. factor (R, I)."""
    total = np.zeros((len(factor), len(factor)))
    for start in range(0, factor.shape[1], BLOCK_ROWS):
        block = _squarable(factor[:, start : start + BLOCK_ROWS], float(np.abs(factor).max()))
        total += block @ block.T
    return total


def _inner_products(block: Array, k: int) -> Array:
    """Return the inner products (R,) of a block's k-th row of whole numbers with all its rows."""
    # On AVX-512, OpenBLAS (0.3.31) multiplies vectors of five also by what happens to lie on the stack, and leaves the
    # result out: right, but "invalid value encountered" where that was no number.
    with np.errstate(invalid="ignore"):
        return block @ block[k]


def _squarable(block: Array, largest: float) -> Array:
    """Return a block in a precision that holds sums of its squares exactly."""
    return block if BLOCK_ROWS * largest**2 < EXACT else block.astype(np.float64)


def update_factor(
    factor: Array,
    products: Array,
    others: Array,
    weights: Weights,
    *,
    box: Box,
    rng: np.random.Generator,
    inner: Array | None = None,
) -> Array:
    """Update the weights and the columns of one factor in place, each weight just before its column, (R, R)."""
    # The objective never rises: each weight and each column is the best one given all else.
    # Perros 2018, Algorithm 2, equations (19) and (21), section 4.1.5. Written with whole numbers
    # throughout: a column is (M_k - sum over r != k of F_r w_r) / (C_kk w_k), rounded, and the numerator is exact, so
    # that halves are seen as halves.
    inner = gram(factor) if inner is None else inner.copy()
    along = [
        float(np.einsum("i,i->", f, m, dtype=np.float64))
        for f, m in zip(factor, products, strict=True)
    ]
    for k, column in enumerate(factor):
        rest = weights * others[:, k]
        rest[k] = 0
        best = (along[k] - inner[k] @ rest) / (others[k, k] * inner[k, k])
        weights[k] = max(1, int(np.floor(best + 0.5)))
        inner[k] = inner[:, k] = _update_column(
            factor, k, products[k], rest, float(others[k, k] * weights[k]), box=box
        )
        if inner[k, k] == 0:
            column[rng.integers(len(column))] = 1
            inner[k] = inner[:, k] = factor[:, column != 0].sum(axis=1)
    return inner


def _update_column(
    factor: Array, k: int, products: Array, rest: Array, divisor: float, *, box: Box
) -> Array:
    """Set a column to its best, and return its inner products with all columns."""
    largest = max(box.most, -box.least)
    reach = max(products.max(), -products.min()) + largest * np.abs(rest).sum()
    single = reach < EXACT and 4 * divisor * (largest + 2) < EXACT
    kind = np.float32 if single else np.float64
    rest, n_rows = rest.astype(kind), factor.shape[1]

    def update(start: int, stop: int) -> Array:
        block = factor[:, start:stop]
        value = products[start:stop] - rest @ block.astype(kind, copy=False)
        value /= kind(divisor)
        block[k] = box.nearest(value)
        return _inner_products(_squarable(block, largest), k)

    total = np.zeros(len(factor))
    for part in over_blocks(update, n_rows):
        total += part
    return total
