"""Take the clusters away: tables, pictures, a page that works without internet; and the steps taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.tensors.path_tab import draw_sparsity
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.tensors.tables import entries_table, models_table, samples_table
from lvmkit_widgets.ui.export import TWICE, GivesSteps, written

FILES = {
    "entries": ("Selected entries (CSV)", "Strength, discriminants and means of each."),
    "models": ("Models (CSV)", "BIC, entries and sizes of clusters at every λ."),
    "slice": ("Slice (SVG)", "The slice that is shown, as a picture for print."),
    "sparsity": ("Sparsity path (SVG)", "The strength of entries against λ."),
    "page": ("Page (HTML)", "One file that answers without Python and without internet."),
    "python": ("Steps as Python (py)", "Repeats what was done here."),
    "labels": ("Cluster of each sample (CSV)", "One row per sample: keep it with the data."),
}
NOTE = (
    "Files for others hold totals: counts below 11, and means and discriminants of clusters with fewer than 11 "
    f"samples, are hidden. Only the last one has a row for each sample. {TWICE}"
)


class Files(GivesSteps[TensorState]):
    """Buttons that hand over files, and the steps taken."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history"})

    def __init__(self, slices: Callable[[], str]) -> None:
        super().__init__()
        self._slice = slices

    def refresh(self) -> None:
        """Show the state as it is now."""
        buttons: list[dict[str, Any]] = [
            {"name": name, "kind": "button", "label": label, "help": told}
            for name, (label, told) in FILES.items()
            if name != "sparsity" or self.state.solution.path is not None
        ]
        note = [{"name": "note", "kind": "note", "label": NOTE}] if self.state.private else []
        self.form.controls = [*buttons, *note]
        self.show_steps()

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        if name == "page":
            return "tensors.html", written(self._board.to_html, "tensors.html"), "text/html"
        if name == "python":
            return "steps.py", f"{state.history.code}\n".encode(), "text/x-python"
        if name == "labels":
            return "labels.csv", csv(samples_table(state)), "text/csv"
        with state.for_others():
            if name == "slice":
                return "slice.svg", self._slice().encode(), "image/svg+xml"
            if name == "sparsity":
                drawn = draw_sparsity(state, state.place, links=False)
                return "sparsity-path.svg", drawn.encode(), "image/svg+xml"
            table = entries_table(state) if name == "entries" else models_table(state)
            return f"{name}.csv", csv(table), "text/csv"

    def warning(self, name: str) -> str:
        """Say what to mind with a file."""
        private = self.state.private and name == "labels"
        return " It has a row for every sample: keep it with the data." if private else ""
