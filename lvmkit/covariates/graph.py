"""The similarity graph of covariates: Laplacians, contraction of merged nodes, components."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from lvmkit.core.typing import Array, Labels

DENSE_NODES = 3000
"""Up to so many nodes a Laplacian is a dense matrix: its Cholesky factor takes 70 MB and a third of a second."""
FEW_EDGES = 5_000
"""Fewer edges are indexed by their ends; for more, a product with their sparse matrix is twice as fast."""


@dataclass(frozen=True)
class Graph:
    """An undirected graph with weights on its edges, each edge once."""

    tails: Labels  # (n_edges,): The two ends of each edge
    heads: Labels  # (n_edges,): The two ends of each edge
    weights: Array  # (n_edges,): At least zero
    n_nodes: int  # Nodes, also those without an edge
    # (n_edges,): Added to ν times the weights: edges that hold with any ν
    fixed: Array | None = None

    def strengths(self, nu: float) -> Array:
        """Tell how strongly each edge holds."""
        scaled = nu * self.weights
        return scaled if self.fixed is None else scaled + self.fixed

    def differences(self, values: Array) -> Array:
        """Values at the tails less those at the heads, (n_edges, n_classes)."""
        if len(self.tails) < FEW_EDGES:
            return values[self.tails] - values[self.heads]
        return np.asarray(self._edges @ values)

    def gathered(self, flows: Array) -> Array:
        """Return what flows out of each node, (n_nodes, n_classes): the transpose of `differences`."""
        return np.asarray(self._ends @ flows)

    @cached_property
    def _ends(self) -> sp.csr_array:
        return self._edges.T.tocsr()

    @cached_property
    def _edges(self) -> sp.csr_array:
        n = len(self.tails)
        starts = 2 * np.arange(n + 1)
        columns = np.column_stack([self.tails, self.heads]).ravel()
        return sp.csr_array(
            (np.tile([1.0, -1.0], n), columns.astype(np.int32), starts), shape=(n, self.n_nodes)
        )

    def laplacian(self, weights: Array) -> Array | sp.csr_array:
        """Return the Laplacian matrix for other weights of the edges; dense for up to `DENSE_NODES` nodes."""
        n = self.n_nodes
        if n > DENSE_NODES:
            scaled = self._ends @ sp.diags_array(weights) @ self._ends.T
            return sp.csr_array(scaled)
        matrix = np.zeros((n, n))
        matrix[self.tails, self.heads] = -weights
        matrix[self.heads, self.tails] = -weights
        matrix[np.diag_indices(n)] = -matrix.sum(1)
        return matrix

    def merged(self, labels: Labels, n_labels: int) -> Graph:
        """Return the graph between groups: weights of parallel edges are added, edges inside a group vanish."""
        tails, heads = labels[self.tails], labels[self.heads]
        apart = tails != heads
        places = (np.minimum(tails, heads)[apart], np.maximum(tails, heads)[apart])
        keys, edges = np.unique(places[0] * n_labels + places[1], return_inverse=True)
        weights = _summed(edges, self.weights[apart], len(keys))
        fixed = None if self.fixed is None else _summed(edges, self.fixed[apart], len(keys))
        return Graph(keys // n_labels, keys % n_labels, weights, n_labels, fixed)

    def within(self, members: Labels, edges: Labels, strengths: Array) -> Graph:
        """Return the graph of some nodes, numbered as in `members`; `edges` have both ends among them."""
        local = np.empty(self.n_nodes, np.intp)
        local[members] = np.arange(len(members))
        return Graph(
            local[self.tails[edges]], local[self.heads[edges]], strengths[edges], len(members)
        )

    def among(self, kept: Labels) -> Graph:
        """Return the graph of some nodes, numbered as in `kept`."""
        inside = np.zeros(self.n_nodes, bool)
        inside[kept] = True
        return self.within(
            kept, np.flatnonzero(inside[self.tails] & inside[self.heads]), self.weights
        )

    def tied_to_zero(self, strength: float) -> Graph:
        """Return the graph with one node more, the last, tied to every other one whatever ν is."""
        n, edges = self.n_nodes, len(self.weights)
        tails, heads = np.append(self.tails, np.arange(n)), np.append(self.heads, np.full(n, n))
        fixed = np.append(np.zeros(edges), np.full(n, strength))
        return Graph(tails, heads, np.append(self.weights, np.zeros(n)), n + 1, fixed)

    def components(self, kept: np.ndarray | None = None) -> tuple[int, Labels]:
        """Return the number of connected components, along the edges of a mask if given, and that of each node."""
        tails, heads = (
            (self.tails, self.heads) if kept is None else (self.tails[kept], self.heads[kept])
        )
        ones = np.ones(len(tails), np.int8)
        links = sp.coo_array((ones, (tails, heads)), shape=(self.n_nodes, self.n_nodes))
        found, labels = connected_components(links, directed=False)
        return int(found), labels.astype(np.intp)


def _summed(places: Labels, values: Array, n_places: int) -> Array:
    return np.bincount(places, values, n_places).astype(np.float64, copy=False)
