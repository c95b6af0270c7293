"""Cohorts from a long table of events: one row per patient and code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from lvmkit._checks import listed
from lvmkit.cohorts import _attributes
from lvmkit.cohorts._assemble import Options, assemble
from lvmkit.cohorts._entries import Entries, tally
from lvmkit.cohorts._repairs import Repairs, count
from lvmkit.cohorts._sources import Table, opened, quoted


def from_events(
    source: pd.DataFrame | str | Path,
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
    attributes: pd.DataFrame | str | Path | Sequence[str] | None = None,
    titles: Mapping[str, str] | None = None,
    connection: Any = None,
    encoding: str = "utf-8",
) -> AnnData:
    """Make a cohort from a long table of events.

    Every column is read as text, so that leading zeros survive; the rows are counted in a private DuckDB
    database, which spills to disk, so that files may exceed memory. The order of the rows never matters.
    What is repaired or ignored is kept in ``uns["cohort"]["repairs"]`` and said as a `DataWarning`.

    Parameters
    ----------
    source : DataFrame, path, glob or SQL query
        The events: a DataFrame; CSV (also .gz) or Parquet files; or, with `connection`, an SQL query.
    patient : str
        Column of the patient (or visit) that events are gathered by.
    code : str
        Column of the code.
    count : str, optional
        Column of how often the event happened, whole numbers of at least 0. Repeated rows are summed.
    date : str, optional
        Column of the date. Rows equal in patient, code and date are then one event, and ``obs`` gets
        first_date and last_date.
    system : str, optional
        "icd9", "icd10", "other", or the column that tells each row's system. Found from the codes if not
        given. With several systems in the cohort features are named "system:code".
    level : {"category", "full"}, default="category"
        Shorten codes to their category (3 characters, 4 for ICD-9's E codes) or keep them whole.
    binary : bool, default=True
        0/1 if True, else numbers of events.
    min_codes : int, default=3
        Fewest different codes of a record that is kept (Ruffini et al. 2017, section 4, remove those with
        less than 3).
    min_prevalence : float, default=0
        Least share of all records, in [0, 1], of a code that is kept; chosen before the records.
    max_codes : int, optional
        Keep the most frequent codes only, this many.
    attributes : DataFrame, path or list of str, optional
        Attributes of patients: a table keyed by a column named as `patient` or by its index, or columns
        of `source`.
    titles : mapping of str to str, optional
        Titles of codes that go before those of lvmkit's tables.
    connection : DuckDB, DBAPI or SQLAlchemy connection, optional
        Where to run `source` as a query.
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
        are no whole numbers of at least 0, or no record is left.

    Notes
    -----
    Codes are dropped first (`min_prevalence`, `max_codes`, over all records), then records (`min_codes`, over
    the codes left). Rows that repeat a patient and code count once if `binary`; else each is an event, unless
    `date` tells them apart.

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
    options = Options(level, binary, min_codes, min_prevalence, max_codes)
    options.check()
    with opened(source, connection=connection, encoding=encoding) as table:
        columns = _Columns(patient, code, count, date, system if system in table.kinds else None)
        _check(table, columns, attributes)
        n_rows = table.rows()
        entries = _entries(table, columns)
        _check_counts(entries)
        tallied = tally(
            entries, system=None if columns.system else _named(system, table), level=level, repairs=repairs
        )
        _state_repeated(entries, binary, repairs)
        if attributes is None or isinstance(attributes, (pd.DataFrame, str, Path)):
            obs = _from_table(attributes, patient, tallied.records, repairs, encoding)
        else:
            obs = _attributes.from_columns(
                table, attributes, table.text(patient), tallied.records, repairs
            )
        if date is not None:
            obs = obs.assign(**_dates(entries, date, repairs))
        name = table.name
    cohort = assemble(
        tallied, obs, options, source=name, n_input_rows=n_rows, titles=titles, repairs=repairs
    )
    repairs.announce()
    return cohort
