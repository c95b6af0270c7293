"""Local times of instants, in the zone recorded with them or UTC."""

import base64
import glob
import json
import re
import struct
from collections.abc import Iterable, Mapping

import duckdb

INSTANTS = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}
OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
UTC = {"", "UTC", "Z", "Etc/UTC", "GMT", "+00:00", "-00:00"}
TIMESTAMP = 10
"""Number of the type in Arrow's schemas."""


def of_query(columns: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return SQL of the local times of instants of a DuckDB query, and sentences on their zone, by column."""
    columns = list(columns)
    said = {
        name: f"{name!r} holds instants (TIMESTAMP WITH TIME ZONE) of no recorded time zone: their days are those of "
        f"UTC. For local days select {quoted(name)} AT TIME ZONE 'America/New_York', or the zone that it was."
        for name in columns
    }
    return {name: _local(name, "UTC") for name in columns}, said


def of_parquet(
    database: duckdb.DuckDBPyConnection, file: str, types: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return SQL of the local times of instants of a Parquet file, and sentences on their zone, by column."""
    path = glob.escape(file)
    # not by DuckDB's types alone: older versions have none for instants of nanoseconds
    found = database.execute(
        "SELECT name FROM parquet_schema(?) WHERE CAST(logical_type AS VARCHAR) LIKE 'Timestamp%' "
        "AND regexp_matches(CAST(logical_type AS VARCHAR), 'isAdjustedToUTC=(1|true)')",
        [path],
    ).fetchall()
    columns = [column for [column] in found if types.get(column, "").startswith("TIMESTAMP")]
    if not columns:
        return {}, {}
    metadata = database.execute(
        "SELECT decode(key), value FROM parquet_kv_metadata(?) "
        "WHERE decode(key) IN ('pandas', 'ARROW:schema')",
        [path],
    ).fetchall()
    recorded = recorded_zones(dict(metadata))
    known = {name for [name] in database.execute("SELECT name FROM pg_timezone_names()").fetchall()}
    local, said = {}, {}
    for name in columns:
        zone = recorded.get(name, "")
        usable = zone in known or zone in UTC or OFFSET.fullmatch(zone)
        local[name] = _local(name, zone if usable else "UTC")
        if zone and usable:
            why = f"those of {zone!r}, the time zone that the file records"
        elif zone:
            why = f"those of UTC, as the recorded time zone {zone!r} is not known"
        else:
            why = "those of UTC, as no local time zone is recorded; write local times without zone for local days"
        said[name] = f"{name!r} holds instants (TIMESTAMP WITH TIME ZONE): their days are {why}."
    return local, said


def recorded_zones(metadata: dict[str, bytes]) -> dict[str, str]:
    """Return the time zone by column that pandas or Arrow has written into a Parquet file's metadata."""
    zones: dict[str, str] = {}
    try:
        zones |= _arrow_zones(base64.b64decode(metadata.get("ARROW:schema", b"")))
        about = json.loads(metadata.get("pandas", b"{}"))
        for column in about.get("columns", []):
            zone = (column.get("metadata") or {}).get("timezone")
            if zone:
                zones[str(column["field_name"])] = str(zone)
    except (ValueError, KeyError, AttributeError, TypeError, struct.error):
        pass  # what another program wrote there is not ours to judge: the rule is UTC then
    return zones


def quoted(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _local(column: str, zone: str) -> str:
    """Return SQL of the time on the clock of a zone."""
    instant = f"CAST({quoted(column)} AS TIMESTAMPTZ)"
    utc = f"timezone('UTC', {instant})"
    offset = OFFSET.fullmatch(zone)
    if zone in UTC:
        return utc
    if offset:
        sign, hours, minutes = offset.groups()
        return f"{utc} {sign} to_minutes({int(hours) * 60 + int(minutes)})"
    return f"timezone('{zone}', {instant})"


def _arrow_zones(message: bytes) -> dict[str, str]:
    """Read the zones of timestamps from Arrow's schema: a message of FlatBuffers, little-endian."""
    if len(message) < 12:
        return {}
    start = 8 if message[:4] == b"\xff\xff\xff\xff" else 4
    schema = _follow(message, _field(message, _follow(message, start), 2))
    zones = {}
    vector = _follow(message, _field(message, schema, 1))
    for i in range(_int(message, vector)):
        field = _follow(message, vector + 4 + 4 * i)
        kind = _field(message, field, 2)
        if kind and message[kind] == TIMESTAMP:
            zone = _field(message, _follow(message, _field(message, field, 3)), 1)
            if zone:
                zones[_text(message, _field(message, field, 0))] = _text(message, zone)
    return zones


def _int(data: bytes, place: int, form: str = "<I") -> int:
    """Read a number."""
    return int(struct.unpack_from(form, data, place)[0])


def _follow(data: bytes, place: int) -> int:
    """Follow an offset."""
    return place + _int(data, place)


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table, 0 if it has none."""
    entries = table - _int(data, table, "<i")
    within = 4 + 2 * number
    if within >= _int(data, entries, "<H"):
        return 0
    offset = _int(data, entries + within, "<H")
    return table + offset if offset else 0


def _text(data: bytes, place: int) -> str:
    """Read a text that an offset points to."""
    start = _follow(data, place)
    return data[start + 4 : start + 4 + _int(data, start)].decode()
