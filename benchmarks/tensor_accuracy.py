"""Mixtures of tensor normals: error rates over replicates, beside Bayes' rule, k-means and EM.

Run as ``python benchmarks/tensor_accuracy.py [--quick] [--settings M1,M8]``; Mutoh 2023, tables 2 and 4. Means are
made both ways: "discriminant", as the model needs them, and "direct", as Mutoh 2023 says it made them.
"""

import argparse
import warnings
from typing import Any

import numpy as np

from lvmkit import TensorNormalMixture
from lvmkit.datasets import make_tensor_mixture, tensor_setting
from lvmkit.scores import error_rate
from lvmkit.tensors.mixture import TensorSearch

DOCUMENT = {
    "M1": (0.45, 0.41), "M3": (0.56, 0.46), "M4": (0.57, 0.35), "M5": (0.43, 0.31),
    "M8": (0.45, 0.28), "M9": (0.34, 0.18), "M10": (0.31, 0.0003),
}  # fmt: skip
"""Error rates of EM and DEEM in tables 2 and 4."""
N_SAMPLES, REPLICATES = 200, 20
COLUMNS = ("Bayes", "k-means", "whitened", "EM", "DEEM")


def replicate(name: str, mean: str, seed: int) -> tuple[list[float], bool]:
    """Return the error rates of one data set, and whether BIC speaks for clusters at all."""
    setting = tensor_setting(name, mean=mean)
    K = len(setting.weights)
    X, y = make_tensor_mixture(setting, N_SAMPLES, random_state=seed)
    em = TensorNormalMixture(K, method="em").fit(X)
    deem = TensorNormalMixture(K).fit(X)
    search = TensorSearch(deem, X)
    starts = dict(zip(search.names, search.posteriors, strict=True))
    found: list[Any] = [setting.predict(X)]
    found += [starts[kind].argmax(axis=1) for kind in ("kmeans", "whitened_kmeans")]
    found += [em.labels_, deem.labels_]
    return [error_rate(y, labels) for labels in found], deem.bic_ < search.bic_of_one()


def main() -> None:
    """Print a line for each setting and way to make the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two replicates of two settings")
    parser.add_argument("--settings", default=",".join(DOCUMENT), help="separated by commas")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["M1", "M8"] if asked.quick else asked.settings.split(",")
    count = 2 if asked.quick else REPLICATES
    print(
        f"{'':<4} {'mean':<13}"
        + "".join(f"{column:>14}" for column in COLUMNS)
        + "  clusters seen  document EM, DEEM"
    )
    for name in names:
        for mean in ("discriminant", "direct"):
            runs = [replicate(name, mean, seed) for seed in range(count)]
            errors = np.array([run[0] for run in runs])
            cells = "".join(
                f"{average:8.3f} ({spread:.2f})"
                for average, spread in zip(errors.mean(axis=0), errors.std(axis=0), strict=True)
            )
            better = "met" if errors[:, 4].mean() <= errors[:, 3].mean() else "MISSED"
            print(
                f"{name:<4} {mean:<13}{cells}  {sum(run[1] for run in runs):>5} of {count:<5}  "
                f"{DOCUMENT[name][0]}, {DOCUMENT[name][1]}   DEEM at most EM: {better}",
                flush=True,
            )


if __name__ == "__main__":
    main()
