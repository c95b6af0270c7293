"""Phenotypes, features and scores as tables; in those to share, small counts are hidden."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lvmkit_widgets.phenotypes.state import MARKS, CardsState


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
