"""Certificates that a cluster is optimal: forces along its edges that balance the gradient.

A cluster of the solution is one of the problem exactly when forces z_ij along its edges exist, ||z_ij|| <= nu S_ij,
that balance at every covariate its residual: the gradient of everything else. They are sought as those of smoothed
norms, by reweighted least squares: each step solves one Laplacian system and balances exactly; when its forces also
keep within their bounds, the cluster is certified. Potentials that drift apart tell where it breaks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import splu

from lvmkit.core.typing import Array, Labels
from lvmkit.covariates.graph import Graph

MAX_STEPS = 30
"""Steps of reweighting before a cluster that is not certified is taken apart."""
MAX_DISTANCE = 1e4
"""Potentials farther apart than this belong to covariates that nothing holds together (1 is the smoothing)."""
MAX_START = 1e2
"""A search does not start with potentials larger than this: a hopeless start would stay one."""
NEAR_DISTANCE = 3.0
"""Covariates whose potentials are closer than this stay together when their cluster breaks."""


@dataclass(frozen=True)
class Balance:
    """Certificate of one cluster, or why there is none. potentials (n_members, n_classes)."""

    holds: bool  # Whether admissible forces balance the residual, but for `unbalanced`
    unbalanced: float  # Squared norm of what stays unbalanced with forces cut to their bounds
    # (n_members, n_classes): Where the covariates would go; the start of the next search
    potentials: Array


def balance(graph: Graph, residual: Array, potentials: Array, tolerance: float) -> Balance:
    """Seek admissible forces against a residual. residual (n_nodes, n_classes), potentials (n_nodes, n_classes)."""
    if graph.n_nodes == 2:
        return _pair(graph, residual, tolerance)
    least = np.inf
    potentials = potentials * min(1.0, MAX_START / max(float(np.abs(potentials).max()), 1e-300))
    for _ in range(MAX_STEPS):
        weights = graph.weights / np.sqrt(1 + _squares(graph.differences(potentials)))
        try:
            potentials = _solve(graph, weights, -residual)
        except (
            LinAlgError,
            RuntimeError,
        ):  # dense, sparse: some edges hold so much less than others that rounding decides
            break
        apart = graph.differences(potentials)
        distances = np.sqrt(_squares(apart))
        excess = weights * distances / graph.weights
        if excess.max() <= 1:
            return Balance(holds=True, unbalanced=0.0, potentials=potentials)
        forces = apart * (weights / np.maximum(excess, 1))[:, None]
        least = min(least, float(_squares(residual + graph.gathered(forces)).sum()))
        if least <= tolerance:
            return Balance(holds=True, unbalanced=least, potentials=potentials)
        if distances.max() > MAX_DISTANCE:
            break
    return Balance(holds=False, unbalanced=least, potentials=potentials)


def parts(graph: Graph, potentials: Array) -> tuple[int, Labels]:
    """Split a cluster that does not hold: covariates with near potentials stay together; all apart if all are near."""
    distances = np.sqrt(_squares(graph.differences(potentials)))
    if not len(distances):
        return graph.n_nodes, np.arange(graph.n_nodes)
    for near in (NEAR_DISTANCE, float(np.median(distances))):
        found, labels = graph.components(distances <= near)
        if found > 1:
            return found, labels
    return graph.n_nodes, np.arange(graph.n_nodes)


def _pair(graph: Graph, residual: Array, tolerance: float) -> Balance:
    force = float(np.sqrt(_squares(residual[:1])[0]))
    missing = max(force - float(graph.weights.sum()), 0.0)
    return Balance(
        2 * missing**2 <= tolerance,
        2 * missing**2,
        -MAX_DISTANCE * residual / max(force, 1e-300) / 2,
    )


def _squares(vectors: Array) -> Array:
    return np.asarray(np.einsum("ek,ek->e", vectors, vectors))


def _solve(graph: Graph, weights: Array, right: Array) -> Array:
    """Potentials of a Laplacian system, up to a constant, which no difference sees."""
    laplacian = graph.laplacian(weights)
    n = graph.n_nodes
    if sp.issparse(laplacian):
        # Held down at one node: the matrix stays sparse.
        return np.asarray(
            splu(sp.csc_array(laplacian + _pin(n, float(laplacian.trace()) / n))).solve(right)
        )
    laplacian += np.trace(laplacian) / n**2
    factor = cho_factor(laplacian, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, right, check_finite=False))


def _pin(n: int, weight: float) -> sp.coo_array:
    return sp.coo_array(([weight], ([0], [0])), shape=(n, n))
