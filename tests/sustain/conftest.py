"""The algorithms of Perros 2018 word by word: slow, dense, in double precision, with nothing shared."""

from functools import reduce

import numpy as np
import pytest


def matlab_round(value):
    """Whole part, and one more where the rest is a half or more: exact, unlike adding 0.5."""
    whole = np.trunc(value)
    return whole + np.sign(value) * (np.abs(value - whole) >= 0.5)


def dense_of(factors, weights):
    """Sum over components of the outer products of their columns."""
    parts = [
        weight * reduce(np.multiply.outer, [factor[:, r] for factor in factors])
        for r, weight in enumerate(weights)
    ]
    return sum(parts)


def unfolding(X, mode):
    """Mode-n matricization; columns in the order of `kronecker`."""
    return np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1)


def kronecker(factors, mode):
    """Khatri-Rao product of all factors but one."""
    others = [factor for n, factor in enumerate(factors) if n != mode]
    columns = [reduce(np.kron, [f[:, r] for f in others]) for r in range(others[0].shape[1])]
    return np.stack(columns, axis=1)


class Literal:
    """Algorithms 1 to 3 as the authors' program does them.

    Attributes
    ----------
    n_halves, n_locks : int
        Updates that fell on exactly .5, and columns that would have been zero.
    """

    def __init__(
        self, X, factors, weights, *, most, least, seed, n_passes=1, tol=1e-4, max_iter=200
    ):
        self.X = np.asarray(X, dtype=float)
        order = self.X.ndim
        self.most, self.least = np.broadcast_to(most, order), np.broadcast_to(least, order)
        self.rng = np.random.default_rng(seed)
        self.factors = [np.array(factor, dtype=float) for factor in factors]
        self.weights = np.array(weights, dtype=float)
        self.n_halves = self.n_locks = 0
        for factor in self.factors:
            for r in range(factor.shape[1]):
                self.unlock(factor, r)
        self.trace, self.stopped_by = [], "max_iter"
        for _ in range(max_iter):
            for mode in range(order):
                self.update(mode, n_passes)
            self.trace.append(self.fit())
            if len(self.trace) > 1 and abs(self.trace[-1] - self.trace[-2]) < tol:
                self.stopped_by = "tol"
                break

    def unlock(self, factor, k):
        if not factor[:, k].any():
            self.n_locks += 1
            factor[self.rng.integers(len(factor)), k] = 1

    def update(self, mode, n_passes):
        V, lam = self.factors[mode], self.weights
        others = kronecker(self.factors, mode)
        M, C = unfolding(self.X, mode) @ others, others.T @ others
        for _ in range(n_passes):
            for k in range(V.shape[1]):
                core = V @ (lam * C[:, k])
                core_k = V[:, k] * (lam[k] * C[k, k])
                step = V[:, k] @ (M[:, k] - core) / (C[k, k] * (V[:, k] @ V[:, k]))
                lam[k] = max(1, matlab_round(lam[k] + step))
                core = core - core_k + V[:, k] * (lam[k] * C[k, k])
                exact = V[:, k] + (M[:, k] - core) / (C[k, k] * lam[k])
                self.n_halves += int((np.abs(exact % 1) == 0.5).sum())
                V[:, k] = np.clip(matlab_round(exact), self.least[mode], self.most[mode])
                self.unlock(V, k)

    def fit(self):
        missed = ((self.X - dense_of(self.factors, self.weights)) ** 2).sum()
        return 1 - np.sqrt(missed / (self.X**2).sum())


@pytest.fixture(scope="session")
def literal():
    """The reference."""
    return Literal


@pytest.fixture(scope="session")
def explicit():
    """Dense tensor of factors, unfolding, Khatri-Rao product and rounding, each by its definition."""
    return {
        "dense_of": dense_of,
        "unfolding": unfolding,
        "kronecker": kronecker,
        "round": matlab_round,
    }
