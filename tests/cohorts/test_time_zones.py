"""Days are those written in the data, wherever they are read."""

import base64
import json
import os
import subprocess
import sys
import time
import warnings
import zlib
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import pytest

from lvmkit.cohorts import from_events, from_wide, tensor_from_events, tensor_from_wide
from lvmkit.cohorts._sources import local_day
from lvmkit.cohorts._time_zones import recorded_zones
from lvmkit.core.validation import DataWarning

ZONES = ["UTC", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati"]
YORK = ZoneInfo("America/New_York")
CLOCK = [datetime(2010, 1, 1, 23, 30), datetime(2010, 7, 4, 0, 15)]
LOCAL = [when.replace(tzinfo=YORK) for when in CLOCK]
DAYS = ["2010-01-01", "2010-07-04"]
BASE = pd.DataFrame({"id": ["a", "b"], "dx": ["428", "250"]})
THROUGHOUT = ("aware", "zones", "iso")
"""Kinds of dates that everything is tried with."""
OPTIONS = {"patient": "id", "code": "dx", "min_codes": 1}
ARROW = (
    "eNqFlM9PGkEUx8cFiQfTRNPdsHSbmCZs0lRdsbWVloNvVkCKCEurG70tCwJKxa4gQjw0jYce+It66slDT/0/eumhhx47"
    "b3ZZkGKZwOzse5/34zsv2QIUYyIRJVFaFgV2CIkhhRAi4H9mhu0WM0bEyARvgO0v1jeZWRGVCX7y+fcv9TpI7gci3Z9R"
    "VuN+4MejN4//3CzcD+wtfnvy3xKDHoJyf4OEQxd2rfLBEh8QcT4qhIV6OUp2kXZfy1eD1yB7DXabzmn04W5/QVkmZGCd"
    "rZ+V61Z0Ec3K0Bxot+wGMyVGyDOrflnBBIujCQLHljOaVRJkRb5WiSLOy9EQkbErkVmlhJRQ5zKKiOoEkmBcSFa5rlG4"
    "fMXhLWlL3R6BQ3fgoAtzRRynElVvZob80wm0q9THb6fgeAM+/EWYkpvfjY9/n4LjnflwPzABlm4DkqDOsQeRlfA8FIt5"
    "87U77fCnWQ1XvEoBwAB3ZQE6QKuQAqiCXuU2yoAcHnSADDcMn2zZrodleAdJgAKm0tfQc4xbkidJ4uYUXmlaB6s1eb0U"
    "jx+UBiwNkD6q2VWwsTU/sVf/vZnq2t14obTTaNk7Bz0ek+8907RNLJHlRWjHr+eufTS2D83G+pEBadTF9KU9pw60p92N"
    "N8bisTSNldM5OClobv8dz4/n1MG+0aGG1y/Va9xzOLwf8KVa5sapZWLodnLAe/p4P9kexPInOZZVz43lq47l4/UrZrxr"
    "cbk4Dz63jIdyE/WDKC2ZB13L3Kvtrm00yrH4Uen5W4dje77+1GT9OGp6WmF7D/VfcTEZlMiuOufBgyFSWpyoX3f1G3ze"
    "1MtPwkvnlvOxXWmt2OfnK5bjNDtLlxXnot48W1p/ubq2GpOv2dfk3x/5GiSkwD7SfwHtuhjk"
)
"""Written by Arrow's own library: one row, and instants of several zones in its schema."""
OF_ARROW = {
    "york": ("2010-01-01", "'America/New_York', the time zone that the file records"),
    "india": ("2010-01-02", "'+05:30', the time zone that the file records"),
    "utc": ("2010-01-02", "'UTC', the time zone that the file records"),
    "far": ("2010-01-02", "UTC, as the recorded time zone 'Mars/Olympus' is not known"),
    "naive": ("2010-01-01", ""),
}


def arrow_file(folder):
    """File of instants."""
    path = Path(folder) / "arrow.parquet"
    path.write_bytes(zlib.decompress(base64.b64decode(ARROW)))
    return path


def columns():
    """One column of dates of each kind."""
    tokyo = LOCAL[1].astimezone(ZoneInfo("Asia/Tokyo"))
    return {
        "aware": pd.Series(CLOCK).dt.tz_localize(YORK),
        "seconds": pd.Series(CLOCK).astype("datetime64[s]").dt.tz_localize("America/New_York"),
        "naive": pd.Series(CLOCK),
        "objects": pd.Series(LOCAL, dtype=object),
        "stamps": pd.Series([pd.Timestamp(when) for when in LOCAL], dtype=object),
        "mixed": pd.Series([LOCAL[0], CLOCK[1]], dtype=object),
        "zones": pd.Series([LOCAL[0], tokyo.replace(hour=0)], dtype=object),
        "days": pd.Series([when.date() for when in CLOCK], dtype=object),
        "iso": pd.Series([when.isoformat() for when in LOCAL]),
        "text": pd.Series([str(when) for when in LOCAL], dtype="string"),
        "category": pd.Series([str(when) for when in LOCAL], dtype="category"),
        "period": pd.Series(pd.PeriodIndex(CLOCK, freq="D")),
    }


def found(source, date="day", **options):
    """First dates of patients, and what is said of time zones."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cohort = from_events(source, date=date, **(OPTIONS | options))
    told = [str(w.message) for w in said if "TIME ZONE" in str(w.message)]
    return cohort.obs["first_date"].tolist(), told


def answers(folder):
    """Everything that reads dates, as text."""
    results = {}
    for name, values in columns().items():
        frame = BASE.assign(day=values, discharge=values)
        results[f"events {name}"] = found(frame)[0]
        path = Path(folder) / f"{name}.csv"
        frame.to_csv(path, index=False)
        results[f"csv {name}"] = found(path)[0]
        if name not in THROUGHOUT:
            continue
        start = pd.Series(pd.to_datetime(DAYS).to_numpy(), ["a", "b"])
        modes = {"diagnosis": "dx"}
        tensor = tensor_from_events(
            frame, patient="id", modes=modes, date="day", index=start, before=0, after=0
        )
        results[f"window {name}"] = tensor.obs["index_date"].tolist()
        keyed = values.set_axis(["a", "b"])
        plain = BASE.assign(day=DAYS)
        given = tensor_from_events(
            plain, patient="id", modes=modes, date="day", index=keyed, before=0, after=0
        )
        results[f"index {name}"] = given.obs["index_date"].tolist()
        column = tensor_from_wide(
            frame, patient="id", modes={"d": ["dx"]}, date="day", index="discharge", after=0
        )
        results[f"wide {name}"] = column.obs["index_date"].tolist()
        tables = {"d": frame, "r": plain.rename(columns={"dx": "rx"})}
        visits = tensor_from_events(tables, patient="id", modes={"d": "dx", "r": "rx"}, date="day")
        results[f"visits {name}"] = visits.nnz
    results |= {f"arrow {name}": found(arrow_file(folder), name) for name in OF_ARROW}
    path = Path(folder) / "plain.parquet"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        connection.execute(
            f"COPY (SELECT 'a' AS id, '428' AS dx, TIMESTAMPTZ '2010-01-01 23:30-05' AS day) TO '{path}'"
        )
        results["no zone"] = found(path)
        attributes = from_wide(path, codes=["dx"], attributes=["day"], min_codes=1).obs["day"]
        results["attributes"] = attributes.astype(str).tolist()
        query = "SELECT 'a' AS id, '428' AS dx, TIMESTAMPTZ '2010-01-01 23:30-05' AS day"
        results["query"] = found(query, connection=connection)
        local = f"SELECT id, dx, day AT TIME ZONE 'America/New_York' AS day FROM ({query})"
        results["local query"] = found(local, connection=connection)
    return results


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    """Answers by the machine's time zone, each of a process of its own."""
    folder = tmp_path_factory.mktemp("days")
    command = [sys.executable, "-W", "ignore", __file__, str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return {
        zone: json.loads((folder / str(n) / "told").read_text()) for n, zone in enumerate(ZONES)
    }


def run(zone, folder):
    """Write what a process in a time zone answers; it is a copy of this one, which has all libraries in memory."""
    folder.mkdir()
    if child := os.fork():
        return child
    os.environ["TZ"] = zone
    time.tzset()
    (folder / "told").write_text(json.dumps(answers(folder)))
    os._exit(0)


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_days_are_those_written_whatever_the_zone_of_the_machine(everywhere, zone):
    results = everywhere[zone]
    days = DAYS
    for name in columns():
        assert results[f"events {name}"] == results[f"csv {name}"] == days, name
    for name in THROUGHOUT:
        for kind in ("window", "index", "wide"):
            assert results[f"{kind} {name}"] == days, (kind, name)
        assert results[f"visits {name}"] == 2
    for name, (day, why) in OF_ARROW.items():
        days, told = results[f"arrow {name}"]
        assert days == [day], name
        assert [sentence for sentence in told if why in sentence] == told
        assert len(told) == bool(why)
    assert results == everywhere[ZONES[0]]


@pytest.mark.slow
def test_instants_without_a_zone_have_the_days_of_utc_and_it_is_said(everywhere):
    results = everywhere["Asia/Tokyo"]
    days, [told] = results["no zone"]
    assert days == ["2010-01-02"]
    assert "'day' holds instants" in told
    assert "UTC, as no local time zone is recorded" in told
    assert results["attributes"] == ["2010-01-02 04:30:00"]
    days, [told] = results["query"]
    assert days == ["2010-01-02"]
    assert "For local days select \"day\" AT TIME ZONE 'America/New_York'" in told
    assert results["local query"] == [["2010-01-01"], []]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2010-01-01", "2010-01-01"),
        ("2010/1/1", "2010-01-01"),
        ("20100101", "2010-01-01"),
        ("2010-01-01 23:30", "2010-01-01"),
        ("2010-01-01T23:30:00Z", "2010-01-01"),
        ("2010-01-01T23:30Z", "2010-01-01"),
        ("2010-01-01 23:30:00-05", "2010-01-01"),
        ("2010-01-01 23:30:00 -0500", "2010-01-01"),
        ("2010-01-01T23:30:00.123456789+05:30", "2010-01-01"),
        ("2010-01-01T00:30:00+14:00", "2010-01-01"),
        ("2010-01-01 23:30 America/New_York", "2010-01-01"),
        ("2010-01-01 23:30:00 EST", "2010-01-01"),
        ("2010-01-01T23:30:00-05:00[America/New_York]", "2010-01-01"),
        ("2010-01-01Z", "2010-01-01"),
        ("2010-01-01-05:00", "2010-01-01"),
        (" 2010-01-01 23:30:00+14 ", "2010-01-01"),
        ("2010-02-30", None),
        ("2010-02-30T12:00:00Z", None),
        ("2010-01-01 junk", None),
        ("epoch", None),
        ("infinity", None),
        ("01/02/2010", None),
        ("", None),
    ],
)
def test_a_day_is_read_as_it_is_written(text, day):
    with duckdb.connect() as database:
        query = f"SELECT CAST({local_day('d')} AS VARCHAR) FROM (SELECT ? AS d)"
        assert database.execute(query, [text]).fetchall() == [(day,)]


