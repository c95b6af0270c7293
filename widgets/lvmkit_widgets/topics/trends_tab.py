"""Tab of the shares of topics along a date, another attribute, or the order of the documents."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import svg, topic_trends_chart, topic_trends_table
from lvmkit.core.typing import Array
from lvmkit.disclosure import suppression_with_totals
from lvmkit_widgets.topics.documents_tab import TopicDocumentsTab
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.topics.tab import TopicTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Picture, Text

PLACES = "Order of the documents"
NOTHING = "none"


class TrendsTab(TopicTab):
    """One picture, and what it is drawn along."""

    title: ClassVar[str] = "Along an order"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"versions", "position", "topic", "order", "bands", "hide_small", "read"}
    )

    def __init__(self, reading: TopicDocumentsTab) -> None:
        super().__init__()
        self.reading = reading
        self.form = Form(inline=True)
        self.course = Picture(
            title="Shares along an order",
            help="The mean share of each topic among the documents of each value: from the topic "
            "mixture of every document (transform), or its probabilities of clusters. Pick a topic "
            "in the picture to see its words.",
            download="topic-shares",
        )
        self.without = Text(
            text="Shares along an order need the cohort of documents.",
            tone="note",
            needs_python=True,
        )
        self.components = {"along": self.form, "course": self.course, "no_order": self.without}
        self.layout = ["along", "course", "no_order"]

    def attach(self, state: TopicState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.course.needs_python = state.private

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        there = state.corpus is not None and bool(orders_of(state))
        self.form.visible = self.course.visible = there
        self.without.visible = not there
        if not there:
            return
        self.form.controls = controls_of(state)
        self.form.values = {"order": state.order, "bands": state.bands}
        if not state.is_read(state.topics):
            self.course.param.update(svg="", caption="Reading the documents …")
            self.reading.read_documents()
            return
        picked = state.topic if state.topics.k > 6 else None
        key = (state.figures, state.order, state.bands, picked)
        if self.changed("course", *key):
            self.course.param.update(**self.drawn(*key))

    def drawn(self, *key: Any) -> dict[str, Any]:
        """Draw the shares, or say why they are not drawn."""
        draw = functools.partial(draw_course, self.state, key[-1])
        try:
            return {"svg": self.picture(draw, *key), "caption": caption_of(self.state)}
        except ValueError as error:
            return {"svg": "", "caption": str(error)}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("along", "values", self._choose)
        board.listen("course", "pick", self.pick)

    def _choose(self, values: dict[str, Any]) -> None:
        """Take what shares are drawn along."""
        order, bands = str(values.get("order") or ""), str(values.get("bands") or "")
        self.state.param.update(order=order, bands="" if bands == order else bands)


def orders_of(state: TopicState) -> list[list[str]]:
    """List what shares can be drawn along."""
    if state.corpus is None:
        return []
    names = [[name, name.replace("_", " ")] for name in state.corpus.orders()]
    return names if state.private else [["", PLACES], *names]


def controls_of(state: TopicState) -> list[dict[str, Any]]:
    """Return the controls."""
    names = (
        [] if state.corpus is None else [[n, n.replace("_", " ")] for n in state.corpus.orders()]
    )
    bands = [["", NOTHING], *names]
    return [
        {"name": "order", "kind": "select", "label": "Shares along", "options": orders_of(state)},
        {"name": "bands", "kind": "select", "label": "Mark stretches of", "options": bands},
    ]


def draw_course(state: TopicState, picked: int | None = None) -> str:
    """Draw the shares along the chosen order."""
    if state.corpus is None:
        return ""
    orders = state.corpus.orders()
    hide = state.private and state.hide_small
    shares = state.mixtures(state.topics)
    table = topic_trends_table(
        np.eye(state.topics.k)[shares.argmax(axis=1)] if hide else shares,
        orders.get(state.order),
        names=state.figures.names(),
        bands=orders.get(state.bands),
        smallest=state.threshold if hide else 1,
    )
    if hide:
        table["share"] = without_small(table, state.threshold)
    title = state.order.replace("_", " ")
    return svg(topic_trends_chart(table, title=title, picked=picked, width=940))


def without_small(table: pd.DataFrame, threshold: int) -> Array:
    """Take away shares that stand for a few people, and those they could be found from."""
    k = int(table["topic"].max()) + 1
    counts = (table["share"] * table["n"]).round().to_numpy(float).reshape(-1, k)
    hidden = suppression_with_totals(counts.T, threshold=threshold).cells.T
    return np.where(hidden.ravel(), 0.0, table["share"].to_numpy(float))


def caption_of(state: TopicState) -> str:
    """Say what is left out."""
    if not (state.private and state.hide_small) or state.corpus is None:
        return ""
    return (
        f"{state.corpus.row_name.capitalize()} count in their most probable topic. Values with fewer than "
        f"{state.threshold} are left out, and so are shares that stand for fewer. This picture is "
        "never part of a saved page."
    )
