"""Tab of the clusters of a solution, and the covariates of one of them."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts.path_curves import nu_text
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import CovariateCluster, Covariates

HELP = (
    "Covariates of one cluster share one weight for each class. A cluster speaks for the class with the highest "
    "weight. Its odds ratio compares that class with the next: 2 means that one unit more of any of its "
    "covariates doubles the odds of the one against the other, 1 that it tells nothing. Weights are those of a "
    "logistic regression on the sums of the clusters."
)


class CovariateClustersTab(Tab[PathState]):
    """List of clusters, and the one that is picked."""

    title: ClassVar[str] = "Clusters"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "cluster", "covariate"})

    def __init__(self) -> None:
        super().__init__()
        self.list = Covariates(title="Clusters at this ν", help=HELP)
        self.one = CovariateCluster(title="The cluster that is picked", source="clusters")
        self.components = {"clusters": self.list, "cluster": self.one}
        self.layout = {"row": ["clusters", "cluster"], "widths": [1.5, 1]}

    def attach(self, state: PathState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.list.param.update(
            names=list(state.names),
            classes=list(state.classes),
            alone=packed(state.alone, "<f4"),
            **fields_of(state, state.step),
        )
        self.one.least_nu = f"ν = {nu_text(float(state.path[0].nu))}"

    def show_selection(self) -> None:
        """Show what is picked."""
        state = self.state
        if self.changed("step", state.step):
            self.list.param.update(**fields_of(state, state.step))
        self.list.param.update(selected=state.cluster, covariate=state.covariate)

    def refresh(self) -> None:
        """Show the state as it is now."""
        self.show_selection()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("clusters", "selected", self._picked)
        board.listen("clusters", "covariate", self._found)

    def _picked(self, cluster: int | None) -> None:
        """Look at a cluster."""
        if cluster != self.state.cluster:
            self.state.pick(cluster)

    def _found(self, covariate: int | None) -> None:
        """Look at the cluster of a covariate."""
        if covariate is None:
            self.state.covariate = None
        elif covariate != self.state.covariate:
            self.state.find(covariate)


def fields_of(state: PathState, step: int) -> dict[str, Any]:
    """Describe the clusters of a solution."""
    solution = state.path[step]
    return {
        "labels": packed(solution.labels, "<i4"),
        "weights": packed(solution.cluster_coef, "<f4"),
        "step": step,
    }
