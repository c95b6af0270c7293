"""Sources of a cohort as one kind of thing: a relation in a private DuckDB database that can spill to disk."""

import glob
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from lvmkit._checks import listed
from lvmkit.cohorts._files import (
    check_delimited,
    diagnosis,
    in_utf8,
    is_parquet,
    is_utf8,
    named_files,
)

Source = pd.DataFrame | str | Path | Sequence[str | Path]
FETCHED_ROWS = 50_000
BLANKS = " \t\r\n\u00a0"
NUMBERS = {"integer", "float"}
QUERY = re.compile(
    r"(?:\s|--.*\n|/\*(?:[^*]|\*(?!/))*\*/|\()*(?:select|with)[\s(*\"\[]", re.IGNORECASE
)
"""How a query begins; comments and parentheses may stand before."""


@dataclass(frozen=True)
class Table:
    """A source opened: where to query it and what its columns are."""

    database: duckdb.DuckDBPyConnection
    relation: str
    """SQL that may stand after FROM."""
    kinds: dict[str, str]
    """By column: "text", "integer", "float" or "other"."""
    name: str
    """What the source is called in messages and in ``uns``; never a path."""

    def check(self, argument: str, *columns: str) -> None:
        """Refuse a column that the source does not have, naming the closest."""
        for column in columns:
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
            fits = f"{name} = trunc({name}) AND abs({name}) < 1e15"
            return f"CASE WHEN isnan({name}) THEN NULL WHEN {fits} THEN {whole} ELSE CAST({name} AS VARCHAR) END"
        return f"CAST({name} AS VARCHAR)"

    def rows(self) -> int:
        """Count the rows; refuse a source that has none."""
        n = int(self.one(f"SELECT count(*) FROM {self.relation}"))
        if n == 0:
            msg = f"source: {self.name} has a header and no rows; check the export or the query."
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


def instant(column: str) -> str:
    """Return SQL that reads a text as a moment, as 2010-12-31 or 20101231; NULL where it is neither."""
    text = trimmed(column)
    digits = f"CASE WHEN length({text}) = 8 THEN try_strptime({text}, '%Y%m%d') END"
    return f"coalesce(TRY_CAST({text} AS TIMESTAMP), {digits})"


def column_list(argument: str, columns: Iterable[str]) -> list[str]:
    """Return columns as a list; refuse a single name, which would be taken letter by letter."""
    if isinstance(columns, str):
        msg = f"{argument}={columns!r}; expected a list of columns, such as [{columns!r}]."
        raise ValueError(msg)
    return list(columns)


def quoted(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(source: Source, *, connection: Any = None, encoding: str = "utf-8") -> Iterator[Table]:
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
) -> Iterator[Table]:
    """Open a source in a database that stays open; of several sources one at a time."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        if connection is not None:
            yield _query_table(database, source, connection)
        elif isinstance(source, pd.DataFrame):
            yield _frame_table(database, source)
        else:
            _check_paths(source)
            yield from _file_table(database, source, encoding, Path(folder))


@contextmanager
def database_apart() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a private database for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        database = _private_database(Path(folder))
        try:
            yield database
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
        "pandas_analyze_sample": "0",  # object columns are text, whatever their first rows hold
        "enable_progress_bar": "false",
    }
    for name, value in settings.items():
        database.execute(f"SET {name} = {value}")
    return database


def _kinds(database: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Kind of every column of a relation."""
    return {
        row[0]: _kind(row[1])
        for row in database.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    }


def _kind(sql_type: str) -> str:
    """Short kind of an SQL type."""
    if sql_type == "VARCHAR" or sql_type.startswith("ENUM"):
        return "text"
    if sql_type in {"FLOAT", "DOUBLE"}:
        return "float"
    return "integer" if "INT" in sql_type else "other"


