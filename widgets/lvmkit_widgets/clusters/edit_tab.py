"""Tab that changes the clusters: fit again, choose patients and codes, split, merge."""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from lvmkit.cohorts.subset import Subset, level_attributes
from lvmkit_widgets.clusters.attributes_tab import attributes_to_show, column_title
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import button, multiselect, note, number, select, text
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Job, Tab
from lvmkit_widgets.ui.widgets import Form
from lvmkit_widgets.ui.words import refuse

FIT = (
    "Finds new clusters among the chosen patients, without the codes left out. Names and notes stay with clusters "
    "that keep more than half of their patients."
)
SPLIT = "Clusters the patients of one cluster again. The parts get new ids; all other clusters keep theirs."
MERGE = (
    "The probabilities of the merged clusters add up; nothing is averaged away, and a merge can be taken "
    "apart again."
)
BY_CODE = {
    "having": "Only patients with (all of)",
    "lacking": "Only patients without (any of)",
    "excluded": "Codes left out of the fit",
}
MOST_ATTRIBUTES = 4  # of each kind that are offered


class EditTab(Tab[ExplorerState]):
    """Three forms, each a way to change the clusters. Every change can be undone."""

    title: ClassVar[str] = "Change the clusters"

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "refit": Form(title="Fit again", help=FIT, inline=True),
            "split": Form(title="Split a cluster", help=SPLIT, inline=True),
            "merge": Form(title="Merge clusters", help=MERGE, inline=True),
        }
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
        controls = {
            "refit": fit_controls(state),
            "split": [
                select("cluster", "Cluster", options),
                number("parts", "Into parts", min=2),
                button("split", "Split", primary=True),
            ],
            "merge": [
                multiselect("clusters", "Clusters", options),
                text("name", "Name of the new cluster"),
                button("merge", "Merge", primary=True),
                *([button("unmerge", "Take apart")] if merged else []),
            ],
        }
        values = {
            "refit": {**filter_form(state).values(state), "k": state.k},
            "split": {"cluster": str(state.cluster), "parts": state.parts},
            "merge": {"clusters": [str(i) for i in state.merging], "name": state.merged_name},
        }
        return {name: {"controls": controls[name], "values": values[name]} for name in controls}


def fit_controls(state: ExplorerState) -> list[dict[str, Any]]:
    """Return the controls of the fit, and how many patients are chosen."""
    n, total = state.n_chosen, state.patients.n_patients
    codes = len(state.patients.codes) - len(state.excluded)
    chosen = f"{n:,} of {total:,} patients and {codes:,} codes are chosen."
    if not n:
        chosen = "Nobody fits this choice. Widen it."
    return [
        number("k", "Number of clusters"),
        *filter_form(state).controls(),
        note(chosen, "chosen"),
        button("fit", "Fit again", primary=True),
        button("show", "Only show these patients", help="Keeps the clusters as they are."),
        button("all", "All patients, all codes"),
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
        refuse("Say into how many parts the cluster is to be split.")
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


class FilterForm:
    """Controls for attributes and codes of a cohort."""

    def __init__(self, state: ExplorerState) -> None:
        # What a record stands for is no attribute of a patient.
        obs = state.patients.cohort.obs.drop(columns=state.patients.weighted_by, errors="ignore")
        self._patients = state.patients
        names, levels = attributes_to_show(obs), level_attributes(obs)
        numeric = [name for name in names if name not in levels][:MOST_ATTRIBUTES]
        self._numeric = {name: _bounds(obs[name]) for name in numeric}
        text = [name for name in names if name in levels][:MOST_ATTRIBUTES]
        self._levels = {name: levels[name] for name in text}

    def controls(self) -> list[dict[str, Any]]:
        """Return the controls."""
        found: list[dict[str, Any]] = []
        for name, (low, high) in self._numeric.items():
            limits = {"kind": "number", "min": low, "max": high}
            found += [
                {"name": f"{end}_{name}", "label": f"{column_title(name)} {end}", **limits}
                for end in ("from", "to")
            ]
        for name, levels in self._levels.items():
            label = column_title(name)
            found.append(multiselect(f"level_{name}", label, levels, placeholder="any"))
        options = [[code, self._patients.title(code)] for code in self._patients.codes]
        return [*found, *(multiselect(name, label, options) for name, label in BY_CODE.items())]

    def values(self, state: ExplorerState) -> dict[str, Any]:
        """Return what the controls show for the choice in the state."""
        subset = state.subset
        found: dict[str, Any] = {}
        for name, full in self._numeric.items():
            found[f"from_{name}"], found[f"to_{name}"] = subset.ranges.get(name, full)
        for name in self._levels:
            found[f"level_{name}"] = list(subset.values.get(name, ()))
        found |= {"having": list(subset.having), "lacking": list(subset.lacking)}
        return found | {"excluded": list(state.excluded)}

    def subset(self, values: dict[str, Any]) -> Subset:
        """Return the choice that controls mean."""
        ranges = {}
        for name, full in self._numeric.items():
            asked = (values.get(f"from_{name}"), values.get(f"to_{name}"))
            low, high = (
                end if value is None else value for end, value in zip(full, asked, strict=True)
            )
            if (low, high) != full:
                ranges[name] = (low, high)
        chosen = {name: tuple(values.get(f"level_{name}") or ()) for name in self._levels}
        return Subset(
            ranges=ranges,
            values={name: levels for name, levels in chosen.items() if levels},
            having=tuple(values.get("having") or ()),
            lacking=tuple(values.get("lacking") or ()),
        )


@remembered
def filter_form(state: ExplorerState) -> FilterForm:
    """Return the controls for the cohort of a state."""
    return FilterForm(state)


def _bounds(values: pd.Series[Any]) -> tuple[float, float]:
    """Smallest and largest value, as whole numbers where they are."""
    low, high = float(values.min()), float(values.max())
    whole = low.is_integer() and high.is_integer()
    return (int(low), int(high)) if whole else (low, high)
