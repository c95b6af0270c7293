"""Samples in coordinates that take their covariances out: maximum likelihood by the flip-flop algorithm."""

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from lvmkit._typing import Array
from lvmkit.tensor_normal.covariances import moment_covariances, shrunken
from lvmkit.tensor_normal.modes import multiply, scatter

FAR = 0.5
"""Covariances farther than this from the identity are not taken out at once."""


class Whitened:
    """Samples in coordinates in which their covariances are the identity, and how to get there and back.

    Parameters
    ----------
    X : array (n, p_1, ..., p_M)
        Samples, which should be centered.
    """

    def __init__(self, X: Array) -> None:
        self.values = X
        self.factors = [np.eye(size) for size in X.shape[1:]]

    def whiten(self, covariances: Sequence[Array]) -> list[Array]:
        """Make the identity of covariances that are given in the present coordinates.

        Parameters
        ----------
        covariances : sequence of array (p_m, p_m)
            One for each mode.

        Returns
        -------
        list of array (p_m, p_m)
            What the values were multiplied by in each mode.
        """
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
        """Return what takes tensors to the present coordinates, in each mode."""
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
        offsets: Array | None = None,
        *,
        shrinkage: float = 0.0,
        tol: float = 0.0,
    ) -> tuple[Array, float]:
        """Whiten further by the covariances within clusters.

        Parameters
        ----------
        counts : array (K,)
            Sum of the posteriors of each cluster.
        means : array (K, p_1, ..., p_M)
            Means of the samples by their posteriors, in the present coordinates.
        offsets : array (K, p_1, ..., p_M), optional
            By how much the means of the clusters differ from these.
        shrinkage : float, default=0.0
            Of the covariances.
        tol : float, default=0.0
            A change that is smaller is left.

        Returns
        -------
        means : array (K, p_1, ..., p_M)
            The means in the new coordinates.
        changed : float
            How far the covariances were from the identity: root mean square of eigenvalues less 1, of the worst mode.

        Notes
        -----
        The flip-flop algorithm of maximum likelihood, for all modes at once. The modes are orthogonal parameters but
        for their common scale, so this converges as fast as one mode after the other, and the order of modes does not
        matter. Far from the end it could go too far; then each mode goes its share of the way.
        """
        shapes = self._shapes(counts, means, offsets, shrinkage)
        changed = max(
            float(np.linalg.norm(part - np.eye(len(part)))) / np.sqrt(len(part)) for part in shapes
        )
        if changed > tol:
            share = 1.0 if changed <= FAR else 1 / len(shapes)
            inverse = self.whiten([_power(part, share) for part in shapes])
            means = multiply(means, inverse)
            offsets = None if offsets is None else multiply(offsets, inverse)
        left = np.vdot(self.values, self.values) - counts @ _squares(means)
        if offsets is not None:
            left += counts @ _squares(offsets)
        deviation = float(np.sqrt(left / self.values.size))
        self.values = self.values / deviation
        self.factors[0] = self.factors[0] * deviation
        return means / deviation, changed

    def _shapes(
        self, counts: Array, means: Array, offsets: Array | None, shrinkage: float
    ) -> list[Array]:
        """Return the covariances within clusters, with mean diagonal 1."""
        order = self.values.ndim - 1
        total = scatter(self.values, order)
        if offsets is not None:
            more = scatter(offsets * np.sqrt(counts).reshape(-1, *[1] * order), order)
            total = [part + extra for part, extra in zip(total, more, strict=True)]
        found = moment_covariances(total, counts, means)
        if shrinkage:
            known = [f @ part @ f.T for f, part in zip(self.factors, found, strict=True)]
            back = self.unwound()
            found = [
                b @ part @ b.T for b, part in zip(back, shrunken(known, shrinkage), strict=True)
            ]
        return [part * (len(part) / np.trace(part)) for part in found]


def _power(matrix: Array, exponent: float) -> Array:
    """Return a power of a symmetric matrix."""
    if exponent == 1:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0) ** exponent) @ vectors.T)


def _squares(tensors: Array) -> Array:
    """Return the sum of squares of each of several tensors."""
    flat = tensors.reshape(len(tensors), -1)
    return np.einsum("kp,kp->k", flat, flat)
