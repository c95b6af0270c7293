"""Baseline splits: principal direction and two-means."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans

from lvmkit.core.linalg import fix_signs, top_eigenpairs
from lvmkit.core.typing import Array
from lvmkit.trees.eigenpairs import SMALL, leading_two
from lvmkit.trees.splits import NoSplit, Rows, Split, Sums, between, linear_split

ROUNDING = 1e-13
"""Variation below this part of the squares is what single precision makes of equal rows."""


def principal_split(rows: Rows, sums: Sums) -> Split | NoSplit:
    """Split rows by the side of the mean that they lie on, along the first principal direction. rows (n, d)."""
    # Principal direction divisive partitioning, Boley, Data Mining and Knowledge Discovery 2 (1998).
    n = sums.total(rows)
    mean = sums.first / n
    values, direction = _principal(rows, sums, mean)
    if values <= ROUNDING * _square(rows, sums.weight) / n:
        return NoSplit("its rows do not vary beyond rounding")
    along = np.asarray(rows @ direction).ravel() - float(mean @ direction)
    slopes, offsets = np.stack([-direction, direction]), float(mean @ direction) * np.array([1, -1])
    split = linear_split(slopes, offsets, np.column_stack([-along, along]), 0.0)
    return split._replace(strength=_explained(rows, sums, split))


def two_means(rows: Rows, sums: Sums, *, random_state: int) -> Split | NoSplit:
    """Split rows by scikit-learn's k-means with two clusters, one start, as its bisecting k-means does. rows (n, d)."""
    with np.errstate(invalid="ignore"):  # five rows on AVX-512: see `factorization.updates`
        found = KMeans(2, n_init=1, random_state=random_state).fit(rows, sample_weight=sums.weight)
    centers = found.cluster_centers_.astype(np.float64)
    offsets = -(centers**2).sum(axis=1)
    split = linear_split(2 * centers, offsets, rows @ (2 * centers).T + offsets, 0.0, centers)
    return split._replace(strength=_explained(rows, sums, split))


def _principal(rows: Rows, sums: Sums, mean: Array) -> tuple[float, Array]:
    """Return the largest eigenvalue of the covariance, and its eigenvector."""
    n, d, weight = sums.total(rows), rows.shape[1], sums.weight
    if sums.second is not None:
        values, vectors = leading_two(
            rows, Sums(sums.first, sums.second - n * np.outer(mean, mean)), np.ones(d)
        )
        return float(values[0]), vectors[:, 0]

    def product(v: Array) -> Array:
        v = v.ravel()
        along = rows @ v if weight is None else weight * (rows @ v)
        return np.asarray(rows.T @ along) / n - mean * float(mean @ v)

    matrix: Any = LinearOperator((d, d), matvec=product, dtype=np.float64)
    if d <= SMALL:
        dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)
        centered = dense - mean
        matrix = (centered if weight is None else weight[:, None] * centered).T @ centered / n
    found, vectors = top_eigenpairs(matrix, 1)
    return float(found[0]), fix_signs(vectors)[:, 0]


def _square(rows: Rows, weight: Array | None) -> float:
    """Sum the squares of all entries. rows (n, d), weight (n,)."""
    if weight is not None:
        squares = rows.multiply(rows) if sparse.issparse(rows) else np.square(rows, dtype=float)
        return float(weight @ np.asarray(squares.sum(axis=1)).ravel())
    values = rows.data if sparse.issparse(rows) else rows
    return float(np.square(values, dtype=np.float64).sum())


def _explained(rows: Rows, sums: Sums, split: Split) -> float:
    """Return the share of the variation that lies between the sides."""
    squares = _square(rows, sums.weight)
    total = squares - float(sums.first @ sums.first) / sums.total(rows)
    return (
        min(between(rows, sums.first, split.side, sums.weight) / total, 1.0) if total > 0 else 0.0
    )
