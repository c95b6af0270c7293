"""Stability: the clusters of two samples that share 80 % of their rows, 10 % own rows each.

Run as ``python benchmarks/stability.py [--quick] [--threads N]``. The real data are those of
``lvmkit.datasets.fetch_nhds2010``.
"""

import time
import warnings
from typing import Any, NamedTuple

from benchmarks import methods
from benchmarks.discharges import nhds_rows
from benchmarks.measure import Options, in_new_process, machine, options
from benchmarks.methods import Method
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.scores import stability

CLUSTERS = 16


class Stability(NamedTuple):
    """Agreement of the two fits of every repeat, and what a fit cost."""

    name: str
    least: float
    mean: float
    seconds: float


def main(chosen: Options) -> None:
    """Measure the planted and the real data and print."""
    print(machine(chosen))
    repeats = 1 if chosen.quick else 5
    rows = 5_000 if chosen.quick else 51_181
    planted = make_bernoulli_mixture(rows, 222, CLUSTERS, codes_per_row=9, random_state=5).X
    print_goals(
        Goal("stability of corrected", compared("Planted", planted, repeats)[0].mean, least=0.98)
    )
    nhds = nhds_rows(quick=chosen.quick)
    if nhds is None:
        return
    found = compared("NHDS 2010, adults", nhds, repeats)
    best_peer = max(s.mean for s in found if not s.name.startswith("lvmkit"))
    print_goals(
        Goal(
            "stability of corrected minus that of the best peer",
            found[0].mean - best_peer,
            least=0.0,
        )
    )


def compared(title: str, X: Any, repeats: int) -> list[Stability]:
    """Run the protocol on lvmkit, k-means and bisecting k-means, and print."""
    found = [
        measured_stability(method, X, repeats)
        for method in (
            methods.searched(CLUSTERS),
            methods.asvtd(CLUSTERS),
            methods.kmeans(CLUSTERS, 10),
            methods.bisecting(CLUSTERS),
        )
    ]
    columns = ("method", "least ARI", "mean ARI", "s per fit")
    shape = f"{X.shape[0]:,} x {X.shape[1]}, k = {CLUSTERS}, {repeats} repeats"
    print_table(f"Stability, {title}, {shape}", columns, found)
    return found


def measured_stability(method: Method, X: Any, repeats: int) -> Stability:
    """Run the protocol in a new process, with a new seed for every fit."""
    return in_new_process(_stability, method, X, repeats)


def _stability(method: Method, X: Any, repeats: int) -> Stability:
    """Run the protocol."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    agreement = stability(method.on_sparse_rows(), X, n_repeats=repeats)
    seconds = (time.perf_counter() - start) / (2 * repeats)
    return Stability(method.name, float(agreement.min()), float(agreement.mean()), seconds)


if __name__ == "__main__":
    main(options(__doc__))
