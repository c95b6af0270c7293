"""Tab of consensus heat maps: pairs of clusters, and rows of a sample."""

from __future__ import annotations

from typing import ClassVar

from lvmkit.charts import consensus_chart, consensus_matrix, svg
from lvmkit_widgets.stability.state import StabilityState
from lvmkit_widgets.stability.verdict_tab import cell_name
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import Picture


class ConsensusTab(Tab[StabilityState]):
    """Two pictures of the same consensus matrix."""

    title: ClassVar[str] = "Consensus"
    depends: ClassVar[frozenset[str]] = frozenset({"version", "method", "value"})

    def __init__(self) -> None:
        super().__init__()
        self.blocks = Picture(
            title="Pairs of clusters",
            help="How often a member of the one cluster and a member of the other fall into the same cluster, "
            "of all fits that saw both. Clusters are those of the fit to all rows.",
            download="consensus",
        )
        self.lines = Picture(
            title="Rows of a sample",
            help="The same for single rows, a sample from every cluster. A square that falls apart into "
            "smaller ones is a cluster that splits. Not in saved pages.",
            needs_python=True,
        )
        self.components = {"blocks": self.blocks, "lines": self.lines}
        self.layout = {"row": ["blocks", "lines"]}

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        if self.changed("study", state.study, state.picked):
            for picture, blocks in ((self.blocks, True), (self.lines, False)):
                text = f"Consensus of {cell_name(state)}"
                picture.param.update(svg=draw_consensus(state, blocks=blocks), alt=text)


def draw_consensus(state: StabilityState, *, blocks: bool) -> str:
    """Draw the consensus matrix that is looked at."""
    study = state.study
    if study is None:
        return ""
    found = consensus_matrix(study, blocks=blocks, hidden=state.hidden(study))
    return svg(consensus_chart(found, width=520))
