"""The dashboard of phenotypes as score cards."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from lvmkit.core.arguments import checked
from lvmkit.sustain.count_cohort import CountCohort
from lvmkit.sustain.scored_model import fit_with_progress
from lvmkit_widgets.clusters.below import ExplorerBelow
from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.phenotypes.cards_tab import CardsTab
from lvmkit_widgets.phenotypes.export_tab import PhenotypeExportTab
from lvmkit_widgets.phenotypes.fit_form import PhenotypeFitTab
from lvmkit_widgets.phenotypes.heading import footer, left_out_of, subtitle
from lvmkit_widgets.phenotypes.patient_tab import ScorePatientTab
from lvmkit_widgets.phenotypes.patients_tab import PhenotypePatientsTab
from lvmkit_widgets.phenotypes.score_cutoff import ScoreCut, reaching
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.phenotypes.steps import PhenotypeStepsBar
from lvmkit_widgets.ui.widgets import Status, Text

TABS = (CardsTab, PhenotypePatientsTab, ScorePatientTab, PhenotypeFitTab, PhenotypeExportTab)


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
            tabs=[part() for part in TABS],
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
            message = "There are no patients to explore: pass the cohort to ScoreCards."
            raise ValueError(message)
        cohort = state.people.table(state.phenotypes)
        column = state.scores[:, state.phenotype]
        high = column >= state.level if state.level > 0 else column <= state.level
        if high.all() or not high.any():
            who = "Everybody scores" if high.all() else "Nobody scores"
            message = f"{who} as high on phenotype {state.phenotype}: choose another level."
            raise ValueError(message)
        label, reach = state.label(state.phenotype), reaching(state.level)
        told = state.levels_told(state.phenotype)
        if state.level not in told:
            instead = (
                f"Choose {', '.join(map(reaching, told))}." if told else "No level avoids that."
            )
            message = (
                f"How many score {reach} on phenotype {state.phenotype} would tell a number that its card hides. "
                f"{instead} The list of patients shows them all."
            )
            raise ValueError(message)
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
        return {
            "title": title,
            "subtitle": subtitle(state),
            "footer": footer(state),
            "left_out": left_out_of(state),
        }


def _fitted(model: Any, people: CountCohort | None) -> Any:
    """Return the model, or a copy fitted to the cohort if it is not fitted yet."""
    if hasattr(model, "factors_") or not hasattr(model, "max_score"):
        return model
    if people is None:
        message = (
            f"This {type(model).__name__} is not fitted, and there is no cohort to fit it to: "
            "call fit first, or pass the cohort."
        )
        raise ValueError(message)
    return fit_with_progress(clone(model), people.cohort)
