"""Tab of typical and borderline patients of a cluster, with the arithmetic of one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.mixtures.assignment import Assignment
from lvmkit.mixtures.explanation import explain, steps_in_words
from lvmkit.mixtures.patients import borderline, codes_of, typical
from lvmkit_widgets.clusters.attributes_tab import who, who_columns
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Table, Text
from lvmkit_widgets.ui.words import first_of

FACTOR = (
    "By how much this multiplies the odds of the cluster; below 1 speaks against it. Odds are the probability divided "
    "by that of all other clusters."
)
STEPS = [
    column("step", "Step"),
    column("inside", "In the cluster", "percent"),
    column("outside", "Elsewhere", "percent"),
    column("factor", "Odds ×", "number", digits=2, help=FACTOR),
    column("probability", "Probability then", "bar", max=1),
]
LISTED = 20  # patients of each kind
CODES_SHOWN = 8  # of a patient, in a table of patients


class ClusterPatientsTab(Tab[ExplorerState]):
    """Two short lists of patients, and the arithmetic for the one that is picked."""

    title: ClassVar[str] = "Patients"

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
        tables = {
            name: Table(
                title=text.split(":", maxsplit=1)[0],
                help=text + private,
                key="row",
                page_size=5,
                needs_python=True,
            )
            for name, text in lists.items()
        }
        self.components = {
            **tables,
            "why": Text(title="Why here", needs_python=True),
            "why_codes": Table(columns=STEPS, page_size=30, needs_python=True),
        }
        tabs = [{"title": table.title, "content": name} for name, table in tables.items()]
        self.layout = [{"tabs": tabs, "id": "members"}, "why", "why_codes"]
        self.events = {
            f"{name}.pick": lambda state, row: state.replace(patient=int(row) - 1)
            for name in tables
        }

    def fields(self, state: ExplorerState) -> Fields:
        """List the patients of the cluster that is picked, and explain the one that is."""
        if not state.live:
            return {}
        picked = None if state.patient is None else state.patient + 1
        lists = lists_of(state, state.assignment)
        shown = {name: {**fields, "selected": picked} for name, fields in lists.items()}
        return {**shown, **explanation(state)}


@remembered
def lists_of(state: ExplorerState, a: Assignment) -> dict[str, dict[str, Any]]:
    """List typical and borderline patients of the cluster that is picked."""
    position = state.clustering.position(state.cluster)
    found = {
        "typical": typical(a, position, state.clustering.centers, count=LISTED),
        "borderline": borderline(a, position, count=LISTED),
    }
    columns = [
        column("row", "Row", "integer"),
        column("certainty", "Belongs here", "percent"),
        column("next", "Next cluster"),
        *who_columns(state.patients.cohort.obs),
        column("codes", "Codes"),
    ]
    return {
        name: {"columns": columns, "rows": [row_of(state, i) for i in places], "page": 0}
        for name, places in found.items()
    }


def row_of(state: ExplorerState, place: int) -> dict[str, Any]:
    """One patient of a list."""
    a = state.assignment
    second = a.runner_up[place]
    codes = codes_of(a.X[[place]], state.codes)
    titles = [state.patients.titles.get(c) or c for c in codes]
    near = f"{state.counts().cluster_labels[second]} ({a.posterior[place, second]:.1%})"
    return {
        "row": int(a.rows[place]) + 1,
        "certainty": float(a.certainty[place]),
        "next": near if len(a.ids) > 1 else "",
        "who": who(state.patients.cohort.obs, int(a.rows[place])),
        "codes": first_of(titles, CODES_SHOWN),
    }


def explanation(state: ExplorerState) -> Fields:
    """Explain the patient that is picked."""
    a = state.assignment
    places = np.flatnonzero(a.rows == (-1 if state.patient is None else state.patient))
    if not len(places):
        text = "Pick a patient above to see which codes speak for this cluster."
        return {"why": {"text": text}, "why_codes": {"visible": False}}
    present = np.asarray(a.X[[places[0]]].toarray()).ravel() > 0
    evidence = explain(state.clustering, present, state.cluster)
    label = state.clustering.cluster(state.cluster).label
    own = state.clustering.labels[a.positions[places[0]]]
    text = (
        f"**Patient in row {int(state.patient or 0) + 1:,}** is placed in “{own}” "
        f"({a.certainty[places[0]]:.1%}). For “{label}” the codes say {evidence.posterior:.1%}: "
        "start with its share of all patients, and let each code multiply the odds."
    )
    steps = steps_in_words(evidence, state.clustering, state.patients.titles)
    return {"why": {"text": text}, "why_codes": {"rows": steps, "visible": True}}
