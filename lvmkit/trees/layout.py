"""A tree as arrays: parents, children, and the range of leaves below each node."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Labels
from lvmkit.trees.tree import Tree

DEEP = 10  # splits above a node; farther down its path is no name any more


class TreeLayout:
    """Arrays of a tree that are computed once: order, depth, leaves below each node."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.order = list(tree.walk())
        n = len(tree.nodes)
        self.parents = np.array([-1 if x.parent is None else x.parent for x in tree.nodes], int)
        self.depths = np.array([node.depth for node in tree.nodes], dtype=int)
        self.start, self.stop = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
        self.leaves = np.array([i for i in self.order if tree.nodes[i].is_leaf], dtype=int)
        self._place_leaves()

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.tree.nodes)

    def _place_leaves(self) -> None:
        """Find the first leaf below each node, and the one after its last."""
        number = {int(leaf): place for place, leaf in enumerate(self.leaves)}
        for i in reversed(self.order):
            parts = self.tree.nodes[i].children
            if parts:
                self.start[i] = self.start[list(parts)].min()
                self.stop[i] = self.stop[list(parts)].max()
            else:
                self.start[i], self.stop[i] = number[i], number[i] + 1

    @cached_property
    def splits(self) -> npt.NDArray[np.intp]:
        """Nodes and their two parts (n_splits, 3), from the root down."""
        found = [(i, *self.tree.nodes[i].children) for i in self.order]
        return np.array([split for split in found if len(split) == 3], np.intp).reshape(-1, 3)

    @cached_property
    def labels(self) -> list[str]:
        """The place of each node in words: "All", "1", "1.2", …; its number far down."""
        found = [""] * len(self)
        for i in self.order:
            node = self.tree.nodes[i]
            if node.parent is None:
                found[i] = "All"
            elif node.depth > DEEP:
                found[i] = f"node {i}"
            else:
                turn = self.tree.nodes[node.parent].children.index(i) + 1
                above = found[node.parent]
                found[i] = str(turn) if above == "All" else f"{above}.{turn}"
        return found

    def sums(self, of_leaves: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add up the leaves below each node, (n_nodes, ...)."""
        none = np.zeros((1, *of_leaves.shape[1:]), dtype=of_leaves.dtype)
        upto = np.concatenate([none, np.cumsum(of_leaves, axis=0)])
        return np.asarray(upto[self.stop] - upto[self.start])

    def part_of(self, labels: Labels, frontier: Iterable[int]) -> Labels:
        """Turn leaf numbers into places in a cut, (n,)."""
        part = np.zeros(len(self.leaves), dtype=np.intp)
        for place, node in enumerate(frontier):
            part[self.start[node] : self.stop[node]] = place
        return np.asarray(part[labels])
