import gzip
import sqlite3

import duckdb
import pandas as pd
import pytest

from lvmkit._checks import DataWarning
from lvmkit.cohorts import from_events, from_wide

EVENTS = pd.DataFrame(
    {
        "id": ["007", "007", "8", "8"],
        "dx": ["038.9", "428", "428", "V58"],
        "age": [70, 70, 54, 54],
        "note": ["fine", 'with "quotes", and comma', "", "naïve"],
    }
)
COLUMNS = {"patient": "id", "code": "dx", "min_codes": 1}
MATRIX = [[1, 1, 0], [0, 1, 1]]


def same(cohort):
    assert cohort.obs_names.tolist() == ["007", "8"]
    assert cohort.var_names.tolist() == ["038", "428", "V58"]
    assert cohort.X.toarray().tolist() == MATRIX


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "it's [1].csv"])
@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_csv_is_read_as_text(tmp_path, name, sep):
    EVENTS.to_csv(tmp_path / name, index=False, sep=sep)
    same(from_events(tmp_path / name, **COLUMNS))
    same(from_events(str(tmp_path / name), **COLUMNS))


def test_quotes_far_down_a_file_are_understood(tmp_path):
    rows = ["id,dx,note", *["7,428,plain"] * 30_000, '8,250,"a, b"']
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with pytest.warns(DataWarning, match="counted once"):
        cohort = from_events(tmp_path / "a.csv", attributes=["note"], **COLUMNS)
    assert cohort.obs["note"].tolist() == ["plain", "a, b"]


def test_parquet_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    duckdb.from_df(EVENTS).write_parquet(str(path))
    cohort = from_events(path, attributes=["age"], **COLUMNS)
    same(cohort)
    assert cohort.uns["cohort"]["source"] == "a.parquet"


def test_queries_run_on_duckdb_and_on_any_dbapi_connection():
    with duckdb.connect() as connection:
        connection.register("events", EVENTS)
        same(from_events("SELECT * FROM events;", connection=connection, **COLUMNS))
    connection = sqlite3.connect(":memory:")
    EVENTS.to_sql("events", connection, index=False)
    cohort = from_events(
        "SELECT id, dx, age FROM events", connection=connection, attributes=["age"], **COLUMNS
    )
    same(cohort)
    assert cohort.obs["age"].tolist() == [70, 54]
    with pytest.raises(ValueError, match="SQL query failed: no such table: visits"):
        from_events("SELECT * FROM visits", connection=connection, **COLUMNS)
    connection.close()


def test_queries_with_numbers_keep_their_meaning():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE events (id INTEGER, dx REAL)")
    connection.executemany(
        "INSERT INTO events VALUES (?, ?)", [(1, 38.0), (1, 428.1), (2, None), (2, 250)]
    )
    with pytest.warns(DataWarning) as said:
        cohort = from_events("SELECT * FROM events", connection=connection, **COLUMNS)
    connection.close()
    assert cohort.var_names.tolist() == ["038", "250", "428"]
    assert len(said) == 2


class FakeEngine:
    """What is used of an SQLAlchemy engine, over sqlite3."""

    dialect = "sqlite"

    def __init__(self, connection):
        self.connection = connection

    def connect(self):
        return self

    def close(self):
        pass

    def exec_driver_sql(self, query):
        cursor = self.connection.execute(query)
        cursor_keys = [column[0] for column in cursor.description]
        return type(
            "Result",
            (),
            {
                "keys": lambda _: cursor_keys,
                "fetchmany": lambda _, n: cursor.fetchmany(n),
                "close": cursor.close,
            },
        )()


def test_sqlalchemy_engines_are_understood():
    connection = sqlite3.connect(":memory:")
    EVENTS.to_sql("events", connection, index=False)
    same(from_events("SELECT * FROM events", connection=FakeEngine(connection), **COLUMNS))
    connection.close()


@pytest.fixture
def database():
    """Return an SQLite database with the events."""
    connection = sqlite3.connect(":memory:")
    EVENTS.to_sql("events", connection, index=False)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    "query",
    [
        "select\n* FROM events",
        "\n\tSELECT id, dx, age FROM events;\n",
        "WITH a AS (SELECT * FROM events) SELECT * FROM a",
        "-- the events\n/* of all\nyears */ with\ta AS (SELECT * FROM events) SELECT * FROM a",
    ],
)
def test_queries_are_known_however_they_are_written(database, query):
    same(from_events(query, connection=database, **COLUMNS))
    with pytest.raises(ValueError, match="pass the database with connection="):
        from_events(query, **COLUMNS)


def test_a_file_named_like_a_query_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EVENTS.to_csv("with age.csv", index=False)
    same(from_events("with age.csv", **COLUMNS))


@pytest.mark.parametrize(
    "statement",
    ["DROP TABLE events", "delete from events", "events", "-- select\ndrop table events"],
)
def test_statements_that_are_no_queries_are_never_run(database, statement):
    with duckdb.connect() as other:
        other.register("source", EVENTS)
        other.execute("CREATE TABLE events AS SELECT * FROM source")
        for connection in (database, FakeEngine(database), other):
            with pytest.raises(ValueError, match="source must be a SELECT query"):
                from_events(statement, connection=connection, **COLUMNS)
            same(from_events("SELECT * FROM events", connection=connection, **COLUMNS))


def test_statements_without_a_result_are_explained(database):
    statement = "WITH a AS (SELECT 1 AS one) DELETE FROM events WHERE age IN (SELECT one FROM a)"
    with pytest.raises(ValueError, match="SQL query failed: it returns no rows"):
        from_events(statement, connection=database, **COLUMNS)


