"""Tab of the samples: posteriors, samples at a border, known groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.charts import (
    posterior_histogram_chart,
    posterior_histogram_table,
    structure_plot_chart,
    structure_plot_table,
    svg,
)
from lvmkit.scores import adjusted_rand, error_rate
from lvmkit_widgets.tensors.disclosure import groups_of
from lvmkit_widgets.tensors.state import THRESHOLD, TensorState
from lvmkit_widgets.tensors.tables import samples_table
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import Tab
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
    depends: ClassVar[frozenset[str]] = frozenset(
        {"history", "hide_small", "sets", "shown_set", "cluster"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True)
        self.each = Picture(
            title="Each sample", help=EVERY, download="posteriors", needs_python=True
        )
        self.certain = Picture(title="How surely", help=SURELY, download="certainty")
        self.border = Table(
            title="Samples at a border",
            help=BORDER,
            key="sample",
            searchable=True,
            page_size=12,
            needs_python=True,
        )
        self.groups = Table(title="Known groups", help=GROUPS, page_size=20)
        self.agreement = Text()
        self.components = {
            "which": self.form,
            "each": self.each,
            "certain": self.certain,
            "border": self.border,
            "groups": self.groups,
            "agreement": self.agreement,
        }
        self.layout = [
            "which",
            {"row": ["each", ["groups", "agreement"]], "widths": [1.6, 1]},
            {"row": ["certain", "border"], "widths": [1, 1.5]},
        ]

    def show_selection(self) -> None:
        """Show what there is, before it is drawn."""
        samples = self.state.samples
        self.each.visible = len(samples.values) <= EACH
        self.groups.visible = samples.groups is not None

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        options = [[i, f"{one.name} ({len(one.values):,})"] for i, one in enumerate(state.sets)]
        sets = {"name": "set", "kind": "select", "label": "Samples", "options": options}
        hide = {"name": "hide", "kind": "check", "label": f"Hide counts below {THRESHOLD}"}
        self.form.controls = [
            *([sets] if len(options) > 1 else []),
            *([hide] if state.private else []),
        ]
        self.form.values = {"set": state.shown_set, "hide": state.hide_small}
        self.form.visible = bool(self.form.controls)
        if self.changed("model", state.index, state.shown_set, state.suppressing, state.cluster):
            self._draw()
            self.border.param.update(**border_of(state))
            self.groups.param.update(**groups_fields(state, state.index))
            self.agreement.text = agreement_text(state, state.index)
            self.agreement.visible = bool(self.agreement.text)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board: Any = board
        board.listen("which", "values", self._set)
        board.listen("each", "pick", lambda mark: self._tell(int(mark["sample"])))
        board.listen("border", "pick", lambda name: self._tell(self.state.samples.ids.index(name)))

    def _set(self, values: dict[str, Any]) -> None:
        """Take what is to be shown."""
        which = values.get("set")
        self.state.param.update(
            shown_set=self.state.shown_set if which is None else int(which),
            hide_small=bool(values.get("hide")),
        )

    def _tell(self, sample: int) -> None:
        """Say how likely a sample belongs to each cluster."""
        state = self.state
        theta = state.posteriors(state.index)[sample]
        order = np.argsort(-theta, kind="stable")[:4]
        shares = ", ".join(f"cluster {k} {theta[k]:.1%}" for k in order)
        group = "" if state.samples.groups is None else f" ({state.samples.groups[sample]})"
        name = state.samples.ids[sample]
        self.border.selected = name
        self._board.say(f"Sample {name}{group}: {shares}.", state="info")

    def _draw(self) -> None:
        """Draw the posteriors."""
        state = self.state
        theta = state.posteriors(state.index)
        if self.each.visible:
            table = structure_plot_table(theta, groups=state.samples.groups)
            self.each.param.update(
                svg=svg(structure_plot_chart(table, width=760, picked=state.cluster)),
                alt=f"How likely each of {len(theta):,} samples belongs to each cluster.",
            )
        self.certain.param.update(**certain_fields(state, state.index))


def certain_fields(state: TensorState, index: int) -> dict[str, Any]:
    """Draw the histogram of largest posteriors."""
    table = posterior_histogram_table(
        state.posteriors(index), threshold=THRESHOLD if state.suppressing else None
    )
    picked = state.cluster if index == state.index else None
    return {
        "svg": svg(posterior_histogram_chart(table, width=440, picked=picked)),
        "alt": "Histograms of the largest posterior of the samples of each cluster.",
    }


def border_of(state: TensorState) -> dict[str, Any]:
    """List the samples that might as well belong elsewhere."""
    table = samples_table(state)
    found = table[table["posterior"] < DOUBTFUL].sort_values("posterior", kind="stable")[:MOST]
    columns = [
        {"key": "sample", "label": "Sample", "kind": "text"},
        *([{"key": "group", "label": "Group", "kind": "text"}] if "group" in table else []),
        {"key": "cluster", "label": "Cluster", "kind": "integer"},
        {"key": "posterior", "label": "Posterior", "kind": "percent"},
        {"key": "second", "label": "or", "kind": "integer"},
        {"key": "second_posterior", "label": "Posterior", "kind": "percent"},
    ]
    rows, empty = found.to_dict("records"), "No sample is in doubt."
    return {"columns": columns, "rows": rows, "page": 0, "selected": None, "empty": empty}


def groups_fields(state: TensorState, index: int) -> dict[str, Any]:
    """Describe known groups by cluster."""
    table = groups_of(state, index)
    if table is None:
        return {"columns": [], "rows": [], "visible": False}
    k = state.solutions[index].n_components
    columns = [
        {"key": "group", "label": "Group", "kind": "text"},
        *({"key": f"c{j}", "label": f"Cluster {j}", "kind": "integer"} for j in range(k)),
        {"key": "total", "label": "All", "kind": "integer"},
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
