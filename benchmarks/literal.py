"""Algorithm 2 (ASVTD) and EM of Ruffini 2017 as they read: dense, one feature after the other."""

from typing import Any, Self

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClusterMixin
from threadpoolctl import threadpool_limits

from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.families import BERNOULLI, Prior

INSIDE = 1e-9
"""Probabilities are kept so far from 0 and 1, where the logarithm ends."""

STRENGTH = 1e-3
"""Prior pseudo-counts that keep the start inside; Ruffini 2017 has none, and so few change no label."""


class LiteralASVTD(ClusterMixin, BaseEstimator):
    """Clustering of Ruffini 2017 in plain numpy, to measure lvmkit's sparse form against.

    Ruffini 2017, Algorithm 2 line by line, then EM until the weights move by less than
    `weights_tol`, then the most probable cluster. What the paper leaves open is as in lvmkit: weights
    are kept non-negative, and moved off zero before EM.
    """

    def __init__(
        self, n_components: int = 8, *, weights_tol: float = 0.01, max_iter: int = 500
    ) -> None:
        self.n_components = n_components
        self.weights_tol = weights_tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of a dense array."""
        del y
        # Many small products: two BLAS threads make them up to ten times slower.
        with threadpool_limits(1, user_api="blas"):
            self._fit(X)
        return self

    def _fit(self, X: Any) -> None:
        """Decompose, run EM, label."""
        centers, weights = asvtd(X, self.n_components)
        # A state of weight 0 could never come back, and the paper does not say what becomes of it.
        prior = Prior.around(X.sum(axis=0), len(X), STRENGTH)
        start = smoothed(MixtureParams(weights, centers.T), len(X), prior, BERNOULLI)
        weights, centers = start.weights, start.centers.T
        self.n_iter_, moved = 0, np.inf
        while moved >= self.weights_tol and self.n_iter_ < self.max_iter:
            self.n_iter_, before = self.n_iter_ + 1, weights
            posteriors = e_step(X, centers, weights)
            sizes = posteriors.sum(axis=0)
            weights = sizes / len(X)
            centers = np.clip((X.T @ posteriors) / sizes, INSIDE, 1 - INSIDE)
            moved = np.linalg.norm(weights - before)
        self.weights_, self.centers_ = weights, centers.T
        self.labels_ = e_step(X, centers, weights).argmax(axis=1)


def asvtd(X: Any, k: int) -> tuple[Any, Any]:
    """Return centers (d, k) and weights (k,); the comments name the lines of Algorithm 2."""
    n, d = X.shape
    M2 = X.T @ X / n  # line 1
    U, S, _ = np.linalg.svd(M2, hermitian=True)  # line 2
    Xk = X @ (U[:, :k] * S[:k] ** -0.5)  # line 3
    largest_gap, rotation = -np.inf, np.eye(k)  # line 4
    slices = np.empty((d, k, k))
    for i in range(d):  # lines 5 to 11
        slices[i] = Xk.T @ (X[:, i, None] * Xk) / n
        left, singular_values, _ = np.linalg.svd(slices[i])
        gap = -np.diff(singular_values).max()
        if gap > largest_gap:
            largest_gap, rotation = gap, left
    centers = np.array([np.diag(rotation.T @ H @ rotation) for H in slices])  # lines 12 to 14
    weights, _ = nnls(
        centers, X.mean(axis=0)
    )  # line 15; plain least squares gives negative weights
    return centers, weights / weights.sum()


def e_step(X: Any, centers: Any, weights: Any) -> Any:
    """Return the posterior of every cluster (n, k), from centers (d, k)."""
    absent = np.log1p(-centers)
    scores = X @ (np.log(centers) - absent) + absent.sum(axis=0) + np.log(weights)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def literal_power(core: Any, *, restarts: int = 25, iterations: int = 20) -> Any:
    """Return λ_j·v_j in columns, one restart after the other, as Anandkumar 2014, Algorithm 1, is written."""
    left, k = core.copy(), len(core)
    generator, along = np.random.default_rng(0), np.empty((k, k))
    for state in range(k):
        best, highest = None, -np.inf
        for _ in range(restarts):
            vector = generator.normal(size=k)
            vector = iterated(left, vector / np.linalg.norm(vector), iterations)
            value = float(vector @ (left @ vector) @ vector)
            if best is None or value > highest:
                best, highest = vector, value
        vector = iterated(left, best, iterations)
        value = float(vector @ (left @ vector) @ vector)
        along[:, state] = value * vector
        left -= value * vector[:, None, None] * vector[:, None] * vector
    return along


def iterated(tensor: Any, vector: Any, iterations: int) -> Any:
    """Apply v ← T(·, v, v)/‖…‖."""
    for _ in range(iterations):
        vector = (tensor @ vector) @ vector
        vector = vector / np.linalg.norm(vector)
    return vector
