"""Tab of the shares of topics along a date, another attribute, or the order of the documents."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import svg, topic_trends_chart, topic_trends_table
from lvmkit.core.typing import Array
from lvmkit.disclosure import suppression_with_totals
from lvmkit.mixtures.topic_figures import TopicFigures
from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.controls import select
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Picture, Text

PLACES = "Order of the documents"
NOTHING = "none"
CAPTION = (
    "{rows} count in their most probable topic. Values with fewer than {least} are left out, and so are shares that "
    "stand for fewer. This picture is never part of a saved page."
)


class TrendsTab(Tab[TopicState]):
    """One picture, and what it is drawn along."""

    title: ClassVar[str] = "Along an order"

    def __init__(self) -> None:
        super().__init__()
        course = Picture(
            title="Shares along an order",
            help="The mean share of each topic among the documents of each value: from the topic "
            "mixture of every document (transform), or its probabilities of clusters. Pick a topic "
            "in the picture to see its words.",
            download="topic-shares",
        )
        told = "Shares along an order need the cohort of documents."
        without = Text(text=told, tone="note", needs_python=True)
        self.components = {"along": Form(inline=True), "course": course, "no_order": without}
        self.layout = ["along", "course", "no_order"]
        self.events = {"along.values": choose, "course.pick": pick_mark}

    def initial(self, state: TopicState) -> Fields:
        """Keep pictures of people out of pages."""
        return {"course": {"needs_python": state.private}}

    def fields(self, state: TopicState) -> Fields:
        """Draw the shares."""
        there = wants_shares(state)
        shown = {"along": {"visible": there}, "no_order": {"visible": not there}}
        if not there:
            return {**shown, "course": {"visible": False}}
        orders, values = orders_of(state), {"order": state.order, "bands": state.bands}
        bands = [["", NOTHING], *(pair for pair in orders if pair[0])]
        along = select("order", "Shares along", orders)
        controls = [along, select("bands", "Mark stretches of", bands)]
        form = {"controls": controls, "values": values, "visible": True}
        return {**shown, "along": form, "course": {**course_of(state), "visible": True}}


def wants_shares(state: TopicState) -> bool:
    """Tell whether there is something to draw shares along."""
    return bool(orders_of(state))


def course_of(state: TopicState) -> dict[str, Any]:
    """Draw the shares, or say why they are not drawn."""
    if state.unread:
        return {"svg": "", "caption": "Reading the documents …"}
    picked = state.topic if state.topics.k > 6 and state.live else None
    try:
        caption = CAPTION.format(rows=state.row_name.capitalize(), least=state.disclosure.threshold)
        drawn = draw_course(state, state.figures, picked)
        return {"svg": drawn, "caption": caption if state.suppressing else ""}
    except ValueError as error:
        return {"svg": "", "caption": str(error)}


def choose(state: TopicState, values: dict[str, Any]) -> TopicState:
    """Take what shares are drawn along."""
    order, bands = str(values.get("order") or ""), str(values.get("bands") or "")
    return state.replace(order=order, bands="" if bands == order else bands)


def pick_mark(state: TopicState, mark: dict[str, str]) -> TopicState | None:
    """Pick the topic of a mark."""
    return state.look(int(mark["cluster"])) if "cluster" in mark else None


def orders_of(state: TopicState) -> list[list[str]]:
    """List what shares can be drawn along."""
    if state.corpus is None:
        return []
    names = [[name, name.replace("_", " ")] for name in state.corpus.orders()]
    return names if state.private else [["", PLACES], *names]


@remembered
def draw_course(state: TopicState, figures: TopicFigures, picked: int | None) -> str:
    """Draw the shares along the chosen order."""
    if state.corpus is None:
        return ""
    orders = state.corpus.orders()
    hide, least = state.suppressing, state.disclosure.threshold
    shares = state.mixtures(state.topics)
    table = topic_trends_table(
        np.eye(state.topics.k)[shares.argmax(axis=1)] if hide else shares,
        orders.get(state.order),
        names=figures.names(),
        bands=orders.get(state.bands),
        smallest=least if hide else 1,
    )
    if hide:
        table["share"] = without_small(table, least)
    title = state.order.replace("_", " ")
    return svg(topic_trends_chart(table, title=title, picked=picked, width=940))


def without_small(table: pd.DataFrame, threshold: int) -> Array:
    """Take away shares that stand for a few people, and those they could be found from."""
    k = int(table["topic"].max()) + 1
    counts = (table["share"] * table["n"]).round().to_numpy(float).reshape(-1, k)
    hidden = suppression_with_totals(counts.T, threshold=threshold).cells.T
    return np.where(hidden.ravel(), 0.0, table["share"].to_numpy(float))
