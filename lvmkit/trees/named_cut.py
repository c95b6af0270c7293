"""A cut of a tree with names of nodes, as it is kept with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from lvmkit.trees.layout import TreeLayout

NAMES, CUT = "node_names", "cut"  # of annotations_
FIRST_CLUSTERS = 64  # of a tree that nobody has cut yet, at most


@dataclass(frozen=True)
class NamedCut:
    """A cut and names."""

    frontier: tuple[int, ...]  # The nodes of the cut, from left to right
    names: tuple[tuple[int, str], ...] = ()  # Nodes, and what they are called

    def renamed(self, node: int, name: str) -> NamedCut:
        """Name a node."""
        names = {key: value for key, value in self.names if key != node}
        names |= {node: name} if name else {}
        return replace(self, names=tuple(sorted(names.items())))

    def cut_at(self, layout: TreeLayout, nodes: Sequence[int]) -> NamedCut:
        """Cut the tree."""
        return replace(self, frontier=tuple(sorted(nodes, key=lambda i: int(layout.start[i]))))

    def pruned(self, layout: TreeLayout, node: int) -> NamedCut:
        """Make one cluster of a node and all below it."""
        frontier = opened_to(layout, self.frontier, node)
        below = set(layout.tree.walk(node))
        return self.cut_at(layout, [*(i for i in frontier if i not in below), node])

    def split(self, layout: TreeLayout, node: int) -> NamedCut:
        """Make clusters of the two parts of a node."""
        frontier = opened_to(layout, self.frontier, node)
        if node not in frontier:
            return self
        parts = layout.tree.nodes[node].children
        return self.cut_at(layout, [*(i for i in frontier if i != node), *parts])

    def to_annotations(self) -> dict[str, Any]:
        """Return names and cut as JSON values, to keep with the model."""
        return {NAMES: {str(i): name for i, name in self.names}, CUT: list(self.frontier)}

    @classmethod
    def kept_with(cls, layout: TreeLayout, notes: Any) -> NamedCut:
        """Read what `to_annotations` wrote; what belongs to another tree is left out."""
        known = notes if isinstance(notes, Mapping) else {}
        given, cut = known.get(NAMES), known.get(CUT, ())
        named = given if isinstance(given, Mapping) else {}
        told = [(i, named.get(str(i))) for i in range(len(layout))]
        names = tuple((i, name) for i, name in told if name and isinstance(name, str))
        try:
            layout.tree.regrouped(np.zeros(0, dtype=np.intp), cut)
            kept = [int(i) for i in cut]
        except (TypeError, ValueError):
            kept = []
        return cls((), names).cut_at(layout, kept or first_cut(layout))


def first_cut(layout: TreeLayout) -> list[int]:
    """Choose the cut of a tree that nobody has cut yet."""
    leaves = [int(i) for i in layout.leaves]
    if len(leaves) <= FIRST_CLUSTERS:
        return leaves
    cuts = (layout.tree.frontier(depth=d) for d in range(1, int(layout.depths.max()) + 1))
    return [[0], *takewhile(lambda cut: len(cut) <= FIRST_CLUSTERS, cuts)][-1]


def opened_to(layout: TreeLayout, frontier: Sequence[int], node: int) -> list[int]:
    """Open clusters of a cut until a node is one of them, or lies above some."""
    found = list(frontier)
    for above in layout.tree.path(node)[:-1]:
        if above in found:
            place = found.index(above)
            found[place : place + 1] = layout.tree.nodes[above].children
    return found
