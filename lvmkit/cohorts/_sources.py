"""Data sources as relations of a private DuckDB database that can spill to disk."""

import glob
import re
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd

from lvmkit.cohorts import _time_zones as time_zones
from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._files import (
    begins_blank,
    check_delimited,
    diagnosis,
    first_line,
    has_mixed_line_ends,
    in_utf8,
    is_parquet,
    named_files,
    needs_copy,
    separator_of,
    text_encoding,
    with_one_line_end,
)
from lvmkit.cohorts._time_zones import quoted
from lvmkit.core.validation import listed, require_text

Source = pd.DataFrame | str | Path | Sequence[str | Path]
FETCHED_ROWS = 50_000
BLANKS = " \t\r\n\u00a0"
NUMBERS = {"integer", "float"}
MOST_COLUMNS = 10_000
"""DuckDB takes seconds to plan queries of wider tables, and cannot be interrupted while it does."""
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Smallest whole number from which floating point is not exact."""
QUERY = re.compile(
    r"(?:\s|--.*\n|/\*(?:[^*]|\*(?!/))*\*/|\()*(?:select|with)[\s(*\"\[]", re.IGNORECASE
)
"""Beginning of a query, after comments and parentheses."""
ASIDE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/", re.DOTALL
)
"""Texts, quoted names and comments: words in them do nothing."""
WRITING = re.compile(
    r"\b(?:insert\s+into|replace\s+into|delete\s+from|merge\s+into|update\s+\S+\s+set|into)\b",
    re.IGNORECASE,
)
"""Words that no read-only query has; SELECT … INTO makes a table."""

UNNAMED = re.compile(r"column\d+")
"""DuckDB's names of columns without one."""
HEADER_COLUMNS = 20
"""So many columns tell a header from a row of values."""
DAY = r"\d{4,}[-/]\d{1,2}[-/]\d{1,2}"
OFFSET = r"[+-]\d{1,2}(?::?\d{2}){0,2}"
ZONED = (
    rf"^(?:({DAY}[T ]+\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d*)?)?)\s*"
    rf"(?:Z|z|{OFFSET}|[A-Z]{{2,5}}|[A-Z][A-Za-z_]+/[A-Za-z_/+-]+\d*)?(?:\[[^\]]*\])?"
    rf"|({DAY})(?:Z|z|[+-]\d{{2}}:\d{{2}}))$"
)
"""A day with a time and perhaps a zone, or a day with a zone."""


