"""Tensor algebra by mode: unfolding, products with a matrix, scatter matrices."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from lvmkit.core.typing import Array

BLOCK = 64
"""Neighboring modes whose sizes multiply to no more are treated as one: few large products beat many small ones."""


def unfold(X: Array, mode: int) -> Array:
    """Return the matrix whose rows are the indices of a mode. X (p_1, ..., p_M)."""
    # Kolda 2009, section 2.4.
    return np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1)


def multiply(X: Array, matrices: Sequence[Array]) -> Array:
    """Multiply tensors by a matrix in each of their modes: [[X; A_1, ..., A_M]], (..., q_1, ..., q_M)."""
    # Kolda 2009, section 2.5.
    return Product(matrices)(X)


class Product:
    """Matrices to multiply tensors by in each of their modes, prepared to be used again and again."""

    def __init__(self, matrices: Sequence[Array]) -> None:
        self._shape = tuple(len(matrix) for matrix in matrices)
        self._factors: list[tuple[Array, int]] = []  # with how many entries the modes after it have
        after = 1
        for modes in reversed(_grouped([max(matrix.shape) for matrix in matrices])):
            factor = reduce(_kronecker, [matrices[mode] for mode in modes])
            self._factors.append((factor, after))
            after *= len(factor)

    def __call__(self, X: Array) -> Array:
        """Multiply tensors, (..., q_1, ..., q_M). X (..., p_1, ..., p_M)."""
        samples = X.shape[: X.ndim - len(self._shape)]
        for factor, after in self._factors:
            if after == 1:  # one large product instead of one for each block
                X = X.reshape(-1, factor.shape[1]) @ factor.T
            else:
                X = np.matmul(factor, X.reshape(-1, factor.shape[1], after))
        return X.reshape(*samples, *self._shape)


def rooted(X: Array, weight: Array | None) -> Array:
    """Multiply samples by the roots of their weights, for sums of products. X (n, p_1, ..., p_M), weight (n,)."""
    return X if weight is None else X * np.sqrt(weight).reshape(-1, *[1] * (X.ndim - 1))


def scatter(X: Array, order: int) -> list[Array]:
    """Sum the products of the unfolded tensors with themselves, (p_m, p_m) a mode. X (..., p_1, ..., p_M)."""
    sizes = X.shape[X.ndim - order :]
    found: list[Array] = []
    for modes in _grouped(sizes):
        after = int(np.prod(sizes[modes[-1] + 1 :]))
        group = [sizes[mode] for mode in modes]
        blocks = X.reshape(-1, int(np.prod(group)), after)
        rows = (
            blocks[..., 0] if after == 1 else blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])
        )
        found += _of_each(rows.T @ rows, group)
    return found


def _kronecker(left: Array, right: Array) -> Array:
    """Return the Kronecker product of two matrices, sooner than `numpy.kron` does for small ones."""
    product = left[:, np.newaxis, :, np.newaxis] * right[:, np.newaxis]
    return product.reshape(len(left) * len(right), -1)


def _of_each(product: Array, sizes: Sequence[int]) -> list[Array]:
    """Take the sums of squares of single modes from those of a group of modes."""
    if len(sizes) == 1:
        return [product]
    table = product.reshape(*sizes, *sizes)
    einsum: Any = np.einsum  # numpy's types do not know axes given as lists
    order = len(sizes)
    found = []
    for mode in range(order):
        left, right = list(range(order)), list(range(order))
        right[mode] = order
        found.append(np.asarray(einsum(table, left + right, [mode, order])))
    return found


def _grouped(sizes: Sequence[int]) -> list[list[int]]:
    """Join neighboring modes, from the last, as long as their sizes multiply to at most BLOCK."""
    groups: list[list[int]] = []
    for mode in reversed(range(len(sizes))):
        joined = groups[-1] if groups else []
        if joined and sizes[mode] * np.prod([sizes[m] for m in joined]) <= BLOCK:
            joined.insert(0, mode)
        else:
            groups.append([mode])
    return groups[::-1]
