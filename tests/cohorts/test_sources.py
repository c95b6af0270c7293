import gzip
import io
import os
import sqlite3
import subprocess
import sys
import warnings
import zipfile

import duckdb
import pandas as pd
import pytest

from lvmkit.cohorts import from_events, from_wide
from lvmkit.cohorts._sources import opened
from lvmkit.core.validation import DataWarning

EVENTS = pd.DataFrame(
    {
        "id": ["007", "007", "8", "8"],
        "dx": ["038.9", "428", "428", "V58"],
        "age": [70, 70, 54, 54],
        "note": ["fine", 'with "quotes", and comma', "", "naïve"],
    }
)


def packed(files):
    """Zip archive of texts."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


COLUMNS = {"patient": "id", "code": "dx", "min_codes": 1}
MATRIX = [[1, 1, 0], [0, 1, 1]]


def quiet(source, **options):
    """Cohort of events, whatever is said of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return from_events(source, **options)


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
    assert sum(issubclass(warning.category, DataWarning) for warning in said) == 2


def engine_of(connection):
    """SQLAlchemy's engine over a connection of sqlite3."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    return sqlalchemy.create_engine(
        "sqlite://", creator=lambda: connection, poolclass=sqlalchemy.pool.StaticPool
    )


def test_sqlalchemy_engines_are_understood():
    connection = sqlite3.connect(":memory:")
    EVENTS.to_sql("events", connection, index=False)
    same(from_events("SELECT * FROM events", connection=engine_of(connection), **COLUMNS))
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
        for connection in (database, engine_of(database), other):
            with pytest.raises(ValueError, match="source must be a SELECT query"):
                from_events(statement, connection=connection, **COLUMNS)
            same(from_events("SELECT * FROM events", connection=connection, **COLUMNS))


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "WITH a AS (SELECT 70 AS one) DELETE FROM events WHERE age IN (SELECT one FROM a)",
            "DELETE FROM",
        ),
        ("with a as (select 1) delete\n from events returning id, dx", "DELETE FROM"),
        ("WITH a AS (SELECT 1) INSERT INTO events SELECT * FROM events", "INSERT INTO"),
        ("WITH a AS (SELECT 1) UPDATE events SET dx = 'x' RETURNING id, dx", "UPDATE EVENTS SET"),
        ("SELECT * INTO other FROM events", "INTO"),
    ],
)
def test_statements_that_write_are_never_run(database, statement, found):
    for connection in (database, engine_of(database)):
        with pytest.raises(
            ValueError, match=f"a query that only reads; it holds '{found}'. It was not run"
        ):
            from_events(statement, connection=connection, **COLUMNS)
    assert database.execute("SELECT count(*), min(dx) FROM events").fetchone() == (4, "038.9")


def test_several_statements_are_refused(database):
    with pytest.raises(ValueError, match="must be one SELECT query"):
        from_events("SELECT * FROM events; DROP TABLE events", connection=database, **COLUMNS)


def test_words_in_texts_names_and_comments_write_nothing(database):
    query = "SELECT id, dx, 'delete from a; into' AS \"into\" FROM events -- insert into b;"
    same(from_events(query, connection=database, **COLUMNS))


def test_sqlite_itself_refuses_to_write_meanwhile(database):
    from lvmkit.cohorts._sources import _reading_only

    with _reading_only(database), pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.execute("DELETE FROM events")
    database.execute("DELETE FROM events WHERE id = '8'")
    assert database.execute("SELECT count(*) FROM events").fetchone() == (2,)


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
        ("a.csv", b"", r"cannot read 'a.csv': it is empty \(0 bytes\)"),
        ("a.csv", b"id,dx\n", "a.csv has a header and no rows"),
        (
            "a.csv",
            b"id,dx\n1,428\n2,caf\xe9\n",
            r"byte 0xE9 at offset 17 \(line 3\).*encoding='cp1252' or 'latin-1'",
        ),
        (
            "a.csv",
            "id,dx\n1,428\n".encode("utf-16-le"),
            r"no text in UTF-8 .* pass encoding='utf-16-le'",
        ),
        (
            "a.csv",
            b"id;dx\n1;428\n2;3;4;5\n3;428\n",
            r"'a.csv' does not read as a table: line 3 has 4 fields, the header 2",
        ),
        (
            "a.csv",
            b"id,dx,x\n" + b"1,428,a\n" * 30_000 + b'2,250,"b\n' + b"1,585,a\n" * 30_000,
            r"^source: 'a.csv' does not read as a table: a quotation mark in line 30,002 may not be closed; correct",
        ),
        (
            "a.csv",
            b"id,dx,x\n" + b"1,428,a\n" * 30_000 + b"2,250\n1,585,a\n",
            r"^source: 'a.csv' does not read as a table: line 30,002 has 2 fields, the header 3; correct",
        ),
        (
            "a.csv",
            b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
            "'a.csv' is a PNG picture, not a table",
        ),
        ("a.csv", b"%PDF-1.7\n", "'a.csv' is a PDF document"),
        ("a.csv", b"PAR1" + bytes(9), "'a.csv' is a Parquet file: give it the ending .parquet"),
        ("a.csv", b"<!DOCTYPE html><p>log in", "'a.csv' is a web page, not a table"),
        ("a.csv", b"SQLite format 3\0" + bytes(99), "'a.csv' is an SQLite database: connect"),
        (
            "a.csv",
            packed({"b.csv": "id,dx"}),
            "'a.csv' is a zip archive that holds 'b.csv': unpack it",
        ),
        (
            "a.csv",
            packed({"[Content_Types].xml": "", "xl/a.xml": ""}),
            "'a.csv' is an Excel .* save the sheet as CSV",
        ),
        ("a.parquet", b"PAR1 and not much", "'a.parquet' is cut short or is not a Parquet file"),
        (
            "a.csv.gz",
            gzip.compress(b"id,dx\n" + b"1,428\n" * 9999, mtime=0)[:60],
            "'a.csv.gz' is cut short or damaged",
        ),
        ("a.csv", b'id,dx\n1,"428\n2,250\n', "'a.csv' does not read as a table.*quotation mark"),
        ("a.csv.gz", b"not gzip at all", "'a.csv.gz' is named .gz and not compressed by gzip"),
        ("a.xlsx", b"PK\x03\x04" + bytes(99), "'a.xlsx' is an Excel .* save the sheet as CSV"),
        ("a.csv", b"PK\x03\x04\n1,428\n", "'a.csv' is an Excel .* save the sheet as CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(99), "'a.xls' is an Excel .* save the sheet as CSV"),
    ],
)
def test_bad_files_are_explained(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as told:
        from_events(tmp_path / name, **COLUMNS)
    assert str(tmp_path) not in str(told.value)
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


@pytest.mark.parametrize("ends", [("\r\n", "\n"), ("\n", "\r\n"), ("\n", "\r")])
@pytest.mark.parametrize("rows", [1, 30_000])
def test_mixed_line_ends_are_one(tmp_path, ends, rows):
    lines = [f"{7 + i % 2},{428 + i % 2},x" for i in range(2 * rows)]
    first, second = ends
    text = first.join(["id,dx,note", *lines[:rows]]) + first + second.join(lines[rows:]) + second
    (tmp_path / "a.csv").write_bytes(text.encode())
    with gzip.open(tmp_path / "b.csv.gz", "wb") as file:
        file.write(text.encode())
    for name in ("a.csv", "b.csv.gz"):
        cohort = quiet(tmp_path / name, **COLUMNS)
        assert cohort.obs_names.tolist() == ["7", "8"]
        assert cohort.uns["cohort"]["n_input_rows"] == 2 * rows


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_encodings_that_the_first_bytes_name_are_read(tmp_path, encoding):
    EVENTS.to_csv(tmp_path / "a.csv", index=False, encoding=encoding)
    same(from_events(tmp_path / "a.csv", **COLUMNS))


def test_gzip_is_known_by_its_first_bytes(tmp_path):
    (tmp_path / "a.csv").write_bytes(gzip.compress(EVENTS.to_csv(index=False).encode()))
    same(from_events(tmp_path / "a.csv", **COLUMNS))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(EVENTS.to_csv(index=False).encode("utf-16")))
    same(from_events(tmp_path / "b.csv.gz", **COLUMNS))


def test_a_folder_with_links_to_itself_is_read_once(tmp_path):
    below = tmp_path / "2010"
    below.mkdir()
    EVENTS.to_csv(below / "a.csv", index=False)
    for name in ("self", "again"):
        (below / name).symlink_to(below, target_is_directory=True)
    elsewhere = tmp_path / "linked"
    elsewhere.symlink_to(below, target_is_directory=True)
    for pattern in ("**/*.csv", "2010/**/a.csv", "*/*.csv", "2010/**"):
        found = quiet(tmp_path / pattern, **COLUMNS)
        same(found)
        assert found.uns["cohort"]["n_input_rows"] == 4
    with pytest.raises(ValueError, match=r"names the file 'a.csv' twice"):
        from_events([below / "a.csv", elsewhere / "a.csv"], **COLUMNS)
    with pytest.raises(
        FileNotFoundError, match=r"'2010' is a folder; name its files, .*'2010/\*.csv'"
    ):
        from_events(below, **COLUMNS)


def change(path):
    """Read a file that changes before its end."""
    with opened(path) as table:
        assert table.rows() == 4
        os.utime(path, ns=(1, 1))


def vanish(path):
    """Read a file that vanishes before its end."""
    with opened(path) as table:
        path.unlink()
        table.one(f"SELECT max(id) FROM {table.relation}")


def test_files_that_vanish_or_change_while_they_are_read_are_named(tmp_path):
    for name in ("a.csv", "a.parquet"):
        path = tmp_path / name
        write = duckdb.from_df(EVENTS)
        write.write_csv(str(path)) if name == "a.csv" else write.write_parquet(str(path))
        with pytest.raises(ValueError, match=rf"^source: '{name}' changed while it was read; wait"):
            change(path)
        with pytest.raises(ValueError, match=rf"^source: '{name}' vanished while it was read"):
            vanish(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_files_without_permission_are_named(tmp_path):
    EVENTS.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(ValueError, match=r"'a.csv' cannot be opened: Permission denied"):
        from_events(tmp_path / "a.csv", **COLUMNS)


def test_tables_too_wide_to_be_queried_are_refused(tmp_path):
    names = [f"c{i}" for i in range(10_001)]
    frame = pd.DataFrame([["1"] * len(names)], columns=names)
    frame.to_csv(tmp_path / "a.csv", index=False)
    for source, name in ((frame, "the DataFrame"), (tmp_path / "a.csv", "'a.csv'")):
        with pytest.raises(ValueError, match=f"{name} has 10,001 columns; at most .*from_counts"):
            from_events(source, **COLUMNS)


def test_names_of_columns_that_sql_cannot_say_are_refused():
    nameless = EVENTS.rename(columns={"age": ""})
    with pytest.raises(ValueError, match="column 3 of the DataFrame is named ''; give it a name"):
        from_events(nameless, **COLUMNS)
    levels = EVENTS.set_axis(pd.MultiIndex.from_product([["a"], EVENTS.columns]), axis=1)
    with pytest.raises(ValueError, match=r"names of 2 levels, such as \('a', 'id'\); give each"):
        from_events(levels, **COLUMNS)


def test_frames_that_lie_in_no_row_give_the_same():
    turned = EVENTS[::-1]
    for dtype in (object, "string", "category"):
        same(from_events(turned.astype(dtype), **COLUMNS))
        same(from_events(turned.astype(dtype)[::-1], **COLUMNS))
    double = pd.concat([EVENTS, EVENTS]).sort_index(kind="stable")
    same(from_events(double.astype({"id": "string", "dx": "string"}).iloc[::2], **COLUMNS))


def test_types_that_duckdb_lacks_are_read():
    frame = EVENTS.assign(
        month=pd.PeriodIndex(["2010-01-05"] * 4, freq="D"),
        sparse=pd.arrays.SparseArray([0, 0, 1, 1]),
    )
    cohort = from_events(frame, date="month", attributes=["sparse"], **COLUMNS)
    assert cohort.obs["first_date"].tolist() == ["2010-01-05"] * 2
    assert cohort.obs["sparse"].tolist() == [0, 1]
    same(from_events(frame.assign(z=1j), **COLUMNS))


LARGE = [9007199254740992, 9007199254740993, 9007199254740993, 12]


@pytest.mark.parametrize("kind", [float, "float32", "Float64"])
def test_ids_that_floats_have_merged_are_refused(kind):
    frame = EVENTS.assign(id=LARGE).astype({"id": kind})
    message = r"patient='id' holds ids as floating point numbers, such as 90071992547\d+, .* Read the column as text"
    with pytest.raises(ValueError, match=message):
        from_events(frame, **COLUMNS)
    with pytest.raises(ValueError, match="patient='id' holds ids"):
        from_wide(frame, codes=["dx"], patient="id", min_codes=1)
    with pytest.raises(ValueError, match="code='id' holds ids"):
        from_events(frame, patient="dx", code="id", min_codes=1)
    with pytest.raises(ValueError, match="attributes='key' holds ids"):
        from_events(EVENTS, attributes=frame[:1].set_index("id")[["age"]], **COLUMNS)


def test_large_ids_that_are_exact_stay_themselves():
    found = quiet(EVENTS.assign(id=LARGE), **COLUMNS)
    assert found.obs_names.tolist() == ["12", "9007199254740992", "9007199254740993"]
    exact = EVENTS.assign(id=[2.0**53 - 1, 2.0**53 - 2, 1e15, 12.0])
    names = ["12", "1000000000000000", "9007199254740990", "9007199254740991"]
    assert from_events(exact, **COLUMNS).obs_names.tolist() == names


def test_floats_of_queries_merge_no_ids():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE events (id, dx TEXT)")
    rows = [(9007199254740993, "428"), (9007199254740992.0, "250")]
    connection.executemany("INSERT INTO events VALUES (?, ?)", rows)
    with pytest.raises(ValueError, match="patient='id' holds ids as floating point numbers"):
        from_events("SELECT * FROM events", connection=connection, **COLUMNS)
    connection.close()


def test_ids_that_a_spreadsheet_has_rounded_are_stated():
    frame = EVENTS.assign(id=["9.0072E+15", "9.0072E+15", "1E5", "8"])
    with pytest.warns(DataWarning, match=r"'id' holds rounded numbers such as '9.0072E\+15'"):
        from_events(frame, **COLUMNS)


def test_long_queries_end_with_ctrl_c():
    code = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
from lvmkit.cohorts._sources import database_apart
with database_apart() as database:
    threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
    database.execute("SELECT count(*) FROM range(3000000) a, range(3000000) b WHERE a.range * b.range % 7 = 3")
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert "KeyboardInterrupt" in ended.stderr


@pytest.mark.parametrize("start", ["\n", "\r\n\r\n"])
def test_blank_lines_before_the_header_add_no_row(tmp_path, start):
    (tmp_path / "a.csv").write_text(f"{start}id,dx\na,X1\nb,X2\n", encoding="utf-8", newline="")
    cohort = from_events(tmp_path / "a.csv", patient="id", code="dx", system=None, min_codes=1)
    assert cohort.obs_names.tolist() == ["a", "b"]
    assert cohort.var_names.tolist() == ["X1", "X2"]


def test_a_header_that_a_blank_line_made_a_row_is_no_repeat(tmp_path):
    (tmp_path / "a.csv").write_text("\nid,dx\na,X1\nid,dx\nb,X2\n")
    with pytest.raises(ValueError, match="repeats its header in 1 of its rows"):
        from_events(tmp_path / "a.csv", patient="id", code="dx", system=None, min_codes=1)


def test_a_header_among_the_rows_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,dx\na,X1\nid,dx\nb,X2\n")
    with pytest.raises(
        ValueError, match=r"a.csv repeats its header in 1 of its rows.*remove these"
    ):
        from_events(tmp_path / "a.csv", patient="id", code="dx", system=None, min_codes=1)
    (tmp_path / "a.csv").write_text("id,dx\na,X1\nid,X2\n")  # a patient may be called so
    cohort = from_events(tmp_path / "a.csv", patient="id", code="dx", system=None, min_codes=1)
    assert cohort.obs_names.tolist() == ["a", "id"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_named_and_then_read(tmp_path, encoding):
    given = {"patient": "id", "code": "dx", "system": None, "min_codes": 1}
    (tmp_path / "a.csv").write_bytes("id,dx\nä,X1\nb,X2\n".encode(encoding))
    with pytest.raises(ValueError, match=f"pass encoding='{encoding}'"):
        from_events(tmp_path / "a.csv", **given)
    cohort = from_events(tmp_path / "a.csv", encoding=encoding, **given)
    assert cohort.obs_names.tolist() == ["b", "ä"]


def test_a_missing_table_of_attributes_is_named_as_such(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"^attributes: cannot read 'none.csv': there is no such"
    ):
        from_events(EVENTS, attributes=tmp_path / "none.csv", **COLUMNS)
    with pytest.raises(
        TypeError, match=r"^attributes must name a column \(str\); found 'none.csv'"
    ):
        from_events(EVENTS, attributes=[tmp_path / "none.csv"], **COLUMNS)


def test_tables_of_other_libraries_are_sent_to_pandas():
    class Frame:
        """What polars and pyarrow have."""

        __module__ = "polars.dataframe.frame"

        def to_pandas(self):
            """Return nothing: only the name is looked for."""

    with pytest.raises(TypeError, match=r"not a polars\.Frame; pass source\.to_pandas\(\)"):
        from_events(Frame(), patient="id", code="code")
