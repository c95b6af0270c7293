"""What stands around the tabs: heading, footer, cluster list, names and notes, and the bar with undo and redo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lvmkit.disclosure.text import is_few, stands_for
from lvmkit.mixtures.analysis import marks
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import button, hide_counts, note, text
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, StepsBar, Tab
from lvmkit_widgets.ui.widgets import ClusterList, Form
from lvmkit_widgets.ui.words import small_counts


class ClusterSidebar(Tab[ExplorerState]):
    """Sizes and shares of the clusters, and the name and note of the one that is picked."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ClusterList(
            title="Clusters",
            help="Each patient counts in the most probable cluster. Pick one to see it everywhere; "
            "hold Shift to add clusters for a merge. Until you name it, a cluster shows in brackets "
            "the code that marks it most.",
        )
        # what was typed is heard before a pick that comes with it
        self.components = {"naming": Form(inline=True), "sizes": sizes}
        self.layout = "sizes"
        self.events = {
            "sizes.selected": pick,
            "naming.values": set_typed,
            "naming.pressed": lambda state, _: state.keep_typed(),
        }

    def fields(self, state: ExplorerState) -> Fields:
        """List the clusters, and show what is said of the one that is picked."""
        cluster = state.clustering.cluster(state.cluster)
        name, said = (cluster.name, cluster.note) if state.typed is None else state.typed
        controls = [
            text(
                "name",
                f"Name of cluster {cluster.id}",
                placeholder="for instance: Heart and kidney",
            ),
            text("note", "Note", placeholder="what it may mean, what to check", wide=True),
            button("keep", "Keep"),
        ]
        form = {"controls": controls, "values": {"name": name, "note": said}}
        sizes = {"items": items_of(state, state.counts()), "selected": state.cluster}
        return {"sizes": sizes, "naming": form}


def pick(state: ExplorerState, id: int | None) -> ExplorerState:
    """Pick a cluster; what was typed of the one before is kept, unless it cannot be."""
    if id is None:
        return state
    try:
        return state.look(cluster=id)
    except ValueError as error:
        return state.replace(typed=None).look(cluster=id).tell(str(error), tone="error")


def set_typed(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take what is being typed of the cluster that is picked."""
    return state.replace(typed=(str(values.get("name") or ""), str(values.get("note") or "")))


@remembered
def items_of(state: ExplorerState, counts: CodeCounts) -> list[dict[str, Any]]:
    """Describe each cluster; a hidden one without share."""
    hints, sizes = marks(counts), state.shown_sizes(counts)
    sums = () if counts.weighted is None else counts.weighted.sizes
    estimates = [stands_for(*pair) for pair in zip(sums, counts.sizes, strict=False)]
    told = [{} if n is None else {"more": f"stand for {n:,}"} for n in estimates]
    return [
        {
            "id": cluster.id,
            "name": counts.cluster_labels[row],
            "n": sizes[row],
            "share": counts.weights[row],
            "note": cluster.note or hints[row],
            **(told[row] if told else {}),
        }
        for row, cluster in enumerate(state.clustering.clusters)
    ]


class ClusterStepsBar(StepsBar[ExplorerState]):
    """Undo and redo, where we stand in the history, and whether small counts are hidden."""

    def options(self, state: ExplorerState) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the other controls and their values."""
        history, rule = state.history, state.disclosure
        where = note(f"Step {history.position} of {len(history.steps) - 1}", "where")
        return [where, hide_counts(rule)], {"hide": rule.on_screen}

    def take(self, state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
        """Hide or show small counts."""
        return state.disclose(on_screen=bool(values.get("hide")))


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
