"""Tab with the dendrogram of the cluster that is picked, along ν."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import svg
from lvmkit.charts.dendrogram import dendrogram_chart, dendrogram_table
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import Form, Picture

HELP = (
    "Read it from left to right: single covariates, then the sets in which they come together as ν grows, up to "
    "the clusters of the solution that is looked at. The color is the class that a covariate or a set speaks for,"
    " the number beside a name or under a set its odds ratio against the next class. Early meetings are of "
    "covariates that are similar and say the same; a set with two colors in it joins covariates that say "
    "different things. Click a set to look at the ν at which it arises, a covariate to find it in the list."
)


class MergesTab(Tab[PathState]):
    """The tree of the cluster that is picked, or of all."""

    title: ClassVar[str] = "How it came about"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"history", "cluster", "least_odds", "most", "every"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True)
        self.tree = Picture(
            title="From covariates to clusters", help=HELP, download="clusters-tree"
        )
        self.components = {"tree_of": self.form, "tree": self.tree}
        self.layout = ["tree_of", "tree"]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        one = "The cluster that is picked" if state.cluster is None else f"Cluster {state.cluster}"
        self.form.controls = [
            {
                "name": "every",
                "kind": "select",
                "label": "Show",
                "options": [[False, one], [True, "All clusters"]],
            },
            {
                "name": "least",
                "kind": "number",
                "label": "Odds ratio of a covariate at least",
                "min": 1,
                "step": 0.1,
            },
            {
                "name": "most",
                "kind": "number",
                "label": "Covariates at most",
                "min": 1,
                "max": 200,
                "step": 1,
            },
        ]
        self.form.values = {"every": state.every, "least": state.least_odds, "most": state.most}
        self.tree.param.update(**self._fields())

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board: Any = board
        board.listen("tree_of", "values", self._set)
        board.listen("tree", "pick", self._pick)

    def _fields(self) -> dict[str, str]:
        """Draw the tree, or take the one drawn before."""
        state = self.state
        key = (state.step, state.cluster, state.least_odds, state.most, state.every)
        if self.changed("tree", key):
            self._shown = tree_fields(state, state.step, None if state.every else state.cluster)
        return self._shown

    def _set(self, values: dict[str, Any]) -> None:
        """Take what is to be shown."""
        changes: dict[str, Any] = {"every": bool(values.get("every"))}
        if values.get("least") is not None:
            changes["least_odds"] = float(values["least"])
        if values.get("most") is not None:
            changes["most"] = int(values["most"])
        self.state.param.update(**changes)

    def _pick(self, mark: dict[str, str]) -> None:
        """Go to where a set arises, or find a covariate."""
        if "covariate" in mark:
            self.state.find(int(mark["covariate"]))
        else:
            step, cluster = map(int, mark["set"].split("-"))
            self.state.choose(step)
            self.state.pick(cluster)
        self._board.open_tab("main", 0)


def tree_fields(
    state: PathState, step: int, cluster: int | None, *, links: bool = True
) -> dict[str, str]:
    """Draw the tree of a cluster, or of all, or say why there is none."""
    table = tree_table(state, step, cluster)
    why = ""
    n = int(table["covariate"].notna().sum())
    if not n:
        why = f"No covariate in it has an odds ratio of {state.least_odds:g} or more by itself: lower the limit."
    elif cluster is not None and (state.path[step].labels == cluster).sum() == 1:
        why = f"Cluster {cluster} is one covariate that has met no other up to this ν: move ν to the right."
    chart = dendrogram_chart(table, width=760, links=links) if n else None
    told = f"Tree of {n} covariates up to {state.describe(step)}."
    return {"svg": "" if chart is None else svg(chart), "alt": told, "caption": why}


def tree_table(state: PathState, step: int, cluster: int | None) -> Any:
    """Tabulate the tree of a cluster, or of all."""
    return dendrogram_table(
        state.path,
        step,
        cluster=cluster,
        names=state.names,
        min_odds_ratio=state.least_odds,
        max_items=state.most,
    )
