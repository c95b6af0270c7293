"""The cut of a tree as a fitted clustering, which other dashboards take like a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lvmkit._rows import aligned
from lvmkit._typing import Array, Labels


class TreeCut:
    """Clusters of rows: the nodes at which one stops on the way down a tree.

    It has what fitted mixtures of lvmkit have, so that `ClusterExplorer` and `TopicRelevance` accept it. A row is
    in one cluster for certain, the one to which the tree sends it.

    Parameters
    ----------
    centers_ : array (k, d)
        Share of each feature, or mean, in each cluster.
    weights_ : array (k,)
        Share of the rows in each cluster.
    feature_names : sequence of str (d,)
        Names of the features.
    place : callable
        Returns the cluster, 0 to k − 1, of each row of a matrix whose columns are the features.
    nodes : sequence of int (k,)
        The nodes of the tree.
    names : sequence of str (k,)
        What they are called; "" where not named.

    Attributes
    ----------
    labels_ : array of int (n,)
        Cluster of each row of the cohort that the tree was shown with.
    annotations_ : dict
        The names, as a cluster explorer keeps them.

    Examples
    --------
    >>> cut = TreeCut(np.eye(2), np.array([0.5, 0.5]), ["a", "b"],
    ...               place=lambda X: np.asarray(X)[:, 1].astype(int), nodes=[1, 2], names=["", ""])
    >>> cut.predict_proba([[1, 0], [0, 1]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        centers_: Array,
        weights_: Array,
        feature_names: Sequence[str],
        *,
        place: Callable[[Any], Labels],
        nodes: Sequence[int],
        names: Sequence[str],
    ) -> None:
        self.centers_ = centers_
        self.weights_ = weights_
        self.feature_names_in_ = np.asarray(list(feature_names), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.nodes = list(nodes)
        self.labels_: Labels = np.zeros(0, dtype=np.intp)
        self._place = place
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
        """Send rows down the tree, as far as the cut.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Columns are found by their names, or in the order of `feature_names_in_` where they have none.

        Returns
        -------
        array of int (n,)
            Clusters, 0 to k − 1.
        """
        return self._place(aligned(X, self.feature_names_in_))

    def predict_proba(self, X: Any) -> Array:
        """Return 1 for the cluster of each row, 0 for all others.

        Parameters
        ----------
        X : sparse matrix, array, DataFrame or AnnData (n, d)
            Columns are found by their names, or in the order of `feature_names_in_` where they have none.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        return np.eye(len(self.weights_))[self.predict(X)]

    def placed(self, X: Any, rows: Labels) -> Array:
        """Return what `predict_proba` does: the way down the tree needs to know of a row only what it holds.

        Parameters
        ----------
        X : sparse (n, d)
            Columns in the order of `feature_names_in_`.
        rows : array (n,) of int
            Which rows of the cohort these are, which is not needed.

        Returns
        -------
        array (n, k)
            Rows sum to 1.
        """
        del rows
        return self.predict_proba(X)
