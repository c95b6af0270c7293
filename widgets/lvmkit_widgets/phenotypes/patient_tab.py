"""Tab of the scores of one patient, and how they multiply out to counts."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from lvmkit.core.validation import DataWarning
from lvmkit.sustain.count_cohort import Cells
from lvmkit.sustain.entry_parser import counts_row, parse_entries
from lvmkit.sustain.reconstruction import describe_error, explain_cells
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.phenotypes.tab import PhenotypeTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Table, Text

NOTHING = "The scores of a patient will stand here."
HELP = (
    "Nothing that you type leaves this machine. The model looks for whole-number scores whose sum comes nearest to "
    "the counts; phenotypes and weights stay as they are."
)


class ScorePatientTab(PhenotypeTab):
    """One patient at a time."""

    title: ClassVar[str] = "Score a patient"
    depends: ClassVar[frozenset[str]] = frozenset({"row", "history"})

    def __init__(self) -> None:
        super().__init__()
        self.existing = Form(title="A patient of the cohort", inline=True)
        self.form = Form(title="Another patient", help=HELP, values={"entries": "", "n": 1})
        self.answer = Text(needs_python=True, text=NOTHING)
        self.scores = Table(
            title="Scores",
            key="id",
            page_size=40,
            sort=["score", "desc"],
            needs_python=True,
            columns=[
                {"key": "label", "label": "Phenotype", "kind": "text"},
                {"key": "score", "label": "Score", "kind": "integer"},
                {"key": "weight", "label": "Weight λ", "kind": "integer"},
                {"key": "share", "label": "Share with it", "kind": "percent"},
            ],
        )
        self.cells = Table(
            title="How the scores multiply out",
            help="The count expected of an entry is the sum, over the phenotypes, of λ · score of the patient · "
            "score of each feature. Entries that were not counted, but that the scores expect, stand last.",
            page_size=20,
            needs_python=True,
            columns=[
                {"key": "what", "label": "Entry", "kind": "text"},
                {"key": "seen", "label": "Counted", "kind": "number", "digits": 0},
                {"key": "expected", "label": "Expected", "kind": "integer"},
                {"key": "how", "label": "= λ · patient · feature", "kind": "text"},
            ],
        )
        self.components = {
            "existing": self.existing,
            "newcomer": self.form,
            "newcomer_answer": self.answer,
            "newcomer_scores": self.scores,
            "newcomer_cells": self.cells,
        }
        left = ["existing", "newcomer"]
        right = ["newcomer_answer", "newcomer_scores"]
        self.layout = [{"row": [left, right], "widths": [1, 1.2]}, "newcomer_cells"]

    def attach(self, state: CardsState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.existing.param.update(
            title=f"One {state.one} of the cohort", visible=state.people is not None and state.known
        )
        self.form.title = f"Another {state.one}"

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        self.existing.controls = [
            {
                "name": "who",
                "kind": "text",
                "label": "Id, or row",
                "placeholder": "for instance: 1",
            },
            {"name": "find", "kind": "button", "label": "Show", "primary": True},
        ]
        if self.changed("form", state.phenotypes):
            self.form.controls = controls_of(state)
        if state.row is not None and state.people is not None and state.known:
            self.existing.values = {"who": str(state.row + 1)}
            self._show_known(state.row)
        elif self.form.values.get("entries"):
            self.score()
        else:
            self._clear(NOTHING)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board: Any = board
        board.listen("existing", "pressed", lambda _: self._find())
        board.listen("newcomer", "pressed", self._pressed)
        board.listen("newcomer_scores", "pick", self.pick)

    def score(self) -> None:
        """Score the patient that was typed."""
        phenotypes = self.state.phenotypes
        cells, unknown = parse_entries(str(self.form.values.get("entries") or ""), phenotypes)
        if not len(cells[1]):
            message = f"No entry was understood. {'; '.join(unknown)}".strip()
            raise ValueError(message)
        row = counts_row(cells, phenotypes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            scores = np.asarray(self.state.model.transform(row))[0]
        left_out = f"\n\nLeft out: {'; '.join(unknown)}." if unknown else ""
        self._show(f"The {self.state.one} that was typed", scores, cells, left_out)

    def _find(self) -> None:
        """Show a patient of the cohort."""
        people = self.state.people
        assert people is not None
        self.state.row = people.row_of(str(self.existing.values.get("who") or ""))
        self._show_known(self.state.row)
        self._board.say("", state="idle")  # what was wrong with the try before is over

    def _pressed(self, name: str) -> None:
        """Add an entry, begin anew, or score."""
        values = self.form.values
        if name == "add":
            modes = self.state.phenotypes.modes
            codes = [str(values.get(f"code{m}") or "").strip() for m in range(len(modes))]
            if not all(codes):
                message = f"Choose {' and '.join(mode.name for mode in modes)} first."
                raise ValueError(message)
            entry = f"{' + '.join(codes)}: {int(values.get('n') or 1)}"
            text = str(values.get("entries") or "").rstrip()
            emptied = {f"code{m}": "" for m in range(len(modes))}
            self.form.values = {**values, **emptied, "n": 1, "entries": f"{text}\n{entry}".strip()}
        elif name == "empty":
            self.form.values = {"entries": "", "n": 1}
            self._clear(NOTHING)
        else:
            self.state.row = None
            self.score()
            self._board.say("", state="idle")

    def _show_known(self, row: int) -> None:
        """Show the scores that a patient of the cohort has."""
        people = self.state.people
        assert people is not None
        cells = people.cells(row, self.state.phenotypes)
        who = f"The {self.state.one} in row {row + 1:,}"
        self._show(who, np.asarray(self.state.scores[row]), cells)

    def _show(self, who: str, scores: Any, cells: Cells, left_out: str = "") -> None:
        """Show scores, and what they multiply out to."""
        phenotypes, shares = self.state.phenotypes, self.state.figures.prevalence
        with_score = int(np.count_nonzero(scores))
        self.answer.text = (
            f"**{who}** has a score on {with_score} of {len(phenotypes)} phenotypes. "
            f"{describe_error(phenotypes, scores, cells)}{left_out}"
        )
        self.scores.rows = [
            {
                "id": r,
                "label": self.state.label(r),
                "score": int(scores[r]),
                "weight": int(phenotypes.weights[r]),
                "share": float(shares[r]) if self.state.known else None,
            }
            for r in range(len(phenotypes))
        ]
        self.cells.param.update(rows=explain_cells(phenotypes, scores, cells), page=0)
        self.scores.visible = self.cells.visible = True

    def _clear(self, text: str) -> None:
        """Show no patient."""
        self.answer.text = text
        self.scores.param.update(rows=[], visible=False)
        self.cells.param.update(rows=[], visible=False)


def controls_of(state: CardsState) -> list[dict[str, Any]]:
    """Describe the controls for a patient that is typed."""
    modes = state.phenotypes.modes
    choices = [
        {
            "name": f"code{m}",
            "kind": "text",
            "label": mode.name.capitalize() if len(modes) > 1 else "Code",
            "suggestions": [
                [code, title or code] for code, title in zip(mode.codes, mode.titles, strict=True)
            ],
            "placeholder": "code or words of its meaning",
        }
        for m, mode in enumerate(modes)
    ]
    example = " + ".join(mode.codes[0] for mode in modes)
    return [
        *choices,
        {"name": "n", "kind": "number", "label": "How often", "min": 1, "step": 1},
        {"name": "add", "kind": "button", "label": "Add"},
        {
            "name": "entries",
            "kind": "textarea",
            "label": "Entries, one on each line",
            "rows": 4,
            "placeholder": f"for instance: {example}: 2",
        },
        {"name": "score", "kind": "button", "label": "Score", "primary": True},
        {"name": "empty", "kind": "button", "label": "Empty"},
    ]
