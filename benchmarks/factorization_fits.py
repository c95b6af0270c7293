"""How much integer factors explain, on real counts and planted ones: SUSTain, figures 1 to 3.

Run as ``python benchmarks/factorization_fits.py [--quick] [--threads N]``; needs LVMKIT_DATA or a network.
"""

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.measure import Options, machine, options
from benchmarks.one_by_one import one_by_one
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit import SUSTain
from lvmkit.datasets import (
    fetch_desynpuf,
    fetch_desynpuf_tensor,
    fetch_oslo_bike,
    make_poisson_counts,
)
from lvmkit.sustain.ails import ails
from lvmkit.sustain.baselines import factor_baselines
from lvmkit.sustain.initialization import balance_and_round
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

METHODS = ("real", "rounded", "scaled and rounded")
FINE = 1e-5
"""Tolerance of real solutions: they are the ceiling."""

RANKS = (5, 10, 20, 40)
REAL = {
    "desynpuf, patients x diagnoses": (fetch_desynpuf, 0.01),
    "desynpuf, patients x diagnoses x procedures": (fetch_desynpuf_tensor, 0.0),
    "oslo_bike, five modes": (fetch_oslo_bike, 0.0),
}
EXACT_ROWS, EXACT_CODES = 1_000, 100
"""Part of the claims on which exact integer least squares end in a minute."""


def main(chosen: Options) -> None:
    """Fit real counts, planted tensors, and a part small enough for exact least squares."""
    print(machine(chosen))
    warnings.simplefilter("ignore")
    ranks = RANKS[:1] if chosen.quick else RANKS
    for name, (fetch, margin) in REAL.items():
        explained(name, fetch(), ranks, margin)
    planted(chosen)
    exactly(chosen)


def explained(name: str, X: Any, ranks: tuple[int, ...], margin: float) -> None:
    """Print the fit of every method for several numbers of components."""
    rows, goals = [], []
    for n_components in ranks:
        others = factor_baselines(X, n_components, methods=METHODS, tol=FINE)
        model, seconds = timed(SUSTain(n_components), X)
        ceiling, *heuristics = (found.fit for found in others.values())
        rows.append((n_components, ceiling, *heuristics, model.fit_, model.init_, seconds))
        best = max(heuristics)
        text = f"{name}, R = {n_components}: fit above the better heuristic"
        goals.append(Goal(text, model.fit_ - best, least=margin))
    columns = ("R", *others, "SUSTain", "start kept", "s")
    print_table(name, columns, rows)
    print_goals(*goals)


def planted(chosen: Options) -> None:
    """Compare the default start with the real CP, and with random starts, on planted tensors."""
    rows, shares = [], []
    n = 2_000 if chosen.quick else 24_600
    for seed in range(1 if chosen.quick else 5):
        X = make_poisson_counts(n, (583, 239), 10, random_state=seed).X
        real = factor_baselines(X, 10, methods=("real",), tol=FINE)["CP"]
        ours, seconds = timed(SUSTain(10), X)
        chance = SUSTain(10, init="sampling").fit(X)
        shares.append(ours.fit_ / real.fit)
        rows.append((seed, real.fit, ours.fit_, shares[-1], chance.fit_, seconds))
    columns = ("seed", "CP, real", "SUSTain", "share", "from random & sampling", "s")
    print_table(f"planted tensor, {n:,} x 583 x 239, R = 10", columns, rows)
    print_goals(Goal("least share of the real CP's fit", min(shares), least=0.85))


def exactly(chosen: Options) -> None:
    """Compare with alternating exact integer least squares, from the same scores."""
    rows, goals = [], []
    X = fetch_desynpuf(max_codes=EXACT_CODES).X[: 200 if chosen.quick else EXACT_ROWS]
    for n_components in (5,) if chosen.quick else (5, 10):
        real = factor_baselines(X, n_components, methods=("real",))["NMF"]
        parts, weights = balance_and_round([factor.T for factor in real.factors], [Box(0, 5)] * 2)
        start = [*(part.T for part in parts), weights]
        exact = factor_baselines(X, n_components, methods=("AILS",), init=start)["AILS"]
        fit, spent = published(X, parts, weights)
        runs = [timed(SUSTain(n_components, init=start, n_jobs=1), X) for _ in range(5)]
        ours, seconds = runs[0][0].fit_, float(np.median([each for _, each in runs]))
        rows += [
            (n_components, "AILS, one patient after the other", fit, spent),
            (n_components, "AILS, all side by side", exact.fit, exact.seconds),
            (n_components, "SUSTain", ours, seconds),
        ]
        goals += [
            Goal(f"R = {n_components}: time of AILS / SUSTain", spent / seconds, least=100.0),
            Goal(f"R = {n_components}: fit of SUSTain less AILS", ours - fit, least=-0.005),
        ]
    title = f"{X.shape[0]:,} x {X.shape[1]} claims: exact least squares from the same scores"
    print_table(title, ("R", "method", "fit", "s"), rows)
    print_goals(*goals)


def published(X: Any, parts: list[Any], weights: Any) -> tuple[float, float]:
    """Return fit and seconds of AILS as published."""
    data, rng = Unfolded.of(X), np.random.default_rng(0)
    begun = time.perf_counter()
    found = ails(data, parts, weights, boxes=[Box(0, 5)] * 2, rng=rng, solve=one_by_one)
    return found.fit, time.perf_counter() - begun


def timed(model: SUSTain, X: Any) -> tuple[SUSTain, float]:
    """Fit, and return the seconds too."""
    start = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - start


if __name__ == "__main__":
    main(options(__doc__))
