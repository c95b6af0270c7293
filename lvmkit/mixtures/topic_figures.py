"""Sizes, shares and words of topics in a corpus, with small counts of people suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.cohorts.corpus import Corpus
from lvmkit.core.typing import Array
from lvmkit.disclosure.text import shown_count
from lvmkit.mixtures.analysis import score_codes, short
from lvmkit.mixtures.topics import Topics
from lvmkit.scores import CodeCounts, count_codes

USUAL = 0.6  # λ of words that stand for a topic
HINTED = 3  # words that stand for a topic without a name
MOST_HINTED = 12


@dataclass(frozen=True, eq=False)
class TopicFigures:
    """Sizes, shares and word counts of one model's topics."""

    topics: Topics  # The model
    totals: npt.NDArray[np.int64] | None = None
    leading: npt.NDArray[np.int64] | None = None
    counts: CodeCounts | None = None
    whole: CodeCounts | None = None
    threshold: int = 0  # Smaller counts are hidden
    n_rows: int = 0  # Documents or people; 0 without a corpus

    @property
    def centers(self) -> Array:
        """Share of each word in each topic (k, d); NaN where hidden."""
        return self.topics.centers if self.counts is None else self.counts.shares

    @property
    def overall(self) -> Array:
        """Share of each word over all topics (d,); NaN where hidden."""
        return self.topics.overall if self.counts is None else self.counts.overall

    @property
    def shares(self) -> Array:
        """Share of each topic (k,), of the corpus once it is read; NaN where hidden."""
        if self.counts is not None:
            return self.counts.weights
        return self.topics.weights if self.leading is None else self.topics.mass

    @property
    def read(self) -> bool:
        """Whether shares are those of documents or people, not of the model alone."""
        return self.counts is not None or self.leading is not None

    def scores(self, balance: float) -> Array:
        """Return the relevance of words, -inf where suppressed, (k, d)."""
        if self.counts is None:
            return self.topics.relevance(balance)
        return score_codes(self.counts, balance)

    def best(self, topic: int, *, max_items: int, balance: float = USUAL) -> list[int]:
        """Return the most relevant words of a topic."""
        score = self._usual[topic] if balance == USUAL else self.scores(balance)[topic]
        order = np.argsort(-score, kind="stable")[:max_items]
        return [int(i) for i in order if score[i] > -np.inf]

    def hints(self, *, max_items: int = HINTED) -> list[str]:
        """Return words that stand for each topic."""
        words = self.topics.words
        titles = () if self.counts is None else self.counts.titles
        coded = any(title not in ("", word) for title, word in zip(titles, words, strict=False))
        meaning = [t or w for t, w in zip(titles, words, strict=True)] if coded else words
        apart = "; " if coded else ", "
        return [apart.join(meaning[i] for i in first[:max_items]) for first in self._first]

    @cached_property
    def _usual(self) -> Array:
        """Relevance at the balance that names topics and marks texts."""
        return self.scores(USUAL)

    @cached_property
    def _first(self) -> list[list[int]]:
        """The most relevant words of each topic; none of an empty one."""
        every = [self.best(j, max_items=MOST_HINTED) for j in range(self.topics.k)]
        return [[] if j in self.topics.empty else first for j, first in enumerate(every)]

    def names(self) -> list[str]:
        """Return the name of each topic, or words in its place."""
        hints = [short(hint) for hint in self.hints()]
        empty = self.topics.empty
        return [
            name or ("empty" if j in empty else f"({hint})" if hint else "")
            for j, (name, hint) in enumerate(zip(self.topics.names, hints, strict=True))
        ]

    def labels(self) -> list[str]:
        """Return number and name of each topic; the number is that of the model."""
        return [f"{j} · {name}" if name else str(j) for j, name in enumerate(self.names())]

    def sizes(self) -> list[int | str]:
        """Return how many documents or people each topic has, or why that is not shown."""
        if self.counts is not None and self.whole is not None:
            pairs = zip(self.counts.sizes, self.whole.sizes, strict=True)
            return [shown_count(n, whole, self.threshold) for n, whole in pairs]
        return [""] * self.topics.k if self.leading is None else self.leading.tolist()

    def spread(self, word: str) -> list[float | None]:
        """Return how a word spreads over the topics."""
        if self.counts is None:
            return [round(float(p), 6) for p in self.topics.spread(word)]
        if word not in self.counts.codes:
            return []
        column = self.counts.column(word)
        n, whole = self.counts.counts[:, column], float(self.counts.totals[column])
        if not whole > 0:
            return [None if np.isnan(whole) else 0.0] * len(n)
        return [None if np.isnan(value) else round(float(value / whole), 6) for value in n]

    def total(self, word: str) -> int | None:
        """Return how often a word occurs."""
        if word not in self.topics.words:
            return None
        column = self.topics.words.index(word)
        if self.counts is not None:
            found = float(self.counts.totals[column])
            return None if np.isnan(found) else int(found)
        return None if self.totals is None else int(self.totals[column])

    def table(self, topic: int, *, max_items: int, balance: float = USUAL) -> pd.DataFrame:
        """Tabulate the most relevant words of a topic."""
        best = self.best(topic, max_items=max_items, balance=balance)
        share, overall = self.centers[topic, best], self.overall[best]
        words = [self.topics.words[i] for i in best]
        totals = [self.total(word) for word in words]
        parts = [self.spread(word)[topic] for word in words]
        expected = [
            None if n is None or p is None else n * p for n, p in zip(totals, parts, strict=True)
        ]
        titles = [""] * len(words) if self.counts is None else [self.counts.titles[i] for i in best]
        told = zip(words, titles, strict=True)
        return pd.DataFrame(
            {
                "cluster": topic,
                "cluster_label": self.labels()[topic],
                "code": words,
                "label": [f"{w} · {t}" if t not in ("", w) else w for w, t in told],
                "n": pd.Series(expected, dtype=float).round(2),
                "total": pd.Series(totals, dtype=float),
                "share": share,
                "overall": overall,
                "lift": share / overall,
                "relevance": self.scores(balance)[topic, best],
            }
        )

    def fields(self, columns: Sequence[int] | None = None) -> dict[str, Any]:
        """Pack the numbers for a `Relevance`."""
        kept = slice(None) if columns is None else np.asarray(columns, dtype=np.intp)
        words = np.array(self.topics.words, dtype=object)[kept]
        fields: dict[str, Any] = {
            "centers": _bytes(self.centers[:, kept], np.float32),
            "overall": _bytes(self.overall[kept], np.float32),
            "weights": self.topics.mass.round(9),
            "codes": words,
            "titles": [""] * len(words),
            "names": self.labels(),
            "empty": self.topics.empty,
            "totals": b"" if self.totals is None else _bytes(self.totals[kept], np.int32),
            "counts": b"",
            "size": self.n_rows,
        }
        if self.counts is not None:
            fields["weights"] = np.nan_to_num(self.counts.weights)  # the model's would tell sizes
            n = self.counts.counts[:, kept]
            fields["counts"] = _bytes(np.where(np.isnan(n), -1, n), np.int32)
            titles = np.array(self.counts.titles, dtype=object)[kept]
            fields["titles"] = ["" if t == w else t for t, w in zip(titles, words, strict=True)]
        return fields


