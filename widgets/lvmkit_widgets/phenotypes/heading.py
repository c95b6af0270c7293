"""Subtitle and footer of the score cards, and what the model leaves out."""

from __future__ import annotations

from lvmkit.cohorts.weights import not_weighted
from lvmkit.sustain.phenotypes import GENERIC_MODE_NAMES
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.words import counted, small_counts


def subtitle(state: CardsState) -> str:
    """Say how many patients, features and phenotypes there are, and how near they come."""
    phenotypes = state.phenotypes
    n = state.figures.total if state.known else ""
    people = (f"{n:,}" if isinstance(n, int) else n) + f" {state.row_name}" if n else ""
    features = [counted_mode(len(mode.codes), mode.name) for mode in phenotypes.modes]
    # the fit rests on every count
    fit = None if state.suppressing else getattr(state.model, "fit_", None)
    parts = [
        people,
        *features,
        counted(len(phenotypes), "phenotype"),
        f"scores {phenotypes.low} to {phenotypes.high}".replace("-", "−"),
        f"fit {float(fit):.3f}" if fit is not None else "",
        "" if state.people is None else not_weighted(state.people.cohort),
    ]
    return " · ".join(part for part in parts if part)


def counted_mode(n: int, name: str) -> str:
    """Write a number of features."""
    if name in GENERIC_MODE_NAMES:
        return counted(n, "code")
    if name.endswith("sis") and n != 1:
        return counted(n, name[:-2] + "e")
    return counted(n, name)


def left_out_of(state: CardsState) -> str:
    """Say what the model leaves out of the cohort, and whether it was fitted to others."""
    people, phenotypes = state.people, state.phenotypes
    if people is None:
        if state.known:
            return ""
        return (
            "The model was loaded without its patients: pass the cohort to see how many have a phenotype, and what "
            "codes mean."
        )
    told = []
    for words, mode in zip(people.words, phenotypes.modes, strict=False):
        unknown = len(set(words) - set(mode.codes))
        absent = len(set(mode.codes) - set(words))
        if unknown:
            told.append(
                f"{unknown:,} of the cohort's {len(words):,} codes are unknown to the model and left out."
            )
        if absent:
            told.append(
                f"{absent:,} of the model's {len(mode.codes):,} do not occur in the cohort."
            )
    n = len(phenotypes.fitted_scores)
    if n != len(people):
        fitted = f"{n:,} {state.row_name}" if n else f"{state.row_name} that are not stored with it"
        told.append(
            f"The model was fitted to {fitted}; the {len(people):,} of this cohort were scored with its phenotypes."
        )
    return " ".join(told)


def footer(state: CardsState) -> str:
    """Say what the numbers are."""
    told = (
        "Phenotypes are numbered as in the model, from 0. Scores are whole numbers found by SUSTain; λ scales them "
        "to counts."
    )
    if not state.private or not state.known:
        return told
    small = small_counts(
        state.disclosure.threshold,
        hidden=state.suppressing,
        seen="this screen, and what you print of it,",
        saved="Files and saved pages",
    )
    return f"{told} {small}"