@dataclass(frozen=True)
class SourceTable:
    """An opened source: its relation and its columns."""

    database: duckdb.DuckDBPyConnection
    relation: str
    """SQL that may stand after FROM."""
    kinds: dict[str, str]
    """By column: "text", "integer", "float" or "other"."""
    name: str
    """Name of the source in messages and in ``uns``; never a path."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """By column of instants: which time zone gives its days, and why, as a sentence."""
    exact: Mapping[str, int] = field(default_factory=dict)
    """By column of floating point numbers: from here on they leave out whole numbers."""
    n_rows: int | None = None
    """Number of rows, if it is known."""

    def check(self, argument: str, *columns: str) -> None:
        """Refuse a column that the source does not have, naming the closest."""
        for column in columns:
            if not isinstance(column, str):
                kind = type(column).__name__
                shown = repr(column.name) if isinstance(column, Path) else listed([column])
                msg = f"{argument} must name a column (str); found {shown} ({kind})."
                raise TypeError(msg)
            if column not in self.kinds:
                known = {name.lower(): name for name in self.kinds}
                near = get_close_matches(str(column).lower(), known, n=1, cutoff=0.5)
                meant = f" Did you mean {known[near[0]]!r}?" if near else ""
                has = listed(list(self.kinds), 20)
                msg = f"{argument}={column!r} is not a column of {self.name}; it has {has}.{meant}"
                raise ValueError(msg)

    def text(self, column: str) -> str:
        """Return SQL of a column as text; whole numbers without a decimal point."""
        name = quoted(column)
        if self.kinds[column] == "float":
            whole = f"CAST(CAST({name} AS BIGINT) AS VARCHAR)"
            fits = f"{name} = trunc({name}) AND abs({name}) < {2**53}"
            return f"CASE WHEN isnan({name}) THEN NULL WHEN {fits} THEN {whole} ELSE CAST({name} AS VARCHAR) END"
        return f"CAST({name} AS VARCHAR)"

    def ids(self, argument: str, column: str) -> str:
        """Return SQL of a column of ids as text; refuse numbers so large that several ids became one."""
        if self.kinds[column] == "float":
            name, exact = quoted(column), self.exact.get(column, EXACT["DOUBLE"])
            large = self.one(
                f"SELECT min({name}) FROM {self.relation} "
                f"WHERE abs({name}) >= {exact} AND isfinite({name})"
            )
            if large is not None:
                msg = (
                    f"{argument}={column!r} holds ids as floating point numbers, such as {large:.0f}, which are not "
                    f"exact from {exact:,} on: different ids may have become one. Read the column as text "
                    "(dtype=str) or as whole numbers from where it comes."
                )
                raise ValueError(msg)
        return self.text(column)

    def state_zones(self, columns: Iterable[str | None], repairs: Repairs) -> None:
        """State which time zone gives the days of those columns that hold instants."""
        for column in dict.fromkeys(columns):
            if (
                column is not None
                and column in self.zones
                and self.zones[column] not in repairs.told
            ):
                repairs.tell(self.zones[column])

    def rows(self) -> int:
        """Count the rows; refuse a source that has none."""
        n = self.n_rows
        if n is None:
            n = int(self.one(f"SELECT count(*) FROM {self.relation}"))
        if n == 0:
            msg = f"source: {self.name} has a header and no rows; export it again with its rows, or check the query."
            raise ValueError(msg)
        return n

    def one(self, query: str) -> Any:
        """Return the single value of a query."""
        [value] = self.database.execute(query).fetchall()[0]
        return value


def trimmed(text: str) -> str:
    """Return SQL of a text without blanks around it; NULL where nothing is left."""
    # a look at both ends is three times as fast as cutting blanks that are not there
    plain = f"ascii({text}) BETWEEN 33 AND 126 AND ascii(right({text}, 1)) BETWEEN 33 AND 126"
    return f"CASE WHEN {plain} THEN {text} ELSE nullif(trim({text}, '{BLANKS}'), '') END"


def local_day(column: str) -> str:
    """Return SQL of the calendar day written in a text, as 2010-12-31 or 20101231; NULL where there is none."""
    # A time and a zone may follow; the day is the one written, wherever this runs.
    text = trimmed(column)
    day = f"CASE WHEN length({text}) > 10 THEN regexp_replace({text}, '{ZONED}', '\\1\\2') ELSE {text} END"
    digits = f"CASE WHEN length({text}) = 8 THEN try_strptime({text}, '%Y%m%d') END"
    read = f"coalesce(TRY_CAST({day} AS TIMESTAMP), {digits})"
    # else "infinity" and "epoch" are dates
    any_form = f"CAST(CASE WHEN ascii({text}) BETWEEN 48 AND 57 THEN {read} END AS DATE)"
    # nearly all dates have one of two forms, which are read several times as fast
    moment = (
        f"length({column}) >= 16 AND {column}[11] IN ('T', ' ') AND {column}[5] = '-' AND {column}[8] = '-' "
        f"AND TRY_CAST({column} AS TIMESTAMP) IS NOT NULL"
    )
    plain = (
        f"CASE WHEN ascii({column}) NOT BETWEEN 48 AND 57 THEN NULL "
        f"WHEN length({column}) = 10 THEN TRY_CAST({column} AS DATE) "
        f"WHEN {moment} THEN TRY_CAST(left({column}, 10) AS DATE) END"
    )
    return f"coalesce({plain}, {any_form})"


def column_list(argument: str, columns: Iterable[str]) -> list[str]:
    """Return columns as a list; refuse a single name, which would be taken letter by letter."""
    if isinstance(columns, str):
        msg = f"{argument}={columns!r}; expected a list of columns, such as [{columns!r}]."
        raise ValueError(msg)
    if not isinstance(columns, Iterable) or isinstance(columns, Mapping):
        msg = f"{argument} must be a list of columns; found {columns!r} ({type(columns).__name__})."
        raise TypeError(msg)
    return list(columns)


@contextmanager
def opened(
    source: Source, *, connection: Any = None, encoding: str = "utf-8"
) -> Iterator[SourceTable]:
    """Open a DataFrame, files, or an SQL query on a connection, for queries that may exceed memory."""
    with (
        database_apart() as database,
        opened_in(database, source, connection=connection, encoding=encoding) as table,
    ):
        yield table


@contextmanager
def opened_in(
    database: duckdb.DuckDBPyConnection,
    source: Source,
    *,
    connection: Any = None,
    encoding: str = "utf-8",
) -> Iterator[SourceTable]:
    """Open a source in a database that stays open; of several sources one at a time."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        require_text(encoding, "encoding")
        if connection is not None:
            yield _query_table(database, source, connection)
        elif isinstance(source, pd.DataFrame):
            yield from _frame_table(database, source)
        else:
            _check_paths(source)
            yield from _file_table(database, source, encoding, Path(folder))


