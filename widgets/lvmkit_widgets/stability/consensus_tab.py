"""Tab of consensus heat maps: pairs of clusters, and rows of a sample."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import consensus_chart, consensus_matrix, svg
from lvmkit_widgets.stability.state import StabilityState
from lvmkit_widgets.stability.verdict_tab import cell_name, not_drawn
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Picture


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
        why, alt = not_drawn(state), f"Consensus of {cell_name(state)}"
        blocks = "" if why else draw_consensus(state, blocks=True)
        shown: dict[str, Any] = {"blocks": {"svg": blocks, "alt": alt, "caption": why}}
        if state.live:
            shown["lines"] = {"svg": draw_consensus(state, blocks=False), "alt": alt}
        return shown


@remembered
def draw_consensus(state: StabilityState, *, blocks: bool) -> str:
    """Draw the consensus matrix that is looked at."""
    study = state.study
    if study is None:
        return ""
    found = consensus_matrix(study, blocks=blocks, hidden=state.hidden(study))
    return svg(consensus_chart(found, width=520))
