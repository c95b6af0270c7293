"""Cohorts from a long table of events: one row per patient and code."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from anndata import AnnData

from lvmkit.cohorts import _attributes
from lvmkit.cohorts._assemble import CohortOptions, assemble
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import Entries, check_counts, tally
from lvmkit.cohorts._icd import system_name
from lvmkit.cohorts._options import check_titles
from lvmkit.cohorts._sources import NUMBERS, Source, SourceTable, column_list, local_day, opened
from lvmkit.cohorts.weights import declare, with_weight
from lvmkit.core.validation import listed, require_text

__all__ = ["from_events"]


def from_events(
    source: pd.DataFrame | str | Path | Sequence[str | Path],
    *,
    patient: str,
    code: str,
    count: str | None = None,
    date: str | None = None,
    system: str | None = None,
    level: str = "category",
    binary: bool = True,
    min_codes: int = 3,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
    attributes: pd.DataFrame | str | Path | Iterable[str] | None = None,
    titles: Mapping[str, str] | None = None,
    weight: str | None = None,
    connection: Any = None,
    encoding: str = "utf-8",
) -> AnnData:
    """Make a cohort from a long table of events.

    Every column is read as text, so that leading zeros survive; the rows are counted in a private DuckDB
    database, which spills to disk, so that files may exceed memory. The order of the rows never matters.
    What is repaired or ignored is kept in ``uns["cohort"]["repairs"]`` and said as a `DataWarning`.

    Parameters
    ----------
    source : DataFrame, path, glob, list of paths or SQL query
        The events: a DataFrame; CSV (also .gz) or Parquet files; or, with `connection`, an SQL query.
    patient : str
        Column of the patient (or visit) that events are gathered by.
    code : str
        Column of the code.
    count : str, optional
        Column of how often the event happened, whole numbers of at least 0. Repeated rows are summed.
    date : str, optional
        Column of the date, as 2010-12-31 or 20101231. Rows equal in patient, code and date are then one
        event, and ``obs`` gets first_date and last_date (see Notes on time zones).
    system : str, optional
        "icd9", "icd10", "other", or the column that tells each row's system. Found from the codes if not
        given. With several systems in the cohort features are named "system:code".
    level : {"category", "full"}, default="category"
        Shorten codes to their category (3 characters, 4 for ICD-9's E codes) or keep them whole.
    binary : bool, default=True
        0/1 if True, else numbers of events, which must be below 2**24.
    min_codes : int, default=3
        Fewest different codes of a record that is kept (Ruffini 2017, section 5.2, remove those with
        less than 3).
    min_prevalence : float, default=0
        Least share of all records, in [0, 1], of a code that is kept; chosen before the records.
    max_codes : int, optional
        Keep the most frequent codes only, this many.
    attributes : DataFrame, path or iterable of str, optional
        Attributes of patients: a table keyed by a column named as `patient` or by its index, or columns
        of `source`.
    titles : mapping of str to str, optional
        Titles of codes that go before those of lvmkit's tables.
    weight : str, optional
        Column, of `attributes` if that is a table and else of `source`, of how many of the population a patient stands
        for, as in surveys; kept in ``obs``, see `sample_weight`.
    connection : DuckDB, DBAPI or SQLAlchemy connection, optional
        Where to run `source` as a query. SQLite and PostgreSQL refuse to write meanwhile.
    encoding : str, default="utf-8"
        Encoding of CSV files.

    Returns
    -------
    AnnData
        X (n, d) CSR float32; ``obs`` by record, in the order of its id; ``var`` by code, sorted, with
        title, chapter, system and n_records; ``uns["cohort"]`` with source, options, repairs,
        n_input_rows and n_dropped.

    Raises
    ------
    ValueError
        If a column is unknown, a file cannot be read, codes mix systems and `system` is not given, counts
        are no whole numbers of at least 0, weights no numbers of 0 or more, or no record is left.

    Notes
    -----
    Codes are dropped first (`min_prevalence`, `max_codes`, over all records), then records (`min_codes`, over
    the codes left). Rows that repeat a patient and code count once if `binary`; else each is an event, unless
    `date` tells them apart.

    The day of a date with a time and a zone or offset is the one that is written there, whatever zone this machine is
    in. Instants without (TIMESTAMP WITH TIME ZONE in Parquet files and DuckDB) have the days of the zone that pandas
    or Arrow recorded in the file, else those of UTC, which is said.

    Examples
    --------
    >>> events = pd.DataFrame({"id": ["a", "a", "b"], "dx": ["428.0", "250.00", "428.1"]})
    >>> cohort = from_events(events, patient="id", code="dx", min_codes=1)
    >>> cohort.to_df()
       250  428
    a  1.0  1.0
    b  0.0  1.0
    >>> cohort.var["title"].tolist()
    ['Diabetes mellitus', 'Heart failure']
    """
    repairs = Repairs()
    options = CohortOptions(level, binary, min_codes, min_prevalence, max_codes)
    options.check()
    check_titles(titles)
    require_text(system, "system", optional=True)
    require_text(patient, "patient")
    require_text(code, "code")
    require_text(weight, "weight", optional=True)
    named = {"patient": patient, "code": code, "count": count, "date": date}
    cohort = gathered(
        source,
        columns={role: column for role, column in named.items() if column is not None},
        system=system,
        options=options,
        attributes=attributes,
        titles=titles,
        weight=weight,
        repairs=repairs,
        connection=connection,
        encoding=encoding,
    )
    repairs.announce()
    return cohort


def gathered(
    source: Source,
    *,
    columns: dict[str, str],
    system: str | None,
    options: CohortOptions,
    attributes: pd.DataFrame | str | Path | Iterable[str] | None,
    titles: Mapping[str, str] | None,
    repairs: Repairs,
    weight: str | None = None,
    connection: Any = None,
    encoding: str = "utf-8",
) -> AnnData:
    """Do the work of `from_events` without saying the repairs aloud."""
    with opened(source, connection=connection, encoding=encoding) as table:
        columns = _checked(table, columns, system)
        n_rows = table.rows()
        entries = _entries(table, columns)
        check_counts(entries, columns.get("count"))
        given = None if system is None or system in table.kinds else system_name(system)
        tallied = tally(entries, system=given, level=options.level, repairs=repairs)
        _state_ignored(entries, repairs, binary=options.binary)
        patient, ids = columns["patient"], tallied.records
        if weight is not None and not isinstance(attributes, pd.DataFrame | str | Path):
            table.check("weight", weight)
            attributes = with_weight(column_list("attributes", attributes or ()), weight)
        if attributes is None or isinstance(attributes, pd.DataFrame | str | Path):
            obs = _attributes.from_table(attributes, patient, ids, repairs, encoding)
        else:
            names = column_list("attributes", attributes)
            table.check("attributes", *names)
            table.state_zones(names, repairs)
            obs = _attributes.from_columns(table, names, table.text(patient), ids, repairs)
        if "date" in columns:
            table.state_zones([columns["date"]], repairs)
            obs = obs.assign(**_dates(entries, columns["date"], repairs))
        name = table.name
    cohort = assemble(
        tallied, obs, options, source=name, n_input_rows=n_rows, titles=titles, repairs=repairs
    )
    return declare(cohort, weight)


def _checked(table: SourceTable, columns: dict[str, str], system: str | None) -> dict[str, str]:
    """Columns of the source by their role, the system's added; refuse names that it does not have."""
    for role, name in columns.items():
        table.check(role, name)
    if system is not None and system in table.kinds:
        return {**columns, "system": system}
    if system is not None and system_name(system) not in {"icd9", "icd10", "other"}:
        msg = (
            f"system={system!r} is neither 'icd9', 'icd10' or 'other' nor a column of {table.name}, "
            f"which has {listed(list(table.kinds), 20)}."
        )
        raise ValueError(msg)
    return columns


def _entries(table: SourceTable, columns: dict[str, str]) -> Entries:
    """Copy the columns that matter, as text, into the table ``entries``."""
    letters = {"patient": "p", "code": "c", "count": "n", "date": "d", "system": "s"}
    texts = {
        role: table.ids(role, name) if role in {"patient", "code"} else table.text(name)
        for role, name in columns.items()
    }
    chosen = ", ".join(f"{text} AS {letters[role]}" for role, text in texts.items())
    table.database.execute(f"CREATE TEMP TABLE entries AS SELECT {chosen} FROM {table.relation}")
    return Entries(
        table.database,
        columns["code"],
        numeric_codes=table.kinds[columns["code"]] in NUMBERS,
        counted="count" in columns,
        dated="date" in columns,
        systems="system" in columns,
        record_column=columns["patient"],
    )


def _state_ignored(entries: Entries, repairs: Repairs, *, binary: bool) -> None:
    """State how many rows have no code, and how rows were counted that repeat another row."""
    empty = repairs.dropped["entries_without_code"]
    if empty:
        repairs.tell(
            f"{number_of(empty, 'row')} without a code in {entries.code_column!r} ignored."
        )
    n = repairs.dropped["entries_repeated"]
    if not n:
        return
    same = "patient, code and date" if entries.dated and not entries.counted else "patient and code"
    if entries.counted and not binary:
        how = "their counts are summed"
    elif entries.dated or binary:
        how = "counted once"
    else:
        how = "each counts as an event; pass date= to tell double entries from repeated visits"
    repairs.tell(f"{number_of(n, 'row')} with the {same} of another row: {how}.")


def _dates(entries: Entries, column: str, repairs: Repairs) -> dict[str, pd.Categorical]:
    """First and last date of each record, as ISO text."""
    read = local_day("d")
    [(unread,)] = entries.all(
        f"SELECT count(*) FROM entries JOIN records USING (p) WHERE {read} IS NULL"
    )
    if unread:
        repairs.tell(
            f"{number_of(unread, 'row has', 'rows have')} no readable date in {column!r} "
            "(expected 2010-12-31 or 20101231): they count, but not for first_date and last_date."
        )
    first, last = (f"CAST({end}({read}) AS VARCHAR)" for end in ("min", "max"))
    rows = entries.all(
        f"SELECT {first}, {last} FROM records JOIN entries USING (p) GROUP BY i ORDER BY i"
    )
    return {
        name: pd.Categorical([row[place] for row in rows])
        for place, name in enumerate(("first_date", "last_date"))
    }