def figures_of(
    topics: Topics, corpus: Corpus | None, mixtures: Any = None, *, threshold: int = 0
) -> TopicFigures:
    """Return the figures of topics in a corpus."""
    if corpus is None or mixtures is None:
        return TopicFigures(topics)
    if not corpus.private:
        X = corpus.matrix(topics.words, binary=topics.of_records)
        totals = np.asarray(X.sum(axis=0)).ravel().round().astype(np.int64)
        lengths = np.ones(len(corpus)) if topics.of_records else np.asarray(X.sum(axis=1)).ravel()
        # A document without a word of the model says nothing; its mixture is that of the model.
        leading = np.bincount(mixtures[lengths > 0].argmax(axis=1), minlength=topics.k)
        weighed = topics.weighed(mixtures, lengths)
        return TopicFigures(weighed, totals, leading, n_rows=len(corpus))
    whole = count_codes(
        corpus.matrix(topics.words),
        mixtures.argmax(axis=1),
        clusters=range(topics.k),
        feature_names=list(topics.words),
        titles=[corpus.view.titles.get(word, "") for word in topics.words],
    )
    shown = whole.suppress(threshold) if threshold else whole
    return TopicFigures(topics, None, None, shown, whole, threshold, len(corpus))


def _bytes(values: Any, kind: Any) -> bytes:
    """Write numbers as bytes."""
    return np.ascontiguousarray(values, dtype=kind).tobytes()
