"""Tab of typical and borderline patients of a cluster, with the arithmetic of one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.mixtures.explanation import explain, steps_in_words
from lvmkit.mixtures.patients import borderline, codes_of, typical
from lvmkit_widgets.clusters.attributes_tab import FIRST, attributes_text, column_title
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Table, Text

STEPS = [
    {"key": "step", "label": "Step", "kind": "text"},
    {"key": "inside", "label": "In the cluster", "kind": "percent"},
    {"key": "outside", "label": "Elsewhere", "kind": "percent"},
    {
        "key": "factor",
        "label": "Odds ×",
        "kind": "number",
        "digits": 2,
        "help": "By how much this multiplies the odds of the cluster; below 1 speaks against it. "
        "Odds are the probability divided by that of all other clusters.",
    },
    {"key": "probability", "label": "Probability then", "kind": "bar", "max": 1},
]
LISTED = 20  # patients of each kind
CODES_SHOWN = 8  # of a patient, in a table of patients


class ClusterPatientsTab(ClusterTab):
    """Two short lists of patients, and the arithmetic for the one that is picked."""

    title: ClassVar[str] = "Patients"
    depends: ClassVar[frozenset[str]] = frozenset({"assignment", "history", "cluster", "patient"})

    def __init__(self) -> None:
        super().__init__()
        private = (
            "Patients are shown by their row in the cohort, not by their id. This tab is never "
            "part of a shared page."
        )
        lists = {
            "typical": "Typical: placed here with certainty, and with the codes of the cluster. ",
            "borderline": "Borderline: these nearly belong to another cluster. ",
        }
        self.lists = {
            name: Table(
                title=text.split(":", maxsplit=1)[0],
                help=text + private,
                key="row",
                page_size=5,
                needs_python=True,
            )
            for name, text in lists.items()
        }
        self.why = Text(title="Why here", needs_python=True)
        self.steps = Table(columns=STEPS, page_size=30, needs_python=True)
        self.components = {**self.lists, "why": self.why, "why_codes": self.steps}
        tabs = [{"title": table.title, "content": name} for name, table in self.lists.items()]
        self.layout = [{"tabs": tabs, "id": "members"}, "why", "why_codes"]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, a = self.state, self.state.assignment
        position = state.clustering.position(state.cluster)
        found = {
            "typical": typical(a, position, state.clustering.centers, count=LISTED),
            "borderline": borderline(a, position, count=LISTED),
        }
        for name, places in found.items():
            self.lists[name].param.update(
                columns=self._columns(), rows=[self._row(i) for i in places], page=0
            )
            self.lists[name].selected = None if state.patient is None else state.patient + 1
        self._explain()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        for name in self.lists:
            board.listen(name, "pick", self._choose)

    def _choose(self, row: int) -> None:
        """Pick a patient."""
        self.state.patient = int(row) - 1

    def _columns(self) -> list[dict[str, Any]]:
        """Columns of a list of patients."""
        shown = [column_title(name) for name in FIRST if name in self.state.patients.cohort.obs]
        who = {"key": "who", "label": ", ".join(shown), "kind": "text"}
        return [
            {"key": "row", "label": "Row", "kind": "integer"},
            {"key": "certainty", "label": "Belongs here", "kind": "percent"},
            {"key": "next", "label": "Next cluster", "kind": "text"},
            *([who] if shown else []),
            {"key": "codes", "label": "Codes", "kind": "text"},
        ]

    def _row(self, place: int) -> dict[str, Any]:
        """One patient of a list."""
        state, a = self.state, self.state.assignment
        second = a.runner_up[place]
        codes = codes_of(a.X[[place]], state.codes)
        titles = [state.patients.titles.get(c) or c for c in codes[:CODES_SHOWN]]
        more = f" and {len(codes) - CODES_SHOWN} more" if len(codes) > CODES_SHOWN else ""
        record = state.patients.cohort.obs.iloc[a.rows[place]]
        near = f"{state.counts().cluster_labels[second]} ({a.posterior[place, second]:.1%})"
        return {
            "row": int(a.rows[place]) + 1,
            "certainty": float(a.certainty[place]),
            "next": near if len(a.ids) > 1 else "",
            "who": attributes_text(record, [name for name in FIRST if name in record]),
            "codes": "; ".join(titles) + more,
        }

    def _explain(self) -> None:
        """Explain the patient that is picked."""
        state, a = self.state, self.state.assignment
        places = np.flatnonzero(a.rows == (-1 if state.patient is None else state.patient))
        self.steps.visible = bool(len(places))
        if not len(places):
            self.why.text = "Pick a patient above to see which codes speak for this cluster."
            return
        present = np.asarray(a.X[[places[0]]].toarray()).ravel() > 0
        evidence = explain(state.clustering, present, state.cluster)
        label = state.clustering.cluster(state.cluster).label
        own = state.clustering.labels[a.positions[places[0]]]
        self.why.text = (
            f"**Patient in row {int(state.patient or 0) + 1:,}** is placed in “{own}” "
            f"({a.certainty[places[0]]:.1%}). For “{label}” the codes say {evidence.posterior:.1%}: "
            "start with its share of all patients, and let each code multiply the odds."
        )
        self.steps.rows = steps_in_words(evidence, state.clustering, state.patients.titles)
