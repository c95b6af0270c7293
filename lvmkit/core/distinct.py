"""Distinct rows, in an order that does not depend on how rows and features came."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.parallel import row_blocks
from lvmkit.core.typing import Array, Labels

Hashes = npt.NDArray[np.uint64]

ROWS_AT_ONCE = 65_536
"""Rows whose entries are hashed at once: 8 bytes for each entry."""
ONE = 2**16
"""What a row of weight 1 counts in the hashes of features."""


class Distinct(NamedTuple):
    """Rows without repetitions; a sum over them, weighted, is the same to the last bit in whatever order they came."""

    rows: Any
    """(m, d): sparse if the rows were; in the order of their hashes, so that the first ones are a sample."""
    weight: Array | None
    """(m,): how often each counts; None if all count once."""
    place: Labels
    """(n,): which of them each row is; −1 where a row has weight 0."""
    features: Labels
    """(d,): which feature each column is."""

    @property
    def total(self) -> float:
        """Sum of the weights."""
        n: int = self.rows.shape[0]
        return n if self.weight is None else float(self.weight.sum())

    def unsorted(self, columns: Array) -> Array:
        """Return columns in the order in which the features came. columns (..., d)."""
        back = np.empty_like(columns)
        back[..., self.features] = columns
        return back

    def sample(self, m: int) -> "Distinct":
        """Return some m of the rows, weighted so that they stand for all; frequent rows are always among them."""
        n = self.rows.shape[0]
        if m >= n:
            return self
        often = np.ones(n) if self.weight is None else self.weight
        chance = _chances(often, m)
        chosen = np.flatnonzero((np.arange(n) + 0.5) / n < chance)
        weight = often[chosen] / chance[chosen]
        weight *= self.total / weight.sum()
        return Distinct(self.rows[chosen], weight, self.place[:0], self.features)


def distinct_rows(X: Any, sample_weight: Array | None = None) -> Distinct:
    """Sort features and rows by what they hold, and merge equal rows. X (n, d) of whole numbers, sample_weight (n,)."""
    # Features get the hash of how often they occur, rows that of their features, features that of their rows: sums of
    # whole numbers modulo 2**64, which no order changes. Features that are still alike keep the order they came in.
    # Two different rows have the same key with a probability of 3e-8 for a million of them.
    counts = sparse.csr_array(X)
    often = _whole(sample_weight, counts.shape[0])
    colors = _mixed(_column_sums(counts, often))
    colors = _mixed(colors + _column_sums(counts, often * _mixed(_row_sums(counts, colors))))
    order = np.argsort(colors, kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    keys = _row_sums(counts, _mixed(position.astype(np.uint64)))
    kept = np.arange(counts.shape[0])
    if sample_weight is not None:
        kept = np.flatnonzero(sample_weight > 0)
    _, first, inverse = np.unique(keys[kept], return_index=True, return_inverse=True)
    weight = np.bincount(
        inverse, None if sample_weight is None else sample_weight[kept], minlength=len(first)
    ).astype(np.float64)
    place = np.full(counts.shape[0], -1)
    place[kept] = inverse
    rows = _reordered(X, kept[first], order, position)
    return Distinct(rows, None if (weight == 1).all() else weight, place, order)


def column_sums(rows: Any, weight: Array | None) -> Array:
    """Sum rows, each as often as it counts, (d,). rows (n, d), weight (n,)."""
    often = np.ones(rows.shape[0]) if weight is None else weight
    return np.asarray(rows.T @ often, dtype=np.float64).ravel()


def _chances(weight: Array, m: int) -> Array:
    """Return chances in proportion to the weights, at most 1, of which the sum is about m. weight (n,)."""
    chance = np.minimum(1.0, weight * (m / weight.sum()))
    for _ in range(20):
        below = chance < 1
        missing = m - np.count_nonzero(~below)
        if missing <= 0 or not below.any():
            break
        chance[below] = np.minimum(1.0, weight[below] * (missing / weight[below].sum()))
    return chance


def _reordered(X: Any, rows: Labels, order: Labels, position: Labels) -> Any:
    """Return rows with their features in another order, entries sorted within rows."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X[rows][:, order])
    moved = sparse.csr_array(X)[rows]
    moved = sparse.csr_array(
        (moved.data, position.astype(moved.indices.dtype)[moved.indices], moved.indptr),
        shape=moved.shape,
    )
    moved.sort_indices()
    return moved


def _whole(sample_weight: Array | None, n: int) -> Hashes:
    """Return the weights as whole numbers, (n,)."""
    if sample_weight is None:
        return np.full(n, ONE, dtype=np.uint64)
    largest = max(float(sample_weight.max(initial=0.0)), 1.0)
    scale = min(ONE, 2.0**52 / largest)
    return np.rint(sample_weight * scale).astype(np.uint64)


def _row_sums(X: Any, values: Hashes) -> Hashes:
    """Sum the values of the features of every row, (n,). values (d,)."""
    sums = [_in_whole(block) @ values for block in row_blocks(X, ROWS_AT_ONCE)]
    return np.concatenate(sums)


def _column_sums(X: Any, values: Hashes) -> Hashes:
    """Sum the values of the rows of every feature, (d,). values (n,)."""
    total = np.zeros(X.shape[1], dtype=np.uint64)
    for number, block in enumerate(row_blocks(X, ROWS_AT_ONCE)):
        start = number * ROWS_AT_ONCE
        total += _in_whole(block).T @ values[start : start + block.shape[0]]
    return total


def _in_whole(block: Any) -> Any:
    """Return sparse counts in the type of the hashes."""
    return sparse.csr_array(
        (block.data.astype(np.uint64), block.indices, block.indptr), shape=block.shape
    )


def _mixed(values: Hashes) -> Hashes:
    """Scatter numbers over 64 bits (splitmix64: Steele 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
