"""Take the clusters away: tables, pictures, a page that works without internet; and the steps taken."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.covariates.merges_tab import tree_fields
from lvmkit_widgets.covariates.path_tab import draw_curves
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.covariates.tables import clusters_table, covariates_table, path_table
from lvmkit_widgets.ui.export import TWICE, GivesSteps, written

FILES = {
    "clusters": ("Clusters (CSV)", "Size, class, odds ratio, weights and covariates of each."),
    "covariates": ("Covariates (CSV)", "The cluster of each, and what it speaks for by itself."),
    "path": (
        "Path (CSV)",
        "Number of clusters, marginal likelihood and, where told, accuracy at every ν.",
    ),
    "tree": ("Tree (SVG)", "How the cluster that is picked, or all, came about."),
    "curves": ("Curves (SVG)", "What becomes of them along ν."),
    "page": ("Page (HTML)", "One file that answers without Python and without internet."),
    "python": ("Steps as Python (py)", "Repeats what was done here."),
}
TABLES = {"clusters": clusters_table, "covariates": covariates_table, "path": path_table}
NOTE = (
    "Files hold weights, names of covariates and, where told, accuracies: nothing of single samples, and no counts "
    f"but those of covariates. Names are in them as you passed them. {TWICE}"
)


class Files(GivesSteps[PathState]):
    """Buttons that hand over files, and the steps taken."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history"})

    def refresh(self) -> None:
        """Show the state as it is now."""
        buttons: list[dict[str, Any]] = [
            {"name": name, "kind": "button", "label": label, "help": told}
            for name, (label, told) in FILES.items()
        ]
        self.form.controls = [*buttons, {"name": "note", "kind": "note", "label": NOTE}]
        self.show_steps()

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        if name in TABLES:
            return f"{name}.csv", csv(TABLES[name](state)), "text/csv"
        if name == "python":
            return "steps.py", f"{state.history.code}\n".encode(), "text/x-python"
        if name == "page":
            data = written(self._board.to_html, "covariates.html")
            return "covariates.html", data, "text/html"
        if name == "curves":
            drawn = draw_curves(state, state.step, links=False)
            return "along-nu.svg", drawn.encode(), "image/svg+xml"
        cluster = None if state.every else state.cluster
        fields = tree_fields(state, state.step, cluster, links=False)
        if not fields["svg"]:
            raise ValueError(fields["caption"])
        return "clusters-tree.svg", fields["svg"].encode(), "image/svg+xml"
