"""Count tensors from a wide table: several columns per mode, such as dx1 … dx15 and pr1 … pr8."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._event_tensor import (
    Gathered,
    Plan,
    ReadOptions,
    counted,
    number_patients,
    planned,
    require_mapping,
)
from lvmkit.cohorts._filtering import Thinning
from lvmkit.cohorts._groups import Group
from lvmkit.cohorts._sources import (
    NUMBERS,
    Source,
    SourceTable,
    column_list,
    database_apart,
    trimmed,
)
from lvmkit.cohorts._visits import EventTables, dated_rows
from lvmkit.cohorts._windows import Window
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.cohorts.wide import numbered, state_repeated_index
from lvmkit.core import moved
from lvmkit.core.validation import require_text

__all__ = ["tensor_from_wide"]


@moved.arguments(together="visit")
def tensor_from_wide(
    source: pd.DataFrame | str | Path | Sequence[str | Path],
    *,
    modes: Mapping[str, Iterable[str]],
    patient: str | None = None,
    visit: str | None = None,
    date: str | None = None,
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
    """Count how often codes of several modes came together in a row of a wide table.

    Each row is a visit, such as a discharge with its diagnoses and procedures: every pair (or triple, …) of codes of
    different modes in it adds 1 to a cell, however often the row has them.

    Parameters
    ----------
    source : DataFrame, path, glob, list of paths or SQL query
        The table: a DataFrame; CSV (also .gz) or Parquet files; or, with `connection`, an SQL query.
    modes : mapping of str to list of str
        Name of each mode, such as "diagnosis", and the columns of its codes; empty cells are ignored.
    patient : str, optional
        Column of the patient. Without it each row is one, named by the DataFrame's index if that repeats no id,
        or by its number from 0.
    visit : str, optional
        Column of the visit, if one may have several rows.
    date : str, optional
        Column of the date, as 2010-12-31 or 20101231, which a window needs.
    system : mapping of str to str, optional
        Coding system by mode, as in `tensor_from_events`.
    group : mapping of str to str, mapping or function, optional
        What codes are counted as, by mode, as in `tensor_from_events`.
    titles : mapping of str to mapping, optional
        By mode, titles of codes or groups that go before those of lvmkit's tables.
    index : Series, DataFrame, str or mapping of str to list of str, optional
        Index date of each patient, as in `tensor_from_events`.
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
        of `source`.
    connection : DuckDB, DBAPI or SQLAlchemy connection, optional
        Where to run `source` as a query. SQLite and PostgreSQL refuse to write meanwhile.
    encoding : str, default="utf-8"
        Encoding of CSV files.

    Returns
    -------
    CountTensor
        As from `tensor_from_events`. Patients without `patient` are in the order of the rows.

    Raises
    ------
    ValueError
        If a column is unknown, a file cannot be read, no date can be read, options contradict each other, or no
        patient is left.

    Notes
    -----
    Days are read as in `from_events`: as written, whatever time zone this machine is in.

    Perros 2018, section 4.1, builds its tensor of claims so: diagnoses and procedures of the same claim.

    Examples
    --------
    >>> stays = pd.DataFrame({"dx1": ["4280", "25000"], "dx2": ["5849", ""], "pr1": ["3722", "3893"]})
    >>> tensor = tensor_from_wide(stays, modes={"diagnosis": ["dx1", "dx2"], "procedure": ["pr1"]},
    ...                           system={"diagnosis": "icd9", "procedure": "icd9procedure"})
    >>> tensor
    CountTensor of 2 patients × 3 diagnoses × 2 procedures, 3 non-zeros
    >>> tensor.labels[2]["title"].tolist()
    ['Left heart cardiac catheterization', 'Venous catheterization, not elsewhere classified']
    """
    repairs = Repairs()
    require_text(patient, "patient", optional=True)
    require_mapping("modes", modes, "'diagnosis': ['dx1', 'dx2']")
    columns = {name: column_list(f"modes: {name}", names) for name, names in modes.items()}
    plan = planned(
        patient or "",
        {name: _shown(name, names) for name, names in columns.items()},
        system=system,
        group=group,
        titles=titles,
        window=Window(index, before, after),
        thinning=Thinning(min_count, min_patients, max_codes),
        date=date,
        visit=visit,
    )
    tensor = counted_rows(
        source, plan, columns, ReadOptions(attributes, connection, encoding, repairs)
    )
    if patient is None:
        state_repeated_index(source, repairs, "patient")
        tensor = _named_by_index(tensor, source)
    repairs.announce(stacklevel=4)  # the renamed argument adds a frame
    return tensor


def counted_rows(
    source: Source, plan: Plan, columns: Mapping[str, list[str]], reading: ReadOptions
) -> CountTensor:
    """Do the work of `tensor_from_wide` without saying the repairs aloud."""
    with database_apart() as database:
        gathered = _gathered(database, source, plan, list(columns.values()), reading)
        return counted(gathered, plan, reading.repairs)


def _named_by_index(tensor: CountTensor, source: Source) -> CountTensor:
    """Give the rows of a DataFrame the names of its index."""
    if not isinstance(source, pd.DataFrame) or not source.index.is_unique:
        return tensor
    names = [str(source.index[int(number)]) for number in tensor.obs.index]
    return replace(tensor, labels=(tensor.obs.set_axis(names), *tensor.labels[1:]))


def _shown(mode: str, columns: list[str]) -> str:
    """Name the columns of a mode in a message; refuse a mode without."""
    if not columns:
        msg = f"modes: {mode!r} has no columns; expected a list, such as ['dx1', 'dx2']."
        raise ValueError(msg)
    return f"{columns[0]} … {columns[-1]}" if len(columns) > 1 else columns[0]


def _gathered(
    database: duckdb.DuckDBPyConnection,
    source: Source,
    plan: Plan,
    columns: list[list[str]],
    reading: ReadOptions,
) -> Gathered:
    """Write the codes of each mode as rows of ``events0``, ``events1`` and so on."""
    with reading.opened(database, source) as table:
        chosen = _columns(table, plan, columns)
        n_rows = table.rows()
        rows, key = numbered(table, plan.patient or None)
        index = plan.window.index
        table.state_zones([plan.date, index if isinstance(index, str) else None], reading.repairs)
        chosen = {"p": key, "v": "row_number() OVER ()", **chosen}
        database.execute(f"CREATE TEMP TABLE entries AS {dated_rows(chosen, rows.relation)}")
        names = tuple(f"events{mode}" for mode in range(len(columns)))
        for mode, name in enumerate(names):
            day = ", day" if "d" in chosen else ""
            codes = f"SELECT p, v{day}, unnest(l{mode}) AS c{mode} FROM entries"
            filled = f"{trimmed(f'c{mode}')} IS NOT NULL"
            database.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM ({codes}) WHERE {filled}")
        numeric = tuple(any(table.kinds[c] in NUMBERS for c in names) for names in columns)
        visits = EventTables(
            database,
            names,
            plan.modes,
            numeric,
            bases=("entries",),
            visit="v",
            dated=plan.window.needs_dates,
        )
        ids = number_patients(visits, reading.repairs)
        obs = reading.attributes_of(rows, plan.patient, key, ids)
        return Gathered(visits, ids, obs, table.name, n_rows)


def _columns(table: SourceTable, plan: Plan, columns: list[list[str]]) -> dict[str, str]:
    """Columns as SQL, by the letters that `EventTables` explains; those of a mode as a list."""
    for name, names in zip(plan.names, columns, strict=True):
        table.check(f"modes: {name}", *names)
    chosen = {
        f"l{mode}": f"[{', '.join(map(table.text, names))}]" for mode, names in enumerate(columns)
    }
    index = plan.window.index
    given = {
        "v": ("visit", plan.visit),
        "d": ("date", plan.date if plan.window.needs_dates else None),
        "x": ("index", index if isinstance(index, str) else None),
    }
    for letter, (argument, column) in given.items():
        if column is not None:
            table.check(argument, column)
            chosen[letter] = table.ids(argument, column) if letter == "v" else table.text(column)
    if plan.patient:
        table.check("patient", plan.patient)
    if "v" in chosen:
        chosen["v"] = trimmed(chosen["v"])
    return chosen
