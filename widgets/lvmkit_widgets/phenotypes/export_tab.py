"""Take the cards away: tables, pictures, a page that works without internet, the model; and the steps taken."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

import lvmkit
from lvmkit.charts import png, svg
from lvmkit.charts.score_card import score_card_chart, score_card_table
from lvmkit.sustain.phenotypes import mode_name
from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.phenotypes.tables import features_table, phenotypes_table, scores_table
from lvmkit_widgets.ui.export import TWICE, GivesSteps, written

FILES = {
    "phenotypes": (
        "Phenotypes (CSV)",
        "Name, mark, weight, and how many patients have which score.",
    ),
    "features": ("Features (CSV)", "Every feature of every phenotype with its score."),
    "card": ("This card (SVG)", "The phenotype that is picked, as a drawing."),
    "card_png": ("This card (PNG)", "The same as a picture of dots."),
    "page": ("Page (HTML)", "One file that answers without Python and without internet."),
    "model": (
        "Model (npz)",
        "With names, notes and marks, without patients; lvmkit.load reads it.",
    ),
    "python": ("Steps as Python (py)", "Repeats what was done here."),
    "scores": ("Scores by patient (CSV)", "The scores of every patient, by its id."),
}
TABLES = {"phenotypes": phenotypes_table, "features": features_table, "scores": scores_table}


class Files(GivesSteps[CardsState]):
    """Buttons that hand over files, and the steps taken."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history"})

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        private = " – private" if state.private else ""
        there = state.people is not None and state.known
        buttons = [
            {
                "name": name,
                "kind": "button",
                "label": label + (private if name == "scores" else ""),
                "help": told,
            }
            for name, (label, told) in FILES.items()
            if name != "scores" or there
        ]
        self.form.controls = [*buttons, {"name": "note", "kind": "note", "label": note_of(state)}]
        self.show_steps()

    def warning(self, name: str) -> str:
        """Say which files are private."""
        if not self.state.private or name != "scores":
            return ""
        return " It holds ids and scores of single patients: keep it here."

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        if name in TABLES:
            return f"{name}.csv", csv(TABLES[name](state)), "text/csv"
        if name == "python":
            return "steps.py", f"{state.history.code}\n".encode(), "text/x-python"
        if name == "page":
            return "cards.html", written(self._board.to_html, "cards.html"), "text/html"
        if name == "model":
            data = written(lambda path: lvmkit.save(state.model, path), "model.npz")
            return "model.npz", data, "application/octet-stream"
        chart, file = card_picture(state, state.phenotype), f"phenotype-{state.phenotype}"
        if name == "card_png":
            return f"{file}.png", png(chart), "image/png"
        return f"{file}.svg", svg(chart).encode(), "image/svg+xml"


def note_of(state: CardsState) -> str:
    """Say what files hold."""
    if not state.private:
        return "Names and notes are in all files as you wrote them."
    return (
        f"Tables, pictures and the page hold totals only, and counts below {state.threshold} are hidden in them "
        "always; the model holds no patient. Names and notes are in all of them as you wrote them. The scores by "
        f"patient hide nothing: keep that file with the data. {TWICE}"
    )


def card_picture(state: CardsState, phenotype: int, *, width: int = 460) -> Any:
    """Draw a phenotype."""
    return score_card_chart(card_table(state, phenotype), width=width)


def card_table(state: CardsState, phenotype: int) -> pd.DataFrame:
    """Return the rows of a picture, with the numbers that may be shared."""
    phenotypes, figures = state.phenotypes, state.shared_figures
    modes = phenotypes.modes
    table = score_card_table(
        [state.scores, *(mode.scores for mode in modes)],
        phenotypes.weights,
        phenotype,
        name=state.marked.of(phenotype).name,
        modes=[mode_name(state.model, 0), *(mode.name for mode in modes)],
        labels=[None, *(mode.codes for mode in modes)],
        titles=[None, *(dict(zip(mode.codes, mode.titles, strict=True)) for mode in modes)],
        max_score=[phenotypes.high, *(mode.high for mode in modes)],
    )
    levels = table["label"].str.startswith("score ") & table["mode"].eq(table["mode"].iloc[-1])
    shown = dict(zip(phenotypes.levels, figures.counts(phenotype), strict=True))
    counts = [shown.get(int(score), np.nan) for score in table["score"]]
    n = np.array([x if isinstance(x, int) else np.nan for x in counts], dtype=float)
    table["n"] = np.where(levels, n, np.nan)
    table["share"] = table["n"] / max(len(state.scores), 1)
    return table.assign(prevalence=figures.prevalence[phenotype])
