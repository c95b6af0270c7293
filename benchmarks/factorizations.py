"""Seconds per iteration and memory of integer factorization, beside real ones: SUSTain, tables 4 and 5.

Run as ``python benchmarks/factorizations.py [--quick] [--threads N]``; methods are held to the threads that their line
says.
"""

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.measure import (
    THREAD_VARIABLES,
    Options,
    PeakMemory,
    in_new_process,
    machine,
    options,
)
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit.datasets import make_poisson_counts
from lvmkit.sustain.coordinate_descent import refine
from lvmkit.sustain.mttkrp import Pool
from lvmkit.sustain.multi_start import threads
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

R = 10
TENSOR_MODES = (250, 350)


class Iteration(NamedTuple):
    """What one iteration costs."""

    seconds: float
    """Median of the runs."""
    megabytes: float
    """Peak above the level with the data loaded in the form that the method takes."""
    fit: float | None = None


def main(chosen: Options) -> None:
    """Measure matrices and tensors of two sizes and print."""
    print(machine(chosen))
    sizes = (20_000, 40_000) if chosen.quick else (246_000, 985_000)
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            matrices(Path(folder), n, chosen)
        tensors(
            Path(folder),
            [size // 10 if not chosen.quick else 2_000 for size in sizes[:1]] + [sizes[0]],
            chosen,
        )


def matrices(folder: Path, n: int, chosen: Options) -> None:
    """Compare with NMF by coordinate descent."""
    path = stored(folder, n, 583)
    runs = 1 if chosen.quick else 5
    nmf = in_new_process(measured, nmf_iterations, path, 1, runs)
    ours = {w: in_new_process(measured, own_iterations, path, w, runs) for w in (1, 2)}
    rows = [("NMF (cd)", 1, *nmf[:2], 1.0)]
    rows += [("SUSTain", w, *found[:2], found.seconds / nmf.seconds) for w, found in ours.items()]
    print_table(
        f"{n:,} x 583, R = {R}: one iteration", ("method", "threads", "s", "MB", "of NMF's"), rows
    )
    print_goals(
        Goal(f"{n:,} x 583: time / NMF, 1 thread", ours[1].seconds / nmf.seconds, most=1.1),
        Goal(f"{n:,} x 583: time / NMF, 2 threads", ours[2].seconds / nmf.seconds, most=0.6),
        Goal(f"{n:,} x 583: MB", ours[2].megabytes, most=300.0),
    )


def tensors(folder: Path, sizes: list[int], chosen: Options) -> None:
    """Compare with the CP decompositions of pyttb and pygenten."""
    rows, per_patient, last = [], [], {}
    for n in sizes:
        path = stored(folder, n, TENSOR_MODES)
        runs = 1 if chosen.quick else 5
        last = {
            ("SUSTain", 1): in_new_process(measured, own_iterations, path, 1, runs),
            ("SUSTain", 2): in_new_process(measured, own_iterations, path, 2, runs),
            ("pygenten cp_als", 1): in_new_process(
                measured, genten_iterations, path, 1, min(runs, 3)
            ),
            ("pyttb cp_als", 1): in_new_process(measured, pyttb_iterations, path, 1, 1),
        }
        ours = last["SUSTain", 1].seconds
        per_patient.append(ours / n)
        rows += [
            (f"{n:,}", name, w, found.seconds, found.megabytes, found.seconds / ours)
            for (name, w), found in last.items()
        ]
    title = f"patients x {' x '.join(map(str, TENSOR_MODES))}, R = {R}: one iteration"
    print_table(title, ("patients", "method", "threads", "s", "MB", "of SUSTain's"), rows)
    ours = last["SUSTain", 1].seconds
    print_goals(
        Goal(
            "time of pyttb / SUSTain, 1 thread", last["pyttb cp_als", 1].seconds / ours, least=35.0
        ),
        Goal(
            "time of pygenten / SUSTain, 1 thread",
            last["pygenten cp_als", 1].seconds / ours,
            least=2.5,
        ),
        Goal("MB", max(last["SUSTain", w].megabytes for w in (1, 2)), most=150.0),
        Goal("time per patient, largest / smallest", per_patient[-1] / per_patient[0], most=1.2),
    )


def stored(folder: Path, n: int, n_features: int | tuple[int, int]) -> Path:
    """Simulate counts and write their coordinates, so that every process reads the same."""
    X = make_poisson_counts(n, n_features, R, random_state=0).X
    X = sparse.coo_array(X)
    path = folder / f"{n}-{X.ndim}.npz"
    coords = [place.astype(np.int32) for place in X.coords]
    np.savez(path, *coords, data=X.data.astype(np.uint8), shape=X.shape)
    return path


def read(path: Path) -> Any:
    """Return the counts as coordinates."""
    with np.load(path) as held:
        shape = tuple(int(size) for size in held["shape"])
        coords = tuple(held[f"arr_{n}"] for n in range(len(shape)))
        return sparse.coo_array((held["data"].astype(np.float32), coords), shape=shape)


def measured(
    method: Callable[[Path, int], Callable[[int], Any]], path: Path, workers: int, runs: int
) -> Iteration:
    """Return the cost of an iteration: what three cost less what one does, halved; for new processes."""
    warnings.simplefilter("ignore")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(workers)))
    iterate = method(path, workers)
    with PeakMemory() as memory:
        iterate(1)
    spent = []
    for _ in range(runs):
        seconds = []
        for steps in (1, 3):
            start = time.perf_counter()
            iterate(steps)
            seconds.append(time.perf_counter() - start)
        spent.append((seconds[1] - seconds[0]) / 2)
    return Iteration(float(np.median(spent)), memory.megabytes)


