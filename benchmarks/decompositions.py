"""Error and time of all decompositions against the number of rows: Ruffini's thesis, Figure 2.1.

Run as ``python benchmarks/decompositions.py [--quick] [--threads N]``.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from benchmarks.literal import literal_power
from benchmarks.measure import Options, machine, options
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit import decompose
from lvmkit.datasets import make_poisson_mixture
from lvmkit.decompose import Components
from lvmkit.moments import POISSON, Moments, WhitenedMoments, whiten

SIZES = (1_000, 2_000, 5_000, 10_000)
METHODS: dict[str, Callable[..., Any]] = {
    "joint_diagonalization": decompose.joint_diagonalization,
    "svtd": decompose.svtd,
    "svd": decompose.svd,
    "power (TPM, restarts at once)": decompose.power,
    "als": decompose.als,
    "random_projections": decompose.random_projections,
    "TPM as published": lambda seen: Components(
        (seen.image @ literal_power(seen.core)).T, np.zeros(0)
    ),
}


def main(chosen: Options) -> None:
    """Measure d = 100, k = 5 and print the mean error of M for every number of rows."""
    print(machine(chosen))
    repeats = 2 if chosen.quick else 20
    errors: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    for n in SIZES:
        for name in METHODS:
            errors[name].append([])
        for seed in range(repeats):
            data = make_poisson_mixture(n, random_state=1_000 * seed + n)
            moments = Moments.of(data.X, POISSON)
            whitener, _ = whiten(moments.m2, 5)
            seen = WhitenedMoments.of(data.X, whitener, POISSON, second=moments.second).whitened()
            for name, method in METHODS.items():
                with threadpool_limits(1, user_api="blas"):
                    start = time.perf_counter()
                    found = method(seen)
                    seconds[name].append(time.perf_counter() - start)
                errors[name][-1].append(distance(data.centers, np.maximum(found.centers, 0)))
    columns = ("decomposition", *(f"n = {n:,}" for n in SIZES), "median ms")
    rows = [
        (name, *map(statistics.median, errors[name]), 1e3 * statistics.median(seconds[name]))
        for name in METHODS
    ]
    print_table(f"Median error of M, d = 100, k = 5, {repeats} draws", columns, rows)
    ours, tpm = "joint_diagonalization", "TPM as published"
    worst = max(
        statistics.fmean(a) / statistics.fmean(b)
        for a, b in zip(errors[ours], errors[tpm], strict=True)
    )
    ratio = statistics.median(seconds[ours]) / statistics.median(seconds[tpm])
    print_goals(
        Goal("mean error / TPM's, at the worst n", worst, most=1.0),
        Goal("time / TPM's, 25 restarts of 20 iterations one by one", ratio, most=0.1),
    )


def distance(truth: Any, found: Any) -> float:
    """Return the Frobenius norm of the difference, states matched by assignment."""
    squares = ((truth[:, None] - found[None]) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(squares)
    return float(np.sqrt(squares[rows, columns].sum()))


if __name__ == "__main__":
    main(options(__doc__))
