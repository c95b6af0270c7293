"""Convex covariate clustering: seconds and exactness, beside general convex solvers and the published ADMM.

Run as ``python benchmarks/covariate_clusters.py [--quick]``. Data of Andrade 2021, tables 1 and 2, S estimated.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.metrics import adjusted_mutual_info_score
from threadpoolctl import threadpool_limits

from lvmkit.covariates.admm import ADMM
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import one_hot
from lvmkit.covariates.path import default_nus
from lvmkit.covariates.similarities import check_similarity, class_covariance
from lvmkit.covariates.solver import Fused, Solver
from lvmkit.datasets import make_covariate_clusters

RIDGE = 0.1
CLASSES = 4
PUBLISHED_MINUTES = {
    (40, 400): 12.271,
    (200, 400): 86.815,
    (1000, 400): 552.763,
    (1000, 4000): 982.877,
}
"""Andrade 2021, table 2: ADMM on 88 processors, the whole path."""
GOAL_SECONDS = {(40, 400): 1, (200, 400): 3, (1000, 400): 60, (1000, 4000): 180}
COLD = 12
"""Points of a path that are solved again from nothing."""
SLOW_SECONDS = 300


class Data:
    """One data set of Andrade 2021, its similarity estimated."""

    def __init__(self, d: int, n: int) -> None:
        data = make_covariate_clusters(n, d, n_classes=CLASSES, random_state=0)
        self.X, self.y, self.labels = data.X, data.y, data.labels
        self.targets = one_hot(data.y, CLASSES)
        self.edges = check_similarity(class_covariance(data.X, data.y), d)
        self.n, self.d = n, d

    def graph(self) -> Graph:
        """Return a fresh graph, with nothing remembered."""
        return Graph(*self.edges, self.d)

    def solver(self) -> Solver:
        """Return a solver that stands at nothing."""
        return Solver(self.X, self.targets, self.graph(), ridge=RIDGE)

    def objective(self, B: Any, intercept: Any, nu: float) -> float:
        """Return equation (1), whoever found the weights."""
        scores = self.X @ B.T + intercept
        top = scores.max(axis=1)
        loss = (
            top
            + np.log(np.exp(scores - top[:, None]).sum(axis=1))
            - scores[np.arange(self.n), self.y]
        ).sum()
        apart = np.linalg.norm(B.T[self.edges.first] - B.T[self.edges.second], axis=1)
        return float(loss + RIDGE * (B**2).sum() + nu * self.edges.similarity @ apart)


def timed(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Return the median seconds, and the last result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), found


def conic(data: Data, nu: float, solver: str) -> tuple[float, float]:
    """Solve by a general solver; its own seconds, without cvxpy's, and the objective."""
    B, intercept = cp.Variable((data.d, CLASSES)), cp.Variable(CLASSES)
    scores = data.X @ B + np.ones((data.n, 1)) @ cp.reshape(intercept, (1, CLASSES), order="C")
    first, second, similarity = data.edges
    loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(data.targets, scores))
    apart = cp.norm(B[first] - B[second], 2, axis=1)
    problem = cp.Problem(cp.Minimize(loss + RIDGE * cp.sum_squares(B) + nu * similarity @ apart))
    options: dict[str, Any] = {
        "time_limit_secs" if solver == "SCS" else "time_limit": float(SLOW_SECONDS)
    }
    problem.solve(solver=solver, **options)
    if B.value is None:
        return float("nan"), float("nan")
    return problem.solver_stats.solve_time, data.objective(B.value.T, intercept.value, nu)


def admm(data: Data, nu: float, *, adaptive: bool) -> tuple[float, float]:
    """Run the published ADMM to its own tolerance; seconds and objective."""
    method = ADMM(data.X, data.targets, data.graph(), ridge=RIDGE, nu=nu, adaptive=adaptive)
    start = time.perf_counter()
    state, _, _ = method.run(tol=1e-5, max_iter=1000)
    return time.perf_counter() - start, method.objective(state)


