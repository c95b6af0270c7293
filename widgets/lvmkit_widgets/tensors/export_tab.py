"""Export tab of the tensor explorer: tables, pictures, page, steps."""

from __future__ import annotations

from collections.abc import Callable

from lvmkit_widgets.tensors.path_tab import draw_sparsity, models_table
from lvmkit_widgets.tensors.samples_tab import samples_table
from lvmkit_widgets.tensors.slices_tab import entries_table
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.export import TWICE, Export, page_export, steps_export
from lvmkit_widgets.ui.tables import table_export

NOTE = (
    "Files for others hold totals: counts below {0}, and means and discriminants of clusters with fewer than {0} "
    "samples, are hidden. Only the last one has a row for each sample. " + TWICE
)
ENTRIES = "Strength, discriminants and means of each."
MODELS = "BIC, entries and sizes of clusters at every λ."
SLICE = "The slice that is shown, as a picture for print."


def exports_of(slice_picture: Callable[[TensorState], str]) -> tuple[Export[TensorState], ...]:
    """List what can be taken away; the slice is drawn as the reader sees it."""
    return (
        table_export("entries", "Selected entries", entries_table, ENTRIES),
        table_export("models", "Models", models_table, MODELS),
        Export("slice", "Slice (SVG)", "slice.svg", slice_picture, SLICE),
        Export(
            "sparsity",
            "Sparsity path (SVG)",
            "sparsity-path.svg",
            lambda state: draw_sparsity(state, state.index),
            "The strength of entries against λ.",
            offered=lambda state: state.solution.path is not None,
        ),
        page_export("tensors.html"),
        steps_export("Repeats what was done here."),
        table_export(
            "labels",
            "Cluster of each sample",
            samples_table,
            "One row per sample: keep it with the data.",
            private="It has a row for every sample: keep it with the data.",
            mark="",
        ),
    )


def note_of(state: TensorState) -> str:
    """Say what files hold."""
    return NOTE.format(state.disclosure.threshold) if state.private else ""
