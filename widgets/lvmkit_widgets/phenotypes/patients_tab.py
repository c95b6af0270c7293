"""Tab of patients who score high on a phenotype, page by page."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.mixtures.analysis import short
from lvmkit_widgets.clusters.attributes_tab import who, who_columns
from lvmkit_widgets.phenotypes.state import CardsState, reaching
from lvmkit_widgets.ui.controls import button, column, select
from lvmkit_widgets.ui.paging import FIRST_PAGE, turning
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Table, Text
from lvmkit_widgets.ui.words import counted, first_of

PAGE = 12
SCORED = 2  # place of the tab that shows how the scores of one patient come about
CODES_SHOWN = 4  # of a patient
SCORES_SHOWN = 5
HELP = (
    "Patients are shown by their row in the cohort, not by their id; the highest scores come first. Pick one to see "
    "how its scores come about. A list of single patients hides no small number, and is never part of a saved page."
)


class PhenotypePatientsTab(Tab[CardsState]):
    """Pages of patients, made by Python when they are turned to."""

    title: ClassVar[str] = "Patients"

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "which": Form(inline=True),
            "how_many": Text(needs_python=True),
            "members": Table(key="row", page_size=PAGE, total=0, needs_python=True),
        }
        self.layout = ["which", "how_many", "members"]
        self.events = {
            "which.values": choose,
            "which.pressed": lambda _state, _button: lambda board: board.open_explorer(),
            "members.pick": lambda state, row: state.replace(row=int(row) - 1, tab=SCORED),
            **turning("members"),
        }

    def picks(self, state: CardsState) -> Fields:
        """Say whether there are patients."""
        there = {"visible": state.people is not None and state.known}
        return dict.fromkeys(self.components, there)

    def fields(self, state: CardsState) -> Fields:
        """List the patients who reach the level."""
        if state.people is None or not state.known or not state.live:
            return {}
        found: Any = state.rows_from(state.phenotype, state.level)
        rows = state.paging.rows(found, lambda i: record_of(state, int(i)), PAGE)
        titles = {"title": state.row_name.capitalize(), "help": HELP, "columns": columns_of(state)}
        picked = None if state.row is None else state.row + 1
        values = {"phenotype": state.phenotype, "level": state.level}
        return {
            "which": {"controls": controls_of(state), "values": values},
            "how_many": {"text": told_of(state, len(found))},
            "members": {**titles, **rows, "selected": picked},
        }


def choose(state: CardsState, values: dict[str, Any]) -> CardsState:
    """Take phenotype and level."""
    phenotype, level = values.get("phenotype"), values.get("level")
    if phenotype is None or level is None:
        return state
    return state.replace(phenotype=int(phenotype), level=int(level), paging=FIRST_PAGE)


def controls_of(state: CardsState) -> list[dict[str, Any]]:
    """Describe the controls."""
    options = [[r, state.label(r)] for r in range(len(state.phenotypes))]
    levels = [[level, reaching(level)] for level in state.phenotypes.levels if level != 0]
    below = "Below this dashboard: these patients against all others."
    return [
        select("phenotype", "Phenotype", options, wide=True),
        select("level", "Score", levels),
        button("explore", "Open in the cluster explorer", help=below),
    ]


def told_of(state: CardsState, n: int) -> str:
    """Say how many patients there are."""
    whole = len(state.scores)
    return (
        f"**{counted(n, state.one)}** ({n / whole:.1%} of {whole:,}) score {reaching(state.level)} "
        f"on {state.label(state.phenotype)}."
    )


def columns_of(state: CardsState) -> list[dict[str, Any]]:
    """Describe the columns of the list."""
    assert state.people is not None
    return [
        column("row", "Row", "integer"),
        column("score", "Score", "integer"),
        *who_columns(state.people.obs),
        column("others", "Other phenotypes"),
        column("what", "Most frequent"),
    ]


def record_of(state: CardsState, row: int) -> dict[str, Any]:
    """Describe one patient."""
    people = state.people
    assert people is not None
    scores = np.asarray(state.scores[row])
    return {
        "row": row + 1,
        "score": int(scores[state.phenotype]),
        "who": who(people.obs, row),
        "others": other_scores(state, scores),
        "what": most_frequent(state, row),
    }


def other_scores(state: CardsState, scores: Any) -> str:
    """Write the scores of a patient on other phenotypes, the highest first."""
    found = [
        int(r) for r in np.argsort(-scores, kind="stable") if scores[r] and r != state.phenotype
    ]
    told = []
    for r in found:
        name = state.annotations.of(r).name
        told.append(f"{r} ({short(name)}): {scores[r]}" if name else f"{r}: {scores[r]}")
    return first_of(told, SCORES_SHOWN)


def most_frequent(state: CardsState, row: int) -> str:
    """Write what a patient has most often."""
    people, modes = state.people, state.phenotypes.modes
    assert people is not None
    places, counts = people.cells(row, state.phenotypes)
    told = []
    for c in range(len(counts)):
        names = [short(m.describe(int(axis[c]))) for m, axis in zip(modes, places, strict=True)]
        times = f" ({counts[c]:g}×)" if counts[c] != 1 else ""
        told.append(" × ".join(names) + times)
    return first_of(told, CODES_SHOWN)
