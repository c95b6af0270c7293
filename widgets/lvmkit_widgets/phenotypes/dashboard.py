"""The dashboard of phenotypes as score cards."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from lvmkit.cohorts.weights import not_weighted
from lvmkit.core.arguments import checked
from lvmkit.mixtures.score_cut import ScoreCut
from lvmkit.sustain.count_cohort import CountCohort
from lvmkit.sustain.phenotypes import GENERIC_MODE_NAMES
from lvmkit.sustain.scored_model import fit_with_progress
from lvmkit_widgets.clusters.dashboard import ClusterExplorer, ExplorerBelow
from lvmkit_widgets.phenotypes.cards_tab import CardsTab
from lvmkit_widgets.phenotypes.fit_form import PhenotypeFitTab
from lvmkit_widgets.phenotypes.patient_tab import ScorePatientTab
from lvmkit_widgets.phenotypes.patients_tab import PhenotypePatientsTab
from lvmkit_widgets.phenotypes.state import CardsState, reaching
from lvmkit_widgets.phenotypes.tables import EXPORTS, note_of
from lvmkit_widgets.ui import controls
from lvmkit_widgets.ui.export import StepsExportTab
from lvmkit_widgets.ui.tabs import StepsBar
from lvmkit_widgets.ui.widgets import Status, Text
from lvmkit_widgets.ui.words import counted, refuse, small_counts

WITHOUT_PATIENTS = (
    "The model was loaded without its patients: pass the cohort to see how many have a phenotype, and what "
    "codes mean."
)
TABS = (CardsTab, PhenotypePatientsTab, ScorePatientTab, PhenotypeFitTab)


class ScoreCards(ExplorerBelow[CardsState]):
    """Dashboard of phenotypes: a card for each, with integer scores of its features.

    Parameters
    ----------
    model : SUSTain
        Names, notes and marks are kept in its `annotations_`, which `lvmkit.save` writes. One that is not fitted
        yet is not changed: a copy, `state.model`, is fitted to the cohort.
    cohort : AnnData, CountTensor, DataFrame, array, sparse matrix or coo_array, optional
        The patients that the model was fitted to, or others, which are scored with its phenotypes; without it
        cards are shown, but no patient.
    private : bool, default=True
        Whether rows stand for people: then small counts are hidden, and saved pages hold totals only.
    name : str, optional
        What the cohort is called in the heading.

    Raises
    ------
    TypeError
        When `model` is no estimator of integer scores, or the cohort not a table.
    ValueError
        When the cohort is empty, has none of the model's features, or is missing for a fit.

    Notes
    -----
    In a page saved by `to_html` cards, sorting, search, comparison and printing keep working. Of patients it holds
    totals only, with small counts hidden.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> cards = ScoreCards(lvmkit.SUSTain(n_components=4), cohort)
    >>> cards.state = cards.state.rename(0, "Heart").mark(0, "yes")
    >>> cards.state.model.annotations_["phenotypes"]["0"]["name"]
    'Heart'
    """

    called, explored = "cards", "patients"
    addresses = (
        ("phenotype", "cards", "selected", None),
        ("search", "cards", "search", None),
    )

    @checked()
    def __init__(
        self, model: Any, cohort: Any = None, *, private: bool = True, name: str = ""
    ) -> None:
        people = None if cohort is None else CountCohort(cohort, name=name)
        state = CardsState.of(_fitted(model, people), people, private=private)
        self._name = name or ("" if people is None else people.name)
        self._steps = PhenotypeStepsBar()
        super().__init__(
            {"status": Status(), "left_out": Text(tone="note")},
            frame=[self._steps],
            tabs=[*(part() for part in TABS), StepsExportTab(EXPORTS, note_of)],
            title="Phenotypes",
        )
        self.stage.layout = [
            {"row": ["steps", "status"], "widths": [1.4, 1]},
            "left_out",
            self.tabs_layout,
        ]
        self.show_state(state)

    def explorer(self) -> ClusterExplorer:
        """Return a cluster explorer of the patients who score high on the phenotype that is picked.

        Returns
        -------
        ClusterExplorer
            Of two clusters: patients whose score reaches the level that is chosen, and all others.

        Raises
        ------
        ValueError
            Without a cohort, when nobody, or everybody, reaches the level, or when the number of those who do
            would tell how many have a score that is hidden on the card.
        """
        state = self.state
        if state.people is None or not state.known:
            refuse("There are no patients to explore: pass the cohort to ScoreCards.")
        cohort = state.people.table(state.phenotypes)
        column = state.scores[:, state.phenotype]
        high = column >= state.level if state.level > 0 else column <= state.level
        if high.all() or not high.any():
            who = "Everybody scores" if high.all() else "Nobody scores"
            refuse(f"{who} as high on phenotype {state.phenotype}: choose another level.")
        label, reach = state.label(state.phenotype), reaching(state.level)
        told = state.levels_told(state.phenotype)
        if state.level not in told:
            instead = (
                f"Choose {', '.join(map(reaching, told))}." if told else "No level avoids that."
            )
            refuse(
                f"How many score {reach} on phenotype {state.phenotype} would tell a number that its card hides. "
                f"{instead} The list of patients shows them all."
            )
        names = f"Phenotype {label}: score {reach}", "All others"
        return ClusterExplorer(ScoreCut(cohort, high, names), cohort, name=self._name)

    def _opened(self, explorer: ClusterExplorer) -> str:
        """Name the patients."""
        return self.state.row_name

    def _keep(self, old: CardsState, new: CardsState) -> None:
        """Keep what is said with the model that is shown."""
        if new.value is not old.value:
            notes = dict(getattr(new.model, "annotations_", None) or {})
            new.model.annotations_ = notes | new.annotations.to_annotations()

    def _heading(self, state: CardsState) -> dict[str, str]:
        """Title, subtitle, footer and what is left out."""
        title = f"Phenotypes of {self._name}" if self._name else "Phenotypes"
        told = {"subtitle": subtitle(state), "footer": footer(state)}
        return {"title": title, "left_out": left_out_of(state), **told}


def _fitted(model: Any, people: CountCohort | None) -> Any:
    """Return the model, or a copy fitted to the cohort if it is not fitted yet."""
    if hasattr(model, "factors_") or not hasattr(model, "max_score"):
        return model
    if people is None:
        refuse(
            f"This {type(model).__name__} is not fitted, and there is no cohort to fit it to: "
            "call fit first, or pass the cohort."
        )
    return fit_with_progress(clone(model), people.cohort)


class PhenotypeStepsBar(StepsBar[CardsState]):
    """Undo and redo, who marks, and whether small counts are hidden."""

    def options(self, state: CardsState) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the other controls and their values."""
        shown = [controls.text("author", "Who marks", placeholder="your name (optional)")]
        if state.private and state.known:
            shown.append(controls.hide_counts(state.disclosure))
        return shown, {"hide": state.disclosure.on_screen, "author": state.author}

    def take(self, state: CardsState, values: dict[str, Any]) -> CardsState:
        """Take the settings."""
        author = " ".join(str(values.get("author") or "").split())
        return state.replace(author=author).disclose(on_screen=bool(values.get("hide")))


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
    plural = name[:-2] + "e" if name.endswith("sis") and n != 1 else name
    return counted(n, "code" if name in GENERIC_MODE_NAMES else plural)


def left_out_of(state: CardsState) -> str:
    """Say what the model leaves out of the cohort, and whether it was fitted to others."""
    people, phenotypes = state.people, state.phenotypes
    if people is None:
        return "" if state.known else WITHOUT_PATIENTS
    return people.left_out(phenotypes, state.row_name)


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
