"""State of the stability panel: studies, what is picked, and what is still to be measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import param

from lvmkit.core.typing import Labels
from lvmkit.disclosure import suppression
from lvmkit.disclosure.text import shown_count
from lvmkit.scores import StabilityStudy
from lvmkit.scores.stability.compare import Recommendation, recommendation
from lvmkit.scores.stability.refits import PROTOCOLS
from lvmkit_widgets.stability.data import Subject
from lvmkit_widgets.stability.options import (
    MOST_REPEATS,
    checked_protocol,
    checked_repeats,
    checked_values,
)
from lvmkit_widgets.stability.repeats import Cell, Outcome, Piece, measured, quiet

GOAL = 0.9  # mean index that is called stable


class StabilityState(param.Parameterized):
    """Studies of methods and values, which of them is looked at, and what is still to be measured."""

    method = param.String(default="", doc="Whose clusters are looked at.")
    value = param.Integer(default=2, doc="Number of clusters, or depth, that is looked at.")
    values = param.List(default=[], doc="Numbers of clusters, or depths, that are compared.")
    chosen = param.List(default=[], doc="Names of the methods that are compared.")
    n_repeats = param.Integer(default=5, bounds=(1, MOST_REPEATS), doc="Repeats of each.")
    protocol: Any = param.Selector(
        default="overlapping", objects=list(PROTOCOLS), doc="What is compared."
    )
    threshold = param.Integer(default=11, bounds=(2, None), doc="Smaller counts are hidden.")
    version = param.Integer(default=0, doc="Grows with every result.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(
        self, subject: Subject, *, values: Iterable[int] | None = None, n_repeats: int = 5
    ) -> None:
        self.subject = subject
        given = subject.values() if values is None else checked_values(values, name="values")
        own = subject.own if subject.own in given or values is None else given[0]
        super().__init__(
            method=subject.name,
            value=own,
            values=sorted({*given, own} if subject.parameter else given),
            chosen=list(subject.methods),
            n_repeats=n_repeats,
        )
        self.studies: dict[Cell, StabilityStudy] = {}
        self.previews: dict[Cell, StabilityStudy] = {}
        self.failures: dict[Cell, str] = {}
        self._table: tuple[Any, pd.DataFrame] | None = None

    # -- what there is -----------------------------------------------------------------------

    @property
    def picked(self) -> Cell:
        """The cell that is looked at."""
        return Cell(self.method, self.value)

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

    def cells(self) -> list[Cell]:
        """Return what is compared: what is looked at first, then the estimator, then the others."""
        subject = self.subject
        fixed = subject.parameter is None
        mine = [subject.own] if fixed else self.values
        order = [name for name in subject.methods if name in self.chosen]
        every = [Cell(n, v) for n in order for v in (mine if n == subject.name else self.values)]
        first = [cell for cell in every if cell == self.picked]
        return [cell for cell in dict.fromkeys([*first, *every]) if cell not in self.failures]

    def table(self) -> pd.DataFrame:
        """Tabulate every repeat."""
        known = self.version, tuple(self.values), tuple(self.chosen)
        if self._table is None or self._table[0] != known:  # every part asks for it
            self._table = known, self._tabulated()
        return self._table[1].copy()

    def _tabulated(self) -> pd.DataFrame:
        """Tabulate every repeat anew."""
        rows: list[tuple[Any, ...]] = []
        order = list(self.subject.methods)
        for cell in sorted(self.cells(), key=lambda cell: (order.index(cell.method), cell.value)):
            study = self.study_of(cell)
            for repeat in range(0 if study is None else study.n_repeats):
                assert study is not None
                found, ari = int(study.found[repeat]), float(study.ari[repeat])
                rows.append((*cell, found, repeat, ari, self.is_sampled(cell)))
        columns = ["method", "value", "n_clusters", "repeat", "ari", "sampled"]
        table = pd.DataFrame(rows, columns=columns)
        best = {name: self._best(table, name) for name in table["method"].unique()}
        table["recommended"] = [
            value == best[name].value
            for name, value in zip(table["method"], table["value"], strict=True)
        ]
        table.attrs = {
            "recommended": {name: one.value for name, one in best.items()},
            "why": {name: one.why for name, one in best.items()},
        }
        return table

    def recommended(self, method: str | None = None) -> Recommendation:
        """Choose a value of a method by the rule of `lvmkit.scores.compare_stability`."""
        return self._best(self.table(), method or self.method)

    def _best(self, table: pd.DataFrame, method: str) -> Recommendation:
        """Choose a value of a method."""
        return recommendation(table[table["method"] == method], goal=GOAL)

    def hidden(self, study: StabilityStudy) -> Labels:
        """Return the clusters of a study of which nothing is told, because too few rows are in them."""
        return study.clusters[study.sizes < self.threshold]

    def sizes(self, study: StabilityStudy) -> list[int | str]:
        """Return the sizes of a study's clusters as they may be shown."""
        masked = suppression(study.sizes[:, None], threshold=self.threshold).cells[:, 0]
        sizes = zip(study.sizes.tolist(), masked, strict=True)
        return [shown_count(np.nan if gone else n, n, self.threshold) for n, gone in sizes]

    def estimator_at(self, value: int | None = None, *, method: str | None = None) -> Any:
        """Return a method with a number of clusters, or a depth, fitted to all rows, to use it elsewhere."""
        name = method or self.method
        if name not in self.subject.methods:
            known = ", ".join(self.subject.methods)
            message = f"There is no method {name!r}; choose one of {known}."
            raise ValueError(message)
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
    ) -> None:
        """Set what is compared; what is measured already is kept as long as it is of the same protocol."""
        fields: dict[str, Any] = {}
        if values is not None:
            fields["values"] = checked_values(values)
        if chosen is not None:
            fields["chosen"] = self._known(chosen)
        if n_repeats is not None:
            fields["n_repeats"] = checked_repeats(n_repeats)
        if protocol is not None and protocol != self.protocol:
            fields["protocol"] = checked_protocol(protocol)
            for known in (self.studies, self.previews, self.failures):
                known.clear()
        wanted = fields.get("values", self.values)
        own = [self.subject.own] if self.subject.parameter is None else wanted
        names = fields.get("chosen", self.chosen)
        method = self.method if self.method in names else names[0]
        mine = own if method == self.subject.name else wanted
        value = self.value if self.value in mine else mine[0]
        self.param.update(**fields, method=method, value=value, version=self.version + 1)

    def pick(self, method: str, value: int) -> None:
        """Look at another method or value."""
        self.param.update(method=method, value=value)

    def todo(self) -> list[Piece]:
        """Return what is still to be measured: first all of it on a sample, then repeat by repeat."""
        cells = self.cells()
        known = {cell: study.n_repeats for cell, study in self.studies.items()}
        first = []
        if self.subject.sample is not None:
            fresh = [c for c in cells if c not in known and c not in self.previews]
            first = [Piece(cell, sampled=True, protocol=self.protocol) for cell in fresh]
        later = [
            Piece(cell, sampled=False, protocol=self.protocol)
            for repeat in range(self.n_repeats)
            for cell in cells
            if known.get(cell, 0) <= repeat
        ]
        return [*first, *later]

    def measured(self, piece: Piece, progress: Any = None) -> Outcome:
        """Measure one repeat; touches nothing, so that it may run in a thread."""
        resume = None if piece.sampled else self.studies.get(piece.cell)
        return measured(self.subject, piece, resume=resume, progress=progress)

    def take(self, outcome: Outcome) -> None:
        """Take what was measured, unless another protocol was asked for meanwhile."""
        if outcome.piece.protocol != self.protocol:
            return
        cell = outcome.piece.cell
        if outcome.failed:
            self.failures[cell] = outcome.failed
        elif outcome.study is not None:
            home = self.previews if outcome.piece.sampled else self.studies
            home[cell] = outcome.study
        self.version += 1

    def study_shown(self) -> StabilityStudy | None:
        """Return the study that is looked at, with the goal of now."""
        study = self.study
        if study is None:
            return None
        return replace(study, planned=max(self.n_repeats, study.n_repeats))

    def _known(self, chosen: Sequence[str]) -> list[str]:
        """Return the methods that were chosen, in their order."""
        unknown = [name for name in chosen if name not in self.subject.methods]
        if unknown or not chosen:
            known = ", ".join(self.subject.methods)
            message = f"Choose one or more of the methods {known}."
            raise ValueError(message)
        return [name for name in self.subject.methods if name in chosen]
