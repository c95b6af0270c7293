"""Tab of the topic map beside the words of a topic."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import topic_map_table
from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit.mixtures.topics import page_words
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.topics_tab import shares_of
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Relevance, TopicMap

TOP = 30  # words in the table
LIVE_CELLS = 1_000_000  # numbers, topics times words, that a browser gets; four bytes each
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
        column_name = "word" if state.corpus is None else state.corpus.column_name
        title = f"{column_name.capitalize()}s of the topic"
        return {"relevance": {"help": help_of(column_name), "title": title, "download": "terms"}}

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
    topics = state.topics
    table = topic_map_table(topics.centers, topics.weights)
    rows = table.to_dict("records")
    return [
        {
            "id": row["topic"],
            "name": name,
            "label": label,
            "x": row["x"],
            "y": row["y"],
            "share": share,
            "empty": row["empty"],
        }
        for row, name, label, share in zip(
            rows, figures.names(), figures.labels(), figures.shares, strict=True
        )
    ]


def labels_of(state: TopicState, n_shown: int = 0, n_words: int = 0) -> dict[str, str]:
    """Say what the columns of the words are."""
    corpus = state.corpus
    column_name = "word" if corpus is None else corpus.column_name
    read = state.figures.read
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
    if state.private and corpus is not None:
        share = f"Share of the {corpus.row_name} of the topic with the {column_name}"
        overall = f"Share of all {corpus.row_name} with the {column_name}"
        n = f"{corpus.row_name.capitalize()} of the topic with the {column_name}"
        told = {"n": "n", "n_help": n, "share": "In topic"}
        return labels | told | {"share_help": share, "overall_help": overall}
    documents = "documents" if corpus is None else corpus.row_name
    counted = f"{documents} with" if state.topics.of_records else "occurrences of"
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


def help_of(column_name: str) -> str:
    """Explain the table of words."""
    return (
        f"λ = 1 ranks {column_name}s by how frequent they are in the topic; λ = 0 by how much more frequent "
        "they are there than overall; 0.6 is a good start (Sievert & Shirley 2014). Relevance is "
        "λ·log(share) + (1−λ)·log(share ÷ overall share). The wide gray bar is the frequency overall, "
        f"the blue one inside it the part of the topic. Pick a {column_name} to see its topics; search finds "
        f"every {column_name}, not only the {TOP} first."
    )
