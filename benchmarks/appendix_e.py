"""The synthetic comparison of Ruffini 2017, Appendix E: k-means, spectral clustering, PCA.

Run as ``python benchmarks/appendix_e.py [--quick] [--threads N]``.
"""

import statistics
from typing import Any

from benchmarks import methods
from benchmarks.measure import (
    MOST_RUNS,
    Measured,
    Options,
    in_new_process,
    machine,
    options,
    repeated,
)
from benchmarks.methods import Method
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit import BernoulliMixture
from lvmkit.datasets import SimulatedMixture, make_appendix_e
from lvmkit.scores import adjusted_rand

DOCUMENTS = [("ASVTD + EM", 1.3), ("KMeans", 0.76), ("SC - lin", 7.48), ("PCA", 0.38)]
"""Ruffini 2017, Table 3: seconds on the authors' laptop, the average over all their sizes."""


def main(chosen: Options) -> None:
    """Measure three numbers of states and print."""
    print(machine(chosen))
    rows, draws = (1_000, 2) if chosen.quick else (10_000, 5)
    for k in (12, 4, 33):
        data = [make_appendix_e(rows, 99, k, random_state=seed) for seed in range(draws)]
        fits = {
            method.name: in_new_process(fitted_to_each, method, data[:most])
            for method, most in compared(k, draws)
        }
        print_draws(f"Appendix E, {rows:,} x 99, k = {k}, {draws} draws", fits, data)
        if k == 12:
            ours = fits[methods.searched(k).name]
            print_goals(
                Goal("ARI of corrected", mean_ari(ours, data), least=0.93),
                Goal("seconds of corrected", mean_seconds(ours), most=0.1),
            )
    in_new_process(figure_3, rows, 1 if chosen.quick else 3)
    print_table("Ruffini 2017, Table 3, on the authors' laptop", ("method", "s"), DOCUMENTS)


def figure_3(rows: int, draws: int) -> None:
    """Print the agreement against rows, states and features, and the mean seconds of one fit; for one process."""
    sizes = [(n, 99, 12) for n in (300, 1_000, 3_000) if n < rows]
    sizes += [(rows, 99, k) for k in (2, 4, 12, 20, 33)]
    sizes += [(rows, d, 4) for d in (12, 24, 48)]
    seconds: dict[str, list[float]] = {}
    table: list[list[Any]] = []
    behind = 0.0
    for n, d, k in sizes:
        data = [make_appendix_e(n, d, k, random_state=seed) for seed in range(draws)]
        made = [
            methods.searched(k),
            methods.asvtd(k),
            methods.three_views(k, "3v-mom"),
            methods.three_views(k, "3v-tpm"),
            methods.three_views(k, "3v-mom", em=False),
            methods.three_views(k, "3v-tpm", em=False),
            methods.kmeans(k, 10),
            methods.pca_kmeans(k)._replace(name="PCA, KMeans, n_init=10"),
        ]
        if n <= 1_000:
            made.append(methods.spectral(k))
        aris = {}
        for method in made:
            runs = [repeated(method, d.X, 0.0, 1) for d in data]
            aris[method.name] = mean_ari(runs, data)
            seconds.setdefault(method.name, []).append(mean_seconds(runs))
        behind = max(behind, max(aris.values()) - aris[made[0].name])
        table.append([f"n = {n:,}, d = {d}, k = {k}", *aris.values()])
    columns = ("ARI", *seconds)
    for row in table:
        row += [None] * (len(columns) - len(row))
    title = f"Appendix E, Figure 3: mean of {draws} draws"
    print_table(title, columns, table)
    means = [(name, statistics.fmean(spent), len(spent)) for name, spent in seconds.items()]
    print_table("seconds, mean over these sizes", ("method", "s", "sizes"), means)
    print_goals(
        Goal("ARI of corrected below the best of all, at the worst size", behind, most=0.02)
    )


def compared(k: int, draws: int) -> list[tuple[Method, int]]:
    """Return the methods, each with its number of draws; spectral clustering takes half a minute."""
    peers = [
        methods.searched(k),
        methods.asvtd(k),
        methods.kmeans(k, 10),
        methods.pca_kmeans(k),
    ]
    slow = [(methods.spectral(k), 1)] if k == 12 else []
    return [(method, draws) for method in peers] + slow


def fitted_to_each(method: Method, data: list[SimulatedMixture]) -> list[Measured]:
    """Measure the method on every draw."""
    return [repeated(method, d.X, 2.0, MOST_RUNS) for d in data]


def print_draws(title: str, fits: dict[str, list[Measured]], data: list[SimulatedMixture]) -> None:
    """Print the mean over the draws of seconds and agreement with the truth."""
    rows: list[tuple[Any, ...]] = [
        (
            name,
            mean_seconds(runs),
            statistics.fmean(m.cpu for m in runs),
            len(runs),
            mean_ari(runs, data),
        )
        for name, runs in fits.items()
    ]
    truth = statistics.fmean(
        adjusted_rand(d.labels, BernoulliMixture.from_parameters(d.weights, d.centers).predict(d.X))
        for d in data
    )
    rows.append(("true parameters", None, None, len(data), truth))
    print_table(title, ("method", "s", "cpu s", "draws", "ARI"), rows)


def mean_seconds(runs: list[Measured]) -> float:
    """Average the draws' medians."""
    return statistics.fmean(m.seconds for m in runs)


def mean_ari(runs: list[Measured], data: list[SimulatedMixture]) -> float:
    """Average the agreement with the truth."""
    return statistics.fmean(
        adjusted_rand(d.labels, m.found.labels) for d, m in zip(data, runs, strict=False)
    )


if __name__ == "__main__":
    main(options(__doc__))
