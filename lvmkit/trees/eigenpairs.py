"""The two leading eigenpairs of a node's rows: from sums, rows or their products."""

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from lvmkit.core.linalg import fix_signs
from lvmkit.core.typing import Array
from lvmkit.trees.splits import Rows, Sums

SMALL = 100
"""Up to this many rows or columns a full symmetric eigensolver is fastest."""


def leading_two(rows: Rows, sums: Sums, scale: Array) -> tuple[Array, Array]:
    """Return the two largest eigenvalues of the second moment, and their eigenvectors. rows (n, d), scale (d,)."""
    n, d = rows.shape
    roots = None if sums.weight is None else np.sqrt(sums.weight)
    if sums.second is not None:
        values, vectors = _largest(sums.second * (scale[:, None] * scale), sums.first * scale)
    elif min(n, d) <= SMALL:
        values, vectors = _of_few(rows, scale, roots)
    else:
        values, vectors = _largest(_operator(rows, scale, roots), sums.first * scale)
    return np.maximum(values / sums.total(rows), 0.0), fix_signs(vectors)


def _largest(matrix: Any, start: Array) -> tuple[Array, Array]:
    """Decompose fully if the matrix is small, else by Lanczos iterations from a fixed start."""
    d = matrix.shape[0]
    if d == 1:
        return np.array([float(matrix[0, 0]), 0.0]), np.array([[1.0, 0.0]])
    if d <= SMALL:
        values, vectors = linalg.eigh(matrix, subset_by_index=(d - 2, d - 1))
    else:
        # The start leans on every feature a little differently, so that no symmetry of the data hides a direction.
        uneven = 1 + np.modf(np.arange(d) * 0.6180339887498949)[0]
        values, vectors = eigsh(matrix, 2, which="LA", v0=np.abs(start) * uneven + 1e-12, tol=1e-9)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _of_few(rows: Rows, scale: Array, roots: Array | None) -> tuple[Array, Array]:
    """Decompose the Gram matrix of few rows, or of few features that occur."""
    n, d = rows.shape
    if sparse.issparse(rows):
        used, places = np.unique(rows.indices, return_inverse=True)
        dense = np.zeros((n, len(used)))
        np.add.at(dense, (np.repeat(np.arange(n), np.diff(rows.indptr)), places), rows.data)
    else:
        used, dense = np.arange(d), np.asarray(rows, dtype=np.float64)
    dense = dense * scale[used]
    if roots is not None:
        dense *= roots[:, None]
    products = dense @ dense.T if n <= len(used) else dense.T @ dense
    values, small = _largest(products, np.ones(len(products)))
    values = np.maximum(values, 0.0)
    vectors = np.zeros((d, 2))
    if n <= len(used):
        lengths = np.sqrt(np.where(values > 0, values, 1.0))
        small = dense.T @ small / lengths
    vectors[used] = small
    return values, vectors


def _operator(rows: Rows, scale: Array, roots: Array | None) -> LinearOperator:
    """Return the second moment as products with the rows, scaled once. scale (d,), roots of the weights (n,)."""
    if sparse.issparse(rows):
        scaled = sparse.csr_array(rows, dtype=np.float64, copy=True)
        scaled.data *= scale[scaled.indices]
        if roots is not None:
            scaled.data *= np.repeat(roots, np.diff(scaled.indptr))
    else:
        scaled = rows * scale if roots is None else rows * scale * roots[:, None]
    across = scaled.T
    d = rows.shape[1]
    return LinearOperator((d, d), matvec=lambda v: across @ (scaled @ v.ravel()), dtype=np.float64)