class InterruptibleConnection:
    """A DuckDB connection whose queries Ctrl-C ends."""

    # DuckDB does not always hear it in the thread that waits for a query, so that another thread has to wait.

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._waiting = ThreadPoolExecutor(1, "lvmkit-query")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def execute(self, *query: Any) -> Any:
        """Run a query as the connection does."""
        if threading.current_thread() is not threading.main_thread():
            return self._database.execute(*query)
        running = self._waiting.submit(self._database.execute, *query)
        try:
            while not running.done():
                wait([running], 0.2)
            return running.result()
        except KeyboardInterrupt:
            while not running.done():  # again and again, in case that it had not begun
                with suppress(KeyboardInterrupt):
                    self._database.interrupt()
                    wait([running], 0.1)
            raise

    def close(self) -> None:
        """Close the connection."""
        self._waiting.shutdown()
        self._database.close()


@contextmanager
def database_apart() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a private database for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        database = InterruptibleConnection(_private_database(Path(folder)))
        try:
            yield cast("duckdb.DuckDBPyConnection", database)
        finally:
            database.close()


def _private_database(folder: Path) -> duckdb.DuckDBPyConnection:
    """Open a database in memory that spills into `folder` and never loads anything from a network."""
    database = duckdb.connect(":memory:")
    settings = {
        "memory_limit": "'50%'",
        "temp_directory": f"'{str(folder).replace(chr(39), chr(39) * 2)}'",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "TimeZone": "'UTC'",  # else instants have the days of this machine
        "pandas_analyze_sample": "0",  # object columns are text, whatever their first rows hold
        "enable_progress_bar": "false",
    }
    for name, value in settings.items():
        database.execute(f"SET {name} = {value}")
    return database


