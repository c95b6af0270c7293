"""State of the score cards: phenotypes, their names, notes and marks, what is picked, and the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from lvmkit.core import moved
from lvmkit.core.typing import Labels, Progress
from lvmkit.disclosure import Disclosure
from lvmkit.sustain.annotations import MARKS, Annotations
from lvmkit.sustain.count_cohort import CountCohort
from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit.sustain.score_counts import DisclosedCounts
from lvmkit.sustain.scored_model import ScoredModel, fit_with_progress
from lvmkit.sustain.similarity import match_phenotypes
from lvmkit_widgets.ui.history import started
from lvmkit_widgets.ui.paging import FIRST_PAGE, Paging
from lvmkit_widgets.ui.state import StepState, remembered
from lvmkit_widgets.ui.tabs import Job
from lvmkit_widgets.ui.words import refuse, require_numbered

LONGEST = {"name": 200, "note": 4_000, "by": 100}  # letters
EMPTY: Mapping[str, Any] = {"entries": "", "n": 1}


@dataclass(frozen=True, eq=False)
class CardsView:
    """What is looked at: the unit of undo and redo."""

    read: ScoredModel  # The model with its phenotypes
    annotations: Annotations  # What is said of them


@dataclass(frozen=True, eq=False, kw_only=True)
class CardsState(StepState[CardsView]):
    """Phenotypes, what is said of them, what is picked, and the steps that led there."""

    is_work: ClassVar[bool] = True
    start: ClassVar[str] = started(
        "ScoreCards(model, cohort)", "model and cohort: the model and the cohort that were opened"
    )

    people: CountCohort | None
    phenotype: int = 0  # Number of the phenotype picked
    other: int | None = None  # Phenotype to compare it with
    level: int = 1  # Score from which on patients are listed; below 0: down
    row: int | None = None  # Row of the cohort that is picked
    paging: Paging = FIRST_PAGE  # Of the patients
    author: str = ""  # Who marks phenotypes; kept with each mark
    draft: Mapping[str, Any] = field(default_factory=lambda: EMPTY)  # Of the form for a patient
    entered: str = ""  # Entries of the patient who is scored, where it is none of the cohort

    @classmethod
    def of(cls, model: Any, people: CountCohort | None, *, private: bool = True) -> Self:
        """Return the state of a model and its patients."""
        read = ScoredModel.of(model, people)
        kept = Annotations.kept_with(len(read.phenotypes), getattr(model, "annotations_", None))
        rule = Disclosure(private=private)
        return cls.opened(CardsView(read, kept), people=people, disclosure=rule)

    @property
    def view(self) -> CardsView:
        """What is looked at now."""
        return self.value

    @property
    def model(self) -> Any:
        """The model that is shown; it keeps names, notes and marks in `annotations_`."""
        return self.phenotypes.model

    @property
    def phenotypes(self) -> Phenotypes:
        """Weights and scores of features."""
        return self.value.read.phenotypes

    @property
    def scores(self) -> Labels:
        """Scores of the patients (n, r); no rows where they are not known."""
        return self.value.read.scores

    @property
    def annotations(self) -> Annotations:
        """What is said of the phenotypes."""
        return self.value.annotations

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
        return self.figures_of(self.disclosure.level)

    def figures_of(self, threshold: int) -> DisclosedCounts:
        """Return the numbers of patients."""
        return disclosed(self, self.value.read.counted, threshold)

    def label(self, phenotype: int) -> str:
        """Return the number of a phenotype, and its name."""
        name, hint = self.annotations.of(phenotype).name, self.phenotypes.hint(phenotype, 1)
        told = name or (f"({hint})" if hint else "")
        return f"{phenotype} · {told}" if told else str(phenotype)

    def rows_from(self, phenotype: int, level: int) -> Labels:
        """List the patients whose score reaches a level."""
        require_numbered(phenotype, len(self.phenotypes), "phenotype")
        column = np.asarray(self.scores[:, phenotype])
        found = np.flatnonzero(column >= level if level >= 0 else column <= level)
        sign = 1 if level >= 0 else -1
        return found[np.argsort(-sign * column[found], kind="stable")]

    def levels_told(self, phenotype: int) -> list[int]:
        """List the levels at which the patients who reach them may be set against all others."""
        levels = self.figures_of(self.disclosure.for_others.level).cutoffs(phenotype)
        n = len(self.scores)
        return [level for level in levels if 0 < len(self.rows_from(phenotype, level)) < n]

    # -- picks -----------------------------------------------------------------------------------

    def pick(self, phenotype: Any) -> Self:
        """Pick a phenotype."""
        there = phenotype is not None and int(phenotype) < len(self.phenotypes)
        return self.replace(phenotype=int(phenotype), paging=FIRST_PAGE) if there else self

    # -- steps -----------------------------------------------------------------------------------

    def rename(self, phenotype: int, name: str) -> Self:
        """Name a phenotype."""
        text = tidied("name", name)
        told = f"Named {phenotype} “{text}”" if text else f"Took the name of {phenotype} away"
        return self._annotate(phenotype, told, f"rename({phenotype}, {text!r})", name=text)

    def write_note(self, phenotype: int, note: str) -> Self:
        """Write a note on a phenotype."""
        text = tidied("note", note)
        code = f"write_note({phenotype}, {text!r})"
        return self._annotate(phenotype, f"Note on {phenotype}", code, note=text)

    def mark(self, phenotype: int, mark: str, *, by: str | None = None) -> Self:
        """Mark a phenotype as meaningful or not."""
        decided = tidied("mark", mark)
        who = tidied("by", self.author if by is None else by) if decided else ""
        day = date.today().isoformat() if decided else ""
        given = f", by={who!r}" if who else ""
        code = f"mark({phenotype}, {decided!r}{given})"
        told = f"Marked {phenotype} as {MARKS[decided]}"
        return self._annotate(phenotype, told, code, mark=decided, by=who, on=day)

    def plan_refit(self, n_components: int, *, max_score: int) -> Job[Self]:
        """Prepare to fit again."""
        if self.people is None:
            refuse("There is nothing to fit: pass the cohort to ScoreCards.")
        people, old = self.people, self.value
        model = clone(self.model).set_params(n_components=n_components, max_score=max_score)
        if not isinstance(getattr(model, "init", ""), str):
            model.set_params(init="best")

        def work(progress: Progress | None) -> ScoredModel:
            return ScoredModel.of(fit_with_progress(model, people.cohort, progress), people)

        def done(state: Self, read: ScoredModel) -> Self:
            pairs = match_phenotypes(old.read.phenotypes, read.phenotypes)
            text = f"Fitted {n_components} phenotypes with scores up to {max_score}"
            code = f"refit({n_components}, max_score={max_score})"
            annotations = old.annotations.carried_over(pairs)
            names = [one.name for one in annotations.items.values() if one.name]
            kept = f" Names kept: {', '.join(names)}." if names else ""
            fitted = state.step_to(CardsView(read, annotations), text, code)
            return fitted.replace(message=f"{text}.{kept}")

        return Job(f"Fitting {n_components} phenotypes", work, done)

    def refit(
        self, n_components: int, *, max_score: int, progress: Callable[..., None] | None = None
    ) -> Self:
        """Fit again, and show the new phenotypes."""
        job = self.plan_refit(n_components, max_score=max_score)
        return job.done(self, job.work(progress))

    # -- inside ----------------------------------------------------------------------------------

    def _annotate(self, phenotype: int, text: str, code: str, **changes: str) -> Self:
        """Take a step that says something of a phenotype, unless it was said before."""
        require_numbered(phenotype, len(self.phenotypes), "phenotype")
        known = self.annotations.of(phenotype)
        annotation = replace(known, **changes)
        if replace(annotation, on=known.on) == known:
            return self.tell(f"It was so already: {text}.", tone="done")
        annotations = self.annotations.replaced(phenotype, annotation)
        return self.step_to(CardsView(self.value.read, annotations), text, code)

    def follow(self, value: CardsView) -> dict[str, Any]:
        """Pick phenotypes that are there."""
        n, same = len(value.read.phenotypes), value.read is self.value.read
        return {
            "phenotype": min(self.phenotype, n - 1),
            "other": None if self.other is None or self.other >= n else self.other,
            "paging": self.paging if same else FIRST_PAGE,
        }


@remembered
def disclosed(_: CardsState, counted: Any, threshold: int) -> DisclosedCounts:
    """Return numbers of patients without small ones."""
    return DisclosedCounts(counted, threshold)


def reaching(level: int) -> str:
    """Say which scores reach a level."""
    return f"{level} or more" if level > 0 else f"−{-level} or less"


def tidied(field: str, value: Any) -> str:
    """Return a text as it is kept."""
    if not isinstance(value, str):
        refuse(f'{field} is {value!r}; pass a text, or "" to take it away.', TypeError)
    if field == "mark":
        if value not in MARKS:
            refuse(f"mark is {value!r}; it is one of {', '.join(map(repr, MARKS))}.")
        return value
    text = value.strip() if field == "note" else " ".join(value.split())
    return text[: LONGEST[field]]
