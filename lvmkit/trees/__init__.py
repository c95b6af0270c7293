"""Trees of clusters: splits, growth, nodes, cuts and export."""

from lvmkit.core import moved
from lvmkit.trees.growth import Growth, grow
from lvmkit.trees.nodes import Node
from lvmkit.trees.splits import NoSplit, Split
from lvmkit.trees.tree import Tree

__all__ = ["Growth", "NoSplit", "Node", "Split", "Tree", "grow"]

__getattr__ = moved.attributes(__name__, {"Refusal": "NoSplit"})
