"""Tab of all topics of a model in one table."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit_widgets.topics.state import TopicState
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
        corpus = state.corpus
        columns = listing_columns(
            "documents" if corpus is None else corpus.row_name,
            "word" if corpus is None else corpus.column_name,
            coherent=state.coherence(state.topics) is not None,
            counted=state.figures.read,
            shares=shares_of(state),
        )
        return {"overview": {"columns": columns, "rows": listing_rows(state)}}


def listing_columns(
    row_name: str, column_name: str, *, coherent: bool, counted: bool, shares: str
) -> list[dict[str, Any]]:
    """Describe the columns."""
    columns: list[dict[str, Any]] = [
        {"key": "topic", "label": "Topic", "kind": "integer"},
        {"key": "name", "label": "Name", "kind": "text"},
        {
            "key": "share",
            "label": "Share" if shares else "Weight",
            "kind": "bar",
            "help": f"Share of all {shares}" if shares else "Weight of the topic in the model",
        },
    ]
    if counted:
        help_text = f"{row_name.capitalize()} in which no topic has a larger share"
        columns.append(
            {"key": "n", "label": row_name.capitalize(), "kind": "integer", "help": help_text}
        )
    if coherent:
        help_text = "Closer to 0 is better; compare topics of one corpus only."
        coherence = {"key": "coherence", "label": "Coherence", "kind": "number", "help": help_text}
        columns.append(coherence | {"digits": 1})
    return [*columns, {"key": "words", "label": f"{column_name.capitalize()}s", "kind": "text"}]


def shares_of(state: TopicState) -> str:
    """Say what the shares of topics are shares of."""
    corpus = state.corpus
    if corpus is None or not state.figures.read:
        return ""
    return (
        corpus.row_name if corpus.private or state.topics.of_records else f"{corpus.column_name}s"
    )


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
