"""What stands above and below an explorer: whose patients these are, and what the numbers are."""

from __future__ import annotations

from collections.abc import Sequence

from lvmkit_widgets.explorer_state import ExplorerState


def subtitle(state: ExplorerState) -> str:
    """Say how many patients, codes and clusters there are, and how the fit ended.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.

    Returns
    -------
    str
        One line.
    """
    parts: Sequence[str] = [
        _who(state),
        f"{len(state.codes):,} codes",
        f"{len(state.clustering.clusters)} clusters",
        f"log likelihood {state.log_likelihood:.3f} per patient".replace("-", "−"),
        state.view.how,
    ]
    return " · ".join(part for part in parts if part)


def _who(state: ExplorerState) -> str:
    """Say who is shown; not how many where few are, and not of how many where few are not."""
    n, total = len(state.assignment.rows), state.patients.n_patients
    if n == total:
        return f"{n:,} patients"
    shown = f"{n:,}"
    if state.hide_small and n < state.threshold:
        shown = f"<{state.threshold}"
    if not (state.hide_small and total - n < state.threshold):
        shown += f" of {total:,}"
    return f"{shown} patients ({state.view.subset.text})"


def footer(state: ExplorerState) -> str:
    """Say what the numbers are.

    Parameters
    ----------
    state : ExplorerState
        Whose small counts are hidden.

    Returns
    -------
    str
        Small print.
    """
    small = (
        f"Counts of 1 to {state.threshold - 1} are hidden (<{state.threshold}), and some others, so "
        "that they cannot be found by subtraction."
    )
    if not state.hide_small:
        small = "Small counts are shown: keep this screen to yourself. Reports hide them."
    return (
        "Clusters are patterns of recorded codes, not diagnoses. Shares are counted among the "
        f"patients placed in each cluster. {small}"
    )
