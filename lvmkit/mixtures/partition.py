"""Clusters of rows, each row in one for certain, with the interface of a fitted mixture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from lvmkit.core.features import aligned
from lvmkit.core.typing import Array, Labels


class Partition(ABC):
    """Clusters of rows; a model adds how rows find theirs."""

    # It has what fitted mixtures of lvmkit have, so that `ClusterExplorer` and `TopicRelevance` accept it.

    def __init__(
        self,
        centers_: Array,
        weights_: Array,
        feature_names: Sequence[str],
        *,
        names: Sequence[str],
    ) -> None:
        self.centers_ = centers_
        self.weights_ = weights_
        self.feature_names_in_ = np.asarray(list(feature_names), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.labels_: Labels = np.zeros(0, dtype=np.intp)
        clusters = [
            {"id": j, "components": [j], "name": name, "note": ""} for j, name in enumerate(names)
        ]
        told = {str(j): name for j, name in enumerate(names) if name}
        self.annotations_: dict[str, Any] = {
            "clusters": clusters,
            "next_id": len(clusters),
            "topic_names": told,
        }

    @abstractmethod
    def _cluster_of(self, rows: Any) -> Labels:
        """Return the cluster of each row, (n,). rows (n, d)."""

    def __repr__(self) -> str:
        """Say how many clusters there are."""
        return f"{type(self).__name__}({len(self.weights_)} clusters)"

    def predict(self, X: Any) -> Labels:
        """Return the cluster of each row, (n,)."""
        return self._cluster_of(aligned(X, self.feature_names_in_))

    def predict_proba(self, X: Any) -> Array:
        """Return 1 for the cluster of each row, 0 for all others, (n, k)."""
        return np.eye(len(self.weights_))[self.predict(X)]

    def placed(self, X: Any, rows: Labels) -> Array:
        """Return `predict_proba` of the rows, whose numbers it does not need, (n, k)."""
        del rows
        return self.predict_proba(X)
