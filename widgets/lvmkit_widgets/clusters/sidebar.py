"""Cluster list, names and notes beside every tab, and the bar with undo and redo."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.disclosure.text import shown_count, stands_for
from lvmkit.mixtures.analysis import marks
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import StepsBar
from lvmkit_widgets.ui.widgets import ClusterList, Form


class ClusterSidebar(ClusterTab):
    """Sizes and shares of the clusters, and the name and note of the one that is picked."""

    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "cluster", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.sizes = ClusterList(
            title="Clusters",
            help="Each patient counts in the most probable cluster. Pick one to see it everywhere; "
            "hold Shift to add clusters for a merge. Until you name it, a cluster shows in brackets "
            "the code that marks it most.",
        )
        self.naming = Form(inline=True)
        self.components = {"sizes": self.sizes, "naming": self.naming}
        self.layout = "sizes"

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        cluster = state.clustering.cluster(state.cluster)
        self.sizes.param.update(items=self._items(), selected=state.cluster)
        self.naming.controls = [
            {
                "name": "name",
                "kind": "text",
                "label": f"Name of cluster {cluster.id}",
                "placeholder": "for instance: Heart and kidney",
            },
            {
                "name": "note",
                "kind": "text",
                "label": "Note",
                "placeholder": "what it may mean, what to check",
                "wide": True,
            },
            {"name": "keep", "kind": "button", "label": "Keep"},
        ]
        self.naming.values = {"name": cluster.name, "note": cluster.note}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("sizes", "selected", self._select)
        board.listen("naming", "pressed", self._keep)

    def _select(self, id: int | None) -> None:
        """Pick a cluster; what was typed of the one before is kept."""
        if id is None or id == self.state.cluster:
            return
        try:
            self._keep("")
        finally:
            self.state.cluster = id

    def _keep(self, _: str) -> None:
        """Keep name and note, each as a step of its own."""
        cluster = self.state.clustering.cluster(self.state.cluster)
        values = self.naming.values
        name, note = str(values.get("name") or ""), str(values.get("note") or "")
        if name.strip() != cluster.name:
            self.state.rename(cluster.id, name)
        if note.strip() != cluster.note:
            self.state.write_note(cluster.id, note)

    def _items(self) -> list[dict[str, Any]]:
        """Describe each cluster; a hidden one without share."""
        state, counts = self.state, self.state.counts()
        hints = marks(counts)
        more = [_more(counts, row) for row in range(len(counts.sizes))]
        return [
            {
                "id": cluster.id,
                "name": counts.cluster_labels[row],
                "n": shown_count(counts.sizes[row], state.assignment.sizes[row], state.threshold),
                "share": counts.weights[row],
                "note": cluster.note or hints[row],
                **({"more": more[row]} if more[row] else {}),
            }
            for row, cluster in enumerate(state.clustering.clusters)
        ]


def _more(counts: CodeCounts, row: int) -> str:
    """Say what the patients of a cluster stand for, of data with weights."""
    if counts.weighted is None:
        return ""
    estimate = stands_for(counts.weighted.sizes[row], counts.sizes[row])
    return "" if estimate is None else f"stand for {estimate:,}"


class ClusterStepsBar(StepsBar[ExplorerState]):
    """Undo and redo, where we stand in the history, and whether small counts are hidden."""

    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small", "threshold"})

    def options(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the other controls and their values."""
        state, history = self.state, self.state.history
        where = f"Step {history.position} of {len(history.steps) - 1}"
        controls = [
            {"name": "where", "kind": "note", "label": where},
            {"name": "hide", "kind": "check", "label": f"Hide counts below {state.threshold}"},
        ]
        return controls, {"hide": state.hide_small}

    def take(self, values: dict[str, Any]) -> None:
        """Hide or show small counts."""
        self.state.hide_small = bool(values.get("hide"))
