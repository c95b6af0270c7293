"""How high EM ends on data that nobody drew from the model: the default start beside random ones and peers.

Run as ``python benchmarks/likelihoods.py [--quick] [--threads N]``, with the data sets in the folder that
``LVMKIT_DATA`` names. Fits see 80 % of the rows; the last column is the log-likelihood of the others.
"""

import os
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks import methods
from benchmarks.measure import Options, machine, measure, options
from benchmarks.methods import Method
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit import datasets
from lvmkit.cohorts import from_events
from lvmkit.datasets import make_bernoulli_mixture

STARTS = 20
STEPMIX_ENTRIES = 4_000_000
"""Entries of dense rows up to which StepMix ends within minutes."""
MARGIN = 0.001


class Case(NamedTuple):
    """A data set, and the numbers of clusters to try."""

    name: str
    rows: Callable[[], Any]
    clusters: tuple[int, ...]


def nafld() -> Any:
    """Return the events of the NAFLD cohort: patients and what they had, from the folder of data alone."""
    path = Path(os.environ.get("LVMKIT_DATA", "")) / "nafld" / "events.csv.gz"
    if not path.is_file():
        msg = f"{path} is not on this machine"
        raise ConnectionError(msg)
    return from_events(pd.read_csv(path), patient="id", code="event")


CASES = (
    Case("nhds2010", lambda: datasets.fetch_nhds2010(min_codes=0, max_codes=700), (8, 16, 32)),
    Case("diabetes130", lambda: datasets.fetch_diabetes130(min_codes=0, max_codes=300), (16,)),
    Case("desynpuf", datasets.fetch_desynpuf, (16,)),
    Case("synthea1k", datasets.fetch_synthea1k, (8, 16)),
    Case("movie reviews", lambda: datasets.fetch_movie_reviews(max_words=200), (8, 16)),
    Case("newsgroups", lambda: datasets.fetch_newsgroups20(max_words=200), (8, 16)),
    Case("nafld", nafld, (4, 8)),
    Case("bundled", datasets.load_discharges, (12, 32)),
)


def main(chosen: Options) -> None:
    """Measure and print."""
    print(machine(chosen))
    lost, times = [], []
    for title, X, k in workloads(quick=chosen.quick):
        order = np.random.default_rng(0).permutation(X.shape[0])
        seen, unseen = np.split(order, [int(0.8 * len(order))])
        rows = []
        for method in compared(X, k, quick=chosen.quick):
            fit = measure(method, X[seen], most_runs=1)
            mixture = fit.found.mixture
            rows.append((fit.name, fit.cpu, mixture.score(X[seen]), mixture.score(X[unseen])))
        text = [(name, cpu, f"{a:.4f}", f"{b:.4f}") for name, cpu, a, b in rows]
        title = f"{title}, {X.shape[0]:,} x {X.shape[1]}, k = {k}"
        print_table(title, ("method", "cpu s", "log-lik.", "held out"), text)
        reached = {name: value for name, _, value, _ in rows}
        cost = {name: cpu for name, cpu, _, _ in rows}
        plain = methods.random_starts(k, STARTS, plain=True).name
        lost.append(reached["lvmkit"] - reached[plain])
        times.append(cost["lvmkit"] / cost[plain])
    print_goals(
        Goal("least of log-likelihood minus that of the random starts", min(lost), least=-MARGIN),
        Goal("data sets strictly above", sum(gain > MARGIN for gain in lost), least=2),
        Goal("largest share of the time of the random starts", max(times), most=0.2),
        Goal("median share of their time", statistics.median(times), most=0.2),
    )


def workloads(*, quick: bool) -> Iterator[tuple[str, Any, int]]:
    """Yield name, 0/1 rows and number of clusters."""
    for case in CASES:
        try:
            X = sparse.csr_array(case.rows().X, dtype=np.float32)
        except ConnectionError as error:
            print(f"\n{case.name} left out: {error}")
            continue
        X.data[:] = 1
        for k in case.clusters[:1] if quick else case.clusters:
            yield case.name, X[:1_000] if quick else X, k
    planted = make_bernoulli_mixture(1_000 if quick else 20_000, 700, 16, random_state=5)
    yield "planted", planted.X, 16


def compared(X: Any, k: int, *, quick: bool) -> list[Method]:
    """Return the methods for one data set."""
    n_starts = 2 if quick else STARTS
    chosen = [methods.searched(k), methods.corrected(k), methods.asvtd(k)]
    if quick:
        return [*chosen, methods.random_starts(k, STARTS, plain=True)]
    chosen += [methods.random_starts(k, n_starts, plain=plain) for plain in (True, False)]
    chosen.append(methods.spectral_one_step(k))
    if X.shape[0] * X.shape[1] <= STEPMIX_ENTRIES:
        chosen.append(methods.stepmix(k, n_init=3))
    return chosen


if __name__ == "__main__":
    main(options(__doc__))
