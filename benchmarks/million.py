"""From 20,000 to a million rows of 700 codes: time per entry, and k-means beside it.

Run as ``python benchmarks/million.py [--quick] [--threads N]``.
"""

from benchmarks import methods
from benchmarks.measure import Measured, Options, machine, measure, options, per_nonzero
from benchmarks.tables import Goal, print_fits, print_goals, print_table
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.scores import adjusted_rand

CLUSTERS = 16


def main(chosen: Options) -> None:
    """Measure all sizes and print."""
    print(machine(chosen))
    sizes = (5_000, 20_000, 50_000) if chosen.quick else (20_000, 200_000, 1_000_000)
    growth, last = [], len(sizes) - 1
    for i, n in enumerate(sizes):
        ours, nanoseconds = compared(
            n, most_runs=1 if chosen.quick else 5, ratio=None if not i else 1.5 if i < last else 1.0
        )
        growth.append((n, nanoseconds, nanoseconds / (ours.found.iterations or 1)))
    columns = ("rows", "ns per entry", "ns per entry and EM iteration")
    print_table("lvmkit, corrected: growth with the data", columns, growth)
    print_goals(
        Goal("ns per entry, largest / smallest data", growth[-1][1] / growth[0][1], most=1.0),
        Goal(f"seconds at {sizes[-1]:,} rows", ours.seconds, most=5.0),
        Goal(f"MB above the data at {sizes[-1]:,} rows", ours.megabytes, most=300.0),
    )


def compared(n: int, *, most_runs: int, ratio: float | None) -> tuple[Measured, float]:
    """Fit lvmkit and k-means with one start to n rows; return lvmkit's, and nanoseconds per entry."""
    data = make_bernoulli_mixture(n, 700, CLUSTERS, random_state=1)
    fits = [
        measure(method, data.X, most_runs=most_runs, budget=30.0)
        for method in (
            methods.searched(CLUSTERS),
            methods.asvtd(CLUSTERS),
            methods.kmeans(CLUSTERS, 1),
        )
    ]
    ours, _, kmeans = fits
    print_fits(
        f"Planted, {n:,} x 700, k = {CLUSTERS}, {data.X.nnz:,} entries", fits, data.X, data.labels
    )
    if ratio is not None:
        gained = adjusted_rand(data.labels, ours.found.labels) - adjusted_rand(
            data.labels, kmeans.found.labels
        )
        print_goals(
            Goal(f"corrected / {kmeans.name}, seconds", ours.seconds / kmeans.seconds, most=ratio),
            Goal(f"ARI of corrected minus that of {kmeans.name}", gained, least=0.3),
        )
    return ours, per_nonzero(ours, data.X)


if __name__ == "__main__":
    main(options(__doc__))
