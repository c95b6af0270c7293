"""Seconds and peak memory of a fit, in a process of its own, and the clusters it found."""

import argparse
import gc
import multiprocessing
import os
import platform
import statistics
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import psutil

from benchmarks.methods import Found, Method, found

SAMPLING_SECONDS = 0.01
WARM_UP_ROWS = 1_000
MOST_RUNS = 5
THREAD_VARIABLES = (
    "LVMKIT_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
MEGABYTE = 2**20


class Options(NamedTuple):
    """What the command line asks for."""

    quick: bool
    """Small data, one run each: whether everything works, not how fast it is."""
    threads: int | None
    """Threads of every method; None leaves what a user gets."""


class Measured(NamedTuple):
    """What one method cost, and what it found."""

    name: str
    seconds: float
    """Median wall time of the runs."""
    cpu: float
    """Median processor time of the runs, all threads together: the figure to trust on a busy machine."""
    megabytes: float
    """Peak resident memory of the first run above the level with the data loaded."""
    runs: int
    found: Found


class PeakMemory:
    """Samples the resident memory of this process in a thread while a block runs."""

    def __init__(self) -> None:
        self.process = psutil.Process()
        self.level = self.peak = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        gc.collect()
        self.level = self.peak = self.process.memory_info().rss
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended.set()
        self.thread.join()

    def _sample(self) -> None:
        """Keep the largest value seen."""
        while not self.ended.wait(SAMPLING_SECONDS):
            self.peak = max(self.peak, self.process.memory_info().rss)

    @property
    def megabytes(self) -> float:
        """Peak above the level at the start."""
        return (self.peak - self.level) / MEGABYTE


def options(description: str | None) -> Options:
    """Read the command line that every workload has, and hold all children to the threads asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small data, one run each")
    parser.add_argument("--threads", type=int, help="threads of every method (default: its own)")
    asked = parser.parse_args()
    if asked.threads is not None:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(asked.threads)))
    return Options(asked.quick, asked.threads)


def machine(chosen: Options) -> str:
    """Describe the machine, the versions and the threads, for the head of the output."""
    packages = ("numpy", "scipy", "scikit-learn", "stepmix")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    threads = "as each method takes them" if chosen.threads is None else f"{chosen.threads} each"
    return (
        f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB, "
        f"Python {platform.python_version()}, {versions}; threads: {threads}; load {os.getloadavg()[0]:.1f}"
        + ("; QUICK: small data, goals do not apply" if chosen.quick else "")
    )


def measure(
    method: Method, X: Any, *, budget: float = 15.0, most_runs: int = MOST_RUNS
) -> Measured:
    """Fit a fresh copy of the method to `X`, again and again while the budget of seconds lasts.

    The process is new, so that no method inherits the memory or the warm caches of another. A small fit
    first loads what the method loads lazily. Where a method needs a dense array, making it is outside the
    clock but counts as memory.
    """
    return in_new_process(repeated, method, X, budget, most_runs)


def in_new_process(work: Any, *arguments: Any) -> Any:
    """Call a function in a new process, which reads the thread variables anew."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def repeated(method: Method, X: Any, budget: float, most_runs: int) -> Measured:
    """Warm up, then fit until the runs or the budget of seconds are used up; for new processes."""
    warnings.simplefilter("ignore")  # that peers stop before they converge is in the tables
    method.fit(method.prepared(X[:WARM_UP_ROWS]))
    with PeakMemory() as memory:
        rows = method.prepared(X)
        spent = [_timed(method, rows)]
    while len(spent) < most_runs and sum(wall for wall, _, _ in spent) < budget:
        spent.append(_timed(method, rows))
    return Measured(
        method.name,
        statistics.median(wall for wall, _, _ in spent),
        statistics.median(cpu for _, cpu, _ in spent),
        memory.megabytes,
        len(spent),
        found(spent[-1][2], X, rows),
    )


def _timed(method: Method, rows: Any) -> tuple[float, float, Any]:
    """Return wall and processor seconds of one fit, and the fitted model."""
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = method.fit(rows)
    return time.perf_counter() - wall, time.process_time() - cpu, fitted


def per_nonzero(measured: Measured, X: Any) -> float:
    """Return nanoseconds per stored entry."""
    return float(measured.seconds / np.count_nonzero(X.data) * 1e9)
