"""Contents of a saved page of the tensor explorer: models along λ, nothing of single samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lvmkit_widgets.tensors.slices_tab import fields_of
from lvmkit_widgets.tensors.state import HeldModels, TensorState
from lvmkit_widgets.ui.tabs import Cases

HELD = 12  # models in a page, at most
ROOM = 1_500_000  # bytes of means and discriminants; with more the page would grow too large


def held(state: TensorState) -> list[int]:
    """Choose the models that a page holds: of the number of clusters that is looked at."""
    along = list(state.along)
    fields = fields_of(state, state.index)
    size = len(fields["means"]) + len(fields["discriminants"])
    room = int(np.clip(ROOM // max(size, 1), 1, HELD))
    spread = np.linspace(0, len(along) - 1, min(room, len(along))).round().astype(int)
    wanted = {state.index} | {i for i in along if state.solutions[i].best}
    return sorted({along[i] for i in spread} | wanted)


def page_state(state: TensorState) -> TensorState:
    """Return the state of a page, with what it holds."""
    return state.for_others.replace(held=HeldModels(state.index, tuple(held(state))))


def cases(state: TensorState) -> Iterator[Cases[TensorState]]:
    """Yield what happens when the reader moves λ."""
    models = {str(place): state.at(index) for place, index in enumerate(state.offered)}
    if len(models) > 1:
        yield Cases("model.selected", models)
