"""Algorithm 2 (ASVTD) and EM of Ruffini et al. 2017 as they read: dense, one feature after the other."""

from typing import Any, Self

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClusterMixin

INSIDE = 1e-9
"""Probabilities are kept so far from 0 and 1, where the logarithm ends."""


class LiteralASVTD(ClusterMixin, BaseEstimator):
    """The documents' clustering in plain numpy, to measure lvmkit's sparse form against.

    Ruffini et al. 2017, Algorithm 2 line by line, then EM until the weights move by less than
    `weights_tol`, then the most probable cluster.
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
        centers, weights = asvtd(X, self.n_components)
        centers = np.clip(centers, INSIDE, 1 - INSIDE)
        # A state of weight 0 could never come back: as in lvmkit, one imaginary row is spread over all.
        weights = (len(X) * weights + 1 / self.n_components) / (len(X) + 1)
        for self.n_iter_ in range(1, self.max_iter + 1):
            before = weights
            posteriors = e_step(X, centers, weights)
            sizes = posteriors.sum(axis=0)
            weights = sizes / len(X)
            centers = np.clip((X.T @ posteriors) / sizes, INSIDE, 1 - INSIDE)
            if np.linalg.norm(weights - before) < self.weights_tol:
                break
        self.weights_, self.centers_ = weights, centers.T
        self.labels_ = e_step(X, centers, weights).argmax(axis=1)
        return self


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
    weights, _ = nnls(centers, X.mean(axis=0))  # line 15; plain least squares gives negative weights
    return centers, weights / weights.sum()


def e_step(X: Any, centers: Any, weights: Any) -> Any:
    """Return the posterior of every cluster (n, k), from centers (d, k)."""
    absent = np.log1p(-centers)
    scores = X @ (np.log(centers) - absent) + absent.sum(axis=0) + np.log(weights)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
