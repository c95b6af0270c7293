"""What readers of the score cards take away: tables, pictures, page, model, steps; small counts are hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import lvmkit
from lvmkit.charts.score_card import score_card_chart, score_card_table
from lvmkit.sustain.annotations import MARKS
from lvmkit.sustain.phenotypes import mode_name
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    chart_exports,
    model_export,
    page_export,
    steps_export,
    table_export,
)

PHENOTYPES = "Name, mark, weight, and how many patients have which score."
FEATURES = "Every feature of every phenotype with its score."
CARD, DOTS = "The phenotype that is picked, as a drawing.", "The same as a picture of dots."
MODEL = "With names, notes and marks, without patients; lvmkit.load reads it."
PRIVATE = (
    "Tables, pictures and the page hold totals only, and counts below {} are hidden in them "
    "always; the model holds no patient. Names and notes are in all of them as you wrote them. The scores by "
    f"patient hide nothing: keep that file with the data. {TWICE}"
)


def phenotypes_table(state: CardsState) -> pd.DataFrame:
    """Return one row per phenotype."""
    phenotypes, figures, rows = state.phenotypes, state.figures, []
    for r in range(len(phenotypes)):
        annotation = state.annotations.of(r)
        row: dict[str, Any] = {
            "phenotype": r,
            "name": annotation.name,
            "mark": MARKS[annotation.mark],
            "marked_by": annotation.by,
            "marked_on": annotation.on,
            "weight": int(phenotypes.weights[r]),
            "features": int(phenotypes.sizes[r]),
        }
        if state.known:
            row |= {state.row_name: figures.n_with_score(r), "share": figures.prevalence[r]}
            levels = zip(phenotypes.levels, figures.counts(r), strict=True)
            row |= {f"score_{level}": n for level, n in levels}
        rows.append(row | {"note": annotation.note})
    return pd.DataFrame(rows)


def features_table(state: CardsState) -> pd.DataFrame:
    """Return one row per phenotype and feature with a score."""
    phenotypes = state.phenotypes
    rows = [
        {
            "phenotype": r,
            "name": state.annotations.of(r).name,
            "mode": mode.kinds[j] if mode.kinds else mode.name,
            "code": mode.codes[j],
            "title": mode.titles[j],
            "score": int(mode.scores[j, r]),
        }
        for r in range(len(phenotypes))
        for mode in phenotypes.modes
        for j in mode.best(r)
    ]
    return pd.DataFrame(rows, columns=["phenotype", "name", "mode", "code", "title", "score"])


def scores_table(state: CardsState) -> pd.DataFrame:
    """Return the scores of every patient, by id: for this machine, not to be shared."""
    people = state.people
    assert people is not None
    names = [f"phenotype_{r}" for r in range(len(state.phenotypes))]
    table = pd.DataFrame(state.scores, columns=names)
    table.insert(0, "record", people.obs.index.astype(str))
    return table


def card_picture(state: CardsState) -> Any:
    """Draw the phenotype that is picked."""
    return score_card_chart(card_table(state, state.phenotype), width=460)


def card_table(state: CardsState, phenotype: int) -> pd.DataFrame:
    """Return the rows of a picture, with the numbers that may be shared."""
    phenotypes, figures = state.phenotypes, state.figures
    modes = phenotypes.modes
    table = score_card_table(
        [state.scores, *(mode.scores for mode in modes)],
        phenotypes.weights,
        phenotype,
        name=state.annotations.of(phenotype).name,
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


def note_of(state: CardsState) -> str:
    """Say what files hold."""
    if not state.private:
        return "Names and notes are in all files as you wrote them."
    return PRIVATE.format(state.disclosure.threshold)


EXPORTS: tuple[Export[CardsState], ...] = (
    table_export("phenotypes", "Phenotypes", phenotypes_table, PHENOTYPES),
    table_export("features", "Features", features_table, FEATURES),
    *chart_exports(
        "card", "This card", lambda s: f"phenotype-{s.phenotype}", card_picture, CARD, DOTS
    ),
    page_export("cards.html"),
    model_export(lambda state, path: lvmkit.save(state.model, path), MODEL),
    steps_export("Repeats what was done here."),
    table_export(
        "scores",
        "Scores by patient",
        scores_table,
        "The scores of every patient, by its id.",
        private="It holds ids and scores of single patients: keep it here.",
        offered=lambda state: state.people is not None and state.known,
    ),
)
