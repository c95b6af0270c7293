"""Clusters of mixture components, and the mixture itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.mixtures.bernoulli import BernoulliMixture
from lvmkit.mixtures.partition import Partition


@dataclass(frozen=True, eq=False)
class Mixture:
    """Components of a Bernoulli mixture over named codes."""

    weights: Array  # (k,): Probability of each component; sums to 1
    centers: Array  # (k, d): Probability of each code in each component
    codes: tuple[str, ...]  # Names of the columns of `centers`
    placing: Any = None

    @classmethod
    def of(cls, model: Any, codes: Sequence[str]) -> Mixture:
        """Read the components of a fitted model."""
        if not hasattr(model, "weights_") or not hasattr(model, "centers_"):
            message = (
                f"The explorer needs a fitted mixture; found {type(model).__name__}. "
                "Call fit first: lvmkit.BernoulliMixture(n_components=8).fit(cohort)."
            )
            raise TypeError(message)
        centers = np.asarray(model.centers_, dtype=float)
        names = getattr(model, "feature_names_in_", None)
        if names is None and len(codes) != centers.shape[1]:
            message = (
                f"The model has {centers.shape[1]} codes without names, the cohort {len(codes)}. "
                "Fit the model to the cohort, which has names, or to a DataFrame."
            )
            raise ValueError(message)
        known = tuple(map(str, codes if names is None else names))
        placing = model if isinstance(model, Partition) else None
        return cls(np.asarray(model.weights_, dtype=float), centers, known, placing)

    @cached_property
    def scorer(self) -> BernoulliMixture:
        """A model without names, for rows whose columns are already in the order of `codes`."""
        return BernoulliMixture.from_parameters(self.weights, self.centers)

    def responsibilities(self, X: Any, rows: Any) -> Array:
        """Return the probability of each component for each row, (n, k)."""
        if self.placing is not None:
            return np.asarray(self.placing.placed(X, rows))
        return np.asarray(self.scorer.predict_proba(X))

    @property
    def model(self) -> BernoulliMixture:
        """The same components as a fitted model with names."""
        return BernoulliMixture.from_parameters(
            self.weights, self.centers, feature_names=list(self.codes)
        )


@dataclass(frozen=True)
class Cluster:
    """One cluster: a group of components whose posterior probabilities add."""

    id: int  # Never reused and never renumbered; a fresh model starts with its component numbers
    components: tuple[int, ...]  # Rows of the mixture that belong to the cluster
    name: str = ""  # What the analyst wrote
    note: str = ""  # What the analyst wrote
    parts: tuple[Cluster, ...] = ()
    parent: int | None = None  # The cluster that was split to give this one

    @property
    def label(self) -> str:
        """The name, or "Cluster" and the id."""
        return self.name or f"Cluster {self.id}"

    def to_dict(self) -> dict[str, Any]:
        """Return the cluster as JSON values."""
        parts = [part.to_dict() for part in self.parts]
        return {
            "id": self.id,
            "components": list(self.components),
            "name": self.name,
            "note": self.note,
            "parts": parts,
            "parent": self.parent,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Cluster:
        """Read what `to_dict` wrote."""
        parent = values.get("parent")
        return cls(
            id=int(values["id"]),
            components=tuple(int(j) for j in values["components"]),
            name=str(values.get("name", "")),
            note=str(values.get("note", "")),
            parts=tuple(cls.from_dict(part) for part in values.get("parts", ())),
            parent=None if parent is None else int(parent),
        )

    def renumbered(self, number: Mapping[int, int]) -> Cluster:
        """Follow the components to their new rows."""
        return replace(
            self,
            components=tuple(number[j] for j in self.components),
            parts=tuple(part.renumbered(number) for part in self.parts),
        )
