"""Tab of the clusters of the cut, and of other cuts."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.trees.export_tab import clusters_table
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.controls import button, column, number
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Table
from lvmkit_widgets.ui.words import refuse

LISTED = 2_000  # clusters in the table
SHOWN = 5  # codes of each
TITLE = "Clusters of the cut"
EXPLORE = button(
    "explore",
    "Open in the cluster explorer",
    help="Below this dashboard: frequencies, heat map, comparisons and tests of these clusters.",
)


class CutTab(Tab[NavigatorState]):
    """What the cut makes of the tree."""

    title: ClassVar[str] = "Clusters"

    def __init__(self) -> None:
        super().__init__()
        table = Table(
            title=TITLE,
            help="The branches at which one stops on the way down. Pick one to see it everywhere. Codes are "
            "ordered by relevance, at the λ chosen under Terms.",
            key="node",
            page_size=16,
            searchable=True,
            download="clusters.csv",
        )
        self.form = Form(
            title="Another cut",
            help="The largest branches are opened first. The clusters can be used everywhere else: in the "
            "cluster explorer by the button, in Python as navigator.state.clustering().",
            inline=True,
        )
        self.components = {"clusters": table, "cutting": self.form}
        self.layout = ["cutting", "clusters"]
        self.events = {"clusters.pick": NavigatorState.pick, "cutting.pressed": self._press}

    def picks(self, state: NavigatorState) -> Fields:
        """Show what is picked."""
        return {"clusters": {"selected": state.node}}

    def fields(self, state: NavigatorState) -> Fields:
        """List the clusters of the cut."""
        there = {"visible": not state.empty}
        if state.empty:
            return {"clusters": there, "cutting": there}
        # Python makes the table: cuts that are made in a page do not change it
        title = TITLE if state.live else f"{TITLE} with which the page was saved"
        columns = [
            column("cluster", "Cluster", "integer"),
            column("name", "Branch"),
            column("n", state.row_name.capitalize(), "integer"),
            column("share", "Share", "bar"),
            column("terms", f"{state.column_name.capitalize()}s"),
        ]
        controls = [
            number("k", "Number of clusters", max=len(state.layout.leaves)),
            button("cut", "Cut into so many", primary=True),
            button("leaves", "All leaves"),
            *([] if state.corpus is None else [EXPLORE]),
        ]
        listed = {"title": title, "columns": columns, "rows": rows_of(state)}
        form = {"controls": controls, "values": {"k": len(state.frontier)}}
        return {"clusters": {**listed, **there}, "cutting": {**form, **there}}

    def _press(self, state: NavigatorState, name: str) -> Any:
        """Cut, or hand the clusters to an explorer."""
        if name == "explore":
            return lambda board: board.open_explorer()
        if name == "leaves":
            return state.cut()
        k = self.form.values.get("k")
        if k is None:
            refuse("Say how many clusters there shall be.")
        return state.cut(n_leaves=int(k))


@remembered
def rows_of(state: NavigatorState) -> list[dict[str, Any]]:
    """List the clusters."""
    rows: list[Any] = clusters_table(state).head(LISTED).to_dict("records")
    for row in rows:
        best = state.figures.best(row["node"], max_items=1, balance=state.balance)
        name = row["name"] or (f"({state.figures.join_titles(best)})" if best else "")
        row["name"] = f"{row['branch']} {name}"
        row["terms"] = ", ".join(row["terms"].split(", ")[:SHOWN])
    return rows
