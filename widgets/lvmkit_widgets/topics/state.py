"""State of the topic dashboard: models, what is picked, and how documents are ordered."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import param
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import lvmkit
from lvmkit import scores
from lvmkit.cohorts.corpus import Corpus
from lvmkit.core import moved
from lvmkit.core.typing import Array, Progress
from lvmkit.core.validation import DataWarning
from lvmkit.mixtures.refit import FitJob
from lvmkit.mixtures.topic_figures import TopicFigures, figures_of
from lvmkit.mixtures.topics import Topics
from lvmkit_widgets.topics.choices import check_fit, first_bands, first_order

KINDS = {
    "SingleTopic": "Single topic: each document has one",
    "LatentDirichlet": "Latent Dirichlet: each document mixes topics",
    "PoissonMixture": "Poisson mixture: rates of words",
    "BernoulliMixture": "Bernoulli mixture: which words are there",
}
TOP = 20  # words of a topic that count for its coherence
TYPICAL = 10  # documents listed for a topic


class TopicState(param.Parameterized):
    """Models, what is picked of them, and how documents are put in order."""

    versions = param.List(default=[], constant=True, doc="Topics of every model.")
    position = param.Integer(default=0, bounds=(0, None), doc="Which of the models is shown.")
    topic = param.Integer(default=0, bounds=(0, None), doc="Number of the topic that is picked.")
    other = param.Integer(default=None, allow_None=True, doc="Topic to compare with.")
    term = param.String(default="", doc="The word that is picked.")
    balance = param.Number(default=0.6, bounds=(0, 1), doc="λ: 1 is probability, 0 is lift.")
    order = param.String(default="", doc="Attribute that shares are drawn along; empty: places.")
    bands = param.String(default="", doc="Attribute whose stretches are marked.")
    hide_small = param.Boolean(default=True, doc="Whether small counts of people are hidden.")
    threshold = param.Integer(default=11, bounds=(2, None), doc="Smaller counts are hidden.")
    read = param.Integer(default=0, doc="Number of models whose documents have been read.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(self, models: Sequence[Any], corpus: Corpus | None) -> None:
        if not models:
            message = "Pass a fitted model, or a list of them; the list is empty."
            raise ValueError(message)
        words = None if corpus is None else corpus.view.codes
        versions = [Topics.of(model, words) for model in models]
        if corpus is not None:
            for topics in versions:
                corpus.require_known(topics.words)
        super().__init__(versions=sorted(versions, key=lambda topics: topics.k))
        self.corpus = corpus
        self._mixtures: dict[int, Array] = {}
        self._figures: dict[tuple[int, int, bool], tuple[Topics, TopicFigures]] = {}
        self._coherence: dict[int, Array] = {}
        largest = int(np.argmax(self.topics.weights))
        first = next((i for i, t in enumerate(self.versions) if t.model is models[0]), 0)
        self.param.update(topic=largest, position=first)
        if corpus is not None:
            self.order = first_order(corpus)
            self.bands = first_bands(corpus, self.order)
        self.param.watch(self._keep_known, ["position", "versions", "topic", "other"])

    @property
    def topics(self) -> Topics:
        """The model that is shown."""
        found: Topics = self.versions[min(self.position, len(self.versions) - 1)]
        return found

    @property
    def private(self) -> bool:
        """Whether rows are people."""
        return self.corpus is not None and self.corpus.private

    @property
    def figures(self) -> TopicFigures:
        """Numbers of the model that is shown."""
        return self.figures_of(self.topics)

    def figures_of(self, topics: Topics) -> TopicFigures:
        """Return the numbers of a model."""
        threshold = self.threshold if self.private and self.hide_small else 0
        read = self.private or self.is_read(topics) or self.reads_quickly(topics)
        key = (id(topics.model), threshold, read)
        known = self._figures.get(key)
        if known is not None and known[0] is topics:
            return known[1]
        mixtures = self.mixtures(topics) if read else None
        named = figures_of(topics, self.corpus, mixtures, threshold=threshold)
        self._figures[key] = (topics, named)
        return named

    def reads_quickly(self, topics: Topics) -> bool:
        """Tell whether finding the shares of topics in documents is a matter of milliseconds."""
        infer = _inference(topics)
        return self.corpus is not None and infer is not None and not _reports(infer)

    def is_read(self, topics: Topics) -> bool:
        """Tell whether the share of each topic in each document is known already."""
        return id(topics.model) in self._mixtures

    def mixtures(self, topics: Topics, *, progress: Progress | None = None) -> Array:
        """Return the share of each topic in each document, (n, k)."""
        key = id(topics.model)
        if key not in self._mixtures:
            if self.corpus is None:
                message = "There are no documents: pass the cohort to TopicRelevance."
                raise ValueError(message)
            infer = _inference(topics)
            if infer is None:
                message = f"{topics.kind} has neither transform nor predict_proba."
                raise ValueError(message)
            given = {"progress": progress} if progress and _reports(infer) else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                rows = self.corpus.labelled(topics.words, binary=topics.of_records)
                shares = infer(rows, **given)
            self._mixtures[key] = np.asarray(shares)
        return self._mixtures[key]

    def take_read(self) -> None:
        """Let the parts know that documents have been read."""
        self.read = len(self._mixtures)

    def read_all(self, versions: Sequence[Topics]) -> None:
        """Read the documents for models that can, before numbers leave the dashboard."""
        for topics in versions if self.corpus is not None else []:
            if _inference(topics) is not None:
                self.mixtures(topics)
        self.take_read()

    @property
    def unread(self) -> str:
        """Names the model that is shown while its documents can be read and have not been."""
        topics = self.topics
        if self.corpus is None or self.figures.read or _inference(topics) is None:
            return ""
        return f"{topics.kind} {topics.k}"

    def coherence(self, topics: Topics, *, whole: bool = False) -> Array | None:
        """Return how often the first words of each topic stand together, (k,)."""
        key = id(topics.model)
        if self.corpus is None or (self.private and self.hide_small and not whole):
            return None
        if key not in self._coherence:
            full = [j for j in range(topics.k) if j not in topics.empty]
            found = np.full(topics.k, np.nan)
            X = self.corpus.matrix(topics.words)
            top = min(TOP, X.shape[1])
            found[full] = scores.coherence(topics.centers[full], X, n_top=top)
            self._coherence[key] = found
        return self._coherence[key]

    @moved.arguments(most="max_items")
    def typical(self, topic: int, *, max_items: int = TYPICAL) -> list[int]:
        """Find the documents that stand for a topic."""
        topics, corpus = self.topics, self.corpus
        if corpus is None or topic in topics.empty:
            return []
        share = self.mixtures(topics)[:, topic]
        near = np.flatnonzero(share >= 0.005)
        X, center = corpus.matrix(topics.words)[near], topics.centers[topic]
        length = np.sqrt(np.maximum(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0))
        likeness = np.asarray(X @ center).ravel() / length
        order = np.lexsort((-likeness, -share[near].round(2)))
        return [int(i) for i in near[order[:max_items]]]

    def rename(self, topic: int, name: str) -> None:
        """Name a topic; the model keeps the name in its `annotations_`."""
        renamed = self.topics.renamed(topic, name)
        versions = [renamed if t is self.topics else t for t in self.versions]
        for key, (known, figures) in self._figures.items():
            if known is self.topics:
                weighed = replace(renamed, mass=figures.topics.mass)
                self._figures[key] = (renamed, replace(figures, topics=weighed))
        name = renamed.names[topic]
        told = f"Named topic {topic} “{name}”." if name else f"Topic {topic} has no name now."
        self._set(versions=versions, message=told)

    def kinds(self) -> list[str]:
        """Return the classes of models that can be fitted, the likeliest first."""
        names = [self.topics.kind, *(KINDS if not self.private else reversed(list(KINDS)))]
        return [name for name in dict.fromkeys(names) if name in KINDS]

    def plan_fit(self, kind: str, k: int) -> FitJob:
        """Prepare to fit another model."""
        corpus = self.corpus
        if corpus is None:
            message = "There are no documents to fit: pass the cohort to TopicRelevance."
            raise ValueError(message)
        words = self.topics.words
        check_fit(k, len(corpus), len(words), corpus.row_name, corpus.column_name)
        like = next((t.model for t in self.versions if t.kind == kind), None)

        def work(progress: Progress | None) -> Any:
            made = clone(like) if like is not None else getattr(lvmkit, kind)()
            model = made.set_params(n_components=k)
            given = {"progress": progress} if progress and _reports(model.fit) else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", DataWarning)
                rows = corpus.labelled(words, binary=kind == "BernoulliMixture")
                return model.fit(rows, **given)

        return FitJob(f"Fitting {k} topics", work, self.add)

    def add(self, model: Any) -> None:
        """Show another model; one of the same class and size gives way to it."""
        topics = Topics.of(model, None if self.corpus is None else self.corpus.view.codes)
        kept = [t for t in self.versions if (t.kind, t.k) != (topics.kind, topics.k)]
        gone = [id(t.model) for t in self.versions if t not in kept]
        for known in (self._mixtures, self._coherence):
            for key in gone:
                known.pop(key, None)
        versions = sorted([*kept, topics], key=lambda each: each.k)
        told = f"Fitted {topics.k} topics ({topics.kind})."
        if topics.how:
            told = f"{told[:-1]}; {topics.how}."
        position = next(i for i, each in enumerate(versions) if each is topics)
        self._set(versions=versions, position=position, message=told)

    def save(self, path: str | Path) -> None:
        """Save the model that is shown, with the names of its topics."""
        lvmkit.save(self.topics.model, path)

    def _set(self, **fields: Any) -> None:
        """Set fields, constant ones too."""
        with param.edit_constant(self):
            self.param.update(**fields)

    def _keep_known(self, *events: Any) -> None:
        """Keep what is picked among the topics there are, and two different ones."""
        k = self.topics.k
        fields: dict[str, Any] = {}
        if self.topic >= k:
            fields["topic"] = int(np.argmax(self.topics.weights))
        topic = fields.get("topic", self.topic)
        if self.other is not None and (self.other >= k or self.other == topic):
            was = {event.name: event.old for event in events}.get("topic")
            swap = self.other == topic and was is not None and was != topic and was < k
            fields["other"] = was if swap else None
        self.param.update(**fields)


def _inference(topics: Topics) -> Any:
    """Return the method that tells the share of each topic in each document; None without one."""
    infer = getattr(topics.model, "transform", None)
    return infer or getattr(topics.model, "predict_proba", None)


def _reports(method: Any) -> bool:
    """Tell whether a method reports how far it is."""
    return "progress" in inspect.signature(method).parameters
