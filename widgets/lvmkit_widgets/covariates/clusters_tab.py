"""Tabs of the clusters of a solution: what is in one of them, and how it came about."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import svg
from lvmkit.charts.dendrogram import dendrogram_chart, dendrogram_table
from lvmkit.charts.path_curves import nu_text
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.controls import number, select
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import CovariateCluster, Covariates, Form, Picture

HELP = (
    "Covariates of one cluster share one weight for each class. A cluster speaks for the class with the highest "
    "weight. Its odds ratio compares that class with the next: 2 means that one unit more of any of its "
    "covariates doubles the odds of the one against the other, 1 that it tells nothing. Weights are those of a "
    "logistic regression on the sums of the clusters."
)
TREE_HELP = (
    "Read it from left to right: single covariates, then the sets in which they come together as ν grows, up to "
    "the clusters of the solution that is looked at. The color is the class that a covariate or a set speaks for,"
    " the number beside a name or under a set its odds ratio against the next class. Early meetings are of "
    "covariates that are similar and say the same; a set with two colors in it joins covariates that say "
    "different things. Click a set to look at the ν at which it arises, a covariate to find it in the list."
)


MISSING = "The tree of this cluster is not in this page; the dashboard draws it."


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


class MergesTab(Tab[PathState]):
    """The tree of the cluster that is picked, or of all."""

    title: ClassVar[str] = "How it came about"

    def __init__(self) -> None:
        super().__init__()
        tree = Picture(
            title="From covariates to clusters", help=TREE_HELP, download="clusters-tree"
        )
        self.components = {"tree_of": Form(inline=True), "tree": tree}
        self.layout = ["tree_of", "tree"]
        self.events = {"tree_of.values": set_options, "tree.pick": pick_mark}

    def fields(self, state: PathState) -> Fields:
        """Show the tree, and what is chosen of it; a saved page has some of the trees."""
        values = {"every": state.every, "least": state.least_odds, "most": state.most}
        form = {"controls": controls_of(state.cluster), "values": values}
        held, step, cluster = state.held, state.step, None if state.every else state.cluster
        if held is not None and (step, cluster) not in held.trees:
            return {"tree_of": form, "tree": {"svg": "", "alt": "", "caption": MISSING}}
        return {"tree_of": form, "tree": tree_fields(state, step, cluster)}


def controls_of(cluster: int | None) -> list[dict[str, Any]]:
    """Describe what can be chosen."""
    one = "The cluster that is picked" if cluster is None else f"Cluster {cluster}"
    return [
        select("every", "Show", [[False, one], [True, "All clusters"]]),
        number("least", "Odds ratio of a covariate at least", step=0.1),
        number("most", "Covariates at most", max=200),
    ]


def set_options(state: PathState, values: dict[str, Any]) -> PathState:
    """Take what is to be shown."""
    least, most = values.get("least"), values.get("most")
    return state.replace(
        every=bool(values.get("every")),
        least_odds=state.least_odds if least is None else least,
        most=state.most if most is None else int(most),
    )


def pick_mark(state: PathState, mark: dict[str, str]) -> PathState:
    """Go to where a set arises, or find a covariate."""
    if "covariate" in mark:
        return state.find(int(mark["covariate"])).replace(tab=0)
    step, cluster = map(int, mark["set"].split("-"))
    return state.choose(step).pick(cluster).replace(tab=0)


@remembered
def tree_fields(state: PathState, step: int, cluster: int | None) -> dict[str, str]:
    """Draw the tree of a cluster, or of all, or say why there is none."""
    table = dendrogram_table(
        state.path,
        step,
        cluster=cluster,
        names=state.names,
        min_odds_ratio=state.least_odds,
        max_items=state.most,
    )
    why = ""
    n = int(table["covariate"].notna().sum())
    if not n:
        why = f"No covariate in it has an odds ratio of {state.least_odds:g} or more by itself: lower the limit."
    elif cluster is not None and (state.path[step].labels == cluster).sum() == 1:
        why = f"Cluster {cluster} is one covariate that has met no other up to this ν: move ν to the right."
    chart = dendrogram_chart(table, width=760, links=state.live) if n else None
    told = f"Tree of {n} covariates up to {state.describe(step)}."
    return {"svg": "" if chart is None else svg(chart), "alt": told, "caption": why}