def _types(database: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Return the SQL type of every column of a relation."""
    described = database.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {row[0]: row[1] for row in described}


def _exact(types: Mapping[str, str]) -> dict[str, int]:
    """Return by column of floating point numbers from where on they leave out whole numbers."""
    return {name: EXACT[kind] for name, kind in types.items() if kind in EXACT}


def _kind(sql_type: str) -> str:
    """Short kind of an SQL type."""
    if sql_type == "VARCHAR" or sql_type.startswith("ENUM"):
        return "text"
    if sql_type in {"FLOAT", "DOUBLE"}:
        return "float"
    return "integer" if "INT" in sql_type else "other"


def _frame_table(database: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> Iterator[SourceTable]:
    """Register a DataFrame; columns that DuckDB reads as they should be are not copied."""
    _check_names(frame)
    names = [str(name) for name in frame.columns]
    values = (_plain(frame.iloc[:, place]) for place in range(len(names)))
    columns = {f"c{place}": column for place, column in enumerate(values)}
    try:
        types = _registered(database, columns, names)
        kinds = {name: _kind(kind) for name, kind in zip(names, types.values(), strict=True)}
        yield SourceTable(database, "source_frame", kinds, "the DataFrame", exact=_exact(types))
    except duckdb.Error as error:
        msg = f"source: cannot read the DataFrame: {str(error).splitlines()[0]}"
        raise ValueError(msg) from None


def _registered(
    database: duckdb.DuckDBPyConnection, columns: dict[str, Any], names: list[str]
) -> dict[str, str]:
    """Register columns as one relation, as text those that DuckDB has no type for; return their SQL types."""

    def types_of(parts: dict[str, Any], named: list[str]) -> dict[str, str]:
        plain = pd.concat(parts, axis=1).set_axis(named, axis=1)
        database.register("source_frame", plain)
        return _types(database, "source_frame")

    try:
        return types_of(columns, names)
    except duckdb.NotImplementedException:
        for key, column in columns.items():
            try:
                types_of({key: column}, [key])
            except duckdb.NotImplementedException:
                columns[key] = column.astype(object).map(str, na_action="ignore")
        return types_of(columns, names)


def _check_names(frame: pd.DataFrame) -> None:
    """Refuse a DataFrame whose columns cannot be told apart by name, or that has too many of them."""
    if frame.columns.nlevels > 1:
        msg = (
            f"source: the DataFrame has column names of {frame.columns.nlevels} levels, such as "
            f"{tuple(frame.columns[0])!r}; give each column one name first: "
            "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]."
        )
        raise ValueError(msg)
    names = [str(name) for name in frame.columns]
    check_width(len(names), "the DataFrame")
    number = Counter(name.lower() for name in names)
    repeated = sorted({name for name in names if number[name.lower()] > 1})
    if repeated:
        msg = (
            f"source: the DataFrame has several columns named {listed(repeated)} "
            "(capital letters do not tell columns apart); rename them."
        )
        raise ValueError(msg)
    if not names:
        msg = "source: the DataFrame has no columns."
        raise ValueError(msg)
    if "" in names:
        msg = f"source: column {names.index('') + 1} of the DataFrame is named ''; give it a name, or leave it out."
        raise ValueError(msg)


def check_width(n: int, name: str) -> None:
    """Refuse a table of so many columns that queries would not end."""
    if n > MOST_COLUMNS:
        msg = (
            f"source: {name} has {n:,} columns; at most {MOST_COLUMNS:,} can be read. If each column is a code, "
            "pass the table to from_counts; else leave out the columns that are not needed."
        )
        raise ValueError(msg)


def _plain(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column as DuckDB reads it rightly: times as they were on the clock, texts as objects in a row."""
    kind = values.dtype
    if isinstance(kind, pd.DatetimeTZDtype) or (
        str(kind).startswith("timestamp[") and "tz=" in str(kind)
    ):
        return values.dt.tz_localize(None)
    if isinstance(
        kind, pd.StringDtype
    ):  # of strings that do not lie in a row DuckDB says std::bad_cast
        texts: Any = values
        return pd.Series(texts.to_numpy(dtype=object, na_value=None), texts.index, dtype=object)
    if isinstance(kind, pd.CategoricalDtype) and isinstance(
        kind.categories.dtype, pd.PeriodDtype | pd.IntervalDtype
    ):
        values = values.cat.rename_categories([str(name) for name in kind.categories])
        kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype) and isinstance(kind.categories.dtype, pd.StringDtype):
        names = pd.Index(kind.categories.to_numpy(dtype=object), dtype=object)
        codes = np.ascontiguousarray(values.cat.codes)
        return pd.Series(pd.Categorical.from_codes(codes, names), values.index)
    if pd.api.types.is_object_dtype(kind):
        objects: Any = np.ascontiguousarray(values.to_numpy())
        return pd.Series(objects, values.index, dtype=object)
    if isinstance(kind, pd.PeriodDtype | pd.IntervalDtype):
        return values.astype(object).map(str, na_action="ignore")
    if isinstance(kind, pd.SparseDtype):
        return pd.Series(values.to_numpy(), values.index)
    return values


