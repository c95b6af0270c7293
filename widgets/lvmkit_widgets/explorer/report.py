"""What a saved page holds: totals only, small counts hidden, an answer for every cluster."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.explorer.marks import evidence_rows, first_code, profile_fields
from lvmkit_widgets.explorer.overview import Overview
from lvmkit_widgets.explorer_state import ExplorerState

CODES_TESTED = 40  # of each cluster, in the table of tests
MOST_PICTURES = 600_000  # bytes of pictures of codes; with more the page would grow too large


def fixed(state: ExplorerState, overview: Overview) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.
    overview : Overview
        Draws the heat map.

    Returns
    -------
    dict
        Name of the component to field to value.
    """
    return {
        "heat": overview.heat_fields(smallest=state.threshold),
        "evidence": {"rows": evidence_rows(state, state.cluster)[:CODES_TESTED]},
    }


def cases(state: ExplorerState) -> list[dict[str, Any]]:
    """Return what a saved page shows when the reader picks a cluster.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.

    Returns
    -------
    list of dict
        Cases of "sizes.selected".
    """
    answers: dict[str, dict[str, Any]] = {}
    for row, id in enumerate(state.clustering.ids):
        answers[str(id)] = {
            "relevance.cluster": row,
            "heat.selected": id,
            "summary.selected": id,
            "evidence.rows": evidence_rows(state, id)[:CODES_TESTED],
        }
    pictures = {id: profile_fields(state, first_code(state, id)) for id in state.clustering.ids}
    if sum(len(fields["svg"]) for fields in pictures.values()) <= MOST_PICTURES:
        for id, fields in pictures.items():
            answers[str(id)] |= {f"profile.{name}": value for name, value in fields.items()}
    return [{"when": "sizes.selected", "cases": answers}]
