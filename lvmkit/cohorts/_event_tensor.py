"""Assembly of an event tensor: codes, windows, cells, filtering, labels."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.cohorts import _attributes
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import Entries, number_records
from lvmkit.cohorts._filtering import Thinning, known_modes, thinned
from lvmkit.cohorts._groups import CodeMode, Group
from lvmkit.cohorts._options import check_titles
from lvmkit.cohorts._sources import Source, SourceTable, column_list, opened_in
from lvmkit.cohorts._visits import EventTables, count_cells, number_codes
from lvmkit.cohorts._windows import Window, within
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.core.validation import listed, require_text

Attributes = pd.DataFrame | str | Path | Iterable[str] | None


@dataclass(frozen=True)
class Plan:
    """Options of an event tensor: modes, window, filtering."""

    patient: str
    modes: tuple[CodeMode, ...]
    window: Window
    thinning: Thinning
    date: str | None = None
    visit: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the modes but the patients."""
        return tuple(mode.name for mode in self.modes)

    def check(self) -> None:
        """Refuse contradictory options before anything is read."""
        if len(set(self.names)) < len(self.names) or "patient" in self.names or not all(self.names):
            msg = f"modes={list(self.names)}; expected names, each once, that are not 'patient'."
            raise ValueError(msg)
        require_text(self.date, "date", optional=True)
        for mode in self.modes:
            mode.check()
        self.thinning.check(self.names)
        self.window.check(self.names, self.date)

    def chosen(self) -> dict[str, Any]:
        """Return the options that are kept with the tensor."""
        groups = {
            mode.name: mode.group if isinstance(mode.group, str) else "given"
            for mode in self.modes
            if mode.group is not None
        }
        more = {"group": groups} if groups else {}
        return {**self.thinning.chosen(), **self.window.chosen(), **more}


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading: connection, encoding, attributes of the patients."""

    attributes: Attributes
    connection: Any
    encoding: str
    repairs: Repairs

    def opened(
        self, database: duckdb.DuckDBPyConnection, source: Source
    ) -> AbstractContextManager[SourceTable]:
        """Open a source in a database."""
        return opened_in(database, source, connection=self.connection, encoding=self.encoding)

    def attributes_of(
        self, table: SourceTable | None, patient: str, person: str, ids: npt.NDArray[np.object_]
    ) -> pd.DataFrame:
        """Attributes of the patients, from a table of their own or from columns of an open source."""
        # `person` is the SQL of the source's column `patient`.
        if isinstance(self.attributes, str) and table and self.attributes in table.kinds:
            column_list("attributes", self.attributes)  # a column is no file: refused
        if self.attributes is None or isinstance(self.attributes, pd.DataFrame | str | Path):
            return _attributes.from_table(
                self.attributes, patient, ids, self.repairs, self.encoding
            )
        names = column_list("attributes", self.attributes)
        if table is None:
            msg = f"attributes={names!r} names columns of one table, but there are several; pass a table."
            raise ValueError(msg)
        table.check("attributes", *names)
        table.state_zones(names, self.repairs)
        return _attributes.from_columns(table, names, person, ids, self.repairs)


@dataclass(frozen=True)
class Gathered:
    """Events in DuckDB, with their patients."""

    visits: EventTables
    patients: npt.NDArray[np.object_]
    obs: pd.DataFrame
    source: str
    n_rows: int


def planned(
    patient: str,
    columns: Mapping[str, str],
    *,
    system: Mapping[str, str] | None,
    group: Mapping[str, Group] | None,
    titles: Mapping[str, Mapping[str, str]] | None,
    window: Window,
    thinning: Thinning,
    date: str | None,
    visit: str | None,
) -> Plan:
    """Collect and check the options; `columns` names the modes' columns in messages."""
    require_mapping("modes", columns, "'diagnosis': 'icd9'")
    if not columns:
        msg = "modes is empty; expected names and columns, such as {'diagnosis': 'icd9'}."
        raise ValueError(msg)
    names = tuple(columns)
    for name in names:
        require_text(name, "modes: a name")
    for argument, given in {"system": system, "group": group, "titles": titles}.items():
        if given is not None:
            require_mapping(argument, given, f"{names[0]!r}: …")
        known_modes(argument, given or {}, names)
    modes = tuple(
        CodeMode(
            name,
            column,
            (system or {}).get(name),
            (group or {}).get(name),
            check_titles((titles or {}).get(name), f"titles of {name!r}"),
        )
        for name, column in columns.items()
    )
    plan = Plan(patient, modes, window, thinning, date, visit)
    plan.check()
    return plan


def require_mapping(argument: str, given: object, example: str) -> None:
    """Refuse an option that does not say to which mode each of its values belongs."""
    if not isinstance(given, Mapping):
        msg = f"{argument} must be a mapping with modes as keys, such as {{{example}}}; found {type(given).__name__}."
        raise TypeError(msg)


