"""Subtitle and footer of the tensor explorer."""

from __future__ import annotations

from lvmkit.disclosure.text import is_few
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.words import counted

FOOTER = (
    "Discriminants compare with cluster 0. Each model numbers its clusters anew, so that at another λ one may have "
    "another number. Clusters and discriminants describe these data; they do not say what causes what."
)


def subtitle(state: TensorState) -> str:
    """Say how many samples of which shape there are."""
    n, modes = len(state.samples.values), state.modes
    few = f"<{state.disclosure.threshold} samples"
    shape = " × ".join(f"{size:,}" for size in modes.shape)
    more = [state.samples.name] if len(state.sets) > 1 else []
    return " · ".join(
        [
            *more,
            few if is_few(n, state.disclosure.level) else counted(n, "sample"),
            f"{shape} ({' × '.join(modes.names)})",
            state.title_of(state.index),
        ]
    )
