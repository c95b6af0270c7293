"""Queries on a real PostgreSQL, as root or as a user: skipped where none is installed."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from lvmkit.cohorts import from_events
from lvmkit.core.validation import DataWarning

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
INITDB = shutil.which("initdb") or (str(PLACES[-1]) if PLACES else None)
pytestmark = pytest.mark.skipif(INITDB is None, reason="no PostgreSQL server on this machine")
COLUMNS = {"patient": "id", "code": "dx", "min_codes": 1}
TABLE = """
CREATE TABLE events (id text, dx text, age numeric, seen timestamptz, born date);
INSERT INTO events VALUES
  ('007', '038.9', 70, '2010-01-01 23:30-05', '1940-02-01'),
  ('007', '428', 70, '2010-01-01 23:30-05', '1940-02-01'),
  ('8', '428', 54.5, '2010-06-01 23:30-04', '1956-02-01'),
  ('8', 'V58', 54.5, NULL, NULL);
CREATE FUNCTION emptied() RETURNS SETOF events LANGUAGE sql AS 'DELETE FROM events RETURNING *';
ALTER DATABASE postgres SET timezone = 'America/New_York';
"""


@pytest.fixture(scope="module")
def address():
    """Start a server of our own that listens on a socket in a folder, not on the network."""
    user = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
    whose = {"user": user, "group": user, "extra_groups": []} if user else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user:
        shutil.chown(folder, user, user)
    made = [INITDB, "-D", folder / "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N"]
    subprocess.run(made, check=True, capture_output=True, cwd=folder, **whose)
    command = [Path(INITDB).with_name("postgres"), "-D", folder / "data", "-k", folder]
    command += ["-c", "listen_addresses=", "-c", "fsync=off"]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **whose)
    try:
        for _ in range(300):
            if (folder / ".s.PGSQL.5432").exists():
                break
            assert server.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
        yield str(folder)
    finally:
        server.send_signal(signal.SIGINT)  # SIGTERM waits for connections that a test left open
        server.wait(30)
        log.close()
        shutil.rmtree(folder)


@pytest.fixture
def connection(address):
    """A connection of psycopg, to a table that is made anew."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(host=address, user="postgres", autocommit=True) as owner:
        owner.execute("DROP TABLE IF EXISTS events CASCADE")
        owner.execute(TABLE)
    with psycopg.connect(host=address, user="postgres") as connection:
        yield connection


@pytest.fixture(params=["psycopg", "psycopg2", "pg8000"])
def engine(request, address, connection):
    """An engine of SQLAlchemy, to the same table."""
    pytest.importorskip(request.param)
    sqlalchemy = pytest.importorskip("sqlalchemy")
    place = f"unix_sock={address}/.s.PGSQL.5432" if request.param == "pg8000" else f"host={address}"
    engine = sqlalchemy.create_engine(f"postgresql+{request.param}://postgres@/postgres?{place}")
    yield engine
    engine.dispose()


def check(cohort):
    assert cohort.obs_names.tolist() == ["007", "8"]
    assert cohort.var_names.tolist() == ["038", "428", "V58"]
    assert cohort.X.toarray().tolist() == [[1, 1, 0], [0, 1, 1]]


def test_queries_read_through_the_driver_and_through_sqlalchemy(connection, engine):
    query = "SELECT * FROM events"
    check(from_events(query, connection=connection, **COLUMNS))
    check(from_events(query, connection=engine, **COLUMNS))
    with engine.connect() as opened:
        check(from_events(query, connection=opened, **COLUMNS))
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (4,)


def test_numbers_and_days_keep_their_meaning(connection):
    """Numerics are numbers; an instant's day is that of the zone that the database tells."""
    with pytest.warns(DataWarning, match="1 row has no readable date in 'seen'"):
        cohort = from_events(
            "SELECT * FROM events",
            connection=connection,
            attributes=["age"],
            date="seen",
            **COLUMNS,
        )
    assert cohort.obs["age"].tolist() == [70, 54.5]
    assert cohort.obs["first_date"].astype(str).tolist() == ["2010-01-01", "2010-06-01"]


def test_a_function_that_writes_is_refused(connection, engine):
    """Such a query looks as if it only read: the server has to refuse it."""
    query = "SELECT id, dx FROM emptied()"
    with engine.connect() as opened:
        for given in (connection, engine, opened):
            with pytest.raises(ValueError, match=r"SQL query failed: .*read-only transaction"):
                from_events(query, connection=given, **COLUMNS)
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (4,)


@pytest.mark.parametrize("autocommit", [False, True])
def test_other_drivers_refuse_to_write_and_leave_what_was_begun(engine, connection, autocommit):
    """Also where each statement is committed by itself, as psycopg2 and pg8000 can be told."""
    driver = engine.raw_connection().driver_connection
    driver.autocommit = autocommit
    cursor = driver.cursor()
    cursor.execute("INSERT INTO events VALUES ('9', '428')")
    with pytest.raises(ValueError, match=r"SQL query failed: .*read-only transaction"):
        from_events("SELECT id, dx FROM emptied()", connection=driver, **COLUMNS)
    cohort = from_events("SELECT * FROM events", connection=driver, **COLUMNS)
    assert cohort.obs_names.tolist() == ["007", "8", "9"]
    cursor.execute("INSERT INTO events VALUES ('10', '428')")
    driver.commit()
    driver.close()
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (6,)


def test_an_engine_that_commits_each_statement_refuses_to_write(engine, connection):
    committing = engine.execution_options(isolation_level="AUTOCOMMIT")
    with pytest.raises(ValueError, match=r"SQL query failed: .*read-only transaction"):
        from_events("SELECT id, dx FROM emptied()", connection=committing, **COLUMNS)
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (4,)


def test_what_was_begun_stays_and_can_go_on(connection):
    """The rows of the caller's open transaction are read, and after it as before it he may write."""
    connection.execute("INSERT INTO events VALUES ('9', '428')")
    cohort = from_events("SELECT * FROM events", connection=connection, **COLUMNS)
    assert cohort.obs_names.tolist() == ["007", "8", "9"]
    with pytest.raises(ValueError, match=r"SQL query failed: .*visits"):
        from_events("SELECT * FROM visits", connection=connection, **COLUMNS)
    connection.execute("INSERT INTO events VALUES ('10', '428')")
    connection.commit()
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (6,)
