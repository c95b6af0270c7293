"""Tabs of the topic map beside the words of a topic, and of two topics side by side."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import topic_map_table
from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit.mixtures.topics import page_words
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.topics_tab import shares_of
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Relevance, TermComparison, TopicMap

TOP = 30  # words in the table
LIVE_CELLS = 1_000_000  # numbers, topics times words, that a browser gets; four bytes each
HELP = (
    "λ = 1 ranks {name}s by how frequent they are in the topic; λ = 0 by how much more frequent they are there than "
    "overall; 0.6 is a good start (Sievert & Shirley 2014). Relevance is λ·log(share) + (1−λ)·log(share ÷ overall "
    "share). The wide gray bar is the frequency overall, the blue one inside it the part of the topic. Pick a {name} "
    f"to see its topics; search finds every {{name}}, not only the {TOP} first."
)
LINKS = [
    ("sizes.selected", "relevance.cluster"),
    ("sizes.selected", "map.selected"),
    ("sizes.selected", "overview.selected"),
    ("sizes.selected", "documents.topic"),
    ("sizes.selected", "versus.first"),
    ("map.selected", "sizes.selected"),
    ("overview.pick", "sizes.selected"),
    ("versus.first", "sizes.selected"),
    ("map.other", "versus.second"),
    ("versus.second", "map.other"),
    ("relevance.code", "map.term"),
    ("map.term", "relevance.code"),
    ("relevance.spread", "map.spread"),
    ("relevance.spread_total", "map.total"),
    ("versus.pick", "relevance.code"),
]


class TopicTermsTab(Tab[TopicState]):
    """Map and words side by side."""

    title: ClassVar[str] = "Words and map"

    def __init__(self) -> None:
        super().__init__()
        map_ = TopicMap(
            title="Topic map",
            help="Topics that use similar words lie close together (Jensen-Shannon distance, "
            "classical scaling to two dimensions; circles that would cover each other are moved apart); "
            "the area of a circle is the topic's share. "
            "Click a circle, or use arrow keys and Enter, to pick a topic; hold Shift to compare "
            "it with the one that is picked. While a word is picked, areas are the part of each "
            "topic in that word. The list of topics beside it tells the same without the map.",
        )
        relevance = Relevance(title="Words of the topic", top=TOP, spreads=True)
        self.components = {"map": map_, "relevance": relevance}
        self.layout = {"row": ["map", "relevance"], "widths": [1, 1.35]}
        self.events = {
            "relevance.balance": lambda state, balance: state.replace(balance=balance),
            "relevance.code": lambda state, word: state.replace(term=word),
            "map.term": lambda state, word: state.replace(term=word),
            "map.selected": TopicState.look,
            "map.other": TopicState.compare,
            "map.seen": lambda _state, _seen: lambda board: board._begin_reading(),
        }

    def initial(self, state: TopicState) -> Fields:
        """Say what columns are."""
        title = f"{state.column_name.capitalize()}s of the topic"
        told = HELP.format(name=state.column_name)
        return {"relevance": {"help": told, "title": title, "download": "terms"}}

    def picks(self, state: TopicState) -> Fields:
        """Show what is picked."""
        return {
            "relevance": {"cluster": state.topic},
            "map": {"selected": state.topic, "other": state.other},
        }

    def fields(self, state: TopicState) -> Fields:
        """Show words and map."""
        figures, term = state.figures, state.term
        spread, total = figures.spread(term) if term else [], figures.total(term)
        words = {"balance": state.balance, "code": term, "spread": spread, "spread_total": total}
        circles = {
            "items": map_items(state, figures),
            "term": term,
            "spread": spread,
            "total": total,
            "shares_of": shares_of(state),
            "unread": state.unread,
        }
        return {"relevance": {**numbers_of(state, figures), **words}, "map": circles}


class TopicComparisonTab(Tab[TopicState]):
    """The words that tell two topics apart."""

    title: ClassVar[str] = "Compare two"

    def __init__(self) -> None:
        super().__init__()
        versus = TermComparison(
            title="What tells two topics apart",
            help="Words that add most to the distance of the two topics (the Jensen-Shannon "
            "divergence of the map), those of one above the line, those of the other below; "
            "bars and numbers are the share of the word in each.",
        )
        self.components = {"versus": versus}
        self.layout = "versus"
        self.events = {
            "versus.first": TopicState.look,
            "versus.second": TopicState.compare,
            "versus.pick": lambda state, word: state.replace(term=word),
        }

    def picks(self, state: TopicState) -> Fields:
        """Show the two; the browser finds their words in the numbers of the terms."""
        return {"versus": {"first": state.topic, "second": state.other}}


@remembered
def numbers_of(state: TopicState, figures: TopicFigures) -> dict[str, Any]:
    """Pack the numbers of the words that there is room for, and say what they are."""
    words = state.topics.words
    saved = None if state.saved is None else state.saved[words]
    shown = page_words([figures.topics], LIVE_CELLS, top=TOP) if saved is None else saved
    return {**figures.fields(shown), "labels": labels_of(state, len(shown), len(words))}


@remembered
def map_items(state: TopicState, figures: TopicFigures) -> list[dict[str, Any]]:
    """Place the topics of the model that is shown."""
    table = topic_map_table(state.topics.centers, state.topics.weights)
    told: dict[str, Any] = {"name": figures.names(), "label": figures.labels()}
    table = table.rename(columns={"topic": "id"}).assign(**told, share=figures.shares)
    shown = table[["id", "name", "label", "x", "y", "share", "empty"]]
    rows: list[Any] = shown.to_dict("records")
    return rows


def labels_of(state: TopicState, n_shown: int = 0, n_words: int = 0) -> dict[str, str]:
    """Say what the columns of the words are."""
    row_name, column_name, read = state.row_name, state.column_name, state.figures.read
    labels = {
        "code": column_name.capitalize(),
        "find": column_name,
        "columns": f"{column_name}s",
        "inside": "in topic",
        "all": "overall",
        "bars": "Frequency" if read and not state.private else "Shares",
        "balance": "1 frequent in the topic · 0 typical of it",
        "none": "Select a topic.",
        "lift_help": f"Share in the topic divided by the share overall: how typical the {column_name} is",
    }
    if n_shown < n_words:
        labels["rest"] = f"This page holds {n_shown:,} of {n_words:,} {column_name}s."
    if state.private:
        return labels | {
            "n": "n",
            "n_help": f"{row_name.capitalize()} of the topic with the {column_name}",
            "share": "In topic",
            "share_help": f"Share of the {row_name} of the topic with the {column_name}",
            "overall_help": f"Share of all {row_name} with the {column_name}",
        }
    counted = f"{row_name} with" if state.topics.of_records else "occurrences of"
    weighed = "over all topics" if read else "over all topics, by their weights in the model"
    return labels | {
        "n": "In topic",
        "total": "Overall",
        "share": "Share",
        "n_help": f"Expected {counted} the {column_name} that come from this topic",
        "total_help": f"All {counted} the {column_name}",
        "share_help": f"Probability of the {column_name} in the topic",
        "overall_help": f"Probability of the {column_name} {weighed}",
    }
