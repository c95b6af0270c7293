"""Export tab of the tensor explorer: tables, pictures, page, steps."""

from __future__ import annotations

from collections.abc import Callable

from lvmkit_widgets.tensors.path_tab import draw_sparsity
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.tensors.tables import entries_table, models_table, samples_table
from lvmkit_widgets.ui.export import TWICE, Export, StepsExportTab, page_export, steps_export

NOTE = (
    "Files for others hold totals: counts below {0}, and means and discriminants of clusters with fewer than {0} "
    "samples, are hidden. Only the last one has a row for each sample. " + TWICE
)


def exports_of(slice_picture: Callable[[TensorState], str]) -> tuple[Export[TensorState], ...]:
    """List what can be taken away; the slice is drawn as the reader sees it."""
    return (
        Export(
            "entries",
            "Selected entries (CSV)",
            "entries.csv",
            entries_table,
            "Strength, discriminants and means of each.",
        ),
        Export(
            "models",
            "Models (CSV)",
            "models.csv",
            models_table,
            "BIC, entries and sizes of clusters at every λ.",
        ),
        Export(
            "slice",
            "Slice (SVG)",
            "slice.svg",
            slice_picture,
            "The slice that is shown, as a picture for print.",
        ),
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
        Export(
            "labels",
            "Cluster of each sample (CSV)",
            "labels.csv",
            samples_table,
            "One row per sample: keep it with the data.",
            private="It has a row for every sample: keep it with the data.",
            mark="",
        ),
    )


class TensorExportTab(StepsExportTab[TensorState]):
    """Buttons that hand over files, and the steps taken."""

    def __init__(self, slice_picture: Callable[[TensorState], str]) -> None:
        super().__init__()
        self.exports = exports_of(slice_picture)

    def note(self, state: TensorState) -> str:
        """Say what files hold."""
        return NOTE.format(state.disclosure.threshold) if state.private else ""
