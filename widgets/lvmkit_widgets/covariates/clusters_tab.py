"""Tab of the clusters of a solution, and the covariates of one of them."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts.path_curves import nu_text
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
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

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "clusters": Covariates(title="Clusters at this ν", help=HELP),
            "cluster": CovariateCluster(title="The cluster that is picked", source="clusters"),
        }
        self.layout = {"row": ["clusters", "cluster"], "widths": [1.5, 1]}
        self.events = {"clusters.selected": PathState.pick, "clusters.covariate": PathState.find}

    def picks(self, state: PathState) -> Fields:
        """Show the solution and what is picked of it."""
        held, key = state.held, (state.step, state.cluster)
        shown = "" if held is None or key not in held.trees else f"{state.step}:{state.cluster}"
        picked = {"selected": state.cluster, "covariate": state.covariate, "shown": shown}
        least = f"ν = {nu_text(float(state.path[0].nu))}"
        clusters = {**of_solution(state, state.step), **picked}
        return {"clusters": clusters, "cluster": {"least_nu": least}}


@remembered
def of_solution(state: PathState, step: int) -> dict[str, Any]:
    """Describe the clusters of a solution."""
    solution = state.path[step]
    return {
        "names": list(state.names),
        "classes": list(state.classes),
        "alone": packed(state.alone, "<f4"),
        "labels": packed(solution.labels, "<i4"),
        "weights": packed(solution.cluster_coef, "<f4"),
        "step": step,
    }
