"""State of the score cards: phenotypes, annotations, what is picked, and the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import param
from sklearn.base import clone

from lvmkit.core import moved
from lvmkit.core.typing import Labels, Progress
from lvmkit.mixtures.refit import FitJob
from lvmkit.sustain.count_cohort import CountCohort
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.score_counts import DisclosedCounts
from lvmkit.sustain.scored_model import ScoredModel, fit_with_progress
from lvmkit.sustain.similarity import match_phenotypes
from lvmkit_widgets.phenotypes.annotations import MARKS, Annotations, tidied
from lvmkit_widgets.ui.history import History, Step, UndoRedo

START = (
    "from lvmkit_widgets import ScoreCards\n"
    "# model and cohort: the model and the cohort that were opened\n"
    "state = ScoreCards(model, cohort).state"
)


@dataclass(frozen=True)
class CardsView:
    """What is looked at: the unit of undo and redo."""

    read: ScoredModel  # The model with its phenotypes
    annotations: Annotations  # What is said of them


class CardsState(UndoRedo, param.Parameterized):
    """Phenotypes, what is said of them, what is picked, and the steps that led there."""

    phenotype = param.Integer(default=0, bounds=(0, None), doc="Number of the phenotype picked.")
    other = param.Integer(default=None, allow_None=True, doc="Phenotype to compare it with.")
    level = param.Integer(default=1, doc="Score from which on patients are listed; below 0: down.")
    row = param.Integer(default=None, allow_None=True, doc="Row of the cohort that is picked.")
    author = param.String(default="", doc="Who marks phenotypes; kept with each mark.")
    history = param.Parameter(constant=True, doc="Steps taken so far.")
    hide_small = param.Boolean(default=True, doc="Whether small counts of people are hidden.")
    threshold = param.Integer(default=11, bounds=(2, None), doc="Smaller counts are hidden.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(self, model: Any, people: CountCohort | None, *, private: bool = True) -> None:
        self.people, self.private = people, private
        self._figures: tuple[Any, ...] = (None, None, None)
        read = ScoredModel.of(model, people)
        kept = Annotations.kept_with(len(read.phenotypes), getattr(model, "annotations_", None))
        super().__init__(history=History((Step("Opened", START, CardsView(read, kept)),)))

    @property
    def view(self) -> CardsView:
        """What is looked at now."""
        return self.history.value

    @property
    def model(self) -> Any:
        """The model that is shown; it keeps names, notes and marks in `annotations_`."""
        return self.phenotypes.model

    @property
    def phenotypes(self) -> Phenotypes:
        """Weights and scores of features."""
        return self.view.read.phenotypes

    @property
    def scores(self) -> Labels:
        """Scores of the patients (n, r); no rows where they are not known."""
        return self.view.read.scores

    @property
    def annotations(self) -> Annotations:
        """What is said of the phenotypes."""
        return self.view.annotations

    @property
    def row_name(self) -> str:
        """What rows are called, in the plural."""
        names = getattr(self.model, "mode_names_", None)
        named = str(names[0]) if names is not None else "rows"
        if named in ("rows", "patient", "patients"):
            return "patients" if self.private else "rows"
        return named if named.endswith("s") else f"{named}s"

    marked, noun = moved.OldName("annotations"), moved.OldName("row_name")

    @property
    def one(self) -> str:
        """What a row is called."""
        return self.row_name.removesuffix("s")

    @property
    def known(self) -> bool:
        """Whether the scores of any patient are known."""
        return len(self.scores) > 0

    @property
    def figures(self) -> DisclosedCounts:
        """Numbers of patients as the screen shows them; the same object while nothing changes."""
        return self.figures_of(self.threshold if self.private and self.hide_small else 0)

    @property
    def shared_figures(self) -> DisclosedCounts:
        """Numbers of patients as files and saved pages show them."""
        return self.figures_of(self.threshold if self.private else 0)

    def figures_of(self, threshold: int) -> DisclosedCounts:
        """Return the numbers of patients."""
        counted = self.view.read.counted
        if self._figures[:2] != (counted, threshold):
            self._figures = (counted, threshold, DisclosedCounts(counted, threshold))
        return self._figures[2]

    def label(self, phenotype: int) -> str:
        """Return the number of a phenotype, and its name."""
        name, hint = self.annotations.of(phenotype).name, self.phenotypes.hint(phenotype, 1)
        told = name or (f"({hint})" if hint else "")
        return f"{phenotype} · {told}" if told else str(phenotype)

    def rows_from(self, phenotype: int, level: int) -> Labels:
        """List the patients whose score reaches a level."""
        self._require(phenotype)
        column = np.asarray(self.scores[:, phenotype])
        found = np.flatnonzero(column >= level if level >= 0 else column <= level)
        sign = 1 if level >= 0 else -1
        return found[np.argsort(-sign * column[found], kind="stable")]

    def levels_told(self, phenotype: int) -> list[int]:
        """List the levels at which the patients who reach them may be set against all others."""
        levels = self.shared_figures.cutoffs(phenotype)
        n = len(self.scores)
        return [level for level in levels if 0 < len(self.rows_from(phenotype, level)) < n]

    # -- steps -----------------------------------------------------------------------------------

    def rename(self, phenotype: int, name: str) -> None:
        """Name a phenotype."""
        text = tidied("name", name)
        told = f"Named {phenotype} “{text}”" if text else f"Took the name of {phenotype} away"
        self._annotate(phenotype, told, f"state.rename({phenotype}, {text!r})", name=text)

    def write_note(self, phenotype: int, note: str) -> None:
        """Write a note on a phenotype."""
        text = tidied("note", note)
        code = f"state.write_note({phenotype}, {text!r})"
        self._annotate(phenotype, f"Note on {phenotype}", code, note=text)

    def mark(self, phenotype: int, mark: str, *, by: str | None = None) -> None:
        """Mark a phenotype as meaningful or not."""
        decided = tidied("mark", mark)
        who = tidied("by", self.author if by is None else by) if decided else ""
        day = date.today().isoformat() if decided else ""
        given = f", by={who!r}" if who else ""
        code = f"state.mark({phenotype}, {decided!r}{given})"
        told = f"Marked {phenotype} as {MARKS[decided]}"
        self._annotate(phenotype, told, code, mark=decided, by=who, on=day)

    def plan_refit(self, n_components: int, *, max_score: int) -> FitJob:
        """Prepare to fit again."""
        if self.people is None:
            message = "There is nothing to fit: pass the cohort to ScoreCards."
            raise ValueError(message)
        people, old = self.people, self.view
        model = clone(self.model).set_params(n_components=n_components, max_score=max_score)
        if not isinstance(getattr(model, "init", ""), str):
            model.set_params(init="best")

        def work(progress: Progress | None) -> ScoredModel:
            return ScoredModel.of(fit_with_progress(model, people.cohort, progress), people)

        def done(read: ScoredModel) -> None:
            pairs = match_phenotypes(old.read.phenotypes, read.phenotypes)
            text = f"Fitted {n_components} phenotypes with scores up to {max_score}"
            code = f"state.refit({n_components}, max_score={max_score})"
            annotations = old.annotations.carried_over(pairs)
            names = [annotation.name for _, annotation in annotations.items if annotation.name]
            kept = f" Names kept: {', '.join(names)}." if names else ""
            self._step(CardsView(read, annotations), text, code)
            self.message = f"{text}.{kept}"

        return FitJob(f"Fitting {n_components} phenotypes", work, done)

    def refit(
        self, n_components: int, *, max_score: int, progress: Callable[..., None] | None = None
    ) -> None:
        """Fit again, and show the new phenotypes."""
        job = self.plan_refit(n_components, max_score=max_score)
        job.done(job.work(progress))

    # -- inside ----------------------------------------------------------------------------------

    def _require(self, phenotype: int) -> None:
        """Refuse a phenotype that there is not."""
        n = len(self.phenotypes)
        if not 0 <= phenotype < n:
            message = f"There is no phenotype {phenotype}; they are numbered 0 to {n - 1}."
            raise ValueError(message)

    def _annotate(self, phenotype: int, text: str, code: str, **changes: str) -> None:
        """Take a step that says something of a phenotype, unless it was said before."""
        self._require(phenotype)
        known = self.annotations.of(phenotype)
        annotation = replace(known, **changes)
        if replace(annotation, on=known.on) == known:
            self.message = f"It was so already: {text}."
            return
        self._step(
            CardsView(self.view.read, self.annotations.replaced(phenotype, annotation)), text, code
        )

    def _go(self, history: History[CardsView], message: str) -> None:
        """Stand somewhere in the history; the model that is shown keeps what is said."""
        n = len(history.value.read.phenotypes)
        picked = min(self.phenotype, n - 1)
        other = self.other if self.other is not None and self.other < n else None
        with param.edit_constant(self):
            self.param.update(history=history, message=message, phenotype=picked, other=other)
        notes = dict(getattr(self.model, "annotations_", None) or {})
        self.model.annotations_ = notes | self.annotations.to_annotations()
