"""Tab of the documents that stand for a topic, with its words marked; people are never listed."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.tab import TopicTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.jobs import Progress
from lvmkit_widgets.ui.widgets import DocumentList, Text

MARKED = 40  # words of a topic that are marked in texts
NO_TEXT = (
    "Documents are listed where the cohort has their texts: lvmkit.cohorts.from_texts keeps them, or "
    "pass texts=… to TopicRelevance. Records of people are not listed here; the cluster explorer "
    "shows patients of a cluster by its own rules."
)


class TopicDocumentsTab(TopicTab):
    """Documents with the largest share of the topic that is picked."""

    title: ClassVar[str] = "Documents"
    depends: ClassVar[frozenset[str]] = frozenset({"versions", "position", "topic", "read"})

    def __init__(self) -> None:
        super().__init__()
        self._at_work = False
        self.documents = DocumentList(
            title="Typical documents",
            help="Documents with the largest share of the topic; among equal ones those whose words "
            "are most like the topic's. Of long texts you first see the passage in which the topic's "
            "words stand closest. Marked words are the topic's most relevant ones at λ = 0.6.",
            hint="Reading the documents …",
        )
        self.without = Text(text=NO_TEXT, tone="note", needs_python=True)
        self.components = {"documents": self.documents, "no_documents": self.without}
        self.layout = ["documents", "no_documents"]

    def attach(self, state: TopicState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.documents.visible = has_texts(state)
        self.without.visible = not has_texts(state)

    def show_selection(self) -> None:
        """Show what is picked."""
        self.documents.topic = self.state.topic

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        topic = state.topic
        if not has_texts(state):
            return
        if not state.is_read(state.topics):
            self.documents.param.update(items={}, marks={}, opened=None)
            self.read_documents()
            return
        if self.changed("documents", state.topics.model, topic):
            items = {str(topic): document_items(state, topic)}
            marks = {str(topic): marked_words(state, topic)}
            self.documents.param.update(items=items, marks=marks, opened=None)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board = board
        board.listen("documents", "open", self._open)
        board.listen("map", "seen", lambda _: self._begin())

    def read_documents(self) -> None:
        """Find the share of each topic in each document, beside the dashboard."""
        state, topics = self.state, self.state.topics

        def work(progress: Progress) -> Any:
            try:
                return state.mixtures(topics, progress=progress)
            finally:
                self._at_work = False

        def done(_: Any) -> None:
            state.take_read()
            self._board.say("", state="idle")
            if state.unread:  # the reader has moved to another model meanwhile
                self.read_documents()

        if self._at_work:
            return
        self._at_work = True
        if not self._board.background(work, done, label="Reading the documents"):
            self._at_work = False

    def _begin(self) -> None:
        """Read the documents of a model that a browser shows without them."""
        if self.state.unread and not self._board.busy:
            self.read_documents()

    def _open(self, row: int) -> None:
        """Hand over the whole text of one document."""
        corpus = self.state.corpus
        if corpus is None or corpus.texts is None or not 1 <= int(row) <= len(corpus):
            return
        self.documents.opened = {"row": int(row), "text": corpus.texts[int(row) - 1]}


def has_texts(state: TopicState) -> bool:
    """Tell whether documents can be shown."""
    return state.corpus is not None and state.corpus.texts is not None


def marked_words(state: TopicState, topic: int) -> list[str]:
    """Return the words of a topic that are marked in texts."""
    figures = state.figures
    return [figures.topics.words[i] for i in figures.best(topic, max_items=MARKED)]


def document_items(state: TopicState, topic: int) -> list[dict[str, Any]]:
    """Describe the documents that stand for a topic."""
    corpus = state.corpus
    if corpus is None:
        return []
    words = marked_words(state, topic)
    share = state.mixtures(state.topics)[:, topic]
    found = []
    for row in state.typical(topic):
        text, cut = corpus.passage(row, words)
        found.append(
            {
                "row": row + 1,
                "title": corpus.title(row),
                "about": corpus.about(row),
                "share": round(float(share[row]), 4),
                "text": text,
                "cut": cut,
            }
        )
    return found