def test_zones_that_pandas_records_count(tmp_path):
    about = {
        "columns": [
            {"name": "day", "field_name": "day", "metadata": {"timezone": "America/New_York"}},
            {"name": "id", "field_name": "id", "metadata": None},
        ]
    }
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'a' AS id, '428' AS dx, TIMESTAMPTZ '2010-01-01 23:30-05' AS day) "
            f"TO '{path}' (KV_METADATA {{pandas: '{json.dumps(about)}'}})"
        )
        other = tmp_path / "b.parquet"
        connection.execute(
            "COPY (SELECT 'b' AS id, '428' AS dx, TIMESTAMPTZ '2010-01-01 23:30-05' AS day) "
            f"TO '{other}'"
        )
    days, [told] = found(path)
    assert days == ["2010-01-01"]
    assert "'America/New_York', the time zone that the file records" in told
    assert found([path, other])[0] == ["2010-01-01", "2010-01-02"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"pandas": b"not json"},
        {"pandas": b"[]"},
        {"pandas": b'{"columns": [3]}'},
        {"ARROW:schema": b"????"},
        {"ARROW:schema": base64.b64encode(b"\xff" * 40)},
        {"ARROW:schema": base64.b64encode(bytes(40))},
    ],
)
def test_records_that_cannot_be_read_name_no_zone(metadata):
    assert recorded_zones(metadata) == {}


def test_offsets_of_python_are_local():
    fixed = timezone(timedelta(hours=-5))
    days = pd.Series([datetime(2010, 1, 1, 23, 30, tzinfo=fixed), date(2010, 7, 4)], dtype=object)
    assert found(BASE.assign(day=days))[0] == DAYS
    fixed_column = pd.Series(CLOCK).dt.tz_localize(fixed)
    assert found(BASE.assign(day=fixed_column))[0] == DAYS


def test_no_zone_is_spoken_of_where_the_data_have_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        from_events(BASE.assign(day=columns()["aware"]), date="day", **OPTIONS)


if __name__ == "__main__":
    children = [run(zone, Path(sys.argv[1]) / str(n)) for n, zone in enumerate(ZONES)]
    sys.exit(sum(os.waitpid(child, 0)[1] for child in children) > 0)
