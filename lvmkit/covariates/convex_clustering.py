"""Convex clustering of points (Chi 2015) by accelerated dual gradient steps."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels
from lvmkit.covariates.similarities import Edges, check_similarity, from_embeddings

NEGLIGIBLE = 1e-12
"""Weights below this share of the largest join nothing at any strength in use, and only cost time."""
CHECK_EVERY = 10
"""Steps between two looks at the gap, which costs as much as a step."""


class ConvexClusters(NamedTuple):
    """The solution of a convex clustering."""

    labels: Labels  # (m,): Cluster of each point, numbered by their first points
    centers: Array  # (m, p): Center of each point; equal within clusters, up to the gap
    dual: Array  # (l, p): Pull of each edge: a start for another strength
    gap: float  # Duality gap, as a share of half the sum of squares around the mean
    n_iter: int  # Steps taken


def kernel_weights(points: Array, phi: float, n_neighbors: int | None = None) -> Edges:
    """Return the pairs of points and their weights, exp(−phi × squared distance). points (m, p)."""
    kernel = from_embeddings(np.sqrt(2 * phi) * points, n_neighbors=n_neighbors)
    first, second, weights = check_similarity(kernel, len(points))
    kept = weights > NEGLIGIBLE * weights.max(initial=0)
    return Edges(first[kept], second[kept], weights[kept])


@single_threaded_blas()
def convex_clusters(
    points: Array,
    edges: Edges,
    gamma: float,
    *,
    start: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 20_000,
) -> ConvexClusters:
    """Minimize ½ Σ‖x_i − u_i‖² + gamma Σ w_ij ‖u_i − u_j‖ over the centers u. points (m, p), start (l, p)."""
    # Chi 2015, AMA: gradient steps for the pulls, each kept within gamma × weight, which give the centers.
    # Here with momentum (their section 4.3), begun anew when it points the wrong way, and a step of its own for each
    # edge, 1 / (sum of the degrees of its ends). All centers together are at most √(2 gap) from the optimum; points
    # joined by an edge are one cluster where centers differ by no more than this allows for equal ones, 2 √gap.
    first, second, weights = edges
    m, n_edges = len(points), len(first)
    ends = (np.repeat(np.arange(n_edges), 2), np.column_stack([first, second]).ravel())
    differences = sparse.csr_array((np.tile([1.0, -1.0], n_edges), ends), shape=(n_edges, m))
    sums = sparse.csr_array(differences.T)
    bound = (gamma * weights)[:, np.newaxis]
    degrees = np.bincount(np.concatenate([first, second]), minlength=m)
    step = 1 / (degrees[first] + degrees[second])[:, np.newaxis]
    scale = 0.5 * float(((points - points.mean(axis=0)) ** 2).sum()) or 1.0

    dual = np.zeros((n_edges, points.shape[1])) if start is None else _within(start, bound)
    ahead, momentum, n_iter = dual, 1.0, 0
    while True:
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            centers = points + sums @ dual
            apart = differences @ centers
            gap = float(bound[:, 0] @ np.linalg.norm(apart, axis=1) + np.vdot(dual, apart))
            if gap <= tol * scale or n_iter >= max_iter:
                break
        moved = _within(ahead - step * (differences @ (points + sums @ ahead)), bound)
        change = moved - dual
        if np.vdot(moved - ahead, change) < 0:
            momentum = 1.0
        later = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / later * change
        dual, momentum, n_iter = moved, later, n_iter + 1
    met = np.linalg.norm(apart, axis=1) <= 2 * np.sqrt(max(gap, 0.0))
    graph = sparse.coo_array((met[met], (first[met], second[met])), shape=(m, m))
    labels = by_first(connected_components(graph, directed=False)[1])
    return ConvexClusters(labels, centers, dual, max(gap, 0.0) / scale, n_iter)


def by_first(labels: Labels) -> Labels:
    """Give clusters numbers in the order of their first members."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    return place[which]


def _within(dual: Array, bound: Array) -> Array:
    """Shorten the pulls that are longer than their bounds."""
    length = np.linalg.norm(dual, axis=1, keepdims=True)
    return dual * np.minimum(1.0, bound / np.maximum(length, 1e-300))
