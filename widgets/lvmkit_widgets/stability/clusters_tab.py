"""Tab of the stability of each cluster, and which of them swap members."""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from lvmkit.charts import cluster_stability_chart, cluster_stability_table, svg
from lvmkit_widgets.stability.state import StabilityState
from lvmkit_widgets.stability.verdict_tab import NOTHING, cell_name, not_drawn
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Picture, Table


class ClusterStabilityTab(Tab[StabilityState]):
    """Bars, and the numbers beside them."""

    title: ClassVar[str] = "Clusters"

    def __init__(self) -> None:
        super().__init__()
        bars = Picture(
            title="Which clusters reappear",
            help="Each cluster is looked for in every other fit; its Jaccard index is the part of the "
            "members of both, it and its best match, that they share. From 0.75 on it reappears, below "
            "0.5 it dissolves (Hennig 2007).",
            download="cluster-stability",
        )
        table = Table(
            title="Numbers",
            help="Mean, least and largest Jaccard index over the fits. Where a cluster swaps a tenth or more of "
            "its members with another one, that one is named, with the part of both that changes over.",
            columns=columns_of(),
            page_size=15,
            download="cluster-stability.csv",
            empty=NOTHING,
        )
        self.components = {"bars": bars, "clusters": table}
        self.layout = ["bars", "clusters"]

    def fields(self, state: StabilityState) -> Fields:
        """Show the clusters that are looked at."""
        why = not_drawn(state)
        drawn = "" if why else draw_bars(state)
        bars = {"svg": drawn, "alt": f"Stability: {cell_name(state)}", "caption": why}
        return {"bars": bars, "clusters": {"rows": rows_of(state)}}


@remembered
def draw_bars(state: StabilityState) -> str:
    """Draw the clusters that are looked at."""
    study = state.study
    if study is None:
        return ""
    table = cluster_stability_table(study, hidden=state.hidden(study))
    return svg(cluster_stability_chart(table, width=760))


def clusters_frame(state: StabilityState) -> pd.DataFrame:
    """Tabulate the clusters that are looked at, fit to be shared."""
    study = state.study
    if study is None:
        return pd.DataFrame(columns=[column["key"] for column in columns_of()])
    table = cluster_stability_table(study, hidden=state.hidden(study))
    return table.assign(n=pd.Series(state.sizes(study), dtype=object))


def rows_of(state: StabilityState) -> list[dict[str, Any]]:
    """Describe the clusters that are looked at."""
    table = clusters_frame(state).astype(object)
    kept = [column["key"] for column in columns_of()]
    shown = table[kept].where(table[kept].notna(), None)
    return [{str(key): value for key, value in row.items()} for row in shown.to_dict("records")]


def columns_of() -> list[dict[str, Any]]:
    """Describe the columns."""
    swaps = "The cluster with which it swaps most members, from a tenth of both on"
    return [
        {"key": "label", "label": "Cluster", "kind": "text"},
        {"key": "n", "label": "Size", "kind": "integer"},
        {"key": "jaccard", "label": "Mean Jaccard", "kind": "number", "digits": 2},
        {"key": "low", "label": "Least", "kind": "number", "digits": 2},
        {"key": "high", "label": "Largest", "kind": "number", "digits": 2},
        {"key": "verdict", "label": "Verdict", "kind": "text"},
        {"key": "partner", "label": "Swaps with", "kind": "integer", "help": swaps},
        {"key": "exchanged", "label": "Part of both", "kind": "percent"},
    ]
