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
            "refit": {**filter_values(state), "k": state.k},
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
        *filter_controls(state),
        note(chosen, "chosen"),
        button("fit", "Fit again", primary=True),
        button("show", "Only show these patients", help="Keeps the clusters as they are."),
        button("all", "All patients, all codes"),
    ]


def choose(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take the choice of patients, codes and number of clusters."""
    excluded = tuple(str(code) for code in values.get("excluded") or [])
    k = state.k if values.get("k") is None else int(values["k"])
    return state.replace(subset=chosen_subset(state, values), excluded=excluded, k=k)


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


@remembered
def attributes_of(state: ExplorerState) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the attributes by which patients are chosen: the ranges of some, the levels of others."""
    # What a record stands for is no attribute of a patient.
    obs = state.patients.cohort.obs.drop(columns=state.patients.weighted_by, errors="ignore")
    names, levels = attributes_to_show(obs), level_attributes(obs)
    numeric = [name for name in names if name not in levels][:MOST_ATTRIBUTES]
    text = [name for name in names if name in levels][:MOST_ATTRIBUTES]
    return {name: _bounds(obs[name]) for name in numeric}, {name: levels[name] for name in text}


@remembered
def filter_controls(state: ExplorerState) -> list[dict[str, Any]]:
    """Return the controls for attributes and codes."""
    found: list[dict[str, Any]] = []
    ranges, levels = attributes_of(state)
    for name, (low, high) in ranges.items():
        limits = {"kind": "number", "min": low, "max": high}
        ends = ((end, f"{column_title(name)} {end}") for end in ("from", "to"))
        found += [{"name": f"{end}_{name}", "label": label, **limits} for end, label in ends]
    for name, known in levels.items():
        found.append(multiselect(f"level_{name}", column_title(name), known, placeholder="any"))
    options = [[code, state.patients.title(code)] for code in state.patients.codes]
    return [*found, *(multiselect(name, label, options) for name, label in BY_CODE.items())]


def filter_values(state: ExplorerState) -> dict[str, Any]:
    """Return what the controls show for the choice in the state."""
    subset, (ranges, levels) = state.subset, attributes_of(state)
    found: dict[str, Any] = {}
    for name, full in ranges.items():
        found[f"from_{name}"], found[f"to_{name}"] = subset.ranges.get(name, full)
    found |= {f"level_{name}": list(subset.values.get(name, ())) for name in levels}
    by_code = {"having": subset.having, "lacking": subset.lacking, "excluded": state.excluded}
    return found | {name: list(codes) for name, codes in by_code.items()}


def chosen_subset(state: ExplorerState, values: dict[str, Any]) -> Subset:
    """Return the choice that controls mean."""
    ranges, levels = attributes_of(state)
    asked = {}
    for name, full in ranges.items():
        ends = zip(("from", "to"), full, strict=True)
        given = [(values.get(f"{end}_{name}"), limit) for end, limit in ends]
        asked[name] = tuple(limit if value is None else value for value, limit in given)
    chosen = {name: tuple(values.get(f"level_{name}") or ()) for name in levels}
    return Subset(
        ranges={name: ends for name, ends in asked.items() if ends != ranges[name]},
        values={name: known for name, known in chosen.items() if known},
        having=tuple(values.get("having") or ()),
        lacking=tuple(values.get("lacking") or ()),
    )


def _bounds(values: pd.Series[Any]) -> tuple[float, float]:
    """Smallest and largest value, as whole numbers where they are."""
    low, high = float(values.min()), float(values.max())
    whole = low.is_integer() and high.is_integer()
    return (int(low), int(high)) if whole else (low, high)
