"""Small problems, and what a general conic solver makes of them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import logsumexp

from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import one_hot
from lvmkit.covariates.solver import Solver

EXACT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


@dataclass(frozen=True)
class Case:
    """Samples, classes and similarities; numbers are drawn by a seed."""

    X: Any
    y: Any
    S: Any
    ridge: float = 0.1
    selection: float = 0.0

    @property
    def targets(self):
        return one_hot(self.y, int(self.y.max()) + 1)

    @property
    def graph(self) -> Graph:
        tails, heads = np.nonzero(np.triu(self.S, 1))
        graph = Graph(tails, heads, self.S[tails, heads], len(self.S))
        return graph.tied_to_zero(self.selection) if self.selection else graph

    def solver(self, **options) -> Solver:
        return Solver(self.X, self.targets, self.graph, ridge=self.ridge, **options)

    def objective(self, nu, coef, intercept) -> float:
        """Equation (1), pair by pair."""
        scores = self.X @ coef.T + intercept
        total = (logsumexp(scores, axis=1) - scores[np.arange(len(self.y)), self.y]).sum()
        total += self.ridge * (coef**2).sum() + self.selection * np.linalg.norm(coef, axis=0).sum()
        for i, j in zip(*np.nonzero(np.triu(self.S, 1)), strict=True):
            total += nu * self.S[i, j] * np.linalg.norm(coef[:, i] - coef[:, j])
        return float(total)

    def changed(self, **what) -> "Case":
        return replace(self, **what)


def similarities(kind: str, d: int, rng) -> np.ndarray:
    """Similarities of points in the plane: of all pairs, of near ones, of islands, or none."""
    points = rng.normal(size=(d, 2))
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    S = np.exp(-squares / 2)
    if kind == "sparse":
        S[squares > np.quantile(squares, 0.3)] = 0
    if kind == "islands":
        S *= np.arange(d)[:, None] % 3 == np.arange(d)[None, :] % 3
        S[-1, :] = S[:, -1] = 0  # similar to nothing
    np.fill_diagonal(S, 0)
    return S


@pytest.fixture(scope="session")
def make_case() -> Callable[..., Case]:
    """Return cases by kind of similarity, sizes, strength of selection and seed."""

    @cache
    def made(kind="dense", n=60, d=8, c=3, selection=0.0, seed=0) -> Case:
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(n) % c)
        groups = rng.integers(0, 3, d)
        X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(c, 3))[y][:, groups]
        return Case(X, y, similarities(kind, d, rng), selection=selection)

    return made


@pytest.fixture(scope="session")
def conic() -> Callable[..., tuple[float, np.ndarray, np.ndarray]]:
    """Return the optimum of a case by Clarabel: its objective, evaluated anew, the weights and intercepts."""
    known: dict[Any, Any] = {}

    def solved(case: Case, nu: float):
        key = (id(case), nu)
        if key not in known:
            known[key] = (
                case,
                _conic(case, nu),
            )  # the case is kept, so that its id is not given to another one
        return known[key][1]

    return solved


def _conic(case: Case, nu: float):
    (n, d), c = case.X.shape, case.targets.shape[1]
    weights, intercept = cp.Variable((d, c)), cp.Variable((1, c))
    scores = case.X @ weights + np.ones((n, 1)) @ intercept
    loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(case.targets, scores))
    loss += case.ridge * cp.sum_squares(weights)
    tails, heads = np.nonzero(np.triu(case.S, 1))
    if len(tails):
        apart = np.eye(d)[tails] - np.eye(d)[heads]
        loss += nu * case.S[tails, heads] @ cp.norm(apart @ weights, axis=1)
    if case.selection:
        loss += case.selection * cp.sum(cp.norm(weights, axis=1))
    problem = cp.Problem(cp.Minimize(loss), [cp.sum(intercept) == 0])
    with warnings.catch_warnings():
        # It asks for more than rounding allows; what it found is evaluated anew below.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, **EXACT)
    coef, beta = weights.value.T, intercept.value[0]
    return case.objective(nu, coef, beta), coef, beta
