"""D-SIDIWO: a split by the second-order geometry of the rows."""

import numpy as np
from scipy import sparse

from lvmkit.core.linalg import joint_rotation
from lvmkit.core.parallel import cut_along, row_blocks
from lvmkit.core.typing import Array
from lvmkit.trees.eigenpairs import leading_two
from lvmkit.trees.nodes import chosen_side
from lvmkit.trees.splits import NoSplit, Rows, Split, Sums

FLAT = 1e-10
"""A second direction with less of the variation than this is rounding."""


def data_split(rows: Rows, sums: Sums, *, equalize: float) -> Split | NoSplit:
    """Split rows by two discriminators, each orthogonal to the other side as far as possible. rows (n, d)."""
    # Ruffini thesis, Algorithm 5, with problem 6.7 in closed form. Features of 0/1 data differ in frequency by orders
    # of magnitude, and the raw second moment sees the most frequent ones only: see `SpectralTree`.
    scale = feature_scale(rows, sums, equalize)
    values, vectors = leading_two(rows, sums, scale)
    if values[1] <= FLAT * values[0]:
        return NoSplit(_one_direction(_squares(rows, sums)))
    whitener = scale[:, None] * (vectors / np.sqrt(values))
    slices = _slices(rows, whitener, sums.weight) * (scale / sums.total(rows))[:, None]
    rotation = joint_rotation(slices[:, [[0, 1], [1, 2]]])
    discriminators = (whitener @ rotation).T
    # As later rows are judged, to the last digit: the whitened scores would differ from these by rounding.
    scores = np.concatenate([part @ discriminators.T for part in row_blocks(rows)])
    side = chosen_side(scores, "absolute")
    counted = scores if sums.weight is None else scores * sums.weight[:, None]
    signs = np.array([-1.0 if counted[side == j, j].sum() < 0 else 1.0 for j in (0, 1)])
    return Split(discriminators * signs[:, None], np.zeros(2), "absolute", side, _clarity(slices))


def feature_scale(rows: Rows, sums: Sums, equalize: float) -> Array:
    """Return the scale of features: mean squares to the power −`equalize`, 0 for absent ones."""
    if not equalize:
        return np.ones(rows.shape[1])
    squares = _squares(rows, sums) / sums.total(rows)
    floor = 1e-4 * float(squares.max(initial=0.0)) or 1.0
    return np.where(squares > 0, np.maximum(squares, floor) ** -equalize, 0.0)


def _squares(rows: Rows, sums: Sums) -> Array:
    """Sum the squares of every feature."""
    if sums.second is not None:
        return np.asarray(np.diagonal(sums.second))
    if not sparse.issparse(rows):
        counted = rows if sums.weight is None else rows * sums.weight[:, None]
        return np.einsum("ij,ij->j", counted, rows, dtype=np.float64)
    values = rows.data.astype(np.float64)
    values *= values
    if sums.weight is not None:
        values *= np.repeat(sums.weight, np.diff(rows.indptr))
    return np.bincount(rows.indices, values, minlength=rows.shape[1]).astype(np.float64)


def _slices(rows: Rows, whitener: Array, weight: Array | None) -> Array:
    """Return Σ x (z₁², z₁z₂, z₂²) with z = Wᵀx."""
    total = np.zeros((rows.shape[1], 3))
    for part, *often in cut_along(rows, weight):
        block = part.astype(np.float64, copy=False)
        Z = np.asarray(block @ whitener)
        products = np.column_stack([Z[:, 0] ** 2, Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])
        total += block.T @ (often[0][:, None] * products if often else products)
    return total


def _one_direction(squares: Array) -> str:
    """Return why there is no second direction to split by."""
    largest = int(squares.argmax())
    if (
        len(squares) > 1
        and squares[largest] < squares.sum()
        and squares[largest] > (1 - 1e-6) * squares.sum()
    ):
        return (
            f"feature {largest} outweighs all others by far: center it, scale it, or leave it out"
        )
    return "its rows point in one direction: no second one to split by"


def _clarity(slices: Array) -> float:
    """Return √(A² + B²)/C of slices stored as (h₁₁, h₁₂, h₂₂)."""
    h, f = slices[:, 1], slices[:, 0] - slices[:, 2]
    constant = float((h * h + f * f / 4).sum()) / 2
    swing = np.hypot(float((h * h - f * f / 4).sum()), float((h * f).sum())) / 2
    return float(min(swing / constant, 1.0)) if constant > 0 else 0.0
