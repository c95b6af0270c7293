"""Tab of the clusters of the cut, and of other cuts."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.tab import TreeTab
from lvmkit_widgets.trees.tables import clusters_table
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Table

LISTED = 2_000  # clusters in the table
SHOWN = 5  # codes of each


class CutTab(TreeTab):
    """What the cut makes of the tree."""

    title: ClassVar[str] = "Clusters"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small", "node", "balance"})

    def __init__(self) -> None:
        super().__init__()
        self.table = Table(
            title="Clusters of the cut",
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
        self.components = {"clusters": self.table, "cutting": self.form}
        self.layout = ["cutting", "clusters"]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        self.table.visible = self.form.visible = not state.empty
        if state.empty:
            return
        if self.changed("rows", state.figures, state.named_cut, state.balance):
            self.table.param.update(columns=columns_of(state), rows=rows_of(state))
        self.form.controls = [
            {
                "name": "k",
                "kind": "number",
                "label": "Number of clusters",
                "min": 1,
                "max": len(state.layout.leaves),
                "step": 1,
            },
            {"name": "cut", "kind": "button", "label": "Cut into so many", "primary": True},
            {"name": "leaves", "kind": "button", "label": "All leaves"},
            *explorer_control(state),
        ]
        self.form.values = {"k": len(state.frontier)}

    def show_selection(self) -> None:
        """Show what is picked."""
        self.table.selected = self.state.node

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board: Any = board
        board.listen("clusters", "pick", self.pick)
        board.listen("cutting", "pressed", self._pressed)

    def _pressed(self, name: str) -> None:
        """Cut, or hand the clusters to an explorer."""
        if name == "explore":
            self._board.open_explorer()
        elif name == "leaves":
            self.state.cut()
        else:
            k = self.form.values.get("k")
            if k is None:
                message = "Say how many clusters there shall be."
                raise ValueError(message)
            self.state.cut(n_leaves=int(k))


def explorer_control(state: NavigatorState) -> list[dict[str, Any]]:
    """Offer the cluster explorer, where there are rows to explore."""
    if state.corpus is None:
        return []
    label = "Open in the cluster explorer"
    told = "Below this dashboard: frequencies, heat map, comparisons and tests of these clusters."
    return [{"name": "explore", "kind": "button", "label": label, "help": told}]


def columns_of(state: NavigatorState) -> list[dict[str, Any]]:
    """Describe the columns of the table."""
    return [
        {"key": "cluster", "label": "Cluster", "kind": "integer"},
        {"key": "name", "label": "Branch", "kind": "text"},
        {"key": "n", "label": state.row_name.capitalize(), "kind": "integer"},
        {"key": "share", "label": "Share", "kind": "bar"},
        {"key": "terms", "label": f"{state.column_name.capitalize()}s", "kind": "text"},
    ]


def rows_of(state: NavigatorState) -> list[dict[str, Any]]:
    """List the clusters."""
    rows: list[Any] = clusters_table(state).head(LISTED).to_dict("records")
    for row in rows:
        best = state.figures.best(row["node"], max_items=1, balance=state.balance)
        name = row["name"] or (f"({state.figures.join_titles(best)})" if best else "")
        row["name"] = f"{row['branch']} {name}"
        row["terms"] = ", ".join(row["terms"].split(", ")[:SHOWN])
    return rows
