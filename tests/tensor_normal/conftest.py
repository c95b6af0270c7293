"""Small problems written out: Kronecker products, and what a general conic solver makes of them."""

import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

EXACT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


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
    """Minimize the same by a general solver."""

    def solve(D: Any, covariances: Any, penalty: float) -> tuple[float, Any]:
        flat = D.reshape(len(D), -1)
        root = np.linalg.cholesky(kronecker(covariances))
        C = cp.Variable(flat.shape)
        smooth = cp.sum_squares(C @ root) / 2 - cp.sum(cp.multiply(C, flat))
        problem = cp.Problem(cp.Minimize(smooth + penalty * cp.sum(cp.norm(C, 2, axis=0))))
        with warnings.catch_warnings():  # where the very last digits do not come, it says so
            warnings.simplefilter("ignore", UserWarning)
            best = problem.solve(solver=cp.CLARABEL, **EXACT)
        return float(best), C.value.reshape(D.shape)

    return solve
