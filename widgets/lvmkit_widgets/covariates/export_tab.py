"""Export tab of the covariate path: tables, pictures, page, steps."""

from __future__ import annotations

from lvmkit_widgets.covariates.merges_tab import tree_fields
from lvmkit_widgets.covariates.path_tab import draw_curves
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.covariates.tables import clusters_table, covariates_table, path_table
from lvmkit_widgets.ui.export import TWICE, Export, StepsExportTab, page_export, steps_export

NOTE = (
    "Files hold weights, names of covariates and, where told, accuracies: nothing of single samples, and no counts "
    f"but those of covariates. Names are in them as you passed them. {TWICE}"
)


def tree_picture(state: PathState) -> str:
    """Draw the tree of the cluster that is picked, or of all, without links."""
    cluster = None if state.every else state.cluster
    fields = tree_fields(state, state.step, cluster)
    if not fields["svg"]:
        raise ValueError(fields["caption"])
    return fields["svg"]


EXPORTS: tuple[Export[PathState], ...] = (
    Export(
        "clusters",
        "Clusters (CSV)",
        "clusters.csv",
        clusters_table,
        "Size, class, odds ratio, weights and covariates of each.",
    ),
    Export(
        "covariates",
        "Covariates (CSV)",
        "covariates.csv",
        covariates_table,
        "The cluster of each, and what it speaks for by itself.",
    ),
    Export(
        "path",
        "Path (CSV)",
        "path.csv",
        path_table,
        "Number of clusters, marginal likelihood and, where told, accuracy at every ν.",
    ),
    Export(
        "tree",
        "Tree (SVG)",
        "clusters-tree.svg",
        tree_picture,
        "How the cluster that is picked, or all, came about.",
    ),
    Export(
        "curves",
        "Curves (SVG)",
        "along-nu.svg",
        lambda state: draw_curves(state, state.step),
        "What becomes of them along ν.",
    ),
    page_export("covariates.html"),
    steps_export("Repeats what was done here."),
)


class CovariateExportTab(StepsExportTab[PathState]):
    """Buttons that hand over files, and the steps taken."""

    exports = EXPORTS

    def note(self, state: PathState) -> str:
        """Say what files hold."""
        return NOTE
