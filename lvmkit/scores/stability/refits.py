"""Repeated fits: rows and seeds drawn beforehand, fits on a pool of threads, and the clusters found."""

import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from lvmkit.core import features
from lvmkit.core.linalg import random_state_of
from lvmkit.core.parallel import n_threads, single_threaded_blas
from lvmkit.core.typing import Labels, RandomState
from lvmkit.core.validation import (
    check_source,
    listed,
    refuse_entries,
    refuse_shape,
    require_number,
    unmasked,
    widened,
)
from lvmkit.scores.counts import cluster_ids

Protocol = Literal["overlapping", "bootstrap", "halves"]
PROTOCOLS = ("overlapping", "bootstrap", "halves")


class PlannedFit(NamedTuple):
    """One fit on a part of the rows."""

    rows: Labels  # Rows to fit, in this order
    seeds: tuple[int, ...]


class Repeat(NamedTuple):
    """One repeat."""

    fits: tuple[PlannedFit, ...]
    compared: Labels  # Rows whose clusters are compared


def draw_repeats(
    estimator: Any,
    n_rows: int,
    *,
    protocol: str,
    shared: float,
    n_repeats: int,
    random_state: Any,
) -> list[Repeat]:
    """Draw rows and seeds of every repeat; more repeats leave the first ones as they are."""
    if protocol not in PROTOCOLS:
        msg = f"protocol is one of {listed(PROTOCOLS)}; found {protocol!r}"
        raise ValueError(msg)
    if protocol == "overlapping":
        sizes = _part_sizes(n_rows, shared)
    elif n_rows < 2:
        msg = f"protocol={protocol!r} draws from 2 rows or more; X has {n_rows}"
        raise ValueError(msg)
    if n_repeats < 1:
        msg = f"n_repeats must be 1 or more; found {n_repeats!r}"
        raise ValueError(msg)
    require_number(n_repeats, "n_repeats", least=1, whole=True)
    random = random_state_of(random_state)
    n_seeds = len(seed_names(estimator))
    made = []
    for _ in range(n_repeats):
        if protocol == "overlapping":
            parts, compared = _overlapping(n_rows, *sizes, random)
        elif protocol == "bootstrap":
            parts = [random.randint(n_rows, size=n_rows)]
            compared = np.unique(parts[0])
        else:
            order = random.permutation(n_rows)
            parts, compared = [order[: n_rows // 2], order[n_rows // 2 :]], np.arange(n_rows)
        fits = tuple(PlannedFit(rows, _seeds(random, n_seeds)) for rows in parts)
        made.append(Repeat(fits, compared))
    return made


def _overlapping(
    n_rows: int, n_shared: int, n_own: int, random: np.random.RandomState
) -> tuple[list[Labels], Labels]:
    """Return the rows of two parts, those of both first; and those of both."""
    order = random.permutation(n_rows)
    both = order[:n_shared]
    starts = (n_shared, n_shared + n_own)
    return [np.concatenate([both, order[start : start + n_own]]) for start in starts], both


def _part_sizes(n_rows: int, shared: float) -> tuple[int, int]:
    """Return the number of shared rows and of each part's own."""
    n_own = int(n_rows * (1 - shared) / 2 + 1e-9) if 0 < shared < 1 else 0
    n_shared = round(n_rows * shared) if n_own else 0
    if n_own < 1 or n_shared < 1:
        msg = (
            "shared is the share of rows in both parts, between 0 and 1, and must leave each part "
            "rows of its own; "
            f"found {shared!r} for {n_rows} rows"
        )
        raise ValueError(msg)
    return n_shared, n_own


def options_of(estimator: Any) -> dict[str, Any]:
    """Return the options of an estimator; refuse what is none."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        found = "a class; call it" if isinstance(estimator, type) else repr(estimator)[:60]
        msg = f"estimator must be an estimator with fit and get_params; found {found}"
        raise TypeError(msg)
    options: dict[str, Any] = clone(estimator).get_params()
    return options


def seed_names(estimator: Any) -> list[str]:
    """Return the options of an estimator that are seeds, also inside a pipeline."""
    return [
        name for name in sorted(options_of(estimator)) if name.split("__")[-1] == "random_state"
    ]


def _seeds(random: np.random.RandomState, n: int) -> tuple[int, ...]:
    """Draw seeds one after the other."""
    return tuple(int(random.randint(2**31 - 1)) for _ in range(n))


def whole(estimator: Any, n_rows: int, random_state: RandomState) -> PlannedFit:
    """Return the fit on all rows, which draws nothing from what the repeats draw."""
    random = random_state_of(random_state)
    return PlannedFit(np.arange(n_rows), _seeds(random, len(seed_names(estimator))))


T = TypeVar("T")
Report = Callable[[float], None]
UNSEEN = -2
"""Label of a row that a fit knows nothing of; −1 is a row that belongs to no cluster (noise)."""
SMALL = 5_000  # fits on fewer rows are over before threads could help
_POLL = 0.1  # seconds between two looks at whether to stop


class _Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The results of a fit are not wanted any more."""


def rows_of(X: Any) -> Any:
    """Return sparse rows, a DataFrame or an array with as many rows as `X`."""
    matrix, _ = features.unwrapped(X)
    if sparse.issparse(matrix):
        refuse_shape(matrix, "X")
        return _with_short_indexes(sparse.csr_array(widened(matrix)))
    matrix = matrix if hasattr(matrix, "shape") else np.asarray(matrix)
    if not matrix.shape:
        refuse_shape(matrix, "X")
    return matrix


def _with_short_indexes(rows: Any) -> Any:
    """Return sparse rows with indexes of 32 bits where they do: scikit-learn asks for them."""
    if rows.indices.dtype == np.int32 or max(*rows.shape, rows.nnz) >= 2**31:
        return rows
    indices, ends = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array((rows.data, indices, ends), shape=rows.shape)


def _refuse_gaps(estimator: Any, matrix: Any) -> None:
    """Refuse entries that are no finite numbers, by their place in all rows, if an estimator cannot take them."""
    if get_tags(estimator).input_tags.allow_nan:
        return
    try:
        check_source(matrix)
    except ValueError:  # texts or dates, which an estimator may take
        return
    refuse_entries(matrix, "X")


def take_rows(matrix: Any, rows: Labels) -> Any:
    """Rows of an array, sparse matrix or DataFrame."""
    return matrix.iloc[rows] if hasattr(matrix, "iloc") else matrix[rows]


def refit(estimator: Any, rows: Any, seeds: tuple[int, ...], report: Report) -> Any:
    """Fit a copy of an estimator with other seeds; it is told to stop where it reports progress."""
    fresh = clone(estimator)
    fresh.set_params(**dict(zip(seed_names(fresh), seeds, strict=True)))
    more: dict[str, Any] = {}
    if "progress" in inspect.signature(fresh.fit).parameters:
        more["progress"] = lambda _text, done: report(float(done))
    try:
        return fresh.fit(rows, **more)
    except ValueError as error:
        msg = f"{type(fresh).__name__} cannot be fitted to {rows.shape[0]:,} of the rows: {error}"
        raise ValueError(msg) from error


def labels_of(fitted: Any, rows: Any) -> Labels:
    """Return the clusters of the rows that a model was fitted to."""
    labels = getattr(fitted, "labels_", None)
    if labels is None and not hasattr(fitted, "predict"):
        msg = (
            f"{type(fitted).__name__} has neither labels_ nor predict after fit, so that it tells no "
            "clusters; pass a clusterer"
        )
        raise ValueError(msg)
    return numbered(fitted.predict(rows) if labels is None else labels)


def numbered(labels: Any) -> Labels:
    """Return cluster numbers; all negative ones, such as DBSCAN's, are −1."""
    return np.maximum(cluster_ids(np.asarray(unmasked(labels, "labels"))), -1)


def found_by(
    estimator: Any, matrix: Any, part: PlannedFit, report: Report, *, everyone: bool
) -> Labels:
    """Fit to some rows; return the clusters of these rows, or what `predict` says of every row."""
    if everyone and not hasattr(estimator, "predict"):
        msg = (
            f"protocol='halves' needs predict, which {type(estimator).__name__} does not have; use "
            "'overlapping' or 'bootstrap'"
        )
        raise ValueError(msg)
    rows = take_rows(matrix, part.rows)
    try:
        model = refit(estimator, rows, part.seeds, report)
    except ValueError:
        _refuse_gaps(estimator, matrix)
        raise
    if everyone:
        return numbered(model.predict(matrix))
    found = np.full(matrix.shape[0], UNSEEN, dtype=np.int64)
    found[part.rows] = labels_of(model, rows)
    return found


def n_workers(matrix: Any) -> int:
    """Return how many fits to make side by side."""
    return n_threads() if matrix.shape[0] > SMALL else 1


def in_order(
    tasks: Sequence[Callable[[Report], T]], tell: Callable[[int, float], None], *, workers: int
) -> Iterator[T]:
    """Do tasks side by side and yield their results in order."""
    # each task holds the limit, not this generator, which may stay suspended for as long as its caller likes
    if workers == 1:
        for i, task in enumerate(tasks):
            tell(i, 0.0)
            yield _alone(task, partial(tell, i))
    else:
        yield from _side_by_side(tasks, tell, workers)


def _alone(task: Callable[[Report], T], report: Report) -> T:
    """Do a task with the numerical libraries at one thread."""
    with single_threaded_blas():
        return task(report)


def _side_by_side(
    tasks: Sequence[Callable[[Report], T]], tell: Callable[[int, float], None], workers: int
) -> Iterator[T]:
    """Do tasks on a pool of threads; what is under way when the work ends is told to stop."""
    stop = threading.Event()

    def report(_: float) -> None:
        if stop.is_set():
            raise _Stopped

    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for i in range(len(tasks)):
                for task in tasks[i + len(waiting) : i + workers + 1]:
                    waiting.append(pool.submit(_alone, task, report))
                tell(i, 0.0)
                while wait_for([waiting[0]], timeout=_POLL).not_done:
                    tell(i, 0.0)
                yield waiting.popleft().result()
        finally:
            stop.set()
            for future in waiting:
                future.cancel()
