"""Take results away: tables, pictures, a page that works without internet, and the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import png, relevance_chart, svg, topic_map_chart, topic_map_table
from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.topics.documents_tab import has_texts
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.tab import TopicPart
from lvmkit_widgets.topics.topics_tab import topics_frame
from lvmkit_widgets.ui.export import TWICE, GivesFiles, written
from lvmkit_widgets.ui.widgets import Form

WORDS = 100  # of each topic in the table that is taken away
FILES = {
    "topics": "Topics (CSV)",
    "terms": "Words by topic (CSV)",
    "documents": "Shares by document (CSV)",
    "map": "Map (SVG)",
    "map_png": "Map (PNG)",
    "words": "Words of this topic (SVG)",
    "words_png": "Words of this topic (PNG)",
    "page": "Page (HTML)",
    "model": "Model (npz)",
}
HELP = {
    "topics": "Share, coherence and first words of each topic.",
    "terms": f"The {WORDS} most relevant words of each topic at the λ of now.",
    "documents": "The topic mixture of every document.",
    "page": "One file that answers without Python and without internet: λ, topics, words, compare.",
    "model": "With the names of the topics; lvmkit.load reads it.",
}


class Files(GivesFiles, TopicPart):
    """Buttons that hand over files."""

    title: ClassVar[str] = "Take away"
    depends: ClassVar[frozenset[str]] = frozenset({"versions", "position", "hide_small"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(title="Take away")
        self.components = {"files": self.form}
        self.layout = "files"

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        names = [name for name in FILES if name != "documents" or documents_may_go(state)]
        buttons = [
            {"name": name, "kind": "button", "label": FILES[name], "help": HELP.get(name)}
            for name in names
        ]
        note = {"name": "note", "kind": "note", "label": note_of(state)}
        texts = {
            "name": "texts",
            "kind": "check",
            "label": "Put the typical documents and their texts into the page",
            "wide": True,
        }
        asked = [texts] if has_texts(state) and not state.private else []
        self.form.controls = [*buttons, *asked, note]
        self.form.values = {"texts": bool(self.form.values.get("texts"))}

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        state.read_all(
            [state.topics]
        )  # files never hold numbers of the model alone beside a corpus
        tables: dict[str, Callable[[TopicState], pd.DataFrame]] = {
            "topics": topics_frame,
            "terms": terms_frame,
            "documents": documents_frame,
        }
        if name in tables:
            return f"{name}.csv", csv(tables[name](state)), "text/csv"
        if name in ("page", "model"):
            file = "topics.html" if name == "page" else "model.npz"
            texts = bool(self.form.values.get("texts"))
            write = (
                (lambda path: self._board.to_html(path, texts=texts))
                if name == "page"
                else state.save
            )
            return (
                file,
                written(write, file),
                "text/html" if name == "page" else "application/octet-stream",
            )
        stem = name.removesuffix("_png")
        chart = map_picture(state) if stem == "map" else words_picture(state)
        file = "topic-map" if stem == "map" else f"words-of-topic-{state.topic}"
        if name.endswith("_png"):
            return f"{file}.png", png(chart), "image/png"
        return f"{file}.svg", svg(chart).encode(), "image/svg+xml"


def documents_may_go(state: TopicState) -> bool:
    """Tell whether shares of single documents may be taken away."""
    return state.corpus is not None and not state.private


def note_of(state: TopicState) -> str:
    """Say what files hold."""
    if state.private:
        return (
            "Tables and the page hold totals only; small counts are hidden in the page always, in "
            f"tables as on screen. The model hides nothing: keep it with the data. {TWICE}"
        )
    return "The page holds no text of a document unless you ask for it."


def word_rows(figures: TopicFigures, topic: int, *, most: int, balance: float) -> pd.DataFrame:
    """Tabulate the most relevant words of a topic."""
    best = figures.best(topic, max_items=most, balance=balance)
    share, overall = figures.centers[topic, best], figures.overall[best]
    words = [figures.topics.words[i] for i in best]
    totals = [figures.total(word) for word in words]
    spread = [figures.spread(word)[topic] for word in words]
    expected = [
        None if n is None or p is None else n * p for n, p in zip(totals, spread, strict=True)
    ]
    titles: dict[str, str] = {}
    if figures.counts is not None:
        titles = dict(zip(figures.counts.codes, figures.counts.titles, strict=True))
    return pd.DataFrame(
        {
            "cluster": topic,
            "cluster_label": figures.labels()[topic],
            "code": words,
            "label": [
                f"{w} · {titles[w]}" if titles.get(w, w) not in ("", w) else w for w in words
            ],
            "n": pd.Series(expected, dtype=float).round(2),
            "total": pd.Series(totals, dtype=float),
            "share": share,
            "overall": overall,
            "lift": share / overall,
            "relevance": figures.scores(balance)[topic, best],
        }
    )


def terms_frame(state: TopicState) -> pd.DataFrame:
    """Return the most relevant words of every topic at the λ of now."""
    figures, parts = state.figures, []
    for topic in range(state.topics.k):
        rows = word_rows(figures, topic, most=WORDS, balance=state.balance)
        parts.append(rows.assign(rank=range(1, len(rows) + 1)))
    table = pd.concat(parts, ignore_index=True)
    table["name"] = [state.topics.names[j] for j in table["cluster"]]
    table = table.rename(columns={"cluster": "topic", "code": "word"})
    order = ["topic", "name", "rank", "word", "n", "total", "share", "overall", "lift", "relevance"]
    return table[order]


def documents_frame(state: TopicState) -> pd.DataFrame:
    """Return the share of each topic in each document."""
    if state.corpus is None or state.private:
        message = "Shares of single people are not taken away."
        raise ValueError(message)
    labels = [f"topic {label}" for label in state.figures.labels()]
    table = pd.DataFrame(state.mixtures(state.topics).round(6), columns=labels)
    table.insert(0, "document", [str(name) for name in state.corpus.obs.index])
    return table


def map_picture(state: TopicState) -> Any:
    """Draw the map of the model that is shown."""
    topics, figures = state.topics, state.figures
    table = topic_map_table(topics.centers, topics.weights, names=figures.names())
    return topic_map_chart(table.assign(share=figures.shares))


def words_picture(state: TopicState) -> Any:
    """Draw the words of the topic that is picked."""
    figures, topic = state.figures, state.topic
    rows = word_rows(figures, topic, most=30, balance=state.balance)
    if figures.counts is not None:
        size, unit = float(figures.counts.sizes[topic]), "records"
    else:
        words = np.nan if figures.totals is None else float(figures.totals.sum())
        size = words * float(figures.topics.mass[topic])
        unit = "records" if state.topics.of_records else "words"
    return relevance_chart(rows.assign(size=size), noun="topic", unit=unit)
