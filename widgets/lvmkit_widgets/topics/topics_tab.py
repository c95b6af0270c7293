"""Tab of all topics of a model in one table."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Table

WORDS = 10  # of a topic in the table


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
