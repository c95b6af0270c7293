"""Row blocks on a thread pool: summing data larger than the cache or memory; BLAS held at one thread."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from lvmkit.core.typing import Array, Counts
from lvmkit.core.validation import require_number

T = TypeVar("T")

BLOCK_ROWS = 8_000
"""Rows of a block: its scores stay in a core's cache, and 10,000 rows already use two cores."""


def row_blocks(X: Counts, size: int = BLOCK_ROWS) -> Iterator[Any]:
    """Yield consecutive row blocks of `X`; sparse blocks share the memory of `X`."""
    for start in range(0, max(X.shape[0], 1), size):
        yield rows_between(X, start, min(start + size, X.shape[0]))


def rows_between(X: Counts, start: int, stop: int) -> Any:
    """Return the rows start..stop-1 of `X` without copying them."""
    if not sparse.issparse(X):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    # Set one by one: the constructor would copy what is a small part of a larger array.
    block = sparse.csr_array((stop - start, X.shape[1]), dtype=X.dtype)
    block.data, block.indices = X.data[first:last], X.indices[first:last]
    block.indptr = X.indptr[start : stop + 1] - first
    return block


def map_blocks(
    function: Callable[..., T],
    X: Counts,
    size: int = BLOCK_ROWS,
    *,
    along: Array | None = None,
    workers: int | None = None,
) -> Iterator[T]:
    """Apply `function` to every row block, and to its part of `along`, on threads; results in the order of the rows."""
    # The blocks do not depend on the number of cores and their results are taken in order, so that sums over them are
    # the same on every machine. At most two blocks per thread wait, so that memory stays bounded.
    if sparse.issparse(X) and X.format != "csr":
        X = sparse.csr_array(X)
    workers = workers or n_threads()
    blocks = cut_along(X, along, size)
    if workers == 1 or X.shape[0] <= size:
        yield from (function(*block) for block in blocks)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting = []
        for block in blocks:
            waiting.append(pool.submit(function, *block))
            if len(waiting) > 2 * workers:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


def cut_along(X: Counts, along: Array | None, size: int = BLOCK_ROWS) -> Iterator[tuple[Any, ...]]:
    """Yield row blocks, each with its part of an array (n,) if there is one."""
    for number, block in enumerate(row_blocks(X, size)):
        yield (block,) if along is None else (block, along[number * size : (number + 1) * size])


def sum_blocks(
    function: Callable[..., tuple[Any, ...]],
    X: Counts,
    size: int = BLOCK_ROWS,
    *,
    along: Array | None = None,
) -> list[Any]:
    """Sum, in double precision, the arrays that `function` returns for every row block and its part of `along`."""
    totals: list[Any] = []
    for parts in map_blocks(function, X, size, along=along):
        if not totals:
            totals = [np.asarray(part, dtype=np.float64).copy() for part in parts]
        else:
            for total, part in zip(totals, parts, strict=True):
                total += part
    return totals


def n_threads() -> int:
    """Return the number of cores this process may use, at most 8; LVMKIT_THREADS overrides it."""
    asked = os.environ.get("LVMKIT_THREADS")
    if asked:
        return max(1, int(asked))
    cores = (
        os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    )
    return min(8, len(cores))


@cache
def _controller() -> ThreadpoolController:
    """Find the BLAS libraries once; the search costs milliseconds."""
    return ThreadpoolController()


def _take_over() -> None:
    """Let this thread set the limit of OpenBLAS, which otherwise only the first thread that set one may."""
    # The lock below sees to it that threads do not set it against each other.
    for library in _controller().lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)


class _BlasLimit:
    """How many fits hold BLAS at one thread; overlapping ones must not restore each other's limit."""

    lock = Lock()
    depth = 0
    limit: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS at one thread: our own pool over row blocks uses the cores better."""
    # The limit holds for the process; when fits overlap, the last one to end lifts it.
    with _BlasLimit.lock:
        if _BlasLimit.depth == 0:
            _take_over()
            _BlasLimit.limit = _controller().limit(limits=1, user_api="blas")
        _BlasLimit.depth += 1
    try:
        yield
    finally:
        with _BlasLimit.lock:
            _BlasLimit.depth -= 1
            if _BlasLimit.depth == 0:
                _take_over()
                _BlasLimit.limit.restore_original_limits()


MOST_JOBS = 4_096
"""Threads that may be asked for, or left to others; what is beyond is a slip."""


def workers_of(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` means, as in scikit-learn: None and -1 for all cores."""
    if n_jobs is None:
        return n_threads()
    require_number(n_jobs, "n_jobs", least=-MOST_JOBS, whole=True)
    if n_jobs > MOST_JOBS:
        msg = f"n_jobs={n_jobs:,} is more than any machine has; pass at most {MOST_JOBS:,}, or -1 for all cores"
        raise ValueError(msg)
    if n_jobs == 0:
        msg = "n_jobs=0 threads can do nothing; pass 1 or more, or -1 for all cores"
        raise ValueError(msg)
    return int(n_jobs) if n_jobs > 0 else max(1, n_threads() + 1 + int(n_jobs))
