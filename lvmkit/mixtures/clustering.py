"""Immutable clustering: which components form which clusters, with names and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.mixtures.cluster import Cluster, Mixture


@dataclass(frozen=True, eq=False)
class Clustering:
    """A mixture and the clusters its components form. Every change returns a new value."""

    mixture: Mixture  # The components
    clusters: tuple[Cluster, ...]  # A partition of the components, in the order shown
    next_id: int = field(default=0)  # The id the next new cluster gets

    @classmethod
    def of(cls, mixture: Mixture) -> Clustering:
        """Make one cluster of each component."""
        k = len(mixture.weights)
        return cls(mixture, tuple(Cluster(j, (j,)) for j in range(k)), k)

    @property
    def ids(self) -> list[int]:
        """Ids of the clusters, in order."""
        return [cluster.id for cluster in self.clusters]

    @property
    def labels(self) -> list[str]:
        """Labels of the clusters, in order."""
        return [cluster.label for cluster in self.clusters]

    @property
    def membership(self) -> Array:
        """Array (k, c) of 0 and 1: which component belongs to which cluster."""
        table = np.zeros((len(self.mixture.weights), len(self.clusters)))
        for column, cluster in enumerate(self.clusters):
            table[list(cluster.components), column] = 1.0
        return table

    @property
    def weights(self) -> Array:
        """Probability of each cluster (c,)."""
        return np.asarray(self.mixture.weights @ self.membership)

    @property
    def centers(self) -> Array:
        """Probability of each code within each cluster (c, d)."""
        joint = self.membership.T @ (self.mixture.weights[:, None] * self.mixture.centers)
        return np.asarray(joint / np.maximum(self.weights, 1e-300)[:, None])

    def position(self, id: int) -> int:
        """Return the place of a cluster in `clusters`."""
        if id not in self.ids:
            message = f"There is no cluster {id}; choose one of {', '.join(map(str, self.ids))}."
            raise ValueError(message)
        return self.ids.index(id)

    def cluster(self, id: int) -> Cluster:
        """Return the cluster with an id."""
        return self.clusters[self.position(id)]

    def renamed(self, id: int, *, name: str | None = None, note: str | None = None) -> Clustering:
        """Give a cluster another name or note."""
        old = self.cluster(id)
        name = old.name if name is None else " ".join(name.split())
        if name and any(c.label == name for c in self.clusters if c.id != id):
            message = f"Another cluster is already called “{name}”; choose another name."
            raise ValueError(message)
        new = replace(old, name=name, note=old.note if note is None else note.strip())
        return replace(self, clusters=tuple(new if c.id == id else c for c in self.clusters))

    def merged(self, ids: Iterable[int], *, name: str = "") -> Clustering:
        """Join clusters; their components stay, and their probabilities add."""
        chosen = [self.cluster(id) for id in dict.fromkeys(ids)]
        if len(chosen) < 2:
            message = "Choose two or more clusters to merge."
            raise ValueError(message)
        components = tuple(sorted(j for c in chosen for j in c.components))
        new = Cluster(self.next_id, components, note="\n".join(c.note for c in chosen if c.note))
        place = min(self.position(c.id) for c in chosen)
        rest = [c for c in self.clusters if c not in chosen]
        clusters = (*rest[:place], replace(new, parts=tuple(chosen)), *rest[place:])
        result = replace(self, clusters=clusters, next_id=self.next_id + 1)
        return result.renamed(new.id, name=name)

    def unmerged(self, id: int) -> Clustering:
        """Take a merge back."""
        merged = self.cluster(id)
        if not merged.parts:
            message = f"“{merged.label}” was not made by merging; there is nothing to take apart."
            raise ValueError(message)
        place = self.position(id)
        clusters = (*self.clusters[:place], *merged.parts, *self.clusters[place + 1 :])
        return replace(self, clusters=clusters)

    def split(self, id: int, weights: Array, centers: Array) -> Clustering:
        """Replace the components of one cluster."""
        old, place = self.cluster(id), self.position(id)
        kept = [j for j in range(len(self.mixture.weights)) if j not in old.components]
        number = {j: row for row, j in enumerate(kept)}
        share = float(self.mixture.weights[list(old.components)].sum())
        mixture = Mixture(
            np.concatenate([self.mixture.weights[kept], share * np.asarray(weights)]),
            np.vstack([self.mixture.centers[kept], centers]),
            self.mixture.codes,
        )
        parts = tuple(
            Cluster(self.next_id + i, (len(kept) + i,), _part_name(old, i), parent=id)
            for i in range(len(weights))
        )
        before = [c.renumbered(number) for c in self.clusters[:place]]
        after = [c.renumbered(number) for c in self.clusters[place + 1 :]]
        return Clustering(mixture, (*before, *parts, *after), self.next_id + len(parts))

    def to_annotations(self) -> dict[str, Any]:
        """Return names, notes and groups as JSON values, to keep with the model."""
        return {"clusters": [c.to_dict() for c in self.clusters], "next_id": self.next_id}

    @classmethod
    def from_annotations(cls, mixture: Mixture, annotations: Mapping[str, Any]) -> Clustering:
        """Read what `to_annotations` wrote."""
        if not annotations.get("clusters"):
            return cls.of(mixture)
        clusters = tuple(Cluster.from_dict(c) for c in annotations["clusters"])
        used: Sequence[int] = sorted(j for c in clusters for j in c.components)
        if used != list(range(len(mixture.weights))):
            message = (
                f"The saved clusters use components {used[:5]}, but the model has "
                f"{len(mixture.weights)}; the annotations belong to another model."
            )
            raise ValueError(message)
        next_id = max([int(annotations.get("next_id", 0)), *(c.id + 1 for c in clusters)])
        return cls(mixture, clusters, next_id)


def _part_name(old: Cluster, number: int) -> str:
    """Name the part of a named cluster after it."""
    return f"{old.name} – part {number + 1}" if old.name else ""
