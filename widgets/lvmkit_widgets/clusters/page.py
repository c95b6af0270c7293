"""Contents of a saved page of the cluster explorer: totals only, small counts hidden."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.clusters.codes_tab import (
    draw_profile,
    evidence,
    evidence_columns,
    first_code,
    profile_text,
)
from lvmkit_widgets.clusters.compare_tab import CompareTab
from lvmkit_widgets.clusters.heading import subtitle
from lvmkit_widgets.clusters.overview_tab import OverviewTab
from lvmkit_widgets.clusters.state import ExplorerState

CODES_TESTED = 40  # of each cluster, in the tables of tests and of differences
MOST_PICTURES = 600_000  # bytes of pictures of codes; with more the page would grow too large


def fixed(
    state: ExplorerState, overview: OverviewTab, compare: CompareTab
) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values."""
    return {
        "stage": {"subtitle": subtitle(state, shared=True)},
        "heat": overview.heat_fields(smallest=state.threshold),
        "evidence": {"rows": _tested(state, state.cluster), "total": None},
        "differences": {"rows": compare.pages.first(CODES_TESTED), "total": None},
    }


def cases(state: ExplorerState) -> list[dict[str, Any]]:
    """Return what a saved page shows when the reader picks a cluster."""
    answers: dict[str, dict[str, Any]] = {}
    for row, id in enumerate(state.clustering.ids):
        answers[str(id)] = {
            "relevance.cluster": row,
            "heat.selected": id,
            "summary.selected": id,
            "evidence.rows": _tested(state, id),
        }
    codes = {id: first_code(state, id) for id in state.clustering.ids}
    pictures = {id: draw_profile(state, code) for id, code in codes.items()}
    if sum(map(len, pictures.values())) <= MOST_PICTURES:
        for id, picture in pictures.items():
            text = profile_text(state, codes[id])
            shown = {"profile.svg": picture, "profile.alt": text, "profile.caption": text}
            answers[str(id)] |= shown
    return [{"when": "sizes.selected", "cases": answers}]


def _tested(state: ExplorerState, cluster: int) -> list[dict[str, Any]]:
    """Return the first rows of the tests of a cluster."""
    keys = [column["key"] for column in evidence_columns(state.counts())]
    rows = evidence(state, cluster)[keys].head(CODES_TESTED).itertuples(index=False)
    return [dict(zip(keys, row, strict=True)) for row in rows]
