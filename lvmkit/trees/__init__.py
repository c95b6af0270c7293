"""Trees of clusters: splits, growth, nodes, cuts and export."""

from lvmkit.core import moved
from lvmkit.trees.nodes import Node
from lvmkit.trees.tree import Tree

__all__ = ["Node", "Tree"]

# What `lvmkit.divisive` listed.
__getattr__ = moved.attributes(
    __name__,
    {
        "Growth": "lvmkit.trees.growth.Growth",
        "Refusal": "lvmkit.trees.splits.NoSplit",
        "Split": "lvmkit.trees.splits.Split",
        "grow": "lvmkit.trees.growth.grow",
    },
)