def _frame_table(database: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> Table:
    """Register a DataFrame; nothing is copied."""
    names = [str(name) for name in frame.columns]
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
    database.register("source_frame", frame.set_axis(names, axis=1))
    kinds = _kinds(database, "source_frame")
    return Table(
        database, "source_frame", dict(zip(names, kinds.values(), strict=True)), "the DataFrame"
    )


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
            raise TypeError(msg)


def _file_table(
    database: duckdb.DuckDBPyConnection,
    source: str | Path | Sequence[str | Path],
    encoding: str,
    folder: Path,
) -> Iterator[Table]:
    """Open files; what DuckDB cannot read while the table is used becomes a plain message."""
    if isinstance(source, str) and QUERY.match(source) and not glob.glob(source):
        msg = "source looks like an SQL query; pass the database with connection=."
        raise ValueError(msg)
    names = named_files(source)
    pattern = f" {Path(source).name!r}" if isinstance(source, str | Path) else ""
    shown = Path(names[0]).name if len(names) == 1 else f"{len(names)} files{pattern}"
    try:
        readable = names
        if not is_utf8(encoding) and not is_parquet(names[0]):
            readable = [in_utf8(name, encoding, folder) for name in names]
        relation = _relation(readable)
        kinds = _kinds(database, relation)
        if len(kinds) == 1 and not is_parquet(names[0]):
            check_delimited(readable[0], next(iter(kinds)))
        _check_same_columns(database, readable, kinds)
        yield Table(database, relation, kinds, shown)
    except duckdb.Error as error:
        raise ValueError(diagnosis(names, error)) from None


def _relation(names: Sequence[str]) -> str:
    """Return SQL that reads files; every CSV column as text, quotes always understood, columns by name."""
    literals = ", ".join("'" + glob.escape(name).replace("'", "''") + "'" for name in names)
    if is_parquet(names[0]):
        return f"read_parquet([{literals}], union_by_name = true)"
    form = "all_varchar = true, header = true, quote = '\"', escape = '\"', comment = '', skip = 0"
    return f"read_csv([{literals}], {form}, union_by_name = true)"


def _check_same_columns(
    database: duckdb.DuckDBPyConnection, names: Sequence[str], kinds: dict[str, str]
) -> None:
    """Refuse files of different columns: a missing one would silently be empty."""
    for name in names if len(names) > 1 else []:
        missing = sorted(set(kinds) - set(_kinds(database, _relation([name]))))
        if missing:
            msg = f"source: {Path(name).name!r} lacks columns that other files have: {listed(missing)}."
            raise ValueError(msg)


def _query_table(database: duckdb.DuckDBPyConnection, query: Any, connection: Any) -> Table:
    """Copy a query's rows, block by block and as text, into the private database."""
    if not isinstance(query, str):
        msg = f"source must be an SQL query when connection= is given, not {type(query).__name__}."
        raise TypeError(msg)
    text = query.strip().rstrip(";")
    if not QUERY.match(text):
        begin = text.split(maxsplit=1)[:1]
        msg = f"source must be a SELECT query when connection= is given; it begins with {listed(begin)}."
        raise ValueError(msg)
    try:
        if isinstance(connection, duckdb.DuckDBPyConnection):
            kinds = _copy_duckdb(database, text, connection)
        else:
            kinds = _copy_cursor(database, text, connection)
    except (TypeError, AttributeError):
        raise
    except Exception as error:  # every database library has its own errors
        msg = f"source: the SQL query failed: {str(error).splitlines()[0]}"
        raise ValueError(msg) from error
    return Table(database, _typed_rows(kinds), kinds, "the SQL query")


def _typed_rows(kinds: dict[str, str]) -> str:
    """Return SQL of the copied rows in which columns of numbers are numbers again."""
    types = {"integer": "HUGEINT", "float": "DOUBLE", "text": "VARCHAR"}
    columns = (
        f"CAST({quoted(name)} AS {types[kind]}) AS {quoted(name)}" for name, kind in kinds.items()
    )
    return f"(SELECT {', '.join(columns)} FROM source_rows)"


def _copy_duckdb(
    database: duckdb.DuckDBPyConnection, query: str, connection: duckdb.DuckDBPyConnection
) -> dict[str, str]:
    """Copy from a DuckDB connection."""
    kinds = _kinds(connection, f"({query})")
    columns = ", ".join(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in kinds)
    _make_rows(database, list(kinds))
    result = connection.execute(f"SELECT {columns} FROM ({query})")
    while len(block := result.fetch_df_chunk(FETCHED_ROWS // 2048)):
        database.register("block", block).execute("INSERT INTO source_rows SELECT * FROM block")
    return {name: "text" if kind == "other" else kind for name, kind in kinds.items()}


def _copy_cursor(
    database: duckdb.DuckDBPyConnection, query: str, connection: Any
) -> dict[str, str]:
    """Copy from a DBAPI connection (sqlite3, psycopg, …) or an SQLAlchemy engine or connection."""
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
    if hasattr(connection, "dialect") and hasattr(connection, "connect"):
        opened_here = connection.connect()
        result = opened_here.exec_driver_sql(query)
        return list(result.keys()), result.fetchmany, opened_here.close
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
    return "integer" if isinstance(value, int) and not isinstance(value, bool) else "text"


def _value_text(value: Any) -> str | None:
    """Text of one value from a cursor."""
    return None if value is None else str(value)


def _common(kinds: set[str]) -> str:
    """Kind of a column from the kinds of its values."""
    return "text" if "text" in kinds or not kinds else "float" if "float" in kinds else "integer"
