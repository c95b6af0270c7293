"""Subtitle and footer of the cluster explorer."""

from __future__ import annotations

from collections.abc import Sequence

from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.words import small_counts


def subtitle(state: ExplorerState, *, shared: bool = False) -> str:
    """Say how many patients, codes and clusters there are, and how the fit ended."""
    parts: Sequence[str] = [
        _who(state, hide=state.hide_small or shared),
        f"{len(state.codes):,} codes",
        f"{len(state.clustering.clusters)} clusters",
    ]
    if not shared:
        likelihood = f"log likelihood {state.log_likelihood:.3f} per patient"
        parts = [*parts, likelihood.replace("-", "−"), state.view.how]
    return " · ".join(part for part in parts if part)


def _who(state: ExplorerState, *, hide: bool) -> str:
    """Say who is shown; not how many where few are, and not of how many where few are not."""
    n, total = len(state.assignment.rows), state.patients.n_patients
    if n == total:
        return f"{n:,} patients"
    shown = f"{n:,}"
    if hide and n < state.threshold:
        shown = f"<{state.threshold}"
    if not (hide and total - n < state.threshold):
        shown += f" of {total:,}"
    return f"{shown} patients ({state.view.subset.text})"


def footer(state: ExplorerState) -> str:
    """Say what the numbers are."""
    small = small_counts(state.threshold, hidden=state.hide_small, saved="Reports")
    return (
        "Clusters are patterns of recorded codes, not diagnoses. Shares are counted among the "
        f"patients placed in each cluster. {small}"
    )
