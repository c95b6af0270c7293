"""Subtitle and footer of the cluster explorer."""

from __future__ import annotations

from collections.abc import Sequence

from lvmkit.disclosure.text import is_few
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.words import small_counts


def subtitle(state: ExplorerState) -> str:
    """Say how many patients, codes and clusters there are, and how the fit ended."""
    parts: Sequence[str] = [
        _who(state),
        weighted_by(state),
        f"{len(state.codes):,} codes",
        f"{len(state.clustering.clusters)} clusters",
    ]
    if state.live:
        likelihood = f"log likelihood {state.log_likelihood:.3f} per patient"
        parts = [*parts, likelihood.replace("-", "−"), state.view.how]
    return " · ".join(part for part in parts if part)


def _who(state: ExplorerState) -> str:
    """Say who is shown and what they stand for; not how many where few are, nor of how many where few are not."""
    n, total, rule = len(state.assignment.rows), state.patients.n_patients, state.disclosure
    shown = f"<{rule.threshold}" if n < rule.level else f"{n:,}"
    if total - n > 0 and total - n >= rule.level:
        shown += f" of {total:,}"
    who = f"{n:,} patients" if n == total else f"{shown} patients ({state.view.subset.text})"
    weights, few = state.weights, n < rule.level or is_few(total - n, rule.level)
    return who if weights is None or few else f"{who}, stand for {weights.sum():,.0f}"


def share_word(state: ExplorerState) -> str:
    """Name shares: of patients who have weights they are estimates."""
    return "Share" if state.weights is None else "Weighted share"


def weighted_by(state: ExplorerState) -> str:
    """Say what shares are weighted by; "" without weights."""
    return f"weighted by “{state.patients.weighted_by}”" if state.weights is not None else ""


def footer(state: ExplorerState) -> str:
    """Say what the numbers are."""
    small = small_counts(state.disclosure.threshold, hidden=state.suppressing, saved="Reports")
    weighed = (
        f" Shares, odds ratios and medians are {weighted_by(state)}: estimates of what the patients stand for. "
        "Numbers of patients are not; intervals and tests go by effective sample sizes, and what is hidden by patients."
        if state.weights is not None
        else ""
    )
    return (
        "Clusters are patterns of recorded codes, not diagnoses. Shares are counted among the "
        f"patients placed in each cluster.{weighed} {small}"
    )