def test_wrong_connections_and_queries_without_one_are_refused():
    with pytest.raises(TypeError, match="connection=int is no DuckDB"):
        from_events("SELECT 1", connection=3, **COLUMNS)
    with pytest.raises(TypeError, match="source must be an SQL query"):
        from_events(EVENTS, connection=sqlite3, **COLUMNS)
    with pytest.raises(ValueError, match="pass the database with connection="):
        from_events("SELECT * FROM events", **COLUMNS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", r"the file 'a.csv' is empty \(0 bytes\)"),
        ("a.csv", b"id,dx\n", "a.csv has a header and no rows"),
        (
            "a.csv",
            b"id,dx\n1,428\n2,caf\xe9\n",
            r"byte 0xE9 at offset 17 \(line 3\).*encoding='cp1252' or 'latin-1'",
        ),
        ("a.csv", "id,dx\n1,428\n".encode("utf-16"), "byte 0xFF at offset 0 .*encoding='utf-16'"),
        (
            "a.csv",
            b"id;dx\n1;428\n2;3;4;5\n3;428\n",
            r"'a.csv' does not read as a table: line 3 has 4 fields, the header 2",
        ),
        ("a.parquet", b"PAR1 and not much", "'a.parquet' is cut short or is not a Parquet file"),
        (
            "a.csv.gz",
            gzip.compress(b"id,dx\n" + b"1,428\n" * 9999)[:60],
            "'a.csv.gz' is cut short or damaged",
        ),
        ("a.csv", b'id,dx\n1,"428\n2,250\n', "'a.csv' does not read as a table.*quotation mark"),
        ("a.csv.gz", b"not gzip at all", "'a.csv.gz' is cut short or damaged"),
        ("a.xlsx", b"PK\x03\x04" + bytes(99), "'a.xlsx' is an Excel .* save the sheet as CSV"),
        ("a.csv", b"PK\x03\x04\n1,428\n", "'a.csv' is an Excel .* save the sheet as CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(99), "'a.xls' is an Excel .* save the sheet as CSV"),
    ],
)
def test_bad_files_are_explained(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        from_events(tmp_path / name, **COLUMNS)
    if "Excel" in message:
        with pytest.raises(ValueError, match=message):
            from_events(tmp_path / name, encoding="latin-1", **COLUMNS)


def test_other_encodings_are_read_when_named(tmp_path):
    for encoding in ("cp1252", "latin-1", "utf-16"):
        path = tmp_path / f"{encoding}.csv"
        EVENTS.assign(row=range(4)).to_csv(path, index=False, encoding=encoding)
        cohort = from_events(
            path, encoding=encoding, attributes=["note"], **(COLUMNS | {"patient": "row"})
        )
        assert "naïve" in cohort.obs["note"].cat.categories
    path = tmp_path / "ascii.csv.gz"
    EVENTS.to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"'ascii.csv.gz' is not in encoding='ascii': .* offset 94"
    ):
        from_events(path, encoding="ascii", **COLUMNS)
    with pytest.raises(ValueError, match="encoding='utf-99' is not known"):
        from_events(path, encoding="utf-99", **COLUMNS)


def test_missing_files_and_mixed_kinds_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches '.*none-\*.csv'"):
        from_events(tmp_path / "none-*.csv", **COLUMNS)
    EVENTS.to_csv(tmp_path / "a.csv", index=False)
    duckdb.from_df(EVENTS).write_parquet(str(tmp_path / "a.parquet"))
    with pytest.raises(ValueError, match="CSV and Parquet files together"):
        from_events(tmp_path / "a.*", **COLUMNS)


def test_several_paths_are_one_table(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    EVENTS[:3].to_csv(paths[0], index=False)
    EVENTS[3:].to_csv(paths[1], index=False)
    same(from_events(paths, **COLUMNS))
    found = from_events((str(tmp_path / "a*.csv"), paths[1]), **COLUMNS)
    same(found)
    assert found.uns["cohort"]["source"] == "2 files"
    with pytest.raises(ValueError, match=r"names the file 'a.csv' twice"):
        from_events([*paths, tmp_path / "*.csv"], **COLUMNS)
    with pytest.raises(ValueError, match="source is an empty list"):
        from_events([], **COLUMNS)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pd.Series(["428"], ["Jane Doe"]), "Series"),
        ({"id": "Jane Doe"}, "dict"),
        ([{"id": "Jane Doe"}], "a list of dict"),
        (3, "int"),
    ],
)
def test_sources_of_other_types_are_refused_without_showing_them(source, kind):
    with pytest.raises(TypeError, match=f"source must be a DataFrame.*, not {kind}") as told:
        from_events(source, **COLUMNS)
    assert "Jane" not in str(told.value)


def test_files_that_lack_a_column_are_named(tmp_path):
    EVENTS.to_csv(tmp_path / "a.csv", index=False)
    EVENTS.drop(columns="dx").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(ValueError, match=r"'b.csv' lacks columns that other files have: 'dx'"):
        from_events(tmp_path / "*.csv", **COLUMNS)


def test_frames_without_columns_or_with_repeated_ones_are_refused():
    with pytest.raises(ValueError, match="no columns"):
        from_events(pd.DataFrame(), **COLUMNS)
    with pytest.raises(ValueError, match="several columns named 'dx', 'id'"):
        from_wide(pd.concat([EVENTS, EVENTS], axis=1)[["id", "dx"]], codes=["dx"])
    with pytest.raises(ValueError, match=r"several columns named 'DX', 'dx' .*capital letters"):
        from_events(EVENTS.assign(DX="250"), **COLUMNS)
    with pytest.raises(ValueError, match="header and no rows"):
        from_events(EVENTS[:0], **COLUMNS)


def test_frames_of_any_type_of_text_give_the_same():
    for dtype in (object, "string", "category"):
        same(from_events(EVENTS.astype({"id": dtype, "dx": dtype}), **COLUMNS))
