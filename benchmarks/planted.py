"""A planted mixture of 700 codes and 16 clusters: lvmkit beside what else could be used on it.

Run as ``python benchmarks/planted.py [--quick] [--threads N]``.
"""

from typing import Any

import numpy as np

from benchmarks import methods
from benchmarks.measure import Measured, Options, machine, measure, options
from benchmarks.methods import Method
from benchmarks.tables import Goal, print_fits, print_goals
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.scores import adjusted_rand, match

CLUSTERS = 16


def main(chosen: Options) -> None:
    """Measure both sizes and print."""
    print(machine(chosen))
    runs = 1 if chosen.quick else 5
    small(5_000 if chosen.quick else 20_000, most_runs=runs)
    large(10_000 if chosen.quick else 200_000, most_runs=runs)


def small(n: int, *, most_runs: int) -> None:
    """Compare everything at a size where StepMix converges in a quarter of a minute."""
    data, fits = compared(n, methods.stepmix(CLUSTERS), most_runs)
    ours, early, asvtd, literal, restarts, stepmix, *_ = fits
    print_goals(
        Goal("corrected / StepMix, seconds", ours.seconds / stepmix.seconds, most=1 / 15),
        gain(ours, stepmix, data.labels),
        *against_restarts(ours, restarts, data.X),
        *against_restarts(early, restarts, data.X),
        *against_literal(asvtd, literal),
    )


def large(n: int, *, most_runs: int) -> None:
    """Compare at a size where a dense array takes a gigabyte; StepMix gets ten iterations only."""
    data, fits = compared(n, methods.stepmix(CLUSTERS, max_iter=10), most_runs)
    ours, early, asvtd, literal, restarts, stepmix, kmeans, *_ = fits
    print_goals(
        Goal(f"corrected / {stepmix.name}, seconds", ours.seconds / stepmix.seconds, most=1 / 10),
        Goal("corrected / StepMix, MB", ours.megabytes / stepmix.megabytes, most=1 / 15),
        *against_restarts(ours, restarts, data.X),
        *against_restarts(early, restarts, data.X),
        *against_literal(asvtd, literal),
        Goal("asvtd / literal, MB", asvtd.megabytes / literal.megabytes, most=1 / 8),
        Goal(f"corrected / {kmeans.name}, seconds", ours.seconds / kmeans.seconds, most=1.5),
        gain(ours, kmeans, data.labels, least=0.3),
    )


def compared(n: int, stepmix: Method, most_runs: int) -> tuple[Any, list[Measured]]:
    """Fit every method to n planted rows and print what it cost and found."""
    data = make_bernoulli_mixture(n, 700, CLUSTERS, random_state=1)
    fits = [
        measure(method, data.X, most_runs=most_runs)
        for method in (
            methods.searched(CLUSTERS),
            methods.corrected_early(CLUSTERS),
            methods.asvtd(CLUSTERS),
            methods.literal(CLUSTERS),
            methods.random_starts(CLUSTERS, 10),
            stepmix,
            methods.kmeans(CLUSTERS, 1),
            methods.kmeans(CLUSTERS, 10),
            methods.bisecting(CLUSTERS),
        )
    ]
    print_fits(f"Planted, {n:,} x 700, k = {CLUSTERS}", fits, data.X, data.labels)
    return data, fits


def gain(ours: Measured, peer: Measured, truth: Any, least: float = 0.0) -> Goal:
    """Compare the agreement with the truth."""
    difference = adjusted_rand(truth, ours.found.labels) - adjusted_rand(truth, peer.found.labels)
    return Goal(f"ARI of corrected minus that of {peer.name}", difference, least=least)


def against_restarts(ours: Measured, restarts: Measured, X: Any) -> list[Goal]:
    """Compare with the best of many starts: at least its likelihood, in a fraction of the time."""
    difference = ours.found.mixture.score(X) - restarts.found.mixture.score(X)
    return [
        Goal(
            f"{ours.name} / {restarts.name}, seconds", ours.seconds / restarts.seconds, most=1 / 20
        ),
        Goal(
            f"log-likelihood of {ours.name} minus that of {restarts.name}", difference, least=-1e-3
        ),
    ]


def against_literal(asvtd: Measured, literal: Measured) -> list[Goal]:
    """Compare the sparse form of Algorithm 2 with the dense one, which must find the same clusters."""
    same = match(literal.found.labels, asvtd.found.labels).relabel(asvtd.found.labels)
    share = float(np.mean(same == literal.found.labels))
    return [
        Goal(f"asvtd / {literal.name}, seconds", asvtd.seconds / literal.seconds, most=1 / 12),
        Goal("share of rows with the same label in both", share, least=0.999),
    ]


if __name__ == "__main__":
    main(options(__doc__))
