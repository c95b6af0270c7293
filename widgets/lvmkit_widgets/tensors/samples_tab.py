"""Tab of the samples: posteriors, samples at a border, known groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit import charts
from lvmkit.scores import adjusted_rand, error_rate
from lvmkit_widgets.tensors.state import TensorState, groups_of
from lvmkit_widgets.ui.controls import column, hide_counts, select
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Picture, Table, Text

EACH = 300  # samples that have a bar each
SURELY = (
    "The posterior is how likely a sample belongs to a cluster, by the model. Bars far from 100 % are samples that "
    f"might as well belong elsewhere. Up to {EACH} samples have a bar of their own beside."
)
DOUBTFUL, MOST = 0.9, 300  # largest posterior of a sample at the border; such samples in the list
BORDER = (
    f"Samples whose largest posterior is below {DOUBTFUL:.0%}, most doubtful first: look at these before you rely "
    "on the clusters. They stay on this machine: saved pages leave them out."
)
EVERY = (
    "How likely a sample belongs to each cluster, by the model. Click on a bar to read its numbers."
)
GROUPS = "How many samples of each known group are in each cluster. Groups are not used to fit."


class SamplesTab(Tab[TensorState]):
    """Posteriors, samples at the border, known groups."""

    title: ClassVar[str] = "Samples"

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "which": Form(inline=True),
            "each": Picture(
                title="Each sample", help=EVERY, download="posteriors", needs_python=True
            ),
            "certain": Picture(title="How surely", help=SURELY, download="certainty"),
            "border": Table(
                title="Samples at a border",
                help=BORDER,
                key="sample",
                searchable=True,
                page_size=12,
                needs_python=True,
            ),
            "groups": Table(title="Known groups", help=GROUPS, page_size=20),
            "agreement": Text(),
        }
        self.layout = [
            "which",
            {"row": ["each", ["groups", "agreement"]], "widths": [1.6, 1]},
            {"row": ["certain", "border"], "widths": [1, 1.5]},
        ]
        self.events = {
            "which.values": set_options,
            "each.pick": lambda state, mark: describe(state, int(mark["sample"])),
            "border.pick": lambda state, name: describe(state, state.samples.ids.index(name)),
        }

    def picks(self, state: TensorState) -> Fields:
        """Show what there is, before it is drawn."""
        samples = state.samples
        each, groups = len(samples.values) <= EACH, samples.groups is not None
        shown = {"each": {"visible": each}, "groups": {"visible": groups}}
        return shown | {"border": {"selected": state.sample}}

    def fields(self, state: TensorState) -> Fields:
        """Draw the posteriors, and list the samples at a border and known groups."""
        text = agreement_text(state, state.index)
        return {
            "which": form_of(state),
            "each": each_fields(state) if len(state.samples.values) <= EACH else {},
            "certain": certain_fields(state, state.index),
            "border": border_of(state),
            "groups": groups_fields(state, state.index),
            "agreement": {"text": text, "visible": bool(text)},
        }


def form_of(state: TensorState) -> dict[str, Any]:
    """Describe which samples are shown, and how."""
    options = [[i, f"{one.name} ({len(one.values):,})"] for i, one in enumerate(state.sets)]
    controls = [select("set", "Samples", options)] if len(options) > 1 else []
    controls += [hide_counts(state.disclosure)] if state.private else []
    values = {"set": state.shown_set, "hide": state.disclosure.on_screen}
    return {"controls": controls, "values": values, "visible": bool(controls)}


def set_options(state: TensorState, values: dict[str, Any]) -> TensorState:
    """Take what is to be shown."""
    which, hide = values.get("set"), bool(values.get("hide"))
    shown = state.shown_set if which is None else int(which)
    sample = state.sample if shown == state.shown_set else None
    return state.replace(shown_set=shown, sample=sample).disclose(on_screen=hide)


def describe(state: TensorState, sample: int) -> TensorState:
    """Say how likely a sample belongs to each cluster."""
    theta = state.posteriors(state.index)[sample]
    order = np.argsort(-theta, kind="stable")[:4]
    shares = ", ".join(f"cluster {k} {theta[k]:.1%}" for k in order)
    group = "" if state.samples.groups is None else f" ({state.samples.groups[sample]})"
    name = state.samples.ids[sample]
    return state.replace(sample=name).tell(f"Sample {name}{group}: {shares}.")


@remembered
def each_fields(state: TensorState) -> dict[str, Any]:
    """Draw the posteriors of each sample."""
    theta = state.posteriors(state.index)
    table = charts.structure_plot_table(theta, groups=state.samples.groups)
    picture = charts.svg(charts.structure_plot_chart(table, width=760, picked=state.cluster))
    alt = f"How likely each of {len(theta):,} samples belongs to each cluster."
    return {"svg": picture, "alt": alt}


@remembered
def certain_fields(state: TensorState, index: int) -> dict[str, Any]:
    """Draw the histogram of largest posteriors."""
    table = charts.posterior_histogram_table(
        state.posteriors(index), threshold=state.disclosure.level or None
    )
    picked = state.cluster if index == state.index else None
    return {
        "svg": charts.svg(charts.posterior_histogram_chart(table, width=440, picked=picked)),
        "alt": "Histograms of the largest posterior of the samples of each cluster.",
    }


@remembered
def border_of(state: TensorState) -> dict[str, Any]:
    """List the samples that might as well belong elsewhere."""
    table = samples_table(state)
    found = table[table["posterior"] < DOUBTFUL].sort_values("posterior", kind="stable")[:MOST]
    columns = [
        column("sample", "Sample"),
        *([column("group", "Group")] if "group" in table else []),
        column("cluster", "Cluster", "integer"),
        column("posterior", "Posterior", "percent"),
        column("second", "or", "integer"),
        column("second_posterior", "Posterior", "percent"),
    ]
    rows, empty = found.to_dict("records"), "No sample is in doubt."
    return {"columns": columns, "rows": rows, "page": 0, "empty": empty}


@remembered
def groups_fields(state: TensorState, index: int) -> dict[str, Any]:
    """Describe known groups by cluster."""
    table = groups_of(state, index)
    if table is None:
        return {"columns": [], "rows": [], "visible": False}
    k = state.solutions[index].n_components
    columns = [
        column("group", "Group"),
        *(column(f"c{j}", f"Cluster {j}", "integer") for j in range(k)),
        column("total", "All", "integer"),
    ]
    return {"columns": columns, "rows": table.to_dict("records"), "visible": True}


def agreement_text(state: TensorState, index: int) -> str:
    """Say how well clusters and known groups agree."""
    counted = groups_of(state, index)
    if counted is None or (state.suppressing and counted.attrs["hidden"]):
        return ""
    groups = state.samples.groups.codes
    labels = state.labels(index)
    return (
        f"With the best matching of clusters to groups, {error_rate(groups, labels):.1%} of the samples are elsewhere "
        f"(error rate); adjusted Rand index {adjusted_rand(groups, labels):.2f}, where 1 is the same and 0 is chance."
    )


def samples_table(state: TensorState) -> pd.DataFrame:
    """Return the cluster of every sample: for this machine, not to be shared."""
    theta = state.posteriors(state.index)
    order = np.argsort(-theta, axis=1, kind="stable")
    rows = np.arange(len(theta))
    table = pd.DataFrame({"sample": state.samples.ids})
    if state.samples.groups is not None:
        table["group"] = state.samples.groups
    table["cluster"], table["posterior"] = order[:, 0], theta[rows, order[:, 0]].round(6)
    if theta.shape[1] > 1:
        table["second"] = order[:, 1]
        table["second_posterior"] = theta[rows, order[:, 1]].round(6)
    return table
