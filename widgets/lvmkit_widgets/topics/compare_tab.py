"""Tab that sets two topics side by side."""

from __future__ import annotations

from typing import ClassVar

from lvmkit_widgets.topics.tab import TopicTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import TermComparison


class TopicComparisonTab(TopicTab):
    """The words that tell two topics apart."""

    title: ClassVar[str] = "Compare two"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"versions", "position", "topic", "other", "read"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.versus = TermComparison(
            title="What tells two topics apart",
            help="Words that add most to the distance of the two topics (the Jensen-Shannon "
            "divergence of the map), those of one above the line, those of the other below; "
            "bars and numbers are the share of the word in each.",
        )
        self.components = {"versus": self.versus}
        self.layout = "versus"

    def show_selection(self) -> None:
        """Show what is picked."""
        self.versus.param.update(first=self.state.topic, second=self.state.other)

    def refresh(self) -> None:
        """Show the state as it is now: nothing beyond what is picked."""

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("versus", "first", lambda topic: self.pick({"cluster": topic}))
        board.listen("versus", "second", self._against)
        board.listen("versus", "pick", self._word)

    def _against(self, topic: int | None) -> None:
        """Compare with another topic."""
        self.state.other = topic

    def _word(self, word: str) -> None:
        """Pick a word."""
        self.state.term = word
