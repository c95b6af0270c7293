"""Whitened samples: maximum likelihood of the modes' covariances by the flip-flop algorithm."""

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from lvmkit.core.typing import Array
from lvmkit.tensors.covariances import moment_covariances, shrunken
from lvmkit.tensors.modes import multiply, rooted, scatter

BACK = 0.5
"""A change that undoes more than this share of the last went too far."""
ROUNDING = 1e-13
"""A log-likelihood of an entry that falls by less has not fallen."""


class WhitenedSamples:
    """Samples in coordinates in which their covariances are the identity, and how to get there and back."""

    def __init__(self, X: Array, weight: Array | None = None) -> None:
        self.values, self._weight = X, weight
        self._total = len(X) if weight is None else float(weight.sum())
        self.factors = [np.eye(size) for size in X.shape[1:]]
        self._offs = [np.zeros((size, size)) for size in X.shape[1:]]  # before the last sweep

    def whiten(self, covariances: Sequence[Array]) -> list[Array]:
        """Make the identity of covariances that are given in the present coordinates, (p_m, p_m)."""
        if not all(np.isfinite(part).all() for part in covariances):
            msg = "covariances are not finite"
            raise np.linalg.LinAlgError(msg)
        lower = [linalg.cholesky(part, lower=True, check_finite=False) for part in covariances]
        inverse = [
            linalg.solve_triangular(part, np.eye(len(part)), lower=True, check_finite=False)
            for part in lower
        ]
        self.values = multiply(self.values, inverse)
        self.factors = [old @ new for old, new in zip(self.factors, lower, strict=True)]
        return inverse

    def unwound(self) -> list[Array]:
        """Return the whitening matrices of the modes."""
        return [
            linalg.solve_triangular(part, np.eye(len(part)), lower=True) for part in self.factors
        ]

    def covariances(self) -> list[Array]:
        """Return the covariances in the coordinates of the data."""
        return [part @ part.T for part in self.factors]

    def sweep(
        self,
        counts: Array,
        means: Array,
        *,
        shrinkage: float = 0.0,
        tol: float = 0.0,
    ) -> tuple[Array, float]:
        """Whiten further by the covariances within clusters. counts (K,), means (K, p_1, ..., p_M)."""
        # The flip-flop algorithm of maximum likelihood, for all modes at once. The modes are orthogonal parameters but
        # for their common scale, so this converges as fast as one mode after the other, and the order of modes does not
        # matter. With heavy tails, or far from the end, it goes too far: the likelihood falls, or what is left points
        # back. Then modes are taken out one at a time, the farthest first, with which it cannot.
        shapes = self._shapes(counts, means, shrinkage)
        offs = [part - np.eye(len(part)) for part in shapes]
        distance = max(map(_distance, offs))
        if distance <= tol:
            return self._rescaled(counts, means)[0], distance
        turned = sum(map(np.vdot, offs, self._offs))
        last = sum(map(np.vdot, self._offs, self._offs))
        self._offs, before = offs, (self.values, self.factors)
        if turned >= -BACK * last:
            moved, rise = self._taken_out(shapes, counts, means)
            if rise >= -ROUNDING * self.values[0].size:
                return moved, distance
            self.values, self.factors = before
        return self._taken_out_singly(counts, means, shrinkage), distance

    def _taken_out_singly(self, counts: Array, means: Array, shrinkage: float) -> Array:
        """Whiten one mode at a time, the farthest from the identity first, as often as there are modes."""
        for _ in self.factors:
            shapes = self._shapes(counts, means, shrinkage)
            worst = int(np.argmax([_distance(part - np.eye(len(part))) for part in shapes]))
            alone = [part if at == worst else np.eye(len(part)) for at, part in enumerate(shapes)]
            means, _ = self._taken_out(alone, counts, means)
        return means

    def _taken_out(
        self, covariances: Sequence[Array], counts: Array, means: Array
    ) -> tuple[Array, float]:
        """Whiten by covariances; return the means, and by how much the log-likelihood of a sample rises."""
        inverse = self.whiten(covariances)
        size = self.values[0].size
        means, deviation = self._rescaled(counts, multiply(means, inverse))
        shrunk = sum(np.log(np.diag(part)).sum() * (size / len(part)) for part in inverse)
        return means, float(shrunk - size * np.log(deviation))

    def _rescaled(self, counts: Array, means: Array) -> tuple[Array, float]:
        """Bring the variance within clusters to 1; return the means, and the deviation before."""
        counted = rooted(self.values, self._weight)
        left = np.vdot(counted, counted) - counts @ squares(means)
        deviation = float(np.sqrt(left / (self._total * self.values[0].size)))
        self.values = self.values / deviation
        self.factors = [self.factors[0] * deviation, *self.factors[1:]]
        return means / deviation, deviation

    def _shapes(self, counts: Array, means: Array, shrinkage: float) -> list[Array]:
        """Return the covariances within clusters, with mean diagonal 1."""
        counted = rooted(self.values, self._weight)
        found = moment_covariances(scatter(counted, counted.ndim - 1), counts, means)
        if shrinkage:
            known = [f @ part @ f.T for f, part in zip(self.factors, found, strict=True)]
            back = self.unwound()
            found = [
                b @ part @ b.T for b, part in zip(back, shrunken(known, shrinkage), strict=True)
            ]
        return [part * (len(part) / np.trace(part)) for part in found]


def _distance(off: Array) -> float:
    """Return the root mean square of the eigenvalues of a symmetric matrix."""
    return float(np.linalg.norm(off)) / np.sqrt(len(off))


def squares(tensors: Array) -> Array:
    """Add up the squares of each of several tensors, (K,). tensors (K, ...)."""
    flat = tensors.reshape(len(tensors), -1)
    return np.einsum("kp,kp->k", flat, flat)