def _check_paths(source: object) -> None:
    """Refuse what is neither a path nor a list of paths, without showing what it holds."""
    several = isinstance(source, list | tuple)
    paths = source if isinstance(source, list | tuple) else [source]
    if not paths:
        msg = "source is an empty list; give at least one path."
        raise ValueError(msg)
    for path in paths:
        if not isinstance(path, str | Path):
            kind = f"a list of {type(path).__name__}" if several else type(path).__name__
            msg = f"source must be a DataFrame, a path or glob, or a list of paths, not {kind}."
            if hasattr(path, "to_pandas") and not several:
                kind = f"{type(path).__module__.partition('.')[0]}.{kind}"
                msg = (
                    f"source must be a DataFrame of pandas, not a {kind}; pass source.to_pandas()."
                )
            raise TypeError(msg)


def _file_table(
    database: duckdb.DuckDBPyConnection,
    source: str | Path | Sequence[str | Path],
    encoding: str,
    folder: Path,
) -> Iterator[SourceTable]:
    """Open files; what DuckDB cannot read while the table is used becomes a plain message."""
    if isinstance(source, str) and QUERY.match(source) and not glob.glob(source):
        msg = "source looks like an SQL query; pass the database with connection=."
        raise ValueError(msg)
    names = named_files(source, encoding)
    pattern = f" {Path(source).name!r}" if isinstance(source, str | Path) else ""
    shown = Path(names[0]).name if len(names) == 1 else f"{len(names)} files{pattern}"
    before = [_stamp(name) for name in names]
    try:
        if is_parquet(names[0]):
            table = _parquet_table(database, names, shown)
        else:
            table = _text_table(database, names, shown, encoding, folder)
        yield table
    except (duckdb.Error, OSError) as error:
        raise ValueError(diagnosis(names, error)) from None
    for name, stamp in zip(names, before, strict=True):
        if _stamp(name) != stamp:
            msg = f"source: {Path(name).name!r} changed while it was read; wait until it is written and read it again."
            raise ValueError(msg)


def _stamp(name: str) -> tuple[int, int]:
    """Size and time of the last change of a file; (-1, 0) if it is gone."""
    try:
        found = Path(name).stat()
    except OSError:
        return -1, 0
    return found.st_size, found.st_mtime_ns


def _text_table(
    database: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    shown: str,
    encoding: str,
    folder: Path,
) -> SourceTable:
    """Open CSV files as text; other encodings and mixed line ends in a copy."""
    encodings = [text_encoding(name, encoding) for name in names]
    readable = [
        in_utf8(name, its, folder) if needs_copy(name, its) else name
        for name, its in zip(names, encodings, strict=True)
    ]
    for name, copy in zip(names, readable, strict=True):
        header = first_line(copy)
        check_width(1 + header.count(separator_of(header)), repr(Path(name).name))
    try:
        return _opened_text(database, readable, shown)
    except duckdb.Error:
        if not any(map(has_mixed_line_ends, readable)):
            raise
    return _opened_text(database, [with_one_line_end(name, folder) for name in readable], shown)