def number_patients(visits: EventTables, repairs: Repairs) -> npt.NDArray[np.object_]:
    """Give the patients in ``entries`` numbers in the order of their ids; return the ids."""
    number_records(Entries(visits.database, "", numeric_codes=False), repairs)
    named = visits.fetch("SELECT any_value(t) AS t FROM records GROUP BY i ORDER BY i")
    return np.asarray(named["t"], dtype=object)


def counted(gathered: Gathered, plan: Plan, repairs: Repairs) -> CountTensor:
    """Count the events of a plan."""
    visits, n = gathered.visits, len(gathered.patients)
    codes, labels = zip(
        *(number_codes(visits, mode, repairs) for mode in range(len(plan.modes))), strict=True
    )
    _state_ignored(visits, plan, repairs)
    visits, dates = within(visits, list(codes), plan.window, plan.patient, repairs)
    cells = count_cells(visits, (n, *map(len, labels)), repairs)
    repeated = repairs.dropped.get("entries_repeated", 0)
    shown = f"{number_of(repeated, 'entry', 'entries')} with codes that their visit already has: counted once."
    repairs.drop("entries_repeated", repeated, shown)
    if not len(cells.counts):
        inside = " inside the window" if plan.window.limited else ""
        wanted = " and ".join(f"a {name}" for name in plan.names)
        msg = f"no patient left: no visit{inside} has {wanted}.{_apart(visits)}"
        raise ValueError(msg)
    cells, numbers = thinned(cells, plan.names, plan.thinning, repairs)
    indexed = n if plan.window.index is None else len(dates)
    lost = indexed - len(numbers[0])
    repairs.drop(
        "patients_without_cell",
        lost,
        f"{lost:,} of {number_of(indexed, 'patient')} have no count that is kept: left out.",
    )
    obs = gathered.obs.iloc[numbers[0]]
    if dates:
        obs = obs.assign(index_date=pd.Categorical([dates[int(i)] for i in numbers[0]]))
    tables = [table.iloc[kept] for table, kept in zip(labels, numbers[1:], strict=True)]
    _state_small(len(obs), plan.names, tables, repairs)
    counts = sparse.coo_array((cells.counts, cells.places), shape=tuple(map(len, numbers)))
    about = {
        "options": plan.chosen(),
        "repairs": repairs.told,
        "n_input_rows": gathered.n_rows,
        "n_dropped": repairs.dropped,
    }
    return CountTensor(counts, ("patient", *plan.names), (obs, *tables), gathered.source, about)


def _apart(visits: EventTables) -> str:
    """Say how many patients are in every one of several tables, as ids may be written in two ways."""
    if len(visits.given) < 2:
        return ""
    tables = [f"SELECT i FROM {table} JOIN records USING (p)" for table in visits.given]
    shared = visits.one(f"SELECT count(*) FROM ({' INTERSECT '.join(tables)})")
    return f" The tables share {number_of(shared, 'patient')}; do they write ids, visits and dates alike?"


def _state_ignored(visits: EventTables, plan: Plan, repairs: Repairs) -> None:
    """State rows without code, visit or date; refuse a table that has no date that can be read."""
    for mode in plan.modes:
        n = repairs.dropped[f"{mode.name}: entries_without_code"]
        if n:
            repairs.tell(f"{number_of(n, 'row')} without a code in {mode.column!r} ignored.")
    if visits.visit == "v" and plan.visit is not None:
        n = sum(visits.one(f"SELECT count(*) FROM {t} WHERE v IS NULL") for t in visits.given)
        told = f"{number_of(n, 'row')} without a visit in {plan.visit!r} ignored."
        repairs.drop("rows_without_visit", n, told)
    if visits.dated:
        _state_undated(visits, str(plan.date), repairs)


def _state_undated(visits: EventTables, date: str, repairs: Repairs) -> None:
    """State rows whose date cannot be read."""
    undated = 0
    for table in visits.given:
        n = visits.one(f"SELECT count(*) FROM {table} WHERE day IS NULL")
        query = (
            f"SELECT DISTINCT d FROM {table} WHERE day IS NULL AND d IS NOT NULL ORDER BY d LIMIT 6"
        )
        texts = listed([text for [text] in visits.database.execute(query).fetchall()]) or "nothing"
        if n == visits.one(f"SELECT count(*) FROM {table}"):
            msg = f"date={date!r} holds no date that can be read; expected 2010-12-31 or 20101231, found {texts}."
            raise ValueError(msg)
        undated += n
        if n:
            repairs.tell(
                f"{number_of(n, 'row')} ignored that have no readable date in {date!r} "
                f"(expected 2010-12-31 or 20101231; found {texts})."
            )
    repairs.dropped["rows_without_date"] = undated


def _state_small(
    n_patients: int, names: Iterable[str], tables: list[pd.DataFrame], repairs: Repairs
) -> None:
    """State that a tensor is too small for a fit."""
    if n_patients == 1:
        repairs.tell(
            "One patient is left: a saved model can score it, but none can be fitted to it."
        )
    single = [name for name, table in zip(names, tables, strict=True) if len(table) == 1]
    if single:
        repairs.tell(
            f"mode {listed(single)} has a single code: a mode of size 1 cannot be factorized. "
            "Leave the mode out, or keep more of its codes."
        )
