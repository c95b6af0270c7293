"""State of the topic dashboard: models, what is picked, and how documents are ordered."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import clone

import lvmkit
from lvmkit import scores
from lvmkit.cohorts.corpus import Corpus
from lvmkit.core import moved
from lvmkit.core.typing import Array, Progress
from lvmkit.disclosure import Disclosure
from lvmkit.mixtures.refit import check_size, quiet
from lvmkit.mixtures.topic_figures import TopicFigures, figures_of
from lvmkit.mixtures.topics import Topics, names_of
from lvmkit_widgets.ui.state import State, remembered
from lvmkit_widgets.ui.tabs import Job
from lvmkit_widgets.ui.words import refuse

KINDS = {
    "SingleTopic": "Single topic: each document has one",
    "LatentDirichlet": "Latent Dirichlet: each document mixes topics",
    "PoissonMixture": "Poisson mixture: rates of words",
    "BernoulliMixture": "Bernoulli mixture: which words are there",
}
TOP = 20  # words of a topic that count for its coherence
TYPICAL = 10  # documents listed for a topic


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicState(State):
    """Models, what is picked of them, and how documents are put in order."""

    versions: tuple[Topics, ...]  # Topics of every model
    corpus: Corpus | None
    position: int = 0  # Which of the models is shown
    topic: int = 0  # Number of the topic that is picked
    other: int | None = None  # Topic to compare with
    term: str = ""  # The word that is picked
    balance: float = 0.6  # λ: 1 is probability, 0 is lift
    order: str = ""  # Attribute that shares are drawn along; empty: places
    bands: str = ""  # Attribute whose stretches are marked
    typed: str | None = None  # Name of the topic, typed and not yet kept
    opened: int | None = None  # Document whose whole text is shown, from 1
    shares: Mapping[int, Array] = field(default_factory=dict)  # Read, by `id` of the model
    texts: bool = False  # Whether the page holds texts
    saved: Mapping[tuple[str, ...], list[int]] | None = None  # Words of a page; None while live

    @classmethod
    def of(cls, models: Sequence[Any], corpus: Corpus | None) -> Self:
        """Return the state of some models, at the first."""
        if not models:
            refuse("Pass a fitted model, or a list of them; the list is empty.")
        words = None if corpus is None else corpus.view.codes
        found = [Topics.of(model, words) for model in models]
        if corpus is not None:
            for topics in found:
                corpus.require_known(topics.words)
        versions = tuple(sorted(found, key=lambda topics: topics.k))
        first = next((i for i, t in enumerate(versions) if t.model is models[0]), 0)
        order = "" if corpus is None else corpus.first_order()
        return cls(
            versions=versions,
            corpus=corpus,
            position=first,
            topic=int(np.argmax(versions[first].weights)),
            order=order,
            bands="" if corpus is None else corpus.first_bands(order),
            disclosure=Disclosure(private=corpus is not None and corpus.private),
        )

    @property
    def topics(self) -> Topics:
        """The model that is shown."""
        return self.versions[self.position]

    @property
    def row_name(self) -> str:
        """What rows are called, in the plural."""
        return "documents" if self.corpus is None else self.corpus.row_name

    @property
    def column_name(self) -> str:
        """What columns are called."""
        return "word" if self.corpus is None else self.corpus.column_name

    @property
    def figures(self) -> TopicFigures:
        """Numbers of the model that is shown."""
        return self.figures_of(self.topics)

    def figures_of(self, topics: Topics) -> TopicFigures:
        """Return the numbers of a model."""
        shares = self.mixtures(topics) if self.is_read(topics) else None
        return named_figures(self, counted_figures(self, topics.model, shares), topics)

    def version_of(self, model: Any) -> Topics:
        """Return the topics of a model, under whatever names."""
        # Names do not matter, so this is no read of them.
        return next(topics for topics in self.peek("versions") if topics.model is model)

    def is_read(self, topics: Topics) -> bool:
        """Tell whether the share of each topic in each document is known, or found at once."""
        if id(topics.model) in self.shares or self.private:
            return True
        infer = _inference(topics)  # in milliseconds, where it does not report how far it is
        return self.corpus is not None and infer is not None and not _reports(infer)

    def mixtures(self, topics: Topics) -> Array:
        """Return the share of each topic in each document, (n, k)."""
        known = self.shares.get(id(topics.model))
        return inferred_shares(self, topics.model) if known is None else known

    def find_shares(self, topics: Topics, *, progress: Progress | None = None) -> Array:
        """Find the share of each topic in each document, (n, k)."""
        if self.corpus is None:
            refuse("There are no documents: pass the cohort to TopicRelevance.")
        infer = _inference(topics)
        if infer is None:
            refuse(f"{topics.kind} has neither transform nor predict_proba.")
        given = {"progress": progress} if progress and _reports(infer) else {}
        with quiet():
            rows = self.corpus.labelled(topics.words, binary=topics.of_records)
            return np.asarray(infer(rows, **given))

    def take_shares(self, topics: Topics, shares: Array) -> Self:
        """Take the shares that were read of a model."""
        return self.replace(shares={**self.shares, id(topics.model): shares})

    def read_all(self, versions: Iterable[Topics]) -> Self:
        """Read the documents for models that can, before numbers leave the dashboard."""
        state = self
        for topics in versions if self.corpus is not None else ():
            if _inference(topics) is not None and not state.is_read(topics):
                state = state.take_shares(topics, state.mixtures(topics))
        return state

    @property
    def unread(self) -> str:
        """Names the model that is shown while its documents can be read and have not been."""
        topics = self.topics
        if self.corpus is None or self.figures.read or _inference(topics) is None:
            return ""
        return f"{topics.kind} {topics.k}"

    def coherence(self, topics: Topics, *, whole: bool = False) -> Array | None:
        """Return how often the first words of each topic stand together, (k,)."""
        if self.corpus is None or (self.suppressing and not whole):
            return None
        return coherence_of(self, topics.model)

    @moved.arguments(most="max_items")
    def typical(self, topic: int, *, max_items: int = TYPICAL) -> list[int]:
        """Find the documents that stand for a topic."""
        topics, corpus = self.topics, self.corpus
        if corpus is None or topic in topics.empty:
            return []
        share, X = self.mixtures(topics)[:, topic], corpus.matrix(topics.words)
        return topics.typical(topic, X, share, max_items=max_items)

    # -- picks -----------------------------------------------------------------------------------

    def look(self, topic: int | None) -> Self:
        """Pick a topic; what was typed of the one before is kept."""
        if topic is None or not 0 <= topic < self.topics.k or topic == self.topic:
            return self
        other = self.topic if self.other == topic else self.other
        return self.keep_typed().replace(topic=topic, other=other, typed=None, opened=None)

    def compare(self, other: int | None) -> Self:
        """Compare the topic with another."""
        there = other is not None and other < self.topics.k and other != self.topic
        return self.replace(other=other if there else None)

    def show_model(self, position: int) -> Self:
        """Show another model, with what is picked where it can be."""
        place = min(max(position, 0), len(self.versions) - 1)
        topics = self.versions[place]
        topic = self.topic if self.topic < topics.k else int(np.argmax(topics.weights))
        state = self.replace(position=place, topic=topic, typed=None, opened=None)
        return state.compare(self.other)

    def keep_typed(self) -> Self:
        """Keep the name that was typed for the topic that is picked."""
        typed = None if self.typed is None else self.typed.strip()
        if typed is None or typed == self.topics.names[self.topic]:
            return self
        return self.rename(self.topic, typed)

    # -- models ----------------------------------------------------------------------------------

    def rename(self, topic: int, name: str) -> Self:
        """Name a topic; the dashboard keeps the name in the model's `annotations_`."""
        renamed = self.topics.renamed(topic, name)
        versions = tuple(renamed if t is self.topics else t for t in self.versions)
        name = renamed.names[topic]
        told = f"Named topic {topic} “{name}”." if name else f"Topic {topic} has no name now."
        return self.replace(versions=versions, typed=None).tell(told, tone="done")

    def kinds(self) -> list[str]:
        """Return the classes of models that can be fitted, the likeliest first."""
        names = [self.topics.kind, *(KINDS if not self.private else reversed(list(KINDS)))]
        return [name for name in dict.fromkeys(names) if name in KINDS]

    def plan_fit(self, kind: str, k: int) -> Job[Self]:
        """Prepare to fit another model."""
        corpus = self.corpus
        if corpus is None:
            refuse("There are no documents to fit: pass the cohort to TopicRelevance.")
        words = self.topics.words
        try:
            check_size(k, len(corpus), len(words))
        except ValueError as error:
            told = str(error).replace("clusters", "topics").replace("patients", corpus.row_name)
            raise ValueError(told.replace("codes", f"{corpus.column_name}s")) from error
        like = next((t.model for t in self.versions if t.kind == kind), None)

        def work(progress: Progress | None) -> Any:
            made = clone(like) if like is not None else getattr(lvmkit, kind)()
            model = made.set_params(n_components=k)
            given = {"progress": progress} if progress and _reports(model.fit) else {}
            with quiet():
                rows = corpus.labelled(words, binary=kind == "BernoulliMixture")
                return model.fit(rows, **given)

        return Job(f"Fitting {k} topics", work, lambda state, model: state.add(model))

    def add(self, model: Any) -> Self:
        """Show another model; one of the same class and size gives way to it."""
        topics = Topics.of(model, None if self.corpus is None else self.corpus.view.codes)
        kept = [t for t in self.versions if (t.kind, t.k) != (topics.kind, topics.k)]
        versions = tuple(sorted([*kept, topics], key=lambda each: each.k))
        there = {id(t.model) for t in versions}
        how = f"; {topics.how}" if topics.how else ""
        told = f"Fitted {topics.k} topics ({topics.kind}){how}."
        shares = {key: value for key, value in self.shares.items() if key in there}
        known = self.replace(versions=versions, shares=shares)
        return known.show_model(versions.index(topics)).tell(told, tone="done")

    def save(self, path: str | Path) -> None:
        """Save the model that is shown, with the names of its topics."""
        topics = self.topics
        model = topics.model
        if names_of(model, topics.k) != topics.names:  # of a state that no dashboard has shown
            model = copy(model)
            model.annotations_ = topics.to_annotations()
        lvmkit.save(model, path)


