"""Tab that sets two topics side by side."""

from __future__ import annotations

from typing import ClassVar

from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import TermComparison


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