def own_iterations(path: Path, workers: int) -> Callable[[int], Any]:
    """Iterate Algorithms 1 and 3 from random scores."""
    threadpool_limits(1, user_api="blas")  # from here on: the process measures nothing else
    data = Unfolded.of(read(path))
    _ = data.totals, data.squared_norm, data.selectors  # computed once per fit
    rng = np.random.default_rng(0)
    start = [
        (rng.integers(0, 6, (R, size)) * (rng.random((R, size)) < 0.1)).astype(np.float32)
        for size in data.shape
    ]

    def iterate(steps: int) -> None:
        with threads(workers) as pool:
            turn(steps, pool)

    def turn(steps: int, pool: Pool) -> None:
        boxes = [Box(0, 5)] * len(start)
        weights = np.ones(R, dtype=np.int64)
        refine(data, start, weights, boxes=boxes, rng=rng, tol=0, max_iter=steps, pool=pool)

    return iterate


def nmf_iterations(path: Path, workers: int) -> Callable[[int], Any]:
    """Iterate scikit-learn's NMF by coordinate descent."""
    from sklearn.decomposition import NMF

    X = sparse.csr_array(read(path))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    rng = np.random.default_rng(0)
    W = rng.random((X.shape[0], R), dtype=np.float32)
    H = rng.random((R, X.shape[1]), dtype=np.float32)

    def iterate(steps: int) -> None:
        NMF(R, init="custom", max_iter=steps, tol=0).fit_transform(X, W=W.copy(), H=H.copy())

    return iterate


def genten_iterations(path: Path, workers: int) -> Callable[[int], Any]:
    """Iterate the CP decomposition of GenTen, compiled C++."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it reports from C++ on every call
    import pygenten

    X = read(path)
    tensor = pygenten.Sptensor(
        X.shape, np.stack(X.coords, axis=1).astype(np.int64), X.data.astype(float)
    )
    start = pygenten.Ktensor(
        np.ones(R), [np.random.default_rng(0).random((size, R)) for size in X.shape]
    )

    def iterate(steps: int) -> None:
        pygenten.cp_als(tensor, init=start, rank=R, maxiters=steps, tol=0.0, printitn=0)

    return iterate


def pyttb_iterations(path: Path, workers: int) -> Callable[[int], Any]:
    """Iterate the CP decomposition of the Tensor Toolbox for Python."""
    import pyttb

    X = read(path)
    subs = np.stack(X.coords, axis=1).astype(np.int64)
    tensor = pyttb.sptensor(subs, X.data.astype(float)[:, None], X.shape)
    start = pyttb.ktensor([np.random.default_rng(0).random((size, R)) for size in X.shape])

    def iterate(steps: int) -> None:
        pyttb.cp_als(tensor, R, stoptol=0, maxiters=steps, init=start, printitn=0)

    return iterate


if __name__ == "__main__":
    main(options(__doc__))