def _opened_text(
    database: duckdb.DuckDBPyConnection, names: Sequence[str], shown: str
) -> SourceTable:
    """Open CSV files in UTF-8; all rows are parsed, so that faults are known before anything is made of them."""
    relation = _relation(names)
    kinds = {name: _kind(kind) for name, kind in _types(database, relation).items()}
    if len(kinds) == 1:
        check_delimited(names[0], next(iter(kinds)))
    _check_same_columns(database, names, kinds)
    named = [name for name in kinds if not UNNAMED.fullmatch(name)]
    first = _is_header(named[:1])
    [(n_rows, n_headers)] = database.execute(
        f"SELECT count(*), {f'count(*) FILTER ({first})' if first else 0} FROM {relation}"
    ).fetchall()
    header = _is_header(named[:HEADER_COLUMNS])
    if n_headers:  # by one column, which is quicker; now by more
        [(n_headers,)] = database.execute(
            f"SELECT count(*) FROM {relation} WHERE {header}"
        ).fetchall()
    # after blank lines DuckDB takes the header for a row, too
    repeats = n_headers - sum(map(begins_blank, names))
    if repeats > 0:
        msg = (
            f"source: {shown} repeats its header in {repeats:,} of its rows, as if files had been put one after the "
            "other; remove these rows, or give the files as a list."
        )
        raise ValueError(msg)
    if n_headers:
        relation = f"(SELECT * FROM {relation} WHERE NOT ({header}))"
    return SourceTable(database, relation, kinds, shown, n_rows=n_rows - n_headers)


def _is_header(columns: Sequence[str]) -> str:
    """Return SQL that says whether a row of texts holds the names of its columns; "" without names."""
    same = [
        f"coalesce({quoted(name)} = '{name.replace(chr(39), chr(39) * 2)}', false)"
        for name in columns
    ]
    return " AND ".join(same)


def _parquet_table(
    database: duckdb.DuckDBPyConnection, names: Sequence[str], shown: str
) -> SourceTable:
    """Open Parquet files; instants become the times on the clock of the zone that each file records."""
    relation = _relation(names)
    types = _types(database, relation)
    check_width(len(types), shown)
    _check_same_columns(database, names, types)
    zones: dict[str, str] = {}
    local = [time_zones.of_parquet(database, name, types) for name in names]
    if any(values for values, _ in local):
        parts = []
        for name, (values, said) in zip(names, local, strict=True):
            parts.append(f"SELECT {replaced(values)} FROM {_relation([name])}")
            zones |= said
        relation = f"({' UNION ALL BY NAME '.join(parts)})"
        types = _types(database, relation)
    kinds = {name: _kind(kind) for name, kind in types.items()}
    return SourceTable(database, relation, kinds, shown, zones, _exact(types))


def replaced(values: Mapping[str, str]) -> str:
    """Return SQL of all columns, some with other values."""
    if not values:
        return "*"
    changed = ", ".join(f"{value} AS {quoted(name)}" for name, value in values.items())
    return f"* REPLACE ({changed})"


def _relation(names: Sequence[str]) -> str:
    """Return SQL that reads files; every CSV column as text, quotes always understood, columns by name."""
    literals = ", ".join("'" + glob.escape(name).replace("'", "''") + "'" for name in names)
    if is_parquet(names[0]):
        return f"read_parquet([{literals}], union_by_name = true)"
    form = "all_varchar = true, header = true, quote = '\"', escape = '\"', comment = '', skip = 0"
    return f"read_csv([{literals}], {form}, union_by_name = true)"


def _check_same_columns(
    database: duckdb.DuckDBPyConnection, names: Sequence[str], kinds: Mapping[str, str]
) -> None:
    """Refuse files of different columns: a missing one would silently be empty."""
    for name in names if len(names) > 1 else []:
        missing = sorted(set(kinds) - set(_types(database, _relation([name]))))
        if missing:
            msg = (
                f"source: {Path(name).name!r} lacks columns that other files have: {listed(missing)}; "
                "pass files of the same columns only."
            )
            raise ValueError(msg)


