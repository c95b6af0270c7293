"""Trees of clusters: nested topics (thesis, table 5.1), speed, stability and predictive power (section 6.4).

Run as ``python benchmarks/hierarchies.py [--quick] [--threads N]``. The real data are those of
``lvmkit.datasets.fetch_nhds2010``.
"""

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans

from benchmarks.measure import Options, in_new_process, machine, measure, options, per_nonzero
from benchmarks.methods import Method, bisecting
from benchmarks.stability import measured_stability
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit import SingleTopic, SpectralTree
from lvmkit.datasets import fetch_nhds2010, make_bernoulli_mixture, make_nested_topics
from lvmkit.models import baselines
from lvmkit.scores import adjusted_rand, predictive_power

FLAT = ("als", "power", "svd", "random_projections", "svtd", "joint_diagonalization")
LONG_STAY = 7
"""Days; a longer stay is what clusters are to predict."""


def main(chosen: Options) -> None:
    """Measure all four workloads and print."""
    print(machine(chosen))
    nested_topics(2 if chosen.quick else 10)
    as_mimic(5_000 if chosen.quick else 50_000, quick=chosen.quick)
    discharges(quick=chosen.quick)
    growth((5_000, 20_000) if chosen.quick else (62_500, 250_000, 1_000_000))


def nested_topics(n_repeats: int) -> None:
    """Reproduce table 5.1: 400 documents of 8 nested topics, new ones for every repeat."""
    methods = {
        "SIDIWO": SpectralTree(3, split="model"),
        "SIDIWO + EM": SpectralTree(3, split="model", em=True),
        "D-SIDIWO": SpectralTree(3),
        "D-SIDIWO, as published": SpectralTree(3, equalize=0.0),
        "PDDP": SpectralTree(3, split="pddp"),
        "bisecting k-means": BisectingKMeans(8, random_state=0),
        **{f"flat, {name}": SingleTopic(8, decomposition=name) for name in FLAT},
    }
    found, seconds = {name: [] for name in methods}, {name: [] for name in methods}
    for seed in range(n_repeats):
        data = make_nested_topics(random_state=seed)
        for name, estimator in methods.items():
            start = time.perf_counter()
            labels = clone(estimator).fit(data.X).labels_
            seconds[name].append(time.perf_counter() - start)
            found[name].append(adjusted_rand(data.labels, labels))
    rows = [
        (name, float(np.mean(ari)), float(np.std(ari)), float(np.median(seconds[name])))
        for name, ari in found.items()
    ]
    title = f"Nested topics (thesis, table 5.1), 400 documents, {n_repeats} repeats"
    print_table(title, ("method", "mean ARI", "st. dev.", "s"), rows)
    print_goals(Goal("mean ARI of SIDIWO", rows[0][1], least=0.98))


def as_mimic(n: int, *, quick: bool) -> None:
    """Compare trees of 16 and 32 leaves on as many rows, features and codes as the thesis's table 6.1."""
    X, truth = make_bernoulli_mixture(n, 222, 16, codes_per_row=9, random_state=5)[:2]
    repeats = 1 if quick else 5
    for splits in (4, 5):
        k = 2**splits
        methods = [
            Method("D-SIDIWO", SpectralTree(splits)),
            Method("D-SIDIWO, as published", SpectralTree(splits, equalize=0.0)),
            Method("D-SIDIWO + EM", SpectralTree(splits, em=True)),
            bisecting(k),
            Method("PDDP", SpectralTree(splits, split="pddp")),
        ]
        fits = [measure(m, X, most_runs=1 if quick else 15, budget=10.0) for m in methods]
        stable = [measured_stability(m, X, repeats).mean for m in methods]
        near = [adjusted_rand(truth, m.fit(m.prepared(X)).labels_) for m in methods]
        rows = [
            (fit.name, fit.seconds, fit.cpu, fit.runs, round(fit.megabytes), *both)
            for fit, *both in zip(fits, stable, near, strict=True)
        ]
        title = f"{n:,} x 222, {k} leaves ({splits} splits deep)"
        print_table(
            title, ("method", "s", "cpu s", "runs", "MB", "stability", "ARI with truth"), rows
        )
        ours, peer = fits[0].seconds, fits[3].seconds
        print_goals(
            Goal("seconds of D-SIDIWO", ours, most=0.2),
            Goal("D-SIDIWO / BisectingKMeans, seconds", ours / peer, most=1.0),
            Goal("stability minus that of BisectingKMeans", stable[0] - stable[3], least=0.2),
            Goal("ARI with the truth minus the published method's", near[0] - near[1], least=0),
        )


