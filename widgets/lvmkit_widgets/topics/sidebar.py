"""Slider over models, topic list and the name of a topic beside every tab."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.tab import TopicTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import ClusterList, Form, StepSlider


class TopicSidebar(TopicTab):
    """Which model, its topics with their shares, and a name for the one that is picked."""

    depends: ClassVar[frozenset[str]] = frozenset(
        {"versions", "position", "topic", "hide_small", "read"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.models = StepSlider(label="Number of topics", title="Models")
        self.sizes = ClusterList(
            title="Topics",
            comparable=False,
            help="Numbers are those of the model (rows of centers_) and never change; names are "
            "yours. Until you name a topic, its most relevant words stand in brackets. A document counts "
            "in the topic that has the largest share of it; the percentage is the topic's part of all "
            "words, or of all people. Pick a topic to see it everywhere.",
        )
        self.naming = Form(inline=True)
        self.components = {"models": self.models, "sizes": self.sizes, "naming": self.naming}
        self.layout = ["models", "sizes"]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        self.models.visible = len(state.versions) > 1
        self.models.param.update(options=model_steps(state), selected=state.position)
        if self.changed("items", state.figures):
            row_name = "documents" if state.corpus is None else state.corpus.row_name
            self.sizes.param.update(items=topic_items(state), row_name=row_name)
        self.sizes.selected = state.topic
        self.naming.controls = [
            {
                "name": "name",
                "kind": "text",
                "label": f"Name of topic {state.topic}",
                "placeholder": state.figures.hints()[state.topic] or "empty",
                "wide": True,
            },
            {"name": "keep", "kind": "button", "label": "Keep"},
        ]
        self.naming.values = {"name": state.topics.names[state.topic]}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("models", "selected", self._switch)
        board.listen("sizes", "selected", self._select)
        board.listen("naming", "pressed", self._keep)

    def _switch(self, position: int) -> None:
        """Show another model."""
        self.state.position = min(position, len(self.state.versions) - 1)

    def _select(self, topic: int | None) -> None:
        """Pick a topic; what was typed of the one before is kept."""
        if topic is None or topic >= self.state.topics.k or topic == self.state.topic:
            return
        try:
            self._keep("")
        finally:
            self.state.topic = topic

    def _keep(self, _: str) -> None:
        """Keep the name."""
        name = str(self.naming.values.get("name") or "")
        if name.strip() != self.state.topics.names[self.state.topic]:
            self.state.rename(self.state.topic, name)


def model_steps(state: TopicState) -> list[dict[str, Any]]:
    """Describe the models for the slider."""
    return [{"label": str(topics.k), "note": topics.kind} for topics in state.versions]


def topic_items(state: TopicState) -> list[dict[str, Any]]:
    """Describe the topics of the model that is shown."""
    figures = state.figures
    hints, empty = figures.hints(max_items=8), figures.topics.empty
    row_name = "" if figures.leading is None or state.corpus is None else state.corpus.row_name
    return [
        {
            "id": j,
            "name": label,
            "n": "empty" if j in empty else f"{n:,} {_counted(row_name, n)}" if row_name else n,
            "share": share,
            "note": "empty: no word and no share" if j in empty else f"{label}: {hint}",
        }
        for j, (label, n, share, hint) in enumerate(
            zip(figures.labels(), figures.sizes(), figures.shares, hints, strict=True)
        )
    ]


def _counted(row_name: str, n: int | str) -> str:
    """Return a noun for so many."""
    return row_name.removesuffix("s") if n == 1 else row_name
