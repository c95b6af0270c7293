"""Multinomial logistic regression on sums of groups of covariates: likelihood, gradient, Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lvmkit.core.typing import Array, Counts, Labels

DENSE_SHARE = 0.25
"""Sums over groups are kept sparse while fewer of them than this are not zero."""


class Design:
    """Samples as the likelihood sees them: a column per group of covariates, and one of ones for the intercept."""

    # A row of the targets holds, in the column of its class, how often the sample counts.

    def __init__(self, X: Counts, targets: Array, grams: Grams | None = None) -> None:
        self._grams = grams
        self.columns: Any = with_intercept(X)
        self.transposed: Any = self.columns.T.tocsr() if sp.issparse(X) else self.columns.T
        self.targets = targets
        counts = targets.sum(1)
        self.total = float(counts.sum())
        self._counts = None if (counts == 1).all() else counts[:, np.newaxis]

    @property
    def n_columns(self) -> int:
        """Groups and the intercept."""
        return int(self.columns.shape[1])

    def probabilities(self, theta: Array) -> tuple[Array, float]:
        """Probability of each class for each sample, and the negative log-likelihood of the targets."""
        scores = np.asarray(self.columns @ theta)
        scores -= scores.max(1, keepdims=True)
        loss = -float(np.vdot(self.targets, scores))
        np.exp(scores, out=scores)
        totals = scores.sum(1, keepdims=True)
        return scores / totals, loss + float(self.counted(np.log(totals)).sum())

    def counted(self, values: Array) -> Array:
        """Count each sample's row as often as the sample. values (n_samples, m)."""
        return values if self._counts is None else values * self._counts

    def gradient(self, probabilities: Array) -> Array:
        """Gradient of the negative log-likelihood, (n_groups + 1, n_classes)."""
        return np.asarray(self.transposed @ (self.counted(probabilities) - self.targets))

    def curvature(self, probabilities: Array, direction: Array) -> Array:
        """Hessian of the negative log-likelihood times a direction of the shape of theta."""
        moved = np.asarray(self.columns @ direction)
        moved *= probabilities
        moved -= probabilities * moved.sum(1, keepdims=True)
        return np.asarray(self.transposed @ self.counted(moved))

    def square_root(self, probabilities: Array) -> tuple[list[Array], Array]:
        """Return the Hessian as X'diag(p_k)X of each class less R'R: the blocks, and R, its columns by class."""
        columns = self.columns.toarray() if sp.issparse(self.columns) else self.columns
        scaled = [probabilities[:, [k]] * columns for k in range(probabilities.shape[1])]
        blocks = [columns.T @ self.counted(part) for part in scaled]
        roots = 1.0 if self._counts is None else np.sqrt(self._counts)
        return blocks, roots * np.hstack(scaled)

    def gram(self, weights: Array) -> Array:
        """Return X'diag(w)X for weights of the samples, dense, or that of other weights, scaled."""
        weights = self.counted(weights[:, np.newaxis]).ravel()
        if self._grams is not None:
            return self._grams.summed(weights)
        return gram(self.columns, weights)

    def slow(self) -> None:
        """Tell that the gram matrix has served its time."""
        if self._grams is not None:
            self._grams.stale = True

    def squares(self, weights: Array) -> Array:
        """Return the diagonal of `gram`, (n_groups + 1,)."""
        columns = self.columns.power(2) if sp.issparse(self.columns) else self.columns**2
        return np.asarray(columns.T @ self.counted(weights[:, np.newaxis]).ravel())


class Grams:
    """Keeps X'diag(w)X of all covariates, and adds it up for any groups. X (n_samples, n_features)."""

    # It only preconditions: that of other weights serves as well, scaled, until conjugate gradients are slow.

    def __init__(self, X: Counts) -> None:
        self._X = X
        self.stale = True
        self._full: Array | None = None
        self._level = 1.0
        self._onto: Any = None
        self._summed: Array | None = None

    def group(self, labels: Labels, n_groups: int) -> None:
        """Take other groups; covariates of other labels are left out."""
        left_out = n_groups + 1
        places = np.append(
            np.where(labels < n_groups, labels, left_out), n_groups
        )  # the intercept stays alone
        shape = (len(places), n_groups + 2)
        self._onto = sp.csr_array(
            (np.ones(len(places)), (np.arange(len(places)), places)), shape=shape
        )[:, :-1]
        self._summed = None

    def summed(self, weights: Array) -> Array:
        """Return the matrix for the groups, (n_groups + 1, n_groups + 1)."""
        level = float(weights.mean()) or 1.0
        if self.stale or self._full is None:
            self._full, self._level = gram(with_intercept(self._X), weights), level
            self.stale, self._summed = False, None
        if self._summed is None:
            onto = self._onto
            self._summed = np.asarray(onto.T @ (onto.T @ self._full).T)
        return self._summed * (level / self._level)


def gram(columns: Any, weights: Array) -> Array:
    """Return X'diag(w)X, dense."""
    roots = np.sqrt(weights)[:, None]
    if not sp.issparse(columns):
        scaled = columns * roots
        return np.asarray(scaled.T @ scaled)
    return np.asarray((columns.T @ columns.multiply(roots**2)).toarray())


def with_intercept(X: Counts) -> Any:
    """Put a column of ones after those of `X`."""
    ones = np.ones((X.shape[0], 1))
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([X, ones], format="csr"))
    return np.hstack([X, ones])


def sums(X: Counts, labels: Labels, n_groups: int) -> Counts:
    """Add up the covariates of each group, (n_samples, n_groups); those of other labels are left out."""
    d = X.shape[1]
    members = (labels >= 0) & (labels < n_groups)
    places = (np.flatnonzero(members), labels[members])
    onto = sp.csr_array((np.ones(len(places[0])), places), shape=(d, n_groups))
    found = X @ onto
    if sp.issparse(found) and found.nnz > DENSE_SHARE * found.shape[0] * found.shape[1]:
        return np.asarray(found.toarray())
    return found


def one_hot(codes: Labels, n_classes: int, weight: Array | None = None) -> Array:
    """Return a row per sample: in the column of its class how often it counts. codes (n,), weight (n,)."""
    targets = np.eye(n_classes)[codes]
    return targets if weight is None else targets * weight[:, np.newaxis]
