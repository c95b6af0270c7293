"""The topics of a model, listed beside every tab and in one table with all that is known of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.controls import column, name_form, take_typed
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import ClusterList, Form, StepSlider, Table

WORDS = 10  # of a topic in the table


class TopicSidebar(Tab[TopicState]):
    """Which model, its topics with their shares, and a name for the one that is picked."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ClusterList(
            title="Topics",
            comparable=False,
            help="Numbers are those of the model (rows of centers_) and never change; names are "
            "yours. Until you name a topic, its most relevant words stand in brackets. A document counts "
            "in the topic that has the largest share of it; the percentage is the topic's part of all "
            "words, or of all people. Pick a topic to see it everywhere.",
        )
        # what was typed is heard before a pick that comes with it
        self.components = {
            "naming": Form(inline=True),
            "models": StepSlider(label="Number of topics", title="Models"),
            "sizes": sizes,
        }
        self.layout = ["models", "sizes"]
        self.events = {
            "naming.values": take_typed,
            "naming.pressed": lambda state, _: state.keep_typed(),
            "models.selected": TopicState.show_model,
            "sizes.selected": TopicState.look,
        }

    def fields(self, state: TopicState) -> Fields:
        """Show the models, the topics, and the name of the one that is picked."""
        figures, topic = state.figures, state.topic
        name = state.topics.names[topic] if state.typed is None else state.typed
        steps = [{"label": str(topics.k), "note": topics.kind} for topics in state.versions]
        models = {"visible": len(steps) > 1, "options": steps, "selected": state.position}
        items, row_name = topic_items(state, figures), state.row_name
        return {
            "naming": name_form(f"Name of topic {topic}", name, figures.hints()[topic] or "empty"),
            "models": models,
            "sizes": {"items": items, "row_name": row_name, "selected": topic},
        }


class TopicListTab(Tab[TopicState]):
    """Number, name, share, coherence and first words of every topic."""

    title: ClassVar[str] = "All topics"

    def __init__(self) -> None:
        super().__init__()
        table = Table(
            title="All topics",
            help="Coherence tells how often the 20 most probable words of a topic stand in the same "
            "documents (Mimno et al. 2011): closer to 0 is better. Words are ordered by relevance at "
            "λ = 0.6.",
            key="topic",
            page_size=25,
            searchable=True,
            download="topics.csv",
        )
        self.components = {"overview": table}
        self.layout = "overview"
        self.events = {"overview.pick": TopicState.look}

    def picks(self, state: TopicState) -> Fields:
        """Show what is picked."""
        return {"overview": {"selected": state.topic}}

    def fields(self, state: TopicState) -> Fields:
        """List the topics."""
        return {"overview": {"columns": listing_columns(state), "rows": listing_rows(state)}}


@remembered
def topic_items(state: TopicState, figures: TopicFigures) -> list[dict[str, Any]]:
    """Describe the topics of the model that is shown."""
    hints, empty = figures.hints(max_items=8), figures.topics.empty
    counted = "" if figures.leading is None else state.row_name
    one = counted.removesuffix("s")
    return [
        {
            "id": j,
            "name": label,
            "n": "empty" if j in empty else f"{n:,} {one if n == 1 else counted}" if counted else n,
            "share": share,
            "note": "empty: no word and no share" if j in empty else f"{label}: {hint}",
        }
        for j, (label, n, share, hint) in enumerate(
            zip(figures.labels(), figures.sizes(), figures.shares, hints, strict=True)
        )
    ]


def listing_columns(state: TopicState) -> list[dict[str, Any]]:
    """Describe the columns."""
    shares, rows = shares_of(state), state.row_name.capitalize()
    told = f"Share of all {shares}" if shares else "Weight of the topic in the model"
    columns = [
        column("topic", "Topic", "integer"),
        column("name", "Name"),
        column("share", "Share" if shares else "Weight", "bar", help=told),
    ]
    if state.figures.read:
        told = f"{rows} in which no topic has a larger share"
        columns.append(column("n", rows, "integer", help=told))
    if state.coherence(state.topics) is not None:
        told = "Closer to 0 is better; compare topics of one corpus only."
        columns.append(column("coherence", "Coherence", "number", help=told, digits=1))
    return [*columns, column("words", f"{state.column_name.capitalize()}s")]


def shares_of(state: TopicState) -> str:
    """Say what the shares of topics are shares of."""
    if state.corpus is None or not state.figures.read:
        return ""
    of_rows = state.corpus.private or state.topics.of_records
    return state.row_name if of_rows else f"{state.column_name}s"


@remembered
def listing_rows(state: TopicState) -> list[dict[str, Any]]:
    """List the topics of the model that is shown."""
    figures = state.figures
    coherence = state.coherence(state.topics)
    values = np.full(figures.topics.k, np.nan) if coherence is None else coherence
    rows = zip(figures.sizes(), figures.shares, values, figures.hints(max_items=WORDS), strict=True)
    return [
        {
            "topic": j,
            "name": figures.topics.names[j] or ("empty" if j in figures.topics.empty else ""),
            "share": share,
            "n": n,
            "coherence": value,
            "words": words,
        }
        for j, (n, share, value, words) in enumerate(rows)
    ]


def topics_frame(state: TopicState) -> pd.DataFrame:
    """Return the topics of the model that is shown as a table, to be taken away."""
    table = pd.DataFrame(listing_rows(state))
    return table[["topic", "name", "share", "coherence", "words"]]
