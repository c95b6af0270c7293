"""Topics of a fitted model: words, shares, names, relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.mixtures.refit import how_it_stopped
from lvmkit.scores.relevance import relevance_to

KEY = "topic_names"  # of annotations_
TRACE = 1e-9  # share of a topic that no document has: at 0 its own words would have no lift


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics of one fitted model; their numbers are the rows of its `centers_`."""

    model: Any  # Fitted
    words: tuple[str, ...]  # Names of the columns
    centers: Array
    weights: Array  # (k,): Share of each topic
    mass: Array
    names: tuple[str, ...]  # Names given by the reader

    @classmethod
    def of(cls, model: Any, words: Sequence[str] | None) -> Topics:
        """Read the topics of a model."""
        if not hasattr(model, "centers_") or not hasattr(model, "weights_"):
            message = (
                f"TopicRelevance needs fitted models; found {type(model).__name__}. "
                "Call fit first: lvmkit.SingleTopic(n_components=8).fit(cohort)."
            )
            raise TypeError(message)
        centers = np.nan_to_num(np.asarray(model.centers_, dtype=float)).clip(min=0)
        weights = np.nan_to_num(np.asarray(model.weights_, dtype=float)).clip(min=0)
        if centers.ndim != 2 or weights.shape != centers.shape[:1]:
            message = (
                f"centers_ {centers.shape} and weights_ {weights.shape} of {type(model).__name__} "
                "must be (k, d) and (k,)."
            )
            raise ValueError(message)
        named = getattr(model, "feature_names_in_", words)
        if named is None:
            named = [f"feature {i}" for i in range(centers.shape[1])]
        if len(named) != centers.shape[1]:
            message = (
                f"The model has {centers.shape[1]} words without names, the cohort {len(named)}. "
                "Fit the model to the cohort, which has names, or to a DataFrame."
            )
            raise ValueError(message)
        lengths = centers.sum(axis=1)
        mass = weights
        if type(model).__name__ != "BernoulliMixture":  # whose rows are shares of records
            mass = weights * lengths
            centers = np.divide(
                centers, lengths[:, None], out=np.zeros_like(centers), where=lengths[:, None] > 0
            )
        mass = mass / mass.sum() if mass.sum() > 0 else mass
        known = names_of(model, len(weights))
        return cls(model, tuple(map(str, named)), centers, weights, mass, known)

    def weighed(self, mixtures: Array, lengths: Array) -> Topics:
        """Weigh the topics by their share of a corpus."""
        found = np.asarray(lengths @ mixtures, dtype=float)
        found = np.maximum(found / found.sum(), TRACE)
        return replace(self, mass=found / found.sum())

    @property
    def k(self) -> int:
        """Number of topics."""
        return len(self.weights)

    @property
    def kind(self) -> str:
        """Class of the model."""
        return type(self.model).__name__

    @property
    def empty(self) -> list[int]:
        """Topics without share or without words."""
        nothing = ~((self.weights > 0) & (self.centers.sum(axis=1) > 0))
        return [int(j) for j in np.flatnonzero(nothing)]

    @property
    def overall(self) -> Array:
        """Probability of each word over all topics (d,)."""
        return np.asarray(self.mass @ self.centers)

    @property
    def of_records(self) -> bool:
        """Whether centers are shares of records, not of words."""
        return self.kind == "BernoulliMixture"

    @property
    def how(self) -> str:
        """How the fit ended, in words; empty where it cannot be told."""
        told = how_it_stopped(self.model).replace("clusters", "topics")
        by_moments = getattr(self.model, "n_iter_", None) == 0
        return "by moments alone" + told.partition("steps")[2] if by_moments else told

    def spread(self, word: str) -> Array:
        """Return how a word spreads over the topics, (k,)."""
        if word not in self.words:
            return np.zeros(0)
        joint = self.mass * self.centers[:, self.words.index(word)]
        return joint / joint.sum() if joint.sum() > 0 else joint

    def relevance(self, balance: float) -> Array:
        """Return the relevance of each word for each topic, (k, d)."""
        # A word of a topic without weight may occur nowhere: it is taken as it is.
        overall = np.where(self.overall > 0, self.overall, 1.0)
        return relevance_to(self.centers, overall, balance=balance)

    def typical(self, topic: int, X: Any, share: Array, *, max_items: int) -> list[int]:
        """Find the rows of X (n, d) that stand for a topic, by its `share` of each (n,) and by their words."""
        near = np.flatnonzero(share >= 0.005)
        rows = X[near]
        length = np.sqrt(np.maximum(np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 1.0))
        likeness = np.asarray(rows @ self.centers[topic]).ravel() / length
        order = np.lexsort((-likeness, -share[near].round(2)))
        return [int(i) for i in near[order[:max_items]]]

    def renamed(self, topic: int, name: str) -> Topics:
        """Name a topic."""
        if not isinstance(name, str):
            message = (
                f'name is {name!r}; pass a text, or "" to take the name of topic {topic} away.'
            )
            raise TypeError(message)
        if not 0 <= topic < self.k:
            message = f"There is no topic {topic}; the topics are 0 to {self.k - 1}."
            raise ValueError(message)
        names = tuple(name.strip() if j == topic else old for j, old in enumerate(self.names))
        return replace(self, names=names)

    def to_annotations(self) -> dict[str, Any]:
        """Return the annotations of the model with the names of now."""
        kept = {str(j): text for j, text in enumerate(self.names) if text}
        return {**(getattr(self.model, "annotations_", None) or {}), KEY: kept}


def names_of(model: Any, k: int) -> tuple[str, ...]:
    """Return the names kept with a model."""
    notes = getattr(model, "annotations_", None) or {}
    if KEY in notes:
        return tuple(str(notes[KEY].get(str(j), "")) for j in range(k))
    names = [""] * k
    for cluster in notes.get("clusters", []):
        if list(cluster.get("components", [])) == [cluster.get("id")] and cluster["id"] < k:
            names[int(cluster["id"])] = str(cluster.get("name", ""))
    return tuple(names)


def page_words(models: Sequence[Topics], cells: int, *, top: int = 30) -> list[int]:
    """Choose the words that a page holds when it cannot hold all."""
    d, rows = len(models[0].words), sum(topics.k for topics in models)
    if d * rows <= cells:
        return list(range(d))
    needed = np.zeros(d, dtype=bool)
    frequent = np.zeros(d)
    for topics in models:
        frequent += topics.overall
        ends = topics.relevance(1.0), topics.relevance(0.0)
        for balance in np.linspace(0, 1, 101):
            with np.errstate(invalid="ignore"):
                score = balance * ends[0] + (1 - balance) * ends[1]
            score[~np.isfinite(score)] = -np.inf
            best = np.argpartition(-score, min(top, d) - 1, axis=1)[:, :top]
            needed[np.unique(best)] = True
    room = max(int(needed.sum()), cells // max(rows, 1))
    order = np.lexsort((-frequent, ~needed))
    return sorted(int(i) for i in order[:room])
