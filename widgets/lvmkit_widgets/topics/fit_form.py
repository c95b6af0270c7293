"""Tab that fits another number of topics, or another kind of model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lvmkit_widgets.topics.state import KINDS, TopicState
from lvmkit_widgets.ui.controls import button, column, number, select
from lvmkit_widgets.ui.tabs import Fields, Job, Tab
from lvmkit_widgets.ui.widgets import Form, Table
from lvmkit_widgets.ui.words import refuse


class TopicFitTab(Tab[TopicState]):
    """What to fit, and the models there are."""

    title: ClassVar[str] = "Fit another"

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Fit another model",
            help="The same documents and words, another number of topics or another kind of model. "
            "It joins the slider; a model of the same kind and number gives way to it. A kind that "
            "is already open keeps its other options.",
        )
        table = Table(
            title="Models",
            help="Mean coherence of the topics, weighed alike: closer to 0 is better.",
            key="place",
            needs_python=True,
            columns=[
                column("place", "", "integer"),
                column("k", "Topics", "integer"),
                column("kind", "Model"),
                column("coherence", "Mean coherence", "number", digits=1),
                column("how", "How it ended"),
            ],
        )
        self.components = {"fit": self.form, "fitted": table}
        self.layout = ["fit", "fitted"]
        self.events = {
            "fit.pressed": self._fit,
            "fitted.pick": lambda state, place: state.show_model(int(place) - 1),
        }

    def initial(self, state: TopicState) -> Fields:
        """Offer what can be fitted."""
        options = [[kind, KINDS[kind]] for kind in state.kinds()]
        controls = [
            select("kind", "Model", options),
            number("k", "Number of topics"),
            button("fit", "Fit the model", primary=True),
        ]
        values, there = {"kind": options[0][0], "k": state.topics.k}, state.corpus is not None
        return {"fit": {"visible": there, "controls": controls, "values": values}}

    def fields(self, state: TopicState) -> Fields:
        """List the models there are."""
        if not state.live:
            return {}
        rows = []
        for place, topics in enumerate(state.versions):
            values = state.coherence(topics, whole=True)
            known = [] if values is None else values[values == values]
            mean = float(np.mean(known)) if len(known) else None
            row = {"place": place + 1, "k": topics.k, "kind": topics.kind, "how": topics.how}
            rows.append(row | {"coherence": mean})
        return {"fitted": {"rows": rows, "selected": state.position + 1}}

    def _fit(self, state: TopicState, _: str) -> Job[TopicState]:
        """Fit what is asked for."""
        values = self.form.values
        if values.get("k") is None:
            refuse("Say how many topics to look for.")
        return state.plan_fit(str(values["kind"]), int(values["k"]))