def one_nu(data: Data, exponents: tuple[int, ...], solvers: tuple[str, ...]) -> None:
    """Compare methods for single values of ν."""
    print(
        f"\none ν, n = {data.n}, d = {data.d}, {len(data.edges.first):,} edges; excess: relative, above our lower bound"
    )
    print(f"{'ν':>9} {'method':<20} {'s':>9} {'x ours':>8} {'objective':>15} {'excess':>9}")
    for exponent in exponents:
        nu = data.n * 2.0 ** (-0.1 * exponent)
        seconds, found = timed(lambda nu=nu: data.solver().solve(nu), 5)
        bound = found.objective * (1 - found.gap)
        rows = [("lvmkit", seconds, data.objective(found.coef, found.intercept, nu))]
        rows += [(name, *conic(data, nu, name)) for name in solvers]
        rows += [
            ("ADMM, adaptive ρ", *admm(data, nu, adaptive=True)),
            ("ADMM, ρ = 1", *admm(data, nu, adaptive=False)),
        ]
        for name, taken, objective in rows:
            excess = (objective - bound) / objective
            print(
                f"{nu:9.3g} {name:<20} {taken:9.4f} {taken / seconds:8.1f} {objective:15.8f} {excess:9.1e}",
                flush=True,
            )


def path(data: Data, *, with_admm: bool) -> None:
    """Time a whole path, and solve some of its points again from nothing."""
    values = default_nus(data.n)
    with threadpool_limits(1, user_api="blas"):
        start = time.perf_counter()
        solver = data.solver()
        found = [solver.solve(float(nu)) for nu in values]
        seconds = time.perf_counter() - start
    best = max(adjusted_mutual_info_score(data.labels, each.labels) for each in found)
    key = (data.d, data.n)
    gap, steps = max(each.gap for each in found), sum(each.n_iter for each in found)
    print(
        f"path of {len(values)}, d = {data.d:,}, n = {data.n:,}: {seconds:.2f} s, {steps} steps,",
        end=" ",
    )
    print(f"largest gap {gap:.1e}, best AMI on it {best:.3f}", flush=True)
    if key in PUBLISHED_MINUTES:
        published, goal = 60 * PUBLISHED_MINUTES[key], GOAL_SECONDS[key]
        print(f"  goal {goal} s: {'met' if seconds <= goal else 'MISSED'};", end=" ")
        print(
            f"Andrade 2021, on 88 processors: {published:,.0f} s, {published / seconds:,.0f} times"
        )
    places = np.linspace(0, len(values) - 1, COLD).astype(int)
    worst = max(relative(found[k], data.solver().solve(float(values[k]))) for k in places)
    print(
        f"  {COLD} points from nothing: warm ones at most {worst:.1e} above (goal 1e-4)", flush=True
    )
    if with_admm:
        taken, worst = admm_path(data, values, found)
        print(
            f"  ADMM with adaptive ρ, warm, to ε = 1e-5: {taken:.1f} s, {taken / seconds:.0f} times;",
            end=" ",
        )
        print(f"up to {worst:.1e} above")


def relative(one: Fused, other: Fused) -> float:
    """Return how far one objective is above another."""
    return (one.objective - other.objective) / other.objective


def admm_path(data: Data, values: Any, found: list[Fused]) -> tuple[float, float]:
    """Follow the path by ADMM, each point from the last."""
    start, state, worst = time.perf_counter(), None, 0.0
    for nu, ours in zip(values[::-1], found[::-1], strict=True):
        method = ADMM(data.X, data.targets, data.graph(), ridge=RIDGE, nu=float(nu))
        state, _, _ = method.run(tol=1e-5, max_iter=1000, state=state)
        worst = max(worst, (method.objective(state) - ours.objective) / ours.objective)
    return time.perf_counter() - start, worst


def main() -> None:
    """Compare single values of ν, then paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data: does everything work")
    parser.add_argument("--threads", type=int, help="not used: every method runs on one thread")
    quick = parser.parse_args().quick
    one_nu(Data(40, 400), (120,) if quick else (60, 120, 180, 240), ("CLARABEL", "SCS"))
    if not quick:
        one_nu(Data(200, 400), (60, 120, 180), ("CLARABEL",))
    print()
    path(Data(40, 400), with_admm=not quick)
    for d, n in () if quick else ((200, 400), (1000, 400), (1000, 4000)):
        path(Data(d, n), with_admm=False)


if __name__ == "__main__":
    main()
