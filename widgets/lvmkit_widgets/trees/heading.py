"""Subtitle and footer of the tree navigator, and what the tree leaves out."""

from __future__ import annotations

from lvmkit.cohorts.weights import not_weighted
from lvmkit.disclosure.trees import NEAR
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.words import counted, small_counts

METHODS = {
    "data": "D-SIDIWO, by two discriminators",
    "model": "SIDIWO, by two pseudo-centers",
    "pddp": "PDDP, by principal directions",
    "kmeans": "bisecting k-means",
}


def subtitle(state: NavigatorState) -> str:
    """Say how many rows, columns, branches and leaves there are, and how the tree was made."""
    if state.empty:
        return "an empty tree"
    size = state.layout.leaves.size
    method = METHODS.get(str(getattr(state.model, "split", "")), "")
    leaves = "1 leaf" if size == 1 else f"{size:,} leaves"
    parts = [
        f"{state.figures.total:,} {state.row_name}",
        counted(len(state.words), state.column_name),
        leaves,
        f"depth {state.tree.depth}",
        method,
        "" if state.corpus is None else not_weighted(state.corpus.view.cohort),
    ]
    return " · ".join(part for part in parts if part)


def left_out_of(state: NavigatorState) -> str:
    """Say what the tree leaves out of the cohort, and what it was shown with others."""
    if state.corpus is None or state.empty:
        return ""
    told = state.corpus.left_out(state.words).replace("the model", "the tree")
    fitted = state.tree.nodes[0].size
    if fitted != len(state.corpus):
        told += (
            f" The tree was grown on {fitted:,} rows; sizes here count the {len(state.corpus):,} "
            f"{state.row_name} of this cohort, sent down the tree."
        )
    return told.strip()


def footer(state: NavigatorState) -> str:
    """Say what the numbers are."""
    if state.empty:
        return ""
    kept = "Branches are called by their place: 1.2 is the second part of the first."
    if not state.private:
        return kept
    least = state.disclosure.threshold
    small = (
        f"Counts of 1 to {least - 1} are hidden; in place of others from which these could be found "
        f"stand estimates, off by {least} or {NEAR:.0%} at most, whichever is more; sizes with ≈ are "
        "rounded to tens besides."
    )
    if not state.suppressing:
        small = small_counts(least, hidden=False)
    return f"{kept} {small}"
