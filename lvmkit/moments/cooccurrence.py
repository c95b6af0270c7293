"""Sums of x and xxᵀ over row blocks: by counting pairs or by dense products."""

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core.parallel import BLOCK_ROWS
from lvmkit.core.typing import Array
from lvmkit.moments.weightings import Weighting, counted

PAIR_COST = 500
"""Counting one pair of entries of a row takes as long as so many multiply-adds of a dense product."""

PAIRS_AT_ONCE = 1_500_000
"""Pairs counted in one block; each takes 16 bytes for a moment."""

DENSE_AT_ONCE = 4_000_000
"""Entries of a block that is made dense."""


def rows_at_once(X: Any) -> int:
    """Choose how many rows a block may have so that what it needs stays in tens of megabytes. X (n, d)."""
    n, d = X.shape
    if sparse.issparse(X) and _counting_is_cheaper(X):
        # Every block also costs d×d sums, so that it should have about as many pairs.
        return max(1, int(max(PAIRS_AT_ONCE, d * d // 2) * n / max(_pairs(X), 1.0)))
    return min(BLOCK_ROWS, max(256, DENSE_AT_ONCE // d))


def first_and_second(
    block: Any, weighting: Weighting, totals: Array, sample_weight: Array | None = None
) -> tuple[Array, Array]:
    """Sum Σ a₁x and Σ a₂(xxᵀ − diag x) over one block of rows. block (m, d), totals (m,), sample_weight (m,)."""
    weight = counted(weighting.row_weight(2, totals), sample_weight)
    first = np.asarray(block.T @ counted(weighting.row_weight(1, totals), sample_weight)).ravel()
    second = products(block, weight)
    if weighting.factorial:
        index = np.arange(len(first))
        second[index, index] -= np.asarray(block.T @ weight).ravel()
    return first, second


def products(block: Any, weight: Array) -> Array:
    """Sum a·xxᵀ over one block of rows, (d, d). block (m, d), weight (m,)."""
    if sparse.issparse(block) and _counting_is_cheaper(block):
        return _count_pairs(block, weight)
    dense = block.toarray() if sparse.issparse(block) else np.asarray(block)
    if (weight == 1).all() and len(dense) < 2**24 and _is_binary(dense):
        dense = dense.astype(np.float32)  # counts below 2**24 are exact in single precision
        return np.asarray((dense.T @ dense).astype(np.float64))
    dense = dense.astype(np.float64)
    return np.asarray(dense.T @ (weight[:, None] * dense))


def _is_binary(dense: Array) -> bool:
    """Tell whether all entries are 0 or 1."""
    return bool(((dense == 0) | (dense == 1)).all())


def _counting_is_cheaper(block: Any) -> bool:
    """Compare the number of pairs within rows with the cost of a dense product."""
    return bool(_pairs(block) * PAIR_COST < block.shape[0] * float(block.shape[1]) ** 2)


def _pairs(block: Any) -> float:
    """Count the pairs of entries within rows."""
    lengths = np.diff(block.indptr).astype(np.float64)
    return float((lengths * (lengths - 1)).sum() / 2)


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
    index = np.arange(d)
    second[index, index] += _squares(block, weight, plain=plain)
    return second


def _squares(block: Any, weight: Array, *, plain: bool) -> Array:
    """Sum a·x² of every feature; of 0/1 rows that is how often it occurs."""
    if plain:
        return np.bincount(block.indices, minlength=block.shape[1]).astype(np.float64)
    return np.asarray(block.multiply(block).T @ weight).ravel()
