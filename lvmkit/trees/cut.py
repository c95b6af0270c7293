"""The cut of a tree as a fitted clustering: clusters are the nodes at which rows stop on their way down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from lvmkit.core.stored import StoredModel, require_shape
from lvmkit.core.typing import Array, Labels
from lvmkit.mixtures.partition import Partition
from lvmkit.trees.figures import indicator
from lvmkit.trees.nodes import NODE_KINDS, PREFIX, as_arrays, nodes_of
from lvmkit.trees.tree import Tree

NODES = "cut_nodes"
"""Of the numbers of the nodes in a file."""


class TreeCut(Partition, StoredModel):
    """Nodes of a tree that no two share a row of, and that leave none out, as clusters."""

    _array_kinds: ClassVar[dict[str, str]] = NODE_KINDS | {NODES: "i"}

    def __init__(
        self,
        tree: Tree,
        nodes: Sequence[int],
        centers_: Array,
        weights_: Array,
        feature_names: Sequence[str],
        *,
        names: Sequence[str],
    ) -> None:
        super().__init__(centers_, weights_, feature_names, names=names)
        self.tree = tree
        self.nodes = list(nodes)
        tree.regrouped(np.zeros(0, dtype=np.intp), self.nodes)  # refuses what is no cut

    @classmethod
    def of(
        cls,
        tree: Tree,
        nodes: Sequence[int],
        feature_names: Sequence[str],
        *,
        names: Sequence[str],
        X: Any = None,
        labels: Labels,
    ) -> Self:
        """Return a cut with the centers and shares of rows X (n, d) in clusters `labels` (n,), or of the tree's own."""
        if X is None:
            centers = np.stack([tree.nodes[i].mean for i in nodes])
            sizes = np.array([tree.nodes[i].size for i in nodes], dtype=float)
        else:
            sizes = np.bincount(labels, minlength=len(nodes)).astype(float)
            sums = (indicator(labels, len(nodes)) @ X).toarray()
            centers = sums / np.maximum(sizes, 1)[:, None]
        weights = sizes / max(sizes.sum(), 1.0)
        cut = cls(tree, nodes, centers, weights, feature_names, names=names)
        cut.labels_ = labels
        return cut

    def _cluster_of(self, rows: Any) -> Labels:
        """Send rows down the tree, as far as the cut, (n,). rows (n, d)."""
        return self.tree.regrouped(self.tree.apply(rows), self.nodes)

    def _to_arrays(self) -> dict[str, Any]:
        """Return the nodes of the tree, and which of them are clusters."""
        return {**as_arrays(self.tree.nodes), NODES: np.array(self.nodes)}

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return the cut; refuse arrays that do not fit together."""
        names = header["feature_names"]
        tree = Tree(
            nodes_of({key: values for key, values in arrays.items() if key.startswith(PREFIX)}),
            np.asarray(names, dtype=object),
        )
        require_shape(arrays, NODES, (arrays[NODES].size,))
        k, d = arrays[NODES].size, tree.n_features
        require_shape(arrays, "weights_", (k,))
        require_shape(arrays, "centers_", (k, d))
        if not tree.nodes or names is None or len(names) != d:
            msg = f"feature_names has {len(names or ())} names; the means of the tree have {d} features"
            raise ValueError(msg)
        weights = arrays["weights_"]
        if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
            msg = f"'weights_' must be at least 0 and sum to 1; they sum to {weights.sum():g}"
            raise ValueError(msg)
        nodes = [int(node) for node in arrays[NODES]]
        return cls(tree, nodes, arrays["centers_"], weights, names, names=[""] * k)

    def _check_stored(self) -> None:
        """There are no options."""
