"""Small problems written out: Kronecker products, and what a general conic solver makes of them."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

# Rounding errors, which differ between BLAS kernels, keep its points from being feasible to 1e-9.
EXACT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-8}


@pytest.fixture(scope="session")
def kronecker() -> Callable[[Any], Any]:
    """The covariance of all entries, in the order of the array."""
    return lambda covariances: reduce(np.kron, covariances)


@pytest.fixture(scope="session")
def covariance() -> Callable[..., Any]:
    """Draw a covariance of given condition number."""

    def draw(size: int, seed: int, condition: float = 10.0) -> Any:
        rng = np.random.default_rng(seed)
        Q, _ = np.linalg.qr(rng.standard_normal((size, size)))
        return (Q * np.geomspace(1, 1 / condition, size)) @ Q.T * rng.uniform(0.5, 2)

    return draw


@pytest.fixture(scope="session")
def objective(kronecker: Callable[[Any], Any]) -> Callable[..., float]:
    """½ <C, SC> - <C, D> + penalty sum_J |c_J|."""

    def value(C: Any, D: Any, covariances: Any, penalty: float) -> float:
        C, D = C.reshape(len(C), -1), D.reshape(len(D), -1)
        quadratic = np.vdot(C, C @ kronecker(covariances)) / 2 - np.vdot(C, D)
        return float(quadratic + penalty * np.linalg.norm(C, axis=0).sum())

    return value


@pytest.fixture(scope="session")
def conic(kronecker: Callable[[Any], Any]) -> Callable[..., tuple[float, Any]]:
    """Minimize the same by a general solver, which solves the dual problem: what it looks for has length 1 at most."""

    def solve(D: Any, covariances: Any, penalty: float) -> tuple[float, Any]:
        flat, S = D.reshape(len(D), -1) / penalty, kronecker(covariances)
        root = np.linalg.inv(np.linalg.cholesky(S)).T
        R = cp.Variable(flat.shape)
        lost = cp.sum_squares((flat - R) @ root) / 2
        problem = cp.Problem(cp.Minimize(lost), [cp.norm(R, 2, axis=0) <= 1])
        best = problem.solve(solver=cp.CLARABEL, **EXACT)
        C = penalty * np.linalg.solve(S, (flat - R.value).T).T
        return -float(best) * penalty**2, C.reshape(D.shape)

    return solve
