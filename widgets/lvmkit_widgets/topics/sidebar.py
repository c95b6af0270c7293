"""Slider over models, topic list and the name of a topic beside every tab."""

from __future__ import annotations

from typing import Any

from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.controls import name_form, take_typed
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import ClusterList, Form, StepSlider


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


@remembered
def topic_items(state: TopicState, figures: TopicFigures) -> list[dict[str, Any]]:
    """Describe the topics of the model that is shown."""
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
