"""Tab of the scores of one patient, and how they multiply out to counts."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from lvmkit.core.validation import DataWarning
from lvmkit.sustain.count_cohort import Cells
from lvmkit.sustain.entry_parser import counts_row, parse_entries
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.reconstruction import describe_error, explain_cells
from lvmkit_widgets.phenotypes.state import EMPTY, CardsState
from lvmkit_widgets.ui.controls import button, column, number, text, textarea
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Table, Text
from lvmkit_widgets.ui.words import refuse

NOTHING = "The scores of a patient will stand here."
HELP = (
    "Nothing that you type leaves this machine. The model looks for whole-number scores whose sum comes nearest to "
    "the counts; phenotypes and weights stay as they are."
)


class ScorePatientTab(Tab[CardsState]):
    """One patient at a time."""

    title: ClassVar[str] = "Score a patient"

    def __init__(self) -> None:
        super().__init__()
        self.existing = Form(title="A patient of the cohort", inline=True)
        scores = Table(
            title="Scores",
            key="id",
            page_size=40,
            sort=["score", "desc"],
            needs_python=True,
            columns=[
                column("label", "Phenotype"),
                column("score", "Score", "integer"),
                column("weight", "Weight λ", "integer"),
                column("share", "Share with it", "percent"),
            ],
        )
        cells = Table(
            title="How the scores multiply out",
            help="The count expected of an entry is the sum, over the phenotypes, of λ · score of the patient · "
            "score of each feature. Entries that were not counted, but that the scores expect, stand last.",
            page_size=20,
            needs_python=True,
            columns=[
                column("what", "Entry"),
                column("seen", "Counted", "number", digits=0),
                column("expected", "Expected", "integer"),
                column("how", "= λ · patient · feature"),
            ],
        )
        self.components = {
            "existing": self.existing,
            "newcomer": Form(title="Another patient", help=HELP),
            "newcomer_answer": Text(needs_python=True, text=NOTHING),
            "newcomer_scores": scores,
            "newcomer_cells": cells,
        }
        left, right = ["existing", "newcomer"], ["newcomer_answer", "newcomer_scores"]
        self.layout = [{"row": [left, right], "widths": [1, 1.2]}, "newcomer_cells"]
        self.events = {
            "existing.pressed": self._find,
            "newcomer.values": lambda state, values: state.replace(draft=values),
            "newcomer.pressed": press,
            "newcomer_scores.pick": CardsState.pick,
        }

    def initial(self, state: CardsState) -> Fields:
        """Say what rows are."""
        there = state.people is not None and state.known
        existing = {"title": f"One {state.one} of the cohort", "visible": there}
        return {"existing": existing, "newcomer": {"title": f"Another {state.one}"}}

    def picks(self, state: CardsState) -> Fields:
        """Show what is being typed."""
        return {"newcomer": {"values": state.draft}}

    def fields(self, state: CardsState) -> Fields:
        """Show the forms, and the scores of the patient that is looked at."""
        if not state.live:
            return {}
        who = text("who", "Id, or row", placeholder="for instance: 1")
        existing: dict[str, Any] = {"controls": [who, button("find", "Show", primary=True)]}
        if state.row is not None:
            existing["values"] = {"who": str(state.row + 1)}
        form = {"controls": controls_of(state, state.phenotypes)}
        return {"existing": existing, "newcomer": form, **patient_of(state)}

    def _find(self, state: CardsState, _: str) -> Any:
        """Show a patient of the cohort."""
        assert state.people is not None
        who = str(self.existing.values.get("who") or "")
        return quietly(state.replace(row=state.people.row_of(who)))


def quietly(state: CardsState) -> Any:
    """Show a state; what was wrong with the try before is over."""

    def show(board: Any) -> None:
        board.state = state
        board.say("", state="idle")

    return show


def press(state: CardsState, name: str) -> Any:
    """Add an entry, begin anew, or score."""
    if name == "empty":
        return state.replace(draft=EMPTY, entered="")
    if name == "add":
        return state.replace(draft=with_entry(state))
    entries = str(state.draft.get("entries") or "")
    read(state, entries)  # refuses what is none
    return quietly(state.replace(row=None, entered=entries))


def with_entry(state: CardsState) -> dict[str, Any]:
    """Return the form with one more entry."""
    values, modes = state.draft, state.phenotypes.modes
    codes = [str(values.get(f"code{m}") or "").strip() for m in range(len(modes))]
    if not all(codes):
        refuse(f"Choose {' and '.join(mode.name for mode in modes)} first.")
    entry = f"{' + '.join(codes)}: {int(values.get('n') or 1)}"
    entries = str(values.get("entries") or "").rstrip()
    emptied = {f"code{m}": "" for m in range(len(modes))}
    return {**values, **emptied, "n": 1, "entries": f"{entries}\n{entry}".strip()}


def read(state: CardsState, entries: str) -> tuple[Cells, list[str]]:
    """Read entries, and what of them is not understood."""
    cells, unknown = parse_entries(entries, state.phenotypes)
    if not len(cells[1]):
        refuse(f"No entry was understood. {'; '.join(unknown)}".strip())
    return cells, unknown


def patient_of(state: CardsState) -> Fields:
    """Show the scores of the patient that is looked at, or of nobody."""
    if state.row is not None and state.people is not None and state.known:
        cells = state.people.cells(state.row, state.phenotypes)
        who = f"The {state.one} in row {state.row + 1:,}"
        return scored(state, who, np.asarray(state.scores[state.row]), cells)
    if not state.entered:
        nothing = {"rows": [], "visible": False}
        told = {"newcomer_answer": {"text": NOTHING}}
        return {**told, "newcomer_scores": nothing, "newcomer_cells": nothing}
    cells, unknown = read(state, state.entered)
    left_out = f"\n\nLeft out: {'; '.join(unknown)}." if unknown else ""
    scores = scores_of(state, state.phenotypes, state.entered)
    return scored(state, f"The {state.one} that was typed", scores, cells, left_out)


@remembered
def scores_of(state: CardsState, phenotypes: Phenotypes, entries: str) -> Any:
    """Score a patient that was typed, (r,)."""
    row = counts_row(read(state, entries)[0], phenotypes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return np.asarray(state.model.transform(row))[0]


def scored(state: CardsState, who: str, scores: Any, cells: Cells, left_out: str = "") -> Fields:
    """Show scores, and what they multiply out to."""
    phenotypes, shares = state.phenotypes, state.figures.prevalence
    with_score = int(np.count_nonzero(scores))
    told = (
        f"**{who}** has a score on {with_score} of {len(phenotypes)} phenotypes. "
        f"{describe_error(phenotypes, scores, cells)}{left_out}"
    )
    rows = [
        {
            "id": r,
            "label": state.label(r),
            "score": int(scores[r]),
            "weight": int(phenotypes.weights[r]),
            "share": float(shares[r]) if state.known else None,
        }
        for r in range(len(phenotypes))
    ]
    explained = {"rows": explain_cells(phenotypes, scores, cells), "page": 0, "visible": True}
    return {
        "newcomer_answer": {"text": told},
        "newcomer_scores": {"rows": rows, "visible": True},
        "newcomer_cells": explained,
    }


@remembered
def controls_of(_: CardsState, phenotypes: Phenotypes) -> list[dict[str, Any]]:
    """Describe the controls for a patient that is typed."""
    modes = phenotypes.modes
    choices, hint = [], "code or words of its meaning"
    for m, mode in enumerate(modes):
        label = mode.name.capitalize() if len(modes) > 1 else "Code"
        known = [[code, told or code] for code, told in zip(mode.codes, mode.titles, strict=True)]
        choices.append(text(f"code{m}", label, suggestions=known, placeholder=hint))
    example = f"for instance: {' + '.join(mode.codes[0] for mode in modes)}: 2"
    return [
        *choices,
        number("n", "How often"),
        button("add", "Add"),
        textarea("entries", "Entries, one on each line", rows=4, placeholder=example),
        button("score", "Score", primary=True),
        button("empty", "Empty"),
    ]
