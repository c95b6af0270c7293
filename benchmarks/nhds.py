"""A real year of US hospital discharges: time, likelihood of records not seen, stability.

Run as ``python benchmarks/nhds.py [--quick] [--threads N]``, with the data of
``lvmkit.datasets.fetch_nhds2010``. Fits see 80 % of the records; the log-likelihood is that of the others.
"""

import numpy as np

from benchmarks import methods
from benchmarks.discharges import nhds_rows
from benchmarks.measure import Options, machine, measure, options
from benchmarks.methods import Method
from benchmarks.stability import measured_stability
from benchmarks.tables import Goal, print_goals, print_table

CLUSTERS = 16
STEPMIX_ITERATIONS = 60
"""StepMix takes about a second for each, and would need some hundreds."""


def main(chosen: Options) -> None:
    """Measure and print."""
    print(machine(chosen))
    X = nhds_rows(quick=chosen.quick)
    if X is None:
        return
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = int(0.8 * len(order))
    seen, unseen = X[order[:cut]], X[order[cut:]]
    rows = []
    for method, repeats in compared():
        fit = measure(method, seen, most_runs=1 if chosen.quick else 5)
        stable = measured_stability(method, X, 1 if chosen.quick else repeats)
        mixture = fit.found.mixture
        likelihoods = (f"{mixture.score(seen):.4f}", f"{mixture.score(unseen):.4f}")
        counts = (fit.runs, round(fit.megabytes), fit.found.iterations)
        rows.append((fit.name, fit.seconds, fit.cpu, *counts, *likelihoods, stable.mean))
    columns = (
        "method",
        "s",
        "cpu s",
        "runs",
        "MB",
        "iterations",
        "log-lik.",
        "held out",
        "stability",
    )
    print_table(f"NHDS 2010, adults, {len(order):,} x 700, k = {CLUSTERS}", columns, rows)
    held_out = [float(row[7]) for row in rows]
    print_goals(
        Goal(
            "held-out log-likelihood minus the best peer's",
            held_out[0] - max(held_out[2:]),
            least=0.0,
        )
    )


def compared() -> list[tuple[Method, int]]:
    """Return the methods, each with its repeats of the stability protocol."""
    return [
        (methods.searched(CLUSTERS), 5),
        (methods.asvtd(CLUSTERS), 5),
        (methods.kmeans(CLUSTERS, 1), 5),
        (methods.kmeans(CLUSTERS, 10), 3),
        (methods.stepmix(CLUSTERS, max_iter=STEPMIX_ITERATIONS), 1),
    ]


if __name__ == "__main__":
    main(options(__doc__))
