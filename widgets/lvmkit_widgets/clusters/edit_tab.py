"""Tab that changes the clusters: fit again, choose patients and codes, split, merge."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.cohorts.subset import Subset
from lvmkit_widgets.clusters.filter_form import filter_form
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.tabs import Fields, Job, Tab
from lvmkit_widgets.ui.widgets import Form


class EditTab(Tab[ExplorerState]):
    """Three forms, each a way to change the clusters. Every change can be undone."""

    title: ClassVar[str] = "Change the clusters"

    def __init__(self) -> None:
        super().__init__()
        fit = Form(
            title="Fit again",
            help="Finds new clusters among the chosen patients, without the codes left out. Names "
            "and notes stay with clusters that keep more than half of their patients.",
            inline=True,
        )
        split = Form(
            title="Split a cluster",
            help="Clusters the patients of one cluster again. The parts get new ids; all other "
            "clusters keep theirs.",
            inline=True,
        )
        merge = Form(
            title="Merge clusters",
            help="The probabilities of the merged clusters add up; nothing is averaged away, and a "
            "merge can be taken apart again.",
            inline=True,
        )
        self.components = {"refit": fit, "split": split, "merge": merge}
        self.layout = ["refit", {"row": ["split", "merge"]}]
        self.events = {
            "refit.values": choose,
            "refit.pressed": press_fit,
            "split.values": choose_split,
            "split.pressed": press_split,
            "merge.values": choose_merge,
            "merge.pressed": press_merge,
            "sizes.others": offer_merge,
        }

    def fields(self, state: ExplorerState) -> Fields:
        """Show the three forms."""
        labels = state.counts().cluster_labels
        options = [[str(i), label] for i, label in zip(state.clustering.ids, labels, strict=True)]
        merged = bool(state.clustering.cluster(state.cluster).parts)
        split = [
            {"name": "cluster", "kind": "select", "label": "Cluster", "options": options},
            {"name": "parts", "kind": "number", "label": "Into parts", "min": 2, "step": 1},
            {"name": "split", "kind": "button", "label": "Split", "primary": True},
        ]
        merge = [
            {"name": "clusters", "kind": "multiselect", "label": "Clusters", "options": options},
            {"name": "name", "kind": "text", "label": "Name of the new cluster"},
            {"name": "merge", "kind": "button", "label": "Merge", "primary": True},
            *([{"name": "unmerge", "kind": "button", "label": "Take apart"}] if merged else []),
        ]
        chosen = [str(i) for i in state.merging]
        fitting = {**filter_form(state).values(state), "k": state.k}
        return {
            "refit": {"controls": fit_controls(state), "values": fitting},
            "split": {
                "controls": split,
                "values": {"cluster": str(state.cluster), "parts": state.parts},
            },
            "merge": {
                "controls": merge,
                "values": {"clusters": chosen, "name": state.merged_name},
            },
        }


def fit_controls(state: ExplorerState) -> list[dict[str, Any]]:
    """Return the controls of the fit, and how many patients are chosen."""
    n, total = state.n_chosen, state.patients.n_patients
    codes = len(state.patients.codes) - len(state.excluded)
    chosen = f"{n:,} of {total:,} patients and {codes:,} codes are chosen."
    if not n:
        chosen = "Nobody fits this choice. Widen it."
    return [
        {"name": "k", "kind": "number", "label": "Number of clusters", "min": 1, "step": 1},
        *filter_form(state).controls(),
        {"name": "chosen", "kind": "note", "label": chosen},
        {"name": "fit", "kind": "button", "label": "Fit again", "primary": True},
        {
            "name": "show",
            "kind": "button",
            "label": "Only show these patients",
            "help": "Keeps the clusters as they are.",
        },
        {"name": "all", "kind": "button", "label": "All patients, all codes"},
    ]


def choose(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take the choice of patients, codes and number of clusters."""
    excluded = tuple(str(code) for code in values.get("excluded") or [])
    k = state.k if values.get("k") is None else int(values["k"])
    return state.replace(subset=filter_form(state).subset(values), excluded=excluded, k=k)


def press_fit(state: ExplorerState, name: str) -> ExplorerState | Job[ExplorerState]:
    """Fit, show or reset."""
    if name == "fit":
        return state.plan_refit()
    if name == "show":
        return state.show(state.subset)
    return state.replace(subset=Subset(), excluded=())


def choose_split(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take which cluster is to be split, and into how many parts."""
    parts = values.get("parts")
    chosen = state.replace(parts=None if parts is None else int(parts))
    cluster = values.get("cluster")
    return chosen if cluster is None else chosen.look(cluster=int(cluster))


def press_split(state: ExplorerState, _: str) -> Job[ExplorerState]:
    """Split the cluster that is picked."""
    if state.parts is None:
        message = "Say into how many parts the cluster is to be split."
        raise ValueError(message)
    return state.plan_split(state.cluster, parts=state.parts)


def choose_merge(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take which clusters are to be merged, and into what."""
    chosen = tuple(int(i) for i in values.get("clusters") or [])
    return state.replace(merging=chosen, merged_name=str(values.get("name") or ""))


def press_merge(state: ExplorerState, name: str) -> ExplorerState:
    """Merge, or take a merge apart."""
    if name == "unmerge":
        return state.unmerge(state.cluster)
    return state.merge(state.merging, name=state.merged_name)


def offer_merge(state: ExplorerState, others: list[int]) -> ExplorerState:
    """Put clusters added by Shift-click into the merge form."""
    chosen = tuple(dict.fromkeys([state.cluster, *others]))
    return state.replace(merging=chosen) if others else state
