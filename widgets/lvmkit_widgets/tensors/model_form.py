"""Form that chooses the model, by λ and number of clusters, and the cluster."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit_widgets.tensors.disclosure import sizes_of
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import ClusterList, Form, StepSlider, Text

ABOUT = (
    "Every sample is a whole table of values. A cluster's **mean** is its typical table; its **discriminant** tells "
    "how much each value counts in deciding between that cluster and cluster 0. With a larger **λ** fewer entries "
    "are selected: all others have a discriminant of 0 and tell clusters apart no longer."
)


class ModelForm(Tab[TensorState]):
    """Beside every tab: which model, and which cluster."""

    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small", "shown_set", "cluster"})

    def __init__(self) -> None:
        super().__init__()
        self.slider = StepSlider(label="λ")
        self.form = Form(inline=True)
        self.about = Text(text=ABOUT, tone="note")
        self.sizes = ClusterList(row_name="samples", comparable=False)
        self.components = {
            "model": self.slider,
            "choose": self.form,
            "about": self.about,
            "clusters": self.sizes,
        }
        self.layout = ["model", "choose", "about", "clusters"]

    def show_selection(self) -> None:
        """Show what is picked."""
        along = self.state.along
        if self.changed("along", along):
            self.slider.options = [option(self.state, index) for index in along]
        self.slider.selected = along.index(self.state.index)
        self.sizes.selected = self.state.cluster

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        several: list[dict[str, Any]] = [
            {
                "name": "k",
                "kind": "select",
                "label": "Number of clusters",
                "options": [[k, str(k)] for k in state.numbers],
            }
        ]
        best = {
            "name": "best",
            "kind": "button",
            "label": "Recommended",
            "help": "The model to start with: it explains the samples best for the number of entries it needs (BIC).",
            "primary": True,
        }
        self.form.controls = [
            *(several if len(state.numbers) > 1 else []),
            *([best] if len(state.solutions) > 1 else []),
            *undo_buttons(state.history),
        ]
        self.form.visible = len(state.solutions) > 1
        self.form.values = {"k": state.solution.n_components}
        self.sizes.param.update(items=items(state, state.index), selected=state.cluster)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("model", "selected", self._slide)
        board.listen("choose", "pressed", self._pressed)
        board.listen("choose", "values", self._set)
        board.listen("clusters", "selected", self._pick)

    def _slide(self, step: int) -> None:
        """Look at the model that the slider shows."""
        index = self.state.along[step]
        if index != self.state.index:
            self.state.choose(index)

    def _pick(self, cluster: int | None) -> None:
        """Look at a cluster."""
        if cluster is not None and cluster != self.state.cluster:
            self.state.pick(cluster)

    def _set(self, values: dict[str, Any]) -> None:
        """Look at another number of clusters."""
        k = values.get("k")
        if k is not None and int(k) != self.state.solution.n_components:
            self.state.choose_n_components(int(k))

    def _pressed(self, name: str) -> None:
        """Choose in another way, or go a step back or forth."""
        if not self.state.press(name):
            self.state.choose_best()


def option(state: TensorState, index: int) -> dict[str, Any]:
    """Describe a model for the slider."""
    one = state.solutions[index]
    notes = ["lowest BIC with this number of clusters"] if one.best else []
    if one.n_components == 1:
        notes.append("one cluster: there is nothing to tell apart")
    elif not np.any(one.model.discriminants_):
        notes.append("no entry is selected: λ is too large to tell samples apart")
    elif not bool(getattr(one.model, "converged_", True)):
        notes.append("not converged: take it with care")
    return {"label": state.describe(index), "note": "; ".join(notes)}


def items(state: TensorState, index: int) -> list[dict[str, Any]]:
    """Describe the clusters of a model."""
    texts, shares = sizes_of(state, index)
    return [
        {"id": k, "name": f"Cluster {k}", "n": n, "share": share}
        for k, (n, share) in enumerate(zip(texts, shares, strict=True))
    ]
