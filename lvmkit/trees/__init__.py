"""Trees of clusters: splits and the growing of them, nodes, cuts, and the forms that other libraries read."""

from lvmkit.trees.growth import Growth, grow
from lvmkit.trees.nodes import Node
from lvmkit.trees.splits import Refusal, Split
from lvmkit.trees.tree import Tree

__all__ = ["Growth", "Node", "Refusal", "Split", "Tree", "grow"]
