"""Count tensors from long tables of events: patients by diagnoses by medications and the like."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._entries import Entries, check_counts
from lvmkit.cohorts._event_tensor import (
    Gathered,
    Plan,
    ReadOptions,
    counted,
    number_patients,
    planned,
)
from lvmkit.cohorts._filtering import Thinning
from lvmkit.cohorts._groups import Group
from lvmkit.cohorts._sources import NUMBERS, Source, SourceTable, database_apart, trimmed
from lvmkit.cohorts._visits import EventTables, dated_rows
from lvmkit.cohorts._windows import Window
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.core import moved
from lvmkit.core.validation import listed, require_text

__all__ = ["tensor_from_events"]


@moved.arguments(together="visit")
def tensor_from_events(
    source: pd.DataFrame | str | Path | Sequence[str | Path] | Mapping[str, Any],
    *,
    patient: str,
    modes: Mapping[str, str],
    visit: str | None = None,
    date: str | None = None,
    count: str | None = None,
    system: Mapping[str, str] | None = None,
    group: Mapping[str, Group] | None = None,
    titles: Mapping[str, Mapping[str, str]] | None = None,
    index: "pd.Series[Any] | pd.DataFrame | str | Mapping[str, Iterable[str]] | None" = None,
    before: int | None = None,
    after: int | None = None,
    min_count: int = 1,
    min_patients: int = 1,
    max_codes: int | Mapping[str, int] | None = None,
    attributes: pd.DataFrame | str | Path | Iterable[str] | None = None,
    connection: Any = None,
    encoding: str = "utf-8",
) -> CountTensor:
    """Count how often codes of several modes came together: patients × diagnoses × medications and the like.

    In one table a row has a code of every mode, such as a medication and the diagnosis that it was ordered for.
    Several tables, one for each mode, are joined: codes came together if they have the same patient and the same
    visit (`visit`) or, without one, the same date. Every column is read as text in a private DuckDB database, which
    spills to disk; the order of the rows never matters. What is repaired or left out is kept in
    ``about["repairs"]`` and said as a `DataWarning`.

    Parameters
    ----------
    source : DataFrame, path, glob, list of paths or SQL query, or a mapping from modes to these
        One table, or one for each mode; an SQL query with `connection`.
    patient : str
        Column of the patient, in every table.
    modes : mapping of str to str
        Name of each mode, such as "diagnosis", and the column of its codes. One mode gives patients × codes.
    visit : str, optional
        Column of the visit, claim or encounter, in every table. A cell then counts visits, however many
        rows of the visit have its codes.
    date : str, optional
        Column of the date, as 2010-12-31 or 20101231, in every table. Without `visit`, days are visits.
    count : str, optional
        Of one table: column of how often the row happened, whole numbers of at least 0, which are summed.
    system : mapping of str to str, optional
        Coding system by mode: "icd9", "icd10", "icd9procedure" or "other", codes as they are. "other" for modes
        not named, unless `group` needs ICD: then it is found from the codes.
    group : mapping of str to str, mapping or function, optional
        What codes are counted as, by mode: "category" or "chapter" of ICD diagnoses, "ccs" for the groups of
        AHRQ's Clinical Classifications Software (ICD-9-CM diagnoses and procedures), a mapping of codes to
        groups, or a function; codes without a group are left out. Modes not named keep their codes.
    titles : mapping of str to mapping, optional
        By mode, titles of codes or groups that go before those of lvmkit's tables.
    index : Series, DataFrame, str or mapping of str to list of str, optional
        Index date of each patient: dates by patient; a table with the column `patient` and one more; a
        column of the one table; or, as {mode: codes}, the first date at which one of these codes (of ICD: or one
        that begins with it) was seen. The first counts if there are several; other patients are left out.
    before, after : int, optional
        Days before and after the index date within which events count, that day included; all if not given.
    min_count : int, default=1
        Smallest count of a cell that is kept.
    min_patients : int, default=1
        Least number of patients of a code that is kept, among the cells that are.
    max_codes : int or mapping of str to int, optional
        Keep the codes that most patients have only, this many of each mode.
    attributes : DataFrame, path or iterable of str, optional
        Attributes of patients: a table keyed by a column named as `patient` or by its index, or columns
        of the one table.
    connection : DuckDB, DBAPI or SQLAlchemy connection, optional
        Where to run `source` as a query, or each of several. SQLite and PostgreSQL refuse to
        write meanwhile.
    encoding : str, default="utf-8"
        Encoding of CSV files.

    Returns
    -------
    CountTensor
        Modes ("patient", …) in the order of `modes`, patients in the order of their ids, codes sorted; codes
        and patients without any count are left out. With `index`, ``obs`` has index_date.

    Raises
    ------
    ValueError
        If a column is unknown, a file cannot be read, no date can be read, options contradict each other, or no
        patient is left.

    Notes
    -----
    Days are read as in `from_events`: as written, whatever time zone this machine is in.

    Perros 2018, sections 3.3 and 4.1: encounters at which a medication was ordered for a diagnosis, with
    codes grouped (CCS). Section 4.4 takes the 12 months before and after the first diagnosis of heart failure:
    ``index={"diagnosis": ["428"]}, before=365, after=365``.

    Examples
    --------
    >>> orders = pd.DataFrame({"id": ["ann", "ann", "bob"], "dx": ["428.0", "428.1", "250.00"],
    ...                        "rx": ["furosemide", "furosemide", "insulin"]})
    >>> tensor = tensor_from_events(orders, patient="id", modes={"diagnosis": "dx", "medication": "rx"},
    ...                             group={"diagnosis": "category"})
    >>> tensor
    CountTensor of 2 patients × 2 diagnoses × 2 medications, 2 non-zeros
    >>> tensor.cohort().to_df()
         250  428  furosemide  insulin
    ann  0.0  2.0         2.0      0.0
    bob  1.0  0.0         0.0      1.0
    """
    repairs = Repairs()
    window = Window(index, before, after)
    plan = planned(
        patient,
        modes,
        system=system,
        group=group,
        titles=titles,
        window=window,
        thinning=Thinning(min_count, min_patients, max_codes),
        date=date,
        visit=visit,
    )
    reading = ReadOptions(attributes, connection, encoding, repairs)
    with database_apart() as database:
        if isinstance(source, Mapping):
            gathered = _several(database, _by_mode(source, plan, count), plan, reading)
        else:
            gathered = _one(database, source, plan, count, reading)
        tensor = counted(gathered, plan, repairs)
    repairs.announce(stacklevel=4)  # the renamed argument adds a frame
    return tensor


def _by_mode(source: Mapping[str, Any], plan: Plan, count: str | None) -> list[Source]:
    """Put sources in the order of the modes; refuse what only one table can have, and tables without a visit."""
    if set(source) != set(plan.names):
        msg = f"source has tables for {listed(source)}, modes names {listed(plan.names)}; give one for each mode."
        raise ValueError(msg)
    if plan.visit is None and plan.date is None and len(source) > 1:
        msg = (
            "several tables are joined by the visit or the date: pass visit=, the column of the visit, or "
            "date=; each table must have it."
        )
        raise ValueError(msg)
    if count is not None or isinstance(plan.window.index, str):
        name = "count" if count is not None else "index"
        msg = f"{name} names a column, which only one table of all modes can have; leave it out."
        raise ValueError(msg)
    return [source[name] for name in plan.names]


def _one(
    database: duckdb.DuckDBPyConnection,
    source: Source,
    plan: Plan,
    count: str | None,
    reading: ReadOptions,
) -> Gathered:
    """Copy one table, each row of which has a code of every mode, into ``entries``."""
    require_text(count, "count", optional=True)
    if count is not None and plan.visit is not None:
        msg = "count sums rows and visit counts visits once; pass one of them."
        raise ValueError(msg)
    with reading.opened(database, source) as table:
        more = {"x": ("index", plan.window.index), "n": ("count", count)}
        columns = _columns(table, plan, range(len(plan.modes)))
        for letter, (argument, name) in more.items():
            if isinstance(name, str):
                table.check(argument, name)
                columns[letter] = table.text(name)
        visits = _visits(database, ("entries",), plan, [table] * len(plan.modes), count)
        n_rows = _copy(database, "entries", columns, table, visits)
        index = plan.window.index
        table.state_zones([plan.date, index if isinstance(index, str) else None], reading.repairs)
        check_counts(Entries(database, "", numeric_codes=False), count)
        _check_total(visits, count)
        ids = number_patients(visits, reading.repairs)
        obs = reading.attributes_of(table, plan.patient, table.text(plan.patient), ids)
        return Gathered(visits, ids, obs, table.name, n_rows)


def _several(
    database: duckdb.DuckDBPyConnection, sources: list[Source], plan: Plan, reading: ReadOptions
) -> Gathered:
    """Copy the table of each mode into ``events0``, ``events1`` and so on."""
    names = tuple(f"events{mode}" for mode in range(len(sources)))
    tables, n_rows = [], 0
    for mode, source in enumerate(sources):
        with reading.opened(database, source) as table:
            tables.append(table)
            visits = _visits(database, names, plan, tables, None)
            columns = _columns(table, plan, [mode])
            n_rows += _copy(database, names[mode], columns, table, visits)
            table.state_zones([plan.date], reading.repairs)
    people = " UNION ALL ".join(f"SELECT p FROM {name}" for name in names)
    database.execute(f"CREATE TEMP VIEW entries AS {people}")
    ids = number_patients(visits, reading.repairs)
    obs = reading.attributes_of(None, plan.patient, "", ids)
    shown = ", ".join(dict.fromkeys(table.name for table in tables))
    return Gathered(visits, ids, obs, shown, n_rows)


def _columns(table: SourceTable, plan: Plan, modes: Iterable[int]) -> dict[str, str]:
    """Columns of a table as SQL, by the letters that `EventTables` explains; refuse those that it does not have."""
    table.check("patient", plan.patient)
    columns = {"p": table.ids("patient", plan.patient)}
    if plan.visit is not None:
        table.check("visit", plan.visit)
        columns["v"] = trimmed(table.ids("visit", plan.visit))
    if plan.date is not None:
        table.check("date", plan.date)
        columns["d"] = table.text(plan.date)
    for mode in modes:
        table.check(f"modes: {plan.names[mode]}", plan.modes[mode].column)
        columns[f"c{mode}"] = table.ids(f"modes: {plan.names[mode]}", plan.modes[mode].column)
    return columns


def _visits(
    database: duckdb.DuckDBPyConnection,
    names: tuple[str, ...],
    plan: Plan,
    tables: list[SourceTable],
    count: str | None,
) -> EventTables:
    """Say how rows are to be counted: each, by visit, or by day."""
    visit = "v" if plan.visit is not None else "day" if plan.date is not None else ""
    visit = "" if count is not None else visit
    numeric = tuple(
        table.kinds[mode.column] in NUMBERS for table, mode in zip(tables, plan.modes, strict=False)
    )
    dated = visit == "day" or (plan.date is not None and plan.window.needs_dates)
    return EventTables(
        database, names, plan.modes, numeric, counted=count is not None, visit=visit, dated=dated
    )


def _check_total(visits: EventTables, count: str | None) -> None:
    """Refuse counts so large that their sums would not be exact."""
    total = "SELECT coalesce(sum(CAST(n AS DOUBLE)), 0) >= 2::DOUBLE ** 53 FROM entries"
    if count is not None and visits.one(total):
        msg = f"count={count!r} adds up to more than 2**53, which is not exact; is it the right column?"
        raise ValueError(msg)


def _copy(
    database: duckdb.DuckDBPyConnection,
    name: str,
    columns: dict[str, str],
    table: SourceTable,
    visits: EventTables,
) -> int:
    """Make a table of the columns that matter, as text; return its number of rows."""
    n_rows = table.rows()
    if not visits.dated:
        columns.pop("d", None)
    database.execute(f"CREATE TEMP TABLE {name} AS {dated_rows(columns, table.relation)}")
    return n_rows
