"""Export tab of the topic dashboard: tables, pictures, page, model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lvmkit.charts import relevance_chart, topic_map_chart, topic_map_table
from lvmkit_widgets.topics.documents_tab import has_texts
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.topics_tab import topics_frame
from lvmkit_widgets.ui.controls import check
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    ExportTab,
    chart_exports,
    model_export,
    page_export,
    table_export,
    written,
)
from lvmkit_widgets.ui.widgets import Form
from lvmkit_widgets.ui.words import refuse

WORDS = 100  # of each topic in the table that is taken away
TERMS = f"The {WORDS} most relevant words of each topic at the λ of now."
PAGE = "One file that answers without Python and without internet: λ, topics, words, compare."
PRIVATE = (
    "Tables, pictures and the page hold totals only; small counts are hidden in them always. "
    f"The model hides nothing: keep it with the data. {TWICE}"
)


def terms_frame(state: TopicState) -> pd.DataFrame:
    """Return the most relevant words of every topic at the λ of now."""
    figures, parts = state.figures, []
    for topic in range(state.topics.k):
        rows = figures.table(topic, max_items=WORDS, balance=state.balance)
        parts.append(rows.assign(rank=range(1, len(rows) + 1)))
    table = pd.concat(parts, ignore_index=True)
    table["name"] = [state.topics.names[j] for j in table["cluster"]]
    table = table.rename(columns={"cluster": "topic", "code": "word"})
    order = ["topic", "name", "rank", "word", "n", "total", "share", "overall", "lift", "relevance"]
    return table[order]


def documents_frame(state: TopicState) -> pd.DataFrame:
    """Return the share of each topic in each document."""
    if state.corpus is None or state.private:
        refuse("Shares of single people are not taken away.")
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
    rows = figures.table(topic, max_items=30, balance=state.balance)
    if figures.counts is not None:
        size, unit = float(figures.counts.sizes[topic]), "records"
    else:
        words = np.nan if figures.totals is None else float(figures.totals.sum())
        size = words * float(figures.topics.mass[topic])
        unit = "records" if state.topics.of_records else "words"
    return relevance_chart(rows.assign(size=size), noun="topic", unit=unit)


class TopicExportTab(ExportTab[TopicState]):
    """Buttons that hand over files."""

    exports = (
        table_export(
            "topics", "Topics", topics_frame, "Share, coherence and first words of each topic."
        ),
        table_export("terms", "Words by topic", terms_frame, TERMS),
        table_export(
            "documents",
            "Shares by document",
            documents_frame,
            "The topic mixture of every document.",
            offered=lambda state: state.corpus is not None and not state.private,
        ),
        *chart_exports("map", "Map", lambda _: "topic-map", map_picture),
        *chart_exports(
            "words",
            "Words of this topic",
            lambda state: f"words-of-topic-{state.topic}",
            words_picture,
        ),
        page_export("topics.html", PAGE),
        model_export(TopicState.save, "With the names of the topics; lvmkit.load reads it."),
    )

    def options(self, state: TopicState) -> list[dict[str, Any]]:
        """Offer to put texts into the page."""
        label = "Put the typical documents and their texts into the page"
        return [check("texts", label, wide=True)] if has_texts(state) and not state.private else []

    def note(self, state: TopicState) -> str:
        """Say what files hold."""
        told = "The page holds no text of a document unless you ask for it."
        return PRIVATE if state.private else told

    def content(self, export: Export[Any], state: TopicState, file: str) -> bytes:
        """Make the contents of a file, never of numbers of the model alone beside a corpus."""
        read = self._board.state = state.read_all([state.topics])
        if export.name == "page":
            form = self.components["files"]
            texts = isinstance(form, Form) and bool(form.values.get("texts"))
            return written(lambda path: self._board.to_html(path, texts=texts), file)
        return super().content(export, read, file)
