"""Tabs of the stability of each cluster, and of how often their members come together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pandas as pd

from lvmkit import charts
from lvmkit_widgets.stability.state import NOTHING, StabilityState
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Picture, Table

SWAPS = "The cluster with which it swaps most members, from a tenth of both on"
COLUMNS = [
    column("label", "Cluster"),
    column("n", "Size", "integer"),
    column("jaccard", "Mean Jaccard", "number", digits=2),
    column("low", "Least", "number", digits=2),
    column("high", "Largest", "number", digits=2),
    column("verdict", "Verdict"),
    column("partner", "Swaps with", "integer", help=SWAPS),
    column("exchanged", "Part of both", "percent"),
]


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
            columns=COLUMNS,
            page_size=15,
            download="cluster-stability.csv",
            empty=NOTHING,
        )
        self.components = {"bars": bars, "clusters": table}
        self.layout = ["bars", "clusters"]

    def fields(self, state: StabilityState) -> Fields:
        """Show the clusters that are looked at."""
        why = state.not_drawn
        picture = "" if why else drawn(state, bars_of)
        bars = {"svg": picture, "alt": f"Stability: {state.cell_name}", "caption": why}
        return {"bars": bars, "clusters": {"rows": rows_of(state)}}


class ConsensusTab(Tab[StabilityState]):
    """Two pictures of the same consensus matrix."""

    title: ClassVar[str] = "Consensus"

    def __init__(self) -> None:
        super().__init__()
        blocks = Picture(
            title="Pairs of clusters",
            help="How often a member of the one cluster and a member of the other fall into the same cluster, "
            "of all fits that saw both. Clusters are those of the fit to all rows.",
            download="consensus",
        )
        lines = Picture(
            title="Rows of a sample",
            help="The same for single rows, a sample from every cluster. A square that falls apart into "
            "smaller ones is a cluster that splits. Not in saved pages.",
            needs_python=True,
        )
        self.components = {"blocks": blocks, "lines": lines}
        self.layout = {"row": ["blocks", "lines"]}

    def fields(self, state: StabilityState) -> Fields:
        """Show the clusters that are looked at, and where Python answers rows of them."""
        why, alt = state.not_drawn, f"Consensus of {state.cell_name}"
        blocks = "" if why else drawn(state, consensus_of, width=520)
        shown: dict[str, Any] = {"blocks": {"svg": blocks, "alt": alt, "caption": why}}
        if state.live:
            rows = drawn(state, consensus_of, blocks=False, width=520)
            shown["lines"] = {"svg": rows, "alt": alt}
        return shown


@remembered
def drawn(state: StabilityState, chart: Callable[..., Any], /, **options: Any) -> str:
    """Draw what is looked at, once something is measured."""
    return "" if state.study is None else charts.svg(chart(state, **options))


def bars_of(state: StabilityState) -> Any:
    """Draw the clusters that are looked at, fit to be shared."""
    study: Any = state.study
    table = charts.cluster_stability_table(study, hidden=state.hidden(study))
    return charts.cluster_stability_chart(table, width=760)


def consensus_of(state: StabilityState, *, blocks: bool = True, width: int = 560) -> Any:
    """Draw the consensus matrix that is looked at: of pairs of clusters, or of rows."""
    study: Any = state.study
    found = charts.consensus_matrix(study, blocks=blocks, hidden=state.hidden(study))
    return charts.consensus_chart(found, width=width)


def clusters_frame(state: StabilityState) -> pd.DataFrame:
    """Tabulate the clusters that are looked at, fit to be shared."""
    study = state.study
    if study is None:
        return pd.DataFrame(columns=[one["key"] for one in COLUMNS])
    table = charts.cluster_stability_table(study, hidden=state.hidden(study))
    return table.assign(n=pd.Series(state.sizes(study), dtype=object))


def rows_of(state: StabilityState) -> list[dict[str, Any]]:
    """Describe the clusters that are looked at."""
    table = clusters_frame(state)[[one["key"] for one in COLUMNS]].astype(object)
    shown = table.where(table.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in shown.to_dict("records")]