def _query_table(database: duckdb.DuckDBPyConnection, query: Any, connection: Any) -> SourceTable:
    """Copy a query's rows, block by block and as text, into the private database."""
    if not isinstance(query, str):
        msg = f"source must be an SQL query when connection= is given, not {type(query).__name__}."
        raise TypeError(msg)
    text = query.strip().rstrip(";")
    _check_reading(text)
    zones: dict[str, str] = {}
    try:
        if isinstance(connection, duckdb.DuckDBPyConnection):
            kinds, zones = _copy_duckdb(database, text, connection)
        else:
            kinds = _copy_cursor(database, text, connection)
    except (TypeError, AttributeError):
        raise
    except Exception as error:  # every database library has its own errors
        msg = f"source: the SQL query failed: {str(error).splitlines()[0]}"
        raise ValueError(msg) from error
    return SourceTable(database, _typed_rows(kinds), kinds, "the SQL query", zones)


def _check_reading(query: str) -> None:
    """Refuse all but a single read-only query, before any of it runs."""
    if not QUERY.match(query):
        begin = query.split(maxsplit=1)[:1]
        msg = f"source must be a SELECT query when connection= is given; it begins with {listed(begin)}."
        raise ValueError(msg)
    plain = ASIDE.sub(" ", query)
    writing = WRITING.search(plain)
    if writing:
        words = " ".join(writing[0].split()).upper()
        msg = f"source must be a query that only reads; it holds {words!r}. It was not run."
        raise ValueError(msg)
    if ";" in plain:
        msg = "source must be one SELECT query; it holds several statements, separated by ';'. They were not run."
        raise ValueError(msg)


def _typed_rows(kinds: dict[str, str]) -> str:
    """Return SQL of the copied rows in which columns of numbers are numbers again."""
    types = {"integer": "HUGEINT", "float": "DOUBLE", "text": "VARCHAR"}
    columns = (
        f"CAST({quoted(name)} AS {types[kind]}) AS {quoted(name)}" for name, kind in kinds.items()
    )
    return f"(SELECT {', '.join(columns)} FROM source_rows)"


