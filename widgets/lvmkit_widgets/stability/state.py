"""State of the stability panel: studies, what is picked, and what is still to be measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from lvmkit.core.typing import Labels
from lvmkit.core.validation import listed
from lvmkit.disclosure import suppression
from lvmkit.disclosure.text import shown_count
from lvmkit.mixtures.refit import quiet
from lvmkit.scores import StabilityStudy
from lvmkit.scores.stability.compare import Recommendation, recommendation
from lvmkit.scores.stability.refits import PROTOCOLS
from lvmkit_widgets.stability.data import Cell, Outcome, Piece, Subject
from lvmkit_widgets.ui.state import State, remembered
from lvmkit_widgets.ui.words import refuse

GOAL = 0.9  # mean index that is called stable
NOTHING = "Nothing has been measured yet."
NOT_SAVED = "A saved page holds {} of these pictures; this one is not among them."
MOST_REPEATS = 100
MOST_VALUES = 40
Studies = Mapping[Cell, StabilityStudy]


@dataclass(frozen=True, eq=False, kw_only=True)
class StabilityState(State):
    """Studies of methods and values, which of them is looked at, and what is still to be measured."""

    subject: Subject
    method: str  # Whose clusters are looked at
    value: int  # Number of clusters, or depth, that is looked at
    values: tuple[int, ...]  # Numbers of clusters, or depths, that are compared
    chosen: tuple[str, ...]  # Names of the methods that are compared
    n_repeats: int = 5  # Of each
    protocol: str = "overlapping"  # What is compared
    studies: Studies = dataclasses.field(default_factory=dict)  # Of all rows
    previews: Studies = dataclasses.field(default_factory=dict)  # Of the sample
    failures: Mapping[Cell, str] = dataclasses.field(default_factory=dict)  # Why there is no study
    held: frozenset[Cell] | None = None  # Pictures in a page; None while Python answers

    @classmethod
    def of(
        cls, subject: Subject, *, values: Iterable[int] | None = None, n_repeats: int = 5
    ) -> Self:
        """Return the state in which nothing is measured."""
        given = subject.values() if values is None else checked_values(values, name="values")
        own = subject.own if subject.own in given or values is None else given[0]
        return cls(
            subject=subject,
            method=subject.name,
            value=own,
            values=tuple(sorted({*given, own}) if subject.parameter else given),
            chosen=tuple(subject.methods),
            n_repeats=n_repeats,
        )

    # -- what there is -----------------------------------------------------------------------

    @property
    def picked(self) -> Cell:
        """The cell that is looked at."""
        return Cell(self.method, self.value)

    @property
    def cell_name(self) -> str:
        """What is looked at, in words."""
        if self.method == self.subject.name and self.subject.parameter is None:
            return self.method
        depth, clusters = f"depth {self.value}", f"{self.value} clusters"
        return f"{self.method}, {depth if self.subject.deep else clusters}"

    @property
    def not_drawn(self) -> str:
        """Why a page has no pictures of what is looked at; "" where it has."""
        there = self.held is None or self.picked in self.held
        return "" if there else NOT_SAVED.format(len(self.held or ()))

    @property
    def study(self) -> StabilityStudy | None:
        """The study that is looked at: of all rows if there is one, else of the sample."""
        return self.study_of(self.picked)

    def study_of(self, cell: Cell) -> StabilityStudy | None:
        """Return the best study of a cell there is."""
        return self.studies.get(cell) or self.previews.get(cell)

    def is_sampled(self, cell: Cell) -> bool:
        """Tell whether what is known of a cell rests on a sample of the rows."""
        return cell not in self.studies and cell in self.previews

    def every_cell(self) -> list[Cell]:
        """Return what is compared: the estimator, then the others."""
        order = [name for name in self.subject.methods if name in self.chosen]
        every = [Cell(name, v) for name in order for v in self._values_of(name, self.values)]
        return [cell for cell in dict.fromkeys(every) if cell not in self.failures]

    def cells(self) -> list[Cell]:
        """Return what is compared, and first what is looked at."""
        return sorted(self.every_cell(), key=lambda cell: cell != self.picked)

    def table(self) -> pd.DataFrame:
        """Tabulate every repeat."""
        return tabulated(self).copy()

    def recommended(self, method: str | None = None) -> Recommendation:
        """Choose a value of a method by the rule of `lvmkit.scores.compare_stability`."""
        return best_of(tabulated(self), method or self.method)

    def hidden(self, study: StabilityStudy) -> Labels:
        """Return the clusters of a study of which nothing is told, because too few rows are in them."""
        return study.clusters[study.sizes < self.disclosure.threshold]

    def sizes(self, study: StabilityStudy) -> list[int | str]:
        """Return the sizes of a study's clusters as they may be shown."""
        least = self.disclosure.threshold
        masked = suppression(study.sizes[:, None], threshold=least).cells[:, 0]
        sizes = zip(study.sizes.tolist(), masked, strict=True)
        return [shown_count(np.nan if gone else n, n, least) for n, gone in sizes]

    def estimator_at(self, value: int | None = None, *, method: str | None = None) -> Any:
        """Return a method with a number of clusters, or a depth, fitted to all rows, to use it elsewhere."""
        name = method or self.method
        if name not in self.subject.methods:
            known = ", ".join(self.subject.methods)
            refuse(f"There is no method {name!r}; choose one of {known}.")
        with quiet():
            return self.subject.fitted(name, self.value if value is None else value)

    # -- what is to be done ------------------------------------------------------------------

    def plan(
        self,
        *,
        values: Sequence[int] | None = None,
        chosen: Sequence[str] | None = None,
        n_repeats: int | None = None,
        protocol: str | None = None,
    ) -> Self:
        """Set what is compared; what is measured already is kept as long as it is of the same protocol."""
        wanted = self.values if values is None else tuple(checked_values(values))
        names = self.chosen if chosen is None else self._known(chosen)
        repeats = self.n_repeats if n_repeats is None else checked_repeats(n_repeats)
        fresh: dict[str, Any] = {}
        if protocol is not None and protocol != self.protocol:
            if protocol not in PROTOCOLS:
                refuse(f"Compare by one of {', '.join(PROTOCOLS)}; {protocol!r} was given.")
            fresh = {"protocol": protocol, "studies": {}, "previews": {}, "failures": {}}
        method = self.method if self.method in names else names[0]
        mine = self._values_of(method, wanted)
        value = self.value if self.value in mine else mine[0]
        looked_at = {"method": method, "value": value}
        return self.replace(values=wanted, chosen=names, n_repeats=repeats, **looked_at, **fresh)

    def pick(self, method: str, value: int) -> Self:
        """Look at another method or value."""
        return self.replace(method=method, value=value)

    def todo(self) -> list[Piece]:
        """Return what is still to be measured: first all of it on a sample, then repeat by repeat."""
        cells, sampling = self.cells(), self.subject.sample is not None
        known = {cell: study.n_repeats for cell, study in self.studies.items()}
        first = [cell for cell in cells if sampling and self.study_of(cell) is None]
        later = [c for i in range(self.n_repeats) for c in cells if known.get(c, 0) <= i]
        return [
            *(Piece(cell, sampled=True, protocol=self.protocol) for cell in first),
            *(Piece(cell, sampled=False, protocol=self.protocol) for cell in later),
        ]

    def measured(self, piece: Piece, progress: Any = None) -> Outcome:
        """Measure one repeat; touches nothing, so that it may run in a thread."""
        resume = None if piece.sampled else self.studies.get(piece.cell)
        return self.subject.measured(piece, resume=resume, progress=progress)

    def take(self, outcome: Outcome) -> Self:
        """Take what was measured, unless another protocol was asked for meanwhile."""
        piece, cell = outcome.piece, outcome.piece.cell
        if piece.protocol != self.protocol:
            return self
        if outcome.failed:
            return self.replace(failures={**self.failures, cell: outcome.failed})
        if outcome.study is None:
            return self
        home = "previews" if piece.sampled else "studies"
        return self.replace(**{home: {**getattr(self, home), cell: outcome.study}})

    def _values_of(self, method: str, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return the values of a method; an estimator without the option has only its own."""
        alone = method == self.subject.name and self.subject.parameter is None
        return (self.subject.own,) if alone else wanted

    def _known(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """Return the methods that were chosen, in their order."""
        if not chosen or not {*chosen} <= {*self.subject.methods}:
            known = ", ".join(self.subject.methods)
            refuse(f"Choose one or more of the methods {known}.")
        return tuple(name for name in self.subject.methods if name in chosen)


@remembered
def tabulated(state: StabilityState) -> pd.DataFrame:
    """Tabulate every repeat; for all who ask, so nobody changes it."""
    rows = [
        (*cell, int(study.found[i]), i, float(study.ari[i]), state.is_sampled(cell))
        for cell in state.every_cell()
        if (study := state.study_of(cell)) is not None
        for i in range(study.n_repeats)
    ]
    columns = ["method", "value", "n_clusters", "repeat", "ari", "sampled"]
    table = pd.DataFrame(rows, columns=columns)
    best = {name: best_of(table, name) for name in table["method"].unique()}
    pairs = zip(table["method"], table["value"], strict=True)
    table["recommended"] = [value == best[name].value for name, value in pairs]
    table.attrs = {
        "recommended": {name: one.value for name, one in best.items()},
        "why": {name: one.why for name, one in best.items()},
    }
    return table


def best_of(table: pd.DataFrame, method: str) -> Recommendation:
    """Choose a value of a method."""
    return recommendation(table[table["method"] == method], goal=GOAL)


def checked_values(values: Iterable[Any], *, name: str = "") -> list[int]:
    """Return values in ascending order."""
    given = list(values)
    wrong = [value for value in given if not is_whole(value) or value < 1]
    if wrong or not given:
        start = f"{name}: n" if name else "N"
        found = f"{listed(wrong[:1])} was given" if wrong else "none was given"
        refuse(f"{start}umbers of clusters, or depths, are whole numbers of 1 or more; {found}.")
    different = sorted({int(value) for value in given})
    if (n := len(different)) > MOST_VALUES:
        refuse(f"At most {MOST_VALUES} numbers are compared at a time; {n} were given.")
    return different


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_repeats(n_repeats: Any) -> int:
    """Return a number of repeats."""
    if not is_whole(n_repeats) or not 1 <= n_repeats <= MOST_REPEATS:
        refuse(
            f"The number of repeats, n_repeats, is a whole number from 1 to {MOST_REPEATS}; "
            f"{n_repeats!r} was given."
        )
    return int(n_repeats)
