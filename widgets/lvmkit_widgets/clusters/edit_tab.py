"""Tab that changes the clusters: fit again, choose patients and codes, split, merge."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.cohorts.subset import Subset
from lvmkit.mixtures.refit import FitJob
from lvmkit_widgets.clusters.filter_form import FilterForm
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form


class EditTab(ClusterTab):
    """Three forms, each a way to change the clusters. Every change can be undone."""

    title: ClassVar[str] = "Change the clusters"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "cluster", "k", "subset", "excluded"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.fit = Form(
            title="Fit again",
            help="Finds new clusters among the chosen patients, without the codes left out. Names "
            "and notes stay with clusters that keep more than half of their patients.",
            inline=True,
        )
        self.split = Form(
            title="Split a cluster",
            help="Clusters the patients of one cluster again. The parts get new ids; all other "
            "clusters keep theirs.",
            inline=True,
        )
        self.merge = Form(
            title="Merge clusters",
            help="The probabilities of the merged clusters add up; nothing is averaged away, and a "
            "merge can be taken apart again.",
            inline=True,
        )
        self.components = {"refit": self.fit, "split": self.split, "merge": self.merge}
        self.layout = ["refit", {"row": ["split", "merge"]}]
        self._board: Dashboard | None = None

    def attach(self, state: ExplorerState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.choice = FilterForm(state)

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        options = [
            [str(i), label]
            for i, label in zip(state.clustering.ids, state.counts().cluster_labels, strict=True)
        ]
        self.fit.controls = self._fit_controls()
        self.fit.values = {**self.choice.values(), "k": state.k}
        self.split.controls = [
            {"name": "cluster", "kind": "select", "label": "Cluster", "options": options},
            {"name": "parts", "kind": "number", "label": "Into parts", "min": 2, "step": 1},
            {"name": "split", "kind": "button", "label": "Split", "primary": True},
        ]
        parts = self.split.values.get("parts") or 2
        self.split.values = {"cluster": str(state.cluster), "parts": parts}
        merged = bool(state.clustering.cluster(state.cluster).parts)
        self.merge.controls = [
            {"name": "clusters", "kind": "multiselect", "label": "Clusters", "options": options},
            {"name": "name", "kind": "text", "label": "Name of the new cluster"},
            {"name": "merge", "kind": "button", "label": "Merge", "primary": True},
            *([{"name": "unmerge", "kind": "button", "label": "Take apart"}] if merged else []),
        ]
        known = {value for value, _ in options}
        chosen = [i for i in self.merge.values.get("clusters") or [] if i in known]
        self.merge.values = {"clusters": chosen, "name": ""}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board = board
        board.listen("refit", "values", self._choose)
        board.listen("refit", "pressed", self._fit_pressed)
        board.listen("split", "pressed", self._split_pressed)
        board.listen("merge", "pressed", self._merge_pressed)
        board.listen("sizes", "others", self._offer_merge)

    def _fit_controls(self) -> list[dict[str, Any]]:
        """Return the controls of the fit, and how many patients are chosen."""
        state = self.state
        n, total = state.n_chosen, state.patients.n_patients
        codes = len(state.patients.codes) - len(state.excluded)
        chosen = f"{n:,} of {total:,} patients and {codes:,} codes are chosen."
        if not n:
            chosen = "Nobody fits this choice. Widen it."
        return [
            {"name": "k", "kind": "number", "label": "Number of clusters", "min": 1, "step": 1},
            *self.choice.controls(),
            {"name": "chosen", "kind": "note", "label": chosen},
            {"name": "fit", "kind": "button", "label": "Fit again", "primary": True},
            {
                "name": "show",
                "kind": "button",
                "label": "Only show these patients",
                "help": "Keeps the clusters as they are.",
            },
            {"name": "all", "kind": "button", "label": "All patients, all codes"},
        ]

    def _choose(self, values: dict[str, Any]) -> None:
        """Take the choice into the state."""
        excluded = [str(code) for code in values.get("excluded") or []]
        fields: dict[str, Any] = {"subset": self.choice.subset(values), "excluded": excluded}
        if values.get("k") is not None:
            fields["k"] = int(values["k"])
        self.state.param.update(**fields)

    def _fit_pressed(self, name: str) -> None:
        """Fit, show or reset."""
        if name == "fit":
            self._run(self.state.plan_refit())
        elif name == "show":
            self.state.show(self.state.subset)
        else:
            self.state.param.update(subset=Subset(), excluded=[])

    def _split_pressed(self, _: str) -> None:
        """Split the cluster that is chosen."""
        values = self.split.values
        parts = values.get("parts")
        if parts is None:
            message = "Say into how many parts the cluster is to be split."
            raise ValueError(message)
        self._run(self.state.plan_split(int(values["cluster"]), parts=int(parts)))

    def _merge_pressed(self, name: str) -> None:
        """Merge, or take a merge apart."""
        if name == "unmerge":
            self.state.unmerge(self.state.cluster)
            return
        values = self.merge.values
        chosen = [int(i) for i in values.get("clusters") or []]
        self.state.merge(chosen, name=str(values.get("name") or ""))

    def _offer_merge(self, others: list[int]) -> None:
        """Put clusters added by Shift-click into the merge form."""
        if others:
            chosen = [str(i) for i in dict.fromkeys([self.state.cluster, *others])]
            self.merge.values = {**self.merge.values, "clusters": chosen}

    def _run(self, job: FitJob) -> None:
        """Do long work beside the dashboard."""
        if self._board is not None:
            self._board.background(job.work, job.done, label=job.title)
