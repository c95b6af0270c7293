"""Products of the unfolded counts with factors (MTTKRP), by row blocks on threads."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from lvmkit.core.parallel import rows_between
from lvmkit.core.typing import Array
from lvmkit.sustain.unfolding import EXACT, Unfolded

T = TypeVar("T")
Pool = ThreadPoolExecutor | None

BLOCK_ROWS = 30_000
"""Rows of a block: what it writes stays in a core's cache."""

GROUPS = 8
"""Tasks that a pass over the rows is cut into for threads."""


def over_blocks(
    function: Callable[[int, int], T], n_rows: int, *, pool: Pool = None, size: int = BLOCK_ROWS
) -> Iterator[T]:
    """Call `function(start, stop)` for blocks of rows; results come in the order of the rows."""
    # The blocks do not depend on the number of threads, so that sums over them do not either. A thread takes several in
    # a row: handing over costs as much as a short one.
    ends = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if pool is None or len(ends) == 1:
        yield from itertools.starmap(function, ends)
        return
    share = -(-len(ends) // GROUPS)
    groups = [ends[i : i + share] for i in range(0, len(ends), share)]
    for results in pool.map(lambda group: list(itertools.starmap(function, group)), groups):
        yield from results


def mttkrp_rows(
    data: Unfolded, factors: list[Array], *, exact: bool = True, pool: Pool = None
) -> Array:
    """Multiply the unfolded counts by the Khatri-Rao product of the other modes (MTTKRP of the rows' mode)."""
    right = data.khatri_rao(factors)
    bound = data.totals[0] * (np.abs(right).max() if right.size else 0)
    kind = np.float32 if bound < EXACT or not exact else np.float64
    n_components, right = right.shape[1], _padded(right, kind)
    result = np.empty((n_components, data.rows.shape[0]), dtype=kind)

    def write(start: int, stop: int) -> None:
        product = _block(data.rows, start, stop, kind) @ right
        result[:, start:stop] = product[:, :n_components].T

    for _ in over_blocks(write, data.rows.shape[0], pool=pool):
        pass
    return result


def row_sums(data: Unfolded, factor: Array, *, exact: bool = True, pool: Pool = None) -> Array:
    """Sum the unfolded counts over the rows, weighted by the factor of their mode, (n_columns, R). factor (R, I_m)."""
    n_rows, n_columns = data.rows.shape
    # A block's result is as long as the columns: it should hold at least as many entries.
    size = max(BLOCK_ROWS, n_rows * n_columns // max(data.rows.nnz, 1))
    _, column_total, largest = data.totals
    bound = min(column_total, size * largest) * np.abs(factor).max()
    kind = np.float32 if bound < EXACT or not exact else np.float64

    def summed(start: int, stop: int) -> Array:
        left = _padded(factor[:, start:stop].T, kind)
        return (_block(data.rows, start, stop, kind).T @ left)[:, : len(factor)]

    total = np.zeros((n_columns, len(factor)))
    for part in over_blocks(summed, n_rows, pool=pool, size=size):
        total += part
    return total


def mttkrp_columns(data: Unfolded, sums: Array, factors: list[Array], mode: int) -> Array:
    """Contract the sums of `row_sums` with the factors of the other modes (MTTKRP of a columns' mode), (R, I_mode)."""
    if len(data.shape) == 2:
        return np.ascontiguousarray(sums.T)
    weighted = sums * data.khatri_rao(factors, but=mode)
    return np.ascontiguousarray((data.selectors[mode] @ weighted).T)


def mttkrp_by_mode(
    data: Unfolded, factors: list[Array], *, pool: Pool = None
) -> Callable[[int], Array]:
    """Return the function that gives the MTTKRP of a mode, (R, I_mode), of `factors` (R, I_n) as they are by then."""
    # Two passes over the counts for any number of modes: the sums over the rows are kept until the factor of the rows
    # changes, which its own products come before.
    sums: Array | None = None

    def products(mode: int) -> Array:
        nonlocal sums
        if mode == data.mode:
            sums = None
            return mttkrp_rows(data, factors, pool=pool)
        if sums is None:
            sums = row_sums(data, factors[data.mode], pool=pool)
        return mttkrp_columns(data, sums, factors, mode)

    return products


def _padded(columns: Array, kind: Any) -> Array:
    """Add columns of zeros up to a multiple of eight: sparse products run faster by a third on whole registers."""
    n_columns = columns.shape[1]
    padded = np.zeros((len(columns), -(-n_columns // 8) * 8), dtype=kind)
    padded[:, :n_columns] = columns
    return padded


def _block(rows: Any, start: int, stop: int, kind: Any) -> Any:
    """Return rows in the precision of the product."""
    block = rows_between(rows, start, stop)
    if block.dtype != kind:
        block.data = block.data.astype(kind)
    return block
