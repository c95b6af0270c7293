"""Form that chooses the model, by λ and number of clusters, and the cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit_widgets.tensors.state import TensorState, sizes_of
from lvmkit_widgets.ui.controls import button, select
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab, pressed
from lvmkit_widgets.ui.widgets import ClusterList, Form, StepSlider, Text

ABOUT = (
    "Every sample is a whole table of values. A cluster's **mean** is its typical table; its **discriminant** tells "
    "how much each value counts in deciding between that cluster and cluster 0. With a larger **λ** fewer entries "
    "are selected: all others have a discriminant of 0 and tell clusters apart no longer."
)
BEST = "The model to start with: it explains the samples best for the number of entries it needs (BIC)."


class ModelForm(Tab[TensorState]):
    """Beside every tab: which model, and which cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "model": StepSlider(label="λ"),
            "choose": Form(inline=True),
            "about": Text(text=ABOUT, tone="note"),
            "clusters": ClusterList(row_name="samples", comparable=False),
        }
        self.layout = ["model", "choose", "about", "clusters"]
        self.events = {
            "model.selected": lambda state, place: state.choose(state.offered[place]),
            "choose.pressed": lambda state, name: pressed(state, name) or state.choose_best(),
            "choose.values": choose_k,
            "clusters.selected": pick_cluster,
        }

    def picks(self, state: TensorState) -> Fields:
        """Show which model and which cluster are looked at."""
        slider = {"options": options(state), "selected": state.offered.index(state.index)}
        return {"model": slider, "clusters": {"selected": state.cluster}}

    def fields(self, state: TensorState) -> Fields:
        """Show the ways to choose a model, and the sizes of its clusters."""
        numbers = state.numbers
        several = select("k", "Number of clusters", [[k, str(k)] for k in numbers])
        best = button("best", "Recommended", help=BEST, primary=True)
        controls = [
            *([several] if len(numbers) > 1 else []),
            *([best] if len(state.solutions) > 1 else []),
            *undo_buttons(state.history),
        ]
        values = {"k": state.solution.n_components}
        form = {"controls": controls, "visible": len(state.solutions) > 1, "values": values}
        return {"choose": form, "clusters": {"items": items(state, state.index)}}


def pick_cluster(state: TensorState, cluster: int | None) -> TensorState | None:
    """Look at a cluster."""
    return None if cluster is None else state.pick(cluster)


def choose_k(state: TensorState, values: dict[str, Any]) -> TensorState | None:
    """Look at another number of clusters."""
    k = values.get("k")
    same = k is None or int(k) == state.solution.n_components
    return None if same else state.choose_n_components(int(k or 0))


@remembered
def options(state: TensorState) -> list[dict[str, Any]]:
    """Describe the models for the slider."""
    held, n = state.offered, len(state.along)
    part = [f"this page holds {len(held)} of {n} values of λ"] if len(held) < n else []
    return [option(state, index, *part) for index in held]


def option(state: TensorState, index: int, *more: str) -> dict[str, Any]:
    """Describe a model for the slider."""
    one = state.solutions[index]
    notes = ["lowest BIC with this number of clusters"] if one.best else []
    if one.n_components == 1:
        notes.append("one cluster: there is nothing to tell apart")
    elif not np.any(one.model.discriminants_):
        notes.append("no entry is selected: λ is too large to tell samples apart")
    elif not bool(getattr(one.model, "converged_", True)):
        notes.append("not converged: take it with care")
    return {"label": state.describe(index), "note": "; ".join([*notes, *more])}


def items(state: TensorState, index: int) -> list[dict[str, Any]]:
    """Describe the clusters of a model."""
    texts, shares = sizes_of(state, index)
    return [
        {"id": k, "name": f"Cluster {k}", "n": n, "share": share}
        for k, (n, share) in enumerate(zip(texts, shares, strict=True))
    ]
