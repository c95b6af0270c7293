"""Tab that fits another number of topics, or another kind of model."""

from __future__ import annotations

from typing import ClassVar

from lvmkit_widgets.topics.state import KINDS, TopicState
from lvmkit_widgets.topics.tab import TopicTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Table


class TopicFitTab(TopicTab):
    """What to fit, and the models there are."""

    title: ClassVar[str] = "Fit another"
    depends: ClassVar[frozenset[str]] = frozenset({"versions", "position"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Fit another model",
            help="The same documents and words, another number of topics or another kind of model. "
            "It joins the slider; a model of the same kind and number gives way to it. A kind that "
            "is already open keeps its other options.",
        )
        self.table = Table(
            title="Models",
            help="Mean coherence of the topics, weighed alike: closer to 0 is better.",
            key="place",
            needs_python=True,
            columns=[
                {"key": "place", "label": "", "kind": "integer"},
                {"key": "k", "label": "Topics", "kind": "integer"},
                {"key": "kind", "label": "Model", "kind": "text"},
                {"key": "coherence", "label": "Mean coherence", "kind": "number", "digits": 1},
                {"key": "how", "label": "How it ended", "kind": "text"},
            ],
        )
        self.components = {"fit": self.form, "fitted": self.table}
        self.layout = ["fit", "fitted"]

    def attach(self, state: TopicState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        options = [[kind, KINDS[kind]] for kind in state.kinds()]
        self.form.visible = state.corpus is not None
        self.form.controls = [
            {"name": "kind", "kind": "select", "label": "Model", "options": options},
            {"name": "k", "kind": "number", "label": "Number of topics", "min": 1, "step": 1},
            {"name": "fit", "kind": "button", "label": "Fit the model", "primary": True},
        ]
        self.form.values = {"kind": options[0][0], "k": state.topics.k}

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        rows = []
        for place, topics in enumerate(state.versions):
            values = state.coherence(topics, whole=True)
            known = None if values is None or not (values == values).any() else values
            mean = None if known is None else float(known[known == known].mean())
            row = {"place": place + 1, "k": topics.k, "kind": topics.kind, "how": topics.how}
            rows.append(row | {"coherence": mean})
        self.table.param.update(rows=rows, selected=state.position + 1)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board = board
        board.listen("fit", "pressed", self._fit)
        board.listen("fitted", "pick", lambda place: self._show(int(place) - 1))

    def _show(self, place: int) -> None:
        """Show one of the models."""
        self.state.position = place

    def _fit(self, _: str) -> None:
        """Fit what is asked for."""
        values = self.form.values
        if values.get("k") is None:
            message = "Say how many topics to look for."
            raise ValueError(message)
        job = self.state.plan_fit(str(values["kind"]), int(values["k"]))
        self._board.background(job.work, job.done, label=job.title)
