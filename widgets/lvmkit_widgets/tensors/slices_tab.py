"""Tab of slices of means and discriminants, and of the selected entries."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import svg, tensor_slice_chart, tensor_slice_table
from lvmkit.charts._modes import strongest
from lvmkit_widgets.tensors.model_form import pick_cluster
from lvmkit_widgets.tensors.state import TensorState, shown_model, small_clusters, strengths
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Table, TensorSlices

MOST = 500  # entries in the list
CROWDED = 1000  # selected entries whose outlines would hide the values
HELP = (
    "Blue is above 0, orange below, and the stronger the larger. “The same everywhere” lets clusters and slices be "
    "compared; where modes have different units, “of each row” shows more. A discriminant above 0 means: a larger "
    "value speaks for the cluster, against cluster 0. It takes into account how values go together, so it may be 0 "
    "where means differ, if other entries tell the same."
)
WEIGHT_HELP = "Its discriminant: above 0, a larger value speaks for it, against cluster 0."
ENTRIES_HELP = (
    "The entries that tell clusters apart at this λ. Strength is the norm of the discriminants over the clusters. "
    "Pick one to see it in its slice."
)


class SlicesTab(Tab[TensorState]):
    """A slice as heat map, and the list of selected entries."""

    title: ClassVar[str] = "Means and entries"

    def __init__(self) -> None:
        super().__init__()
        self.slices = TensorSlices(title="A slice of a cluster", help=HELP)
        entries = Table(
            title="Selected entries",
            help=ENTRIES_HELP,
            key="entry",
            sort=["strength", "desc"],
            searchable=True,
            page_size=14,
            empty="No entry is selected.",
        )
        self.components = {"slices": self.slices, "entries": entries}
        self.layout = {"row": ["slices", "entries"], "widths": [1.5, 1]}
        self.events = {
            "slices.cluster": pick_cluster,
            "slices.entry": TensorState.find,
            "entries.pick": lambda state, entry: state.find(int(entry)),
        }

    def initial(self, state: TensorState) -> Fields:
        """Begin with the first slice along the first two modes."""
        modes = state.modes
        order = len(modes.names)
        named = zip(modes.names, modes.labels, strict=True)
        return {
            "slices": {
                "modes": [{"name": name, "labels": list(labels)} for name, labels in named],
                "rows": 0 if order > 1 else -1,
                "columns": 1 if order > 1 else 0,
                "at": [0] * order,
                "outlined": state.solution.n_selected <= CROWDED,
            }
        }

    def picks(self, state: TensorState) -> Fields:
        """Show the model and what is picked."""
        picked = {"cluster": state.cluster, "entry": state.entry}
        slices = {**fields_of(state, state.index), **picked}
        return {"slices": slices, "entries": {"selected": state.entry}}

    def fields(self, state: TensorState) -> Fields:
        """List the selected entries."""
        return {"entries": list_of(state, state.index)}

    def drawn(self, state: TensorState) -> str:
        """Draw the slice that the reader sees, without links."""
        view = self.slices
        means, weights = shown_model(state, state.index)
        k = min(state.cluster, len(means) - 1)
        first = np.zeros((1, *means.shape[1:]))
        shown, told = {
            "mean": (means, "Mean"),
            "difference": (means - means[0], "Difference from cluster 0"),
            "discriminant": (np.concatenate([first, weights]), "Discriminant"),
        }[view.show]
        axes = (view.rows, view.columns) if view.rows >= 0 else None
        at = {m: j for m, j in enumerate(view.at) if axes is None or m not in axes}
        table = tensor_slice_table(
            shown[k],
            axes,
            at,
            selected=marked(state, state.index) if view.outlined else None,
            mode_names=state.modes.names,
            labels=state.modes.labels,
        )
        limit = strongest(shown) if view.scale == "all" else strongest(table["value"].to_numpy())
        title = f"{told} of cluster {k} · {state.title_of(state.index)}"
        return svg(tensor_slice_chart(table, limit=limit, title=title, links=False))


def marked(state: TensorState, index: int) -> Any:
    """Return the entries to outline: the selected ones, unless all are."""
    selected = np.asarray(state.solutions[index].model.selected_, dtype=bool)
    return selected & ~selected.all()


@remembered
def fields_of(state: TensorState, index: int) -> dict[str, Any]:
    """Describe a model for the browser."""
    means, weights = shown_model(state, index)
    selected = np.asarray(state.solutions[index].model.selected_, dtype=bool)
    return {
        "clusters": [f"Cluster {k}" for k in range(len(means))],
        "means": packed(means, "<f4"),
        "discriminants": packed(weights, "<f4"),
        "selected": packed(selected, np.uint8),
        "hidden": list(small_clusters(state, index)),
    }


@remembered
def list_of(state: TensorState, index: int) -> dict[str, Any]:
    """Describe the selected entries of a model for the browser."""
    table = entries_table(state, index)
    order = len(state.modes.names)
    names = [*table.columns[1 : order + 1]]
    # three digits of the strongest, however small values are
    digits = int(np.clip(2 - np.floor(np.log10(strongest(table["strength"].to_numpy()))), 3, 6))
    columns = [column(f"m{m}", name.strip()) for m, name in enumerate(names)]
    columns.append(column("strength", "Strength", "number", digits=digits))
    weights = [name for name in map(str, table) if name.startswith("discriminant_")]
    if len(weights) > 1 and order + len(weights) <= 4:  # more do not fit beside the slice
        for name in weights:
            label = f"Cluster {name.removeprefix('discriminant_')}"
            columns.append(column(name, label, "number", digits=digits, help=WEIGHT_HELP))
    elif len(weights) == 1:
        columns.append(column(weights[0], "Discriminant", "number", digits=digits))
    keys = ["entry", "strength", *weights]
    shown = table.iloc[:MOST]
    rows = shown[keys].rename(columns=str).to_dict("records")
    for row, texts in zip(rows, shown[names].itertuples(index=False), strict=True):
        row |= {f"m{m}": text for m, text in enumerate(texts)}
    more = f": the strongest {MOST} of {len(table):,}" if len(table) > MOST else ""
    return {"title": f"Selected entries{more}", "columns": columns, "rows": rows, "page": 0}


def entries_table(state: TensorState, index: int | None = None) -> pd.DataFrame:
    """Return one row per selected entry, strongest first."""
    at = state.index if index is None else index
    model, modes = state.solutions[at].model, state.modes
    strength = strengths(state, at)
    chosen = np.flatnonzero(np.asarray(model.selected_).ravel())
    chosen = chosen[np.argsort(-np.nan_to_num(strength[chosen]), kind="stable")]
    means, weights = shown_model(state, at)
    indices = np.unravel_index(chosen, modes.shape)
    table = pd.DataFrame({"entry": chosen})
    for name, labels, j in zip(modes.names, modes.labels, indices, strict=True):
        table[name if name not in table else f"{name} "] = np.array(labels, dtype=object)[j]
    table["strength"] = strength[chosen]
    for k in range(1, len(means)):
        table[f"discriminant_{k}"] = weights[k - 1].ravel()[chosen]
    for k in range(len(means)):
        table[f"mean_{k}"] = means[k].ravel()[chosen]
    return table
