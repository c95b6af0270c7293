"""Contents of a saved page of the tensor explorer: models along λ, nothing of single samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit_widgets.tensors.model_form import items, option
from lvmkit_widgets.tensors.path_tab import bic_text, draw_bic, draw_numbers, draw_sparsity
from lvmkit_widgets.tensors.samples_tab import agreement_text, certain_fields, groups_fields
from lvmkit_widgets.tensors.slices_tab import fields_of, list_of
from lvmkit_widgets.tensors.state import TensorState

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


def fixed(state: TensorState) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values."""
    indices = held(state)
    options = [option(state, index) for index in indices]
    if len(indices) < len(state.along):
        part = f"this page holds {len(indices)} of {len(state.along)} values of λ"
        for told in options:
            told["note"] = "; ".join(filter(None, [told["note"], part]))
    shown = {"model": {"options": options, "selected": indices.index(state.index)}}
    return shown | {
        name: {"svg": draw(state, state.index, links=False)} for name, draw in _pictures(state)
    }


def cases(state: TensorState) -> list[dict[str, Any]]:
    """Return what a saved page shows when the reader moves λ."""
    indices = held(state)
    if len(indices) < 2:
        return []
    return [
        {
            "when": "model.selected",
            "cases": {str(i): _case(state, p) for i, p in enumerate(indices)},
        }
    ]


def _case(state: TensorState, index: int) -> dict[str, Any]:
    """Return the fields that change with the model."""
    known = {
        "slices": fields_of(state, index),
        "entries": list_of(state, index),
        "clusters": {"items": items(state, index)},
        "certain": certain_fields(state, index),
        "groups": groups_fields(state, index),
        "agreement": {"text": agreement_text(state, index)},
        "bic": {"alt": bic_text(state, index)},
    }
    found = {
        f"{name}.{field}": value for name, part in known.items() for field, value in part.items()
    }
    pictures = {f"{name}.svg": draw(state, index, links=False) for name, draw in _pictures(state)}
    return found | pictures


def _pictures(state: TensorState) -> list[tuple[str, Any]]:
    """List the pictures along λ that there are."""
    if state.solution.path is None:
        return []
    numbers = [("numbers", draw_numbers)] if len(state.numbers) > 1 else []
    return [("sparsity", draw_sparsity), ("bic", draw_bic), *numbers]
