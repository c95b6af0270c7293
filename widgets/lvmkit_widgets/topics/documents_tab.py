"""Tab of the documents that stand for a topic, with its words marked; people are never listed."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.mixtures.topics import Topics
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import DocumentList, Text

MARKED = 40  # words of a topic that are marked in texts
NO_TEXT = (
    "Documents are listed where the cohort has their texts: lvmkit.cohorts.from_texts keeps them, or "
    "pass texts=… to TopicRelevance. Records of people are not listed here; the cluster explorer "
    "shows patients of a cluster by its own rules."
)


class TopicDocumentsTab(Tab[TopicState]):
    """Documents with the largest share of the topic that is picked."""

    title: ClassVar[str] = "Documents"

    def __init__(self) -> None:
        super().__init__()
        self.documents = DocumentList(
            title="Typical documents",
            help="Documents with the largest share of the topic; among equal ones those whose words "
            "are most like the topic's. Of long texts you first see the passage in which the topic's "
            "words stand closest. Marked words are the topic's most relevant ones at λ = 0.6.",
            hint="Reading the documents …",
        )
        without = Text(text=NO_TEXT, tone="note", needs_python=True)
        self.components = {"documents": self.documents, "no_documents": without}
        self.layout = ["documents", "no_documents"]
        self.events = {
            "documents.open": open_text,
            "documents.opened": lambda state, _: state.replace(opened=None),  # the reader closed it
        }

    def initial(self, state: TopicState) -> Fields:
        """Say whether there are documents."""
        there = has_texts(state)
        return {"documents": {"visible": there}, "no_documents": {"visible": not there}}

    def picks(self, state: TopicState) -> Fields:
        """Show what is picked."""
        return {"documents": {"topic": state.topic}}

    def fields(self, state: TopicState) -> Fields:
        """Show the documents of the topic; in a page, those of every topic, if they are asked for."""
        corpus, opened = state.corpus, None
        if corpus is None or corpus.texts is None:
            return {}
        topics: tuple[int, ...] = (state.topic,) if state.is_read(state.topics) else ()
        if not state.live:
            topics = tuple(range(state.topics.k)) if state.texts else ()
        elif state.opened is not None:
            opened = {"row": state.opened, "text": corpus.texts[state.opened - 1]}
        found = documents_of(state, state.topics, topics)
        return {"documents": {**found, "opened": opened}}


def open_text(state: TopicState, row: int) -> TopicState:
    """Show the whole text of a document."""
    there = state.corpus is not None and 1 <= int(row) <= len(state.corpus)
    return state.replace(opened=int(row)) if there else state


@remembered
def documents_of(state: TopicState, _: Topics, topics: tuple[int, ...]) -> dict[str, Any]:
    """Return the typical documents of some topics, and the words that are marked in them."""
    figures, marks = state.figures, {}
    for j in topics:
        marks[str(j)] = [figures.topics.words[i] for i in figures.best(j, max_items=MARKED)]
    items = {str(j): document_items(state, j, marks[str(j)]) for j in topics}
    return {"items": items, "marks": marks}


def has_texts(state: TopicState) -> bool:
    """Tell whether documents can be shown."""
    return state.corpus is not None and state.corpus.texts is not None


def document_items(state: TopicState, topic: int, words: list[str]) -> list[dict[str, Any]]:
    """Describe the documents that stand for a topic, with the passages that hold its words."""
    corpus, share = state.corpus, state.mixtures(state.topics)[:, topic]
    assert corpus is not None
    return [
        {
            "row": row + 1,
            "title": corpus.title(row),
            "about": corpus.about(row),
            "share": round(float(share[row]), 4),
            **dict(zip(("text", "cut"), corpus.passage(row, words), strict=True)),
        }
        for row in state.typical(topic)
    ]
