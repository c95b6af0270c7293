"""Trees of clusters: splits, growth, nodes, cuts and export."""

from lvmkit.trees.nodes import Node
from lvmkit.trees.tree import Tree

__all__ = ["Node", "Tree"]
