"""Mixtures of tensor normals: seconds of a fit, beside k-means and those of Mutoh 2023, and at the size of an EEG.

Run as ``python benchmarks/tensor_mixtures.py [--quick]``; Mutoh 2023, tables 3 and 5. The seconds of EM and of the
path by BIC hold the k-means that they start from; DEEM with a penalty starts from its labels. The group lasso of one E
step stands beside Clarabel.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import psutil
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.measure import MEGABYTE, PeakMemory
from lvmkit import TensorNormalMixture
from lvmkit.datasets import make_tensor_mixture, tensor_setting
from lvmkit.datasets.simulate_tensors import autoregressive
from lvmkit.tensors.group_lasso import group_lasso
from lvmkit.tensors.modes import multiply

DOCUMENT = {
    "M1": (0.93, 0.72), "M3": (7.74, 13.95), "M4": (21.9, 15.8), "M5": (14.66, 332.96),
    "M8": (0.17, 23.7), "M9": (0.32, 7.99), "M10": (1.51, 72.8),
}  # fmt: skip
"""Seconds of EM and DEEM in tables 3 and 5."""
GOALS = {"M1": 0.1, "M8": 0.1, "M10": 0.1, "M5": 1.0}
PENALTIES = (0.05, 0.2, 0.3)
N_SAMPLES, N_STARTS = 200, 10
EEG = (200, 64, 256)


class Timed(NamedTuple):
    """Median processor seconds, and what came out last."""

    seconds: float
    result: Any


def timed(work: Callable[[], Any], runs: int) -> Timed:
    """Run something several times."""
    spent, result = [], None
    for _ in range(runs):
        before = time.process_time()
        result = work()
        spent.append(time.process_time() - before)
    return Timed(statistics.median(spent), result)


def fits(runs: int) -> None:
    """Print the seconds of fits, and the goals."""
    heads = " ".join(f"DEEM {penalty:<5}" for penalty in PENALTIES)
    print(
        f"{'':<4} {'k-means':>8} {'EM':>7} {'ratio':>6}  {heads} {'by BIC':>7}   document EM, DEEM"
    )
    for name, published in DOCUMENT.items():
        K = len(tensor_setting(name).weights)
        X, _ = make_tensor_mixture(name, N_SAMPLES)
        flat = X.reshape(len(X), -1)

        def means(flat: Any = flat, K: int = K) -> Any:
            return KMeans(K, n_init=N_STARTS, random_state=0).fit(flat)

        def mixture(X: Any = X, K: int = K, **options: Any) -> Any:
            return TensorNormalMixture(K, n_jobs=1, **options).fit(X)

        with threadpool_limits(1, user_api="blas"):
            beside, kmeans = timed(means, runs)
            em = timed(partial(mixture, method="em", init="kmeans"), runs).seconds
            given = partial(mixture, init=kmeans.labels_)
            deem = [timed(partial(given, penalty=p), runs).seconds for p in PENALTIES]
            chosen = timed(partial(mixture, init="kmeans"), 1).seconds
        goal = GOALS.get(name)
        verdicts = ["EM " + ("met" if em <= 3 * beside else "MISSED")]
        if goal:
            verdicts += [
                f"DEEM {p} {'met' if s <= goal else 'MISSED'}"
                for p, s in zip(PENALTIES, deem, strict=True)
            ]
        print(
            f"{name:<4} {beside:8.3f} {em:7.3f} {em / beside:6.1f}  "
            + " ".join(f"{seconds:10.3f}" for seconds in deem)
            + f" {chosen:7.2f}   {published[0]:.2f}, {published[1]:.2f}   {'; '.join(verdicts)}",
            flush=True,
        )


def large(shape: tuple[int, int, int]) -> None:
    """Print seconds and memory at the size of an EEG."""
    n, channels, times = shape
    rng = np.random.default_rng(0)
    covariances = [autoregressive(channels, 0.7), autoregressive(times, 0.9)]
    lower = [np.linalg.cholesky(part) for part in covariances]
    planted = np.zeros((channels, times))
    planted[:3, :4] = 1.0
    labels = rng.integers(2, size=n)
    X = multiply(rng.standard_normal(shape), lower)
    X += labels[:, np.newaxis, np.newaxis] * multiply(planted, covariances)
    for name, options in (
        ("EM", {"method": "em"}),
        ("DEEM .5", {"penalty": 0.5}),
        ("DEEM by BIC", {}),
    ):
        before = time.perf_counter()
        with PeakMemory() as memory:
            model = TensorNormalMixture(2, **options).fit(X)
        wrong = min(np.mean(model.labels_ != labels), np.mean(model.labels_ == labels))
        print(
            f"{n} x {channels} x {times}, {name:<11} {time.perf_counter() - before:6.1f} s, "
            f"{(memory.peak - memory.level) / MEGABYTE:.0f} MB above {memory.level / MEGABYTE:.0f} MB with the data, "
            f"{wrong:.3f} wrong, {int(model.selected_.sum())} entries",
            flush=True,
        )
    print(f"all memory of the process now: {psutil.Process().memory_info().rss / MEGABYTE:.0f} MB")


def lasso(runs: int) -> None:
    """Print one group lasso beside a general conic solver."""
    for name in ("M1", "M3"):
        setting = tensor_setting(name)
        means = np.asarray(setting.means)
        rng = np.random.default_rng(0)
        differences = means[1:] - means[0] + 0.1 * rng.standard_normal(means[1:].shape)
        covariances = [np.asarray(part) for part in setting.covariances]
        with threadpool_limits(1, user_api="blas"):
            ours = timed(partial(group_lasso, differences, covariances, 0.2), runs)
        before = time.process_time()
        value = clarabel(differences, covariances, 0.2)
        theirs = time.process_time() - before
        print(
            f"group lasso of {name}: {1e3 * ours.seconds:.1f} ms, gap {ours.result.gap:.0e}; Clarabel "
            f"{theirs:.2f} s ({theirs / ours.seconds:.0f} times), objectives differ by "
            f"{abs(value - ours.result.objective) / abs(value):.0e}"
        )


def clarabel(differences: Any, covariances: list[Any], penalty: float) -> float:
    """Solve a group lasso with the explicit covariance of all entries."""
    whole = covariances[0]
    for part in covariances[1:]:
        whole = np.kron(whole, part)
    lower = np.linalg.cholesky(whole)
    flat = differences.reshape(len(differences), -1)
    C = cp.Variable(flat.shape)
    objective = cp.sum_squares(C @ lower) / 2 - cp.sum(cp.multiply(C, flat))
    problem = cp.Problem(cp.Minimize(objective + penalty * cp.sum(cp.norm(C, axis=0))))
    return float(problem.solve(solver=cp.CLARABEL))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run each, a smaller EEG")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)  # of penalties too large for a setting
    KMeans(2, n_init=1).fit(np.random.default_rng(0).standard_normal((20, 3)))  # loads its code
    fits(1 if quick else 5)
    lasso(1 if quick else 5)
    large((50, 32, 64) if quick else EEG)


if __name__ == "__main__":
    main()
