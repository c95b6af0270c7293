"""What the reader of a saved page of the cluster explorer can pick."""

from __future__ import annotations

from lvmkit_widgets.clusters.codes_tab import draw_profile, first_code
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.tabs import Cases

MOST_PICTURES = 600_000  # bytes of pictures of codes; with more the page would grow too large
FOLLOW = ("relevance", "heat", "summary", "evidence")


def clusters_to_pick(state: ExplorerState) -> Cases[ExplorerState]:
    """Return what happens when the reader picks a cluster; its code is shown where there is room for all."""
    states = {str(id): state.replace(cluster=id, code="") for id in state.clustering.ids}
    counts = state.counts()
    pictures = (draw_profile(one, counts, first_code(one, counts)) for one in states.values())
    room = sum(map(len, pictures)) <= MOST_PICTURES
    return Cases("sizes.selected", states, only=[*FOLLOW, *(["profile"] if room else [])])
