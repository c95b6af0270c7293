"""Interface of splits: rows and sums in, a split or the reason for none out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from lvmkit.core.typing import Array, Labels
from lvmkit.trees.nodes import Rule, chosen_side

WIDE = 1_500
"""Beyond so many features second moments are products with the rows, not d×d numbers."""

Rows = Any
"""Sparse rows (CSR) or a dense array, those of one node."""


class Split(NamedTuple):
    """Two sides of a node."""

    discriminators: Array
    """(2, d)."""
    offsets: Array
    """(2,)."""
    rule: Rule
    side: Labels
    """(n,), 0 or 1, of the rows that were split."""
    strength: float
    centers: Array | None = None
    """(2, d), if the method has its own; else the means of the sides."""

    def swapped(self, rows: Rows) -> "Split":
        """Return the split with its sides exchanged; rows (n, d) with equal scores go to the new first side."""
        turned = self._replace(
            discriminators=self.discriminators[::-1],
            offsets=self.offsets[::-1],
            centers=None if self.centers is None else self.centers[::-1],
        )
        return turned._replace(side=turned.of(rows))

    def of(self, rows: Rows) -> Labels:
        """Return the sides of other rows, (n,). rows (n, d)."""
        return chosen_side(rows @ self.discriminators.T + self.offsets, self.rule)


class NoSplit(NamedTuple):
    """Why the rows cannot be split."""

    reason: str


class Sums(NamedTuple):
    """Sums over the rows of a node."""

    first: Array
    """(d,): Σ x."""
    second: Array | None
    """(d, d): Σ xxᵀ; None where it is cheaper, or only possible, to do without."""
    weight: Array | None = None
    """(n,): how often each row counts, which the sums take into account; None if all count once."""

    def total(self, rows: Rows) -> float:
        """Return the number of rows, each counted as often as its weight says. rows (n, d)."""
        return rows.shape[0] if self.weight is None else float(self.weight.sum())


Splitter = Callable[[Rows, Sums], Split | NoSplit]
"""Splits the rows of a node."""


def linear_split(
    slopes: Array, offsets: Array, scores: Array, strength: float, centers: Array | None = None
) -> Split:
    """Return the split that sends a row where its score is larger."""
    return Split(slopes, offsets, "linear", chosen_side(scores, "linear"), strength, centers)


def column_sums(rows: Rows, weights: Array | Labels | None = None) -> Array:
    """Sum rows in double precision; products of single precision sparse rows would lose the last digits, (d,)."""
    if not sparse.issparse(rows):
        if weights is None:
            return np.asarray(rows.sum(axis=0, dtype=np.float64))
        return np.asarray(weights.astype(np.float64) @ rows)
    data = rows.data if weights is None else rows.data * np.repeat(weights, np.diff(rows.indptr))
    return np.bincount(rows.indices, data, minlength=rows.shape[1]).astype(np.float64)


def between(rows: Rows, first: Array, side: Labels, weight: Array | None = None) -> float:
    """Return by how much a split lowers the squared distances of rows from the means of their sides (Ward)."""
    if not 0 < side.sum() < len(side):
        return 0.0
    members = side if weight is None else side * weight
    n = len(side) if weight is None else float(weight.sum())
    m = float(members.sum())
    other = column_sums(rows, members)
    gap = other / m - (first - other) / (n - m)
    return float(m * (n - m) / n * (gap @ gap))