def _copy_duckdb(
    database: duckdb.DuckDBPyConnection, query: str, connection: duckdb.DuckDBPyConnection
) -> tuple[dict[str, str], dict[str, str]]:
    """Copy from a DuckDB connection; return kinds of columns, and which zone gives the days of instants."""
    types = _types(connection, f"({query})")
    instants = [name for name, kind in types.items() if kind in time_zones.INSTANTS]
    local, zones = time_zones.of_query(instants)
    values = ((local.get(name, quoted(name)), quoted(name)) for name in types)
    columns = ", ".join(f"CAST({value} AS VARCHAR) AS {name}" for value, name in values)
    _make_rows(database, list(types))
    waiting = InterruptibleConnection(connection)
    result = waiting.execute(f"SELECT {columns} FROM ({query})")
    while len(block := result.fetch_df_chunk(FETCHED_ROWS // 2048)):
        database.register("block", block).execute("INSERT INTO source_rows SELECT * FROM block")
    kinds = {name: _kind(kind) for name, kind in types.items()}
    return {name: "text" if kind == "other" else kind for name, kind in kinds.items()}, zones


def _copy_cursor(
    database: duckdb.DuckDBPyConnection, query: str, connection: Any
) -> dict[str, str]:
    """Copy from a DBAPI connection (sqlite3, psycopg, …) or an SQLAlchemy engine or connection."""
    is_engine = hasattr(connection, "dialect") and not hasattr(connection, "exec_driver_sql")
    if is_engine:
        with connection.connect() as own:
            return _copy_cursor(database, query, own)
    with _reading_only(connection):
        return _copied(database, query, connection)


@contextmanager
def _reading_only(connection: Any) -> Iterator[None]:
    """Let SQLite and PostgreSQL refuse to write meanwhile: a query can do it that looks as if it only read."""
    driver = getattr(getattr(connection, "connection", None), "driver_connection", connection)
    library = type(driver).__module__.partition(".")[0]
    dialect = getattr(getattr(connection, "dialect", None), "name", "")
    if isinstance(driver, sqlite3.Connection):
        [before] = driver.execute("PRAGMA query_only").fetchone()
        driver.execute("PRAGMA query_only = ON")
        try:
            yield
        finally:
            driver.execute(f"PRAGMA query_only = {before}")
    elif library == "psycopg":
        # Undone at the end: within the caller's transaction, that is a savepoint of our own.
        with driver.transaction(force_rollback=True):
            driver.execute("SET TRANSACTION READ ONLY")
            yield
    elif library in ("psycopg2", "pg8000") or dialect == "postgresql":
        with _savepoint(driver.cursor()):
            yield
    else:
        yield


@contextmanager
def _savepoint(cursor: Any) -> Iterator[None]:
    """Let PostgreSQL refuse to write within a savepoint, or a transaction where none is open; both are undone."""
    try:
        cursor.execute("SAVEPOINT lvmkit")
        undo = ["ROLLBACK TO SAVEPOINT lvmkit", "RELEASE SAVEPOINT lvmkit"]
    except Exception:  # noqa: BLE001 - each driver has its own; statements are committed one by one
        cursor.execute("BEGIN")
        undo = ["ROLLBACK"]
    try:
        cursor.execute("SET TRANSACTION READ ONLY")
        yield
    finally:
        for statement in undo:
            cursor.execute(statement)
        cursor.close()


def _copied(database: duckdb.DuckDBPyConnection, query: str, connection: Any) -> dict[str, str]:
    """Copy the rows that a cursor gives."""
    names, fetch, close = _run(query, connection)
    _make_rows(database, names)
    numeric: dict[str, set[str]] = {name: set() for name in names}
    try:
        while rows := fetch(FETCHED_ROWS):
            columns = dict(zip(names, zip(*rows, strict=True), strict=True))
            for name, values in columns.items():
                numeric[name] |= {_value_kind(value) for value in values if value is not None}
            block = pd.DataFrame(
                {n: list(map(_value_text, v)) for n, v in columns.items()}, dtype=object
            )
            database.register("block", block)
            database.execute("INSERT INTO source_rows SELECT * FROM block")
    finally:
        close()
    return {name: _common(kinds) for name, kinds in numeric.items()}


def _run(
    query: str, connection: Any
) -> tuple[list[str], Callable[[int], Sequence[Any]], Callable[[], Any]]:
    """Run a query; return its column names, how to fetch rows, and how to end."""
    if hasattr(connection, "exec_driver_sql"):
        result = connection.exec_driver_sql(query)
        return list(result.keys()), result.fetchmany, result.close
    if not hasattr(connection, "cursor"):
        msg = (
            f"connection={type(connection).__name__} is no DuckDB, DBAPI or SQLAlchemy connection."
        )
        raise TypeError(msg)
    cursor = connection.cursor()
    cursor.execute(query)
    if cursor.description is None:
        msg = "it returns no rows; pass a SELECT query."
        raise ValueError(msg)
    return [column[0] for column in cursor.description], cursor.fetchmany, cursor.close


def _make_rows(database: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Make the table that a query's rows are copied into."""
    columns = ", ".join(f"{quoted(name)} VARCHAR" for name in names)
    database.execute(f"CREATE OR REPLACE TABLE source_rows ({columns})")


def _value_kind(value: Any) -> str:
    """Kind of one value from a cursor."""
    if isinstance(value, float):
        return "float"
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**126
    return "integer" if whole else "text"


def _value_text(value: Any) -> str | None:
    """Text of one value from a cursor."""
    return None if value is None else str(value)


def _common(kinds: set[str]) -> str:
    """Kind of a column from the kinds of its values."""
    return "text" if "text" in kinds or not kinds else "float" if "float" in kinds else "integer"
