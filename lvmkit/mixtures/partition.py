"""The cut of a tree as a fitted clustering, with the interface of a mixture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lvmkit.core.features import aligned
from lvmkit.core.typing import Array, Labels


class TreeCut:
    """Clusters of rows: the nodes at which one stops on the way down a tree."""

    # It has what fitted mixtures of lvmkit have, so that `ClusterExplorer` and `TopicRelevance` accept it. A row is in
    # one cluster for certain, the one to which the tree sends it.

    def __init__(
        self,
        centers_: Array,
        weights_: Array,
        feature_names: Sequence[str],
        *,
        assign: Callable[[Any], Labels],
        nodes: Sequence[int],
        names: Sequence[str],
    ) -> None:
        self.centers_ = centers_
        self.weights_ = weights_
        self.feature_names_in_ = np.asarray(list(feature_names), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.nodes = list(nodes)
        self.labels_: Labels = np.zeros(0, dtype=np.intp)
        self._assign = assign
        clusters = [
            {"id": j, "components": [j], "name": name, "note": ""} for j, name in enumerate(names)
        ]
        told = {str(j): name for j, name in enumerate(names) if name}
        self.annotations_: dict[str, Any] = {
            "clusters": clusters,
            "next_id": len(clusters),
            "topic_names": told,
        }

    def __repr__(self) -> str:
        """Say how many clusters there are."""
        return f"TreeCut({len(self.weights_)} clusters)"

    def predict(self, X: Any) -> Labels:
        """Send rows down the tree, as far as the cut, (n,)."""
        return self._assign(aligned(X, self.feature_names_in_))

    def predict_proba(self, X: Any) -> Array:
        """Return 1 for the cluster of each row, 0 for all others, (n, k)."""
        return np.eye(len(self.weights_))[self.predict(X)]

    def placed(self, X: Any, rows: Labels) -> Array:
        """Return `predict_proba` of the rows, whose numbers it does not need, (n, k)."""
        del rows
        return self.predict_proba(X)
