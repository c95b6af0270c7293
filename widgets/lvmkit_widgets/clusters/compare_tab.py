"""Tab that compares two clusters, or one with all others."""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from lvmkit.charts import comparison_chart, comparison_table, svg
from lvmkit_widgets.clusters.heading import share_word
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.paging import PagedTable
from lvmkit_widgets.ui.widgets import Form, Picture, Table

EVERYONE_ELSE = "others"


class CompareTab(ClusterTab):
    """Codes in which two clusters differ most."""

    title: ClassVar[str] = "Compare"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "cluster", "other", "top", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True, title="Which two")
        self.picture_of_two = Picture(
            title="Where they differ most",
            help="Codes with the largest difference in share, in percentage points. A share that "
            "few patients stand for is hidden; what is known of it is written in its place.",
            download="comparison",
        )
        self.table = Table(key="code", page_size=15, searchable=True)
        self.pages = PagedTable(self.table, ["code", "title"])
        self.components = {
            "pair": self.form,
            "difference": self.picture_of_two,
            "differences": self.table,
        }
        every = {"section": "differences", "title": "All codes", "closed": True}
        self.layout = ["pair", "difference", every]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, counts = self.state, self.state.counts()
        options = [
            [str(i), label] for i, label in zip(counts.clusters, counts.cluster_labels, strict=True)
        ]
        others = [[EVERYONE_ELSE, "all other patients"], *options]
        self.form.controls = [
            {"name": "first", "kind": "select", "label": "Cluster", "options": options},
            {"name": "second", "kind": "select", "label": "compared with", "options": others},
        ]
        second = EVERYONE_ELSE if state.other is None else str(state.other)
        self.form.values = {"first": str(state.cluster), "second": second}
        one = len(counts.clusters) < 2
        self.picture_of_two.visible = self.table.visible = not one and state.cluster != state.other
        if not self.picture_of_two.visible:
            return
        first = state.clustering.cluster(state.cluster).label
        against = "all others"
        if state.other is not None:
            against = state.clustering.cluster(state.other).label
        if not self.changed("pair", counts, state.cluster, state.other, state.top, first, against):
            return
        text = f"{share_word(state)} of patients with each code in {first} and in {against}."
        key = (counts, state.cluster, state.other, state.top)
        self.picture_of_two.param.update(svg=self.picture(self._draw, *key), alt=text)
        self.table.columns = _columns(first, against)
        self.pages.show(self._codes())

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("pair", "values", self._choose)
        board.listen("differences", "pick", lambda code: self.pick({"code": code}))
        board.listen("difference", "pick", self.pick)
        self.pages.connect(board, "differences")

    def _choose(self, values: dict[str, Any]) -> None:
        """Take the two clusters."""
        second = values.get("second") or EVERYONE_ELSE
        other = None if second == EVERYONE_ELSE else int(second)
        self.state.param.update(cluster=int(values["first"]), other=other)

    def _draw(self) -> str:
        """Draw the codes in which the two differ most."""
        return svg(comparison_chart(self._compared(self.state.top), width=720))

    def _codes(self) -> pd.DataFrame:
        """List every code that somebody in one of the two has."""
        state = self.state
        table = self._compared(len(state.codes))
        table = table[~((table["n_first"] == 0) & (table["n_second"] == 0))]
        hidden = {name: table[name].astype(object) for name in ("first", "second")}
        shown = {
            n: values.where(values.notna(), table[f"{n}_text"]) for n, values in hidden.items()
        }
        titles = [state.patients.titles.get(code, "") for code in table["code"]]
        return table.assign(title=titles, difference=100 * table["at_least"], **shown)

    def _compared(self, top: int) -> pd.DataFrame:
        """Compare the two; hidden counts only as far as they may be known."""
        state = self.state
        return comparison_table(
            state.counts(),
            state.cluster,
            state.other,
            top=top,
            whole=state.counts(whole=True),
            threshold=state.threshold,
        )


def _columns(first: str, second: str) -> list[dict[str, Any]]:
    """Columns of the table of differences."""
    return [
        {"key": "code", "label": "Code", "kind": "code"},
        {"key": "title", "label": "Diagnosis", "kind": "text"},
        {"key": "first", "label": first, "kind": "percent"},
        {"key": "second", "label": second, "kind": "percent"},
        {
            "key": "difference",
            "label": "Difference",
            "kind": "number",
            "digits": 1,
            "help": "In percentage points; where a share is hidden, the least it can be.",
        },
    ]
