"""Cohorts from a wide table: one row per record, codes in several columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts import _attributes
from lvmkit.cohorts._assemble import CohortOptions, assemble
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import Entries, tally
from lvmkit.cohorts._icd import system_name
from lvmkit.cohorts._options import check_titles
from lvmkit.cohorts._sources import NUMBERS, Source, SourceTable, column_list, opened
from lvmkit.cohorts.weights import declare, with_weight
from lvmkit.core import moved
from lvmkit.core.validation import listed, require_text

__all__ = ["from_wide"]


@moved.arguments(record="patient")
def from_wide(
    source: pd.DataFrame | str | Path | Sequence[str | Path],
    *,
    codes: Iterable[str],
    attributes: Iterable[str] = (),
    patient: str | None = None,
    system: str | None = "icd9",
    level: str = "category",
    binary: bool = True,
    min_codes: int = 3,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
    titles: Mapping[str, str] | None = None,
    weight: str | None = None,
    connection: Any = None,
    encoding: str = "utf-8",
) -> AnnData:
    """Make a cohort from a table with one row per record and its codes in several columns.

    Every column is read as text, so that leading zeros survive, in a private DuckDB database that spills to
    disk. What is repaired or ignored is kept in ``uns["cohort"]["repairs"]`` and said as a `DataWarning`.

    Parameters
    ----------
    source : DataFrame, path, glob, list of paths or SQL query
        The table: a DataFrame; CSV (also .gz) or Parquet files; or, with `connection`, an SQL query.
    codes : iterable of str
        Columns that hold codes; empty cells are ignored.
    attributes : iterable of str, default=()
        Columns kept in ``obs``.
    patient : str, optional
        Column of the patient's (or record's) id. Rows of the same id are one record. Without it each row is a record,
        named by the DataFrame's index if that repeats no id, or by its number from 0.
    system : str, optional, default="icd9"
        "icd9", "icd10", "other", the column that tells each row's system, or None to find it.
    level : {"category", "full"}, default="category"
        Shorten codes to their category (3 characters, 4 for ICD-9's E codes) or keep them whole.
    binary : bool, default=True
        0/1 if True, else numbers of cells.
    min_codes : int, default=3
        Fewest different codes of a record that is kept.
    min_prevalence : float, default=0
        Least share of all records, in [0, 1], of a code that is kept; chosen before the records.
    max_codes : int, optional
        Keep the most frequent codes only, this many.
    titles : mapping of str to str, optional
        Titles of codes that go before those of lvmkit's tables.
    weight : str, optional
        Column of how many of the population a record stands for, as in surveys; kept in ``obs``, see `sample_weight`.
    connection : DuckDB, DBAPI or SQLAlchemy connection, optional
        Where to run `source` as a query. SQLite and PostgreSQL refuse to write meanwhile.
    encoding : str, default="utf-8"
        Encoding of CSV files.

    Returns
    -------
    AnnData
        As from `from_events`; without `patient` in the order of the rows.

    Raises
    ------
    ValueError
        If a column is unknown, a file cannot be read, codes mix systems and `system` is None, weights are
        no numbers of 0 or more, or no record is left.

    Examples
    --------
    >>> stays = pd.DataFrame({"dx1": ["4280", "25000"], "dx2": ["5849", ""], "age": [71, 54]})
    >>> cohort = from_wide(stays, codes=["dx1", "dx2"], attributes=["age"], min_codes=1)
    >>> cohort.var_names.tolist(), cohort.obs["age"].tolist()
    (['250', '428', '584'], [71, 54])
    """
    repairs = Repairs()
    options = CohortOptions(level, binary, min_codes, min_prevalence, max_codes)
    options.check()
    check_titles(titles)
    require_text(system, "system", optional=True)
    require_text(weight, "weight", optional=True)
    cohort = gathered(
        source,
        codes=codes,
        attributes=attributes,
        patient=patient,
        system=system,
        options=options,
        titles=titles,
        weight=weight,
        connection=connection,
        encoding=encoding,
        repairs=repairs,
    )
    repairs.announce(stacklevel=4)  # the renamed argument adds a frame
    return cohort


def gathered(
    source: Source,
    *,
    codes: Iterable[str],
    attributes: Iterable[str],
    patient: str | None,
    system: str | None,
    options: CohortOptions,
    titles: Mapping[str, str] | None,
    connection: Any,
    encoding: str,
    repairs: Repairs,
    weight: str | None = None,
) -> AnnData:
    """Do the work of `from_wide` without saying the repairs aloud."""
    codes, attributes = column_list("codes", codes), column_list("attributes", attributes)
    with opened(source, connection=connection, encoding=encoding) as table:
        if weight is not None:
            table.check("weight", weight)
            attributes = with_weight(attributes, weight)
        _check(table, codes, attributes, patient, system)
        n_rows = table.rows()
        rows, key = numbered(table, patient)
        in_column = system is not None and system in table.kinds
        entries = _entries(rows, key, codes, str(system) if in_column else None)
        given = None if system is None or in_column else system_name(system)
        tallied = tally(entries, system=given, level=options.level, repairs=repairs)
        n = repairs.dropped["entries_repeated"]
        if n:
            how = "counted once" if options.binary else "each counts"
            repairs.tell(f"{number_of(n, 'cell')} with a code that its record already has: {how}.")
        table.state_zones(attributes, repairs)
        obs = _attributes.from_columns(rows, attributes, key, tallied.records, repairs)
        name = table.name
    if patient is None:
        state_repeated_index(source, repairs)
    cohort = assemble(
        tallied, obs, options, source=name, n_input_rows=n_rows, titles=titles, repairs=repairs
    )
    return declare(_renamed(cohort, source, patient), weight)


def _check(
    table: SourceTable,
    codes: list[str],
    attributes: list[str],
    patient: str | None,
    system: str | None,
) -> None:
    """Refuse columns that the source does not have and unknown systems."""
    if not codes:
        msg = f"codes={codes!r}; expected a list of columns, such as ['dx01', 'dx02']."
        raise ValueError(msg)
    table.check("codes", *codes)
    table.check("attributes", *attributes)
    if patient is not None:
        table.check("patient", patient)
    known = system is None or system in table.kinds
    if not known and system_name(str(system)) not in {"icd9", "icd10", "other"}:
        msg = (
            f"system={system!r} is neither 'icd9', 'icd10' or 'other' nor a column of {table.name}, "
            f"which has {listed(list(table.kinds), 20)}."
        )
        raise ValueError(msg)


def numbered(table: SourceTable, patient: str | None) -> tuple[SourceTable, str]:
    """Copy the source with the record's id, or the row's number from 0, in a new column; return its name too."""
    taken = {name.lower() for name in table.kinds}
    key = next(name for i in count() if (name := f"record_{i}") not in taken)
    # not rowid: a column of that name would stand for it
    text = (
        "CAST(row_number() OVER () - 1 AS VARCHAR)"
        if patient is None
        else table.ids("patient", patient)
    )
    table.database.execute(
        f"CREATE TEMP TABLE wide AS SELECT *, {text} AS {key} FROM {table.relation}"
    )
    return replace(table, relation="wide"), key


def _entries(rows: SourceTable, key: str, codes: list[str], system: str | None) -> Entries:
    """Write every code cell as a row of the table ``entries``."""
    cells = ", ".join(rows.text(column) for column in codes)
    s = f", {rows.text(system)} AS s" if system else ""
    rows.database.execute(
        f"CREATE TEMP TABLE entries AS SELECT {key} AS p, unnest([{cells}]) AS c{s} FROM {rows.relation}"
    )
    shown = f"{codes[0]} … {codes[-1]}" if len(codes) > 1 else codes[0]
    numeric = any(rows.kinds[column] in NUMBERS for column in codes)
    return Entries(
        rows.database, shown, numeric_codes=numeric, cells=len(codes), systems=system is not None
    )


def state_repeated_index(source: Source, repairs: Repairs, row: str = "record") -> None:
    """State that rows without ids cannot have the names of an index that repeats them."""
    if isinstance(source, pd.DataFrame) and not source.index.is_unique:
        repairs.tell(
            f"The DataFrame's index repeats ids: {row}s are rows, numbered from 0; "
            "to gather the rows of an id make it a column and pass patient=."
        )


def _renamed(cohort: AnnData, source: Source, patient: str | None) -> AnnData:
    """Give records of a DataFrame without ids the names of its index."""
    if patient is None and isinstance(source, pd.DataFrame) and source.index.is_unique:
        cohort.obs_names = [str(source.index[int(name)]) for name in cohort.obs_names]
    return cohort