@remembered
def inferred_shares(state: TopicState, model: Any) -> Array:
    """Find the share of each topic in each document, (n, k)."""
    return state.find_shares(state.version_of(model))


@remembered
def counted_figures(state: TopicState, model: Any, shares: Array | None) -> TopicFigures:
    """Count the numbers of a model, which do not depend on names."""
    topics = state.version_of(model)
    return figures_of(topics, state.corpus, shares, threshold=state.disclosure.level)


@remembered
def named_figures(_: TopicState, figures: TopicFigures, topics: Topics) -> TopicFigures:
    """Give the numbers of a model the names of now."""
    return replace(figures, topics=replace(topics, mass=figures.topics.mass))


@remembered
def coherence_of(state: TopicState, model: Any) -> Array:
    """Return how often the first words of each topic stand together, (k,)."""
    topics = state.version_of(model)
    assert state.corpus is not None
    full = [j for j in range(topics.k) if j not in topics.empty]
    found = np.full(topics.k, np.nan)
    X = state.corpus.matrix(topics.words)
    found[full] = scores.coherence(topics.centers[full], X, n_top=min(TOP, X.shape[1]))
    return found


def _inference(topics: Topics) -> Any:
    """Return the method that tells the share of each topic in each document; None without one."""
    infer = getattr(topics.model, "transform", None)
    return infer or getattr(topics.model, "predict_proba", None)


def _reports(method: Any) -> bool:
    """Tell whether a method reports how far it is."""
    return "progress" in inspect.signature(method).parameters
