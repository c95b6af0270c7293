"""Error of the moments of Theorem 3.2.1 and of Zou 2013 against the number of documents: thesis, Figure 3.1.

Run as ``python benchmarks/estimators.py [--quick] [--threads N]``.
"""

from typing import Any

import numpy as np

from benchmarks.measure import Options, machine, options
from benchmarks.tables import Goal, print_goals, print_table
from lvmkit.datasets import make_topics
from lvmkit.moments import EQUAL_ROWS, POOLED, SubspaceMoments, Weighting
from lvmkit.scores import sample_accuracy

SIZES = (100, 300, 1_000, 3_000, 10_000)
WORDS, TOPICS = 50, 5


def main(chosen: Options) -> None:
    """Draw corpora of 3 to 100 words a document and print the mean errors of M2 and M3."""
    print(machine(chosen))
    repeats = 3 if chosen.quick else 50
    rows, ratios = [], []
    for n in SIZES:
        errors = np.mean([both(n, seed) for seed in range(repeats)], axis=0)
        lengths = np.random.default_rng(0).integers(3, 101, size=n)
        bounds = [sample_accuracy(lengths, order=order, delta=0.05) for order in (2, 3)]
        rows.append((f"{n:,}", *(f"{1_000 * e:.2f}" for e in (*errors[0], *errors[1], *bounds))))
        ratios.append(errors[0] / errors[1])
    columns = ("n", "M2 pooled", "M3 pooled", "M2 Zou", "M3 Zou", "M2 bound", "M3 bound")
    title = f"1,000 x Frobenius error, d = {WORDS}, k = {TOPICS}, {repeats} corpora for each n"
    print_table(title, columns, rows)
    worst = np.max(ratios, axis=0)
    print_goals(
        Goal("M2 error / Zou's, at the worst n", float(worst[0]), most=1.0),
        Goal("M3 error / Zou's, at the worst n", float(worst[1]), most=1.0),
    )


def both(n: int, seed: int) -> Any:
    """Return the errors (M2, M3) of both estimators on one corpus."""
    data = make_topics(
        n,
        WORDS,
        TOPICS,
        topics="uniform",
        single=True,
        length=(3, 100),
        random_state=1_000 * seed + n,
    )
    centers, weights = data.centers, data.weights
    second = np.einsum("j,ja,jb->ab", weights, centers, centers)
    third = np.einsum("j,ja,jb,jc->abc", weights, centers, centers, centers)
    return [errors(data.X, weighting, second, third) for weighting in (POOLED, EQUAL_ROWS)]


def errors(X: Any, weighting: Weighting, second: Any, third: Any) -> tuple[float, float]:
    """Return the Frobenius errors of the estimated second and third moment."""
    found = SubspaceMoments.of(X, np.eye(X.shape[1]), weighting)
    return (
        float(np.linalg.norm(found.second / found.divisors[1] - second)),
        float(np.linalg.norm(found.core - third)),
    )


if __name__ == "__main__":
    main(options(__doc__))
