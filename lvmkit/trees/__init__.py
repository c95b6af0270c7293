"""Trees of clusters: nodes, what decides at each, cuts, and the forms that other libraries read."""

from lvmkit.trees.nodes import Node
from lvmkit.trees.tree import Tree

__all__ = ["Node", "Tree"]