class Discharges(NamedTuple):
    """Rows as section 6.4.1 prepares them, and what is to be predicted."""

    X: Any
    long_stay: Any


def prepared_discharges(*, quick: bool) -> Discharges | None:
    """Keep the codes that make up 90 % of all, and records that have three of them."""
    try:
        cohort = fetch_nhds2010(min_codes=0)
    except ConnectionError as error:
        print(f"\nNHDS 2010 left out: {error}")
        return None
    counts = np.asarray(cohort.X.sum(axis=0)).ravel()
    order = np.argsort(-counts, kind="stable")
    kept = order[: int(np.searchsorted(counts[order].cumsum(), 0.9 * counts.sum())) + 1]
    X = sparse.csr_array(cohort.X)[:, np.sort(kept)]
    enough = np.flatnonzero(np.diff(X.indptr) >= 3)
    enough = enough[:5_000] if quick else enough
    stay = cohort.obs["stay"].to_numpy()[enough] > LONG_STAY
    return Discharges(sparse.csr_array(X[enough]), stay)


def discharges(*, quick: bool) -> None:
    """Compare stability and predictive power at 8 leaves on real discharges."""
    data = prepared_discharges(quick=quick)
    if data is None:
        return
    methods = [
        Method("D-SIDIWO", SpectralTree(3)),
        Method("D-SIDIWO, as published", SpectralTree(3, equalize=0.0)),
        Method("D-SIDIWO + EM", SpectralTree(3, em=True)),
        Method("SIDIWO, Bernoulli", SpectralTree(3, split="model")),
        Method("PDDP, 3 splits deep", SpectralTree(3, split="pddp")),
        *(Method(name, estimator) for name, estimator in baselines(8).items()),
    ]
    rows = []
    for method in methods:
        stable = measured_stability(method, data.X, 1 if quick else 5)
        power = in_new_process(_power, method, data)
        rows.append((method.name, stable.seconds, stable.least, stable.mean, *power))
    n, d = data.X.shape
    columns = ("method", "s", "least ARI", "mean ARI", "accuracy", "balanced", "AUC")
    print_table(f"NHDS 2010, adults, {n:,} x {d}, 8 leaves; stay > {LONG_STAY} days", columns, rows)
    majority = max(data.long_stay.mean(), 1 - data.long_stay.mean())
    print(f"  accuracy of always saying the more frequent value: {majority:.4f}")
    peers = rows[4:]
    print_goals(
        Goal("stability of D-SIDIWO", rows[0][3], least=0.9),
        Goal("minus that of the best baseline", rows[0][3] - max(r[3] for r in peers), least=0.0),
        Goal("accuracy minus the best baseline's", rows[0][4] - max(r[4] for r in peers), least=0),
        Goal("AUC minus the best baseline's", rows[0][6] - max(r[6] for r in peers), least=0),
        Goal("AUC minus that of the best tree", rows[0][6] - max(r[6] for r in peers[:3]), least=0),
    )


def _power(method: Method, data: Discharges) -> tuple[float, float, float]:
    """Return accuracy, balanced accuracy and AUC of the long stay from the clusters."""
    labels = clone(method.estimator).fit(data.X).labels_
    found = predictive_power(labels, data.long_stay)
    return tuple(float(found[name].mean()) for name in ("accuracy", "balanced_accuracy", "auc"))


def growth(sizes: tuple[int, ...]) -> None:
    """Grow 16 leaves on more and more rows of 700 features."""
    rows = []
    for n in sizes:
        X = make_bernoulli_mixture(n, 700, 16, codes_per_row=8, random_state=5).X
        fit = measure(Method("D-SIDIWO", SpectralTree(4)), X, budget=30.0)
        megabytes = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
        rows.append((f"{n:,}", fit.seconds, per_nonzero(fit, X), megabytes, fit.megabytes))
    columns = ("rows", "s", "ns per entry", "MB of data", "MB above")
    print_table("16 leaves, 700 features, 8 codes a row", columns, rows)
    print_goals(
        Goal("ns per entry, largest / smallest data", rows[-1][2] / rows[0][2], most=1.0),
    )


if __name__ == "__main__":
    main(options(__doc__))
