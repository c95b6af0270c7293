"""Visits: joined tables of events in DuckDB, and the counts of their cells."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.cohorts._cells import Numbers, ordered
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import Entries
from lvmkit.cohorts._filtering import Cells
from lvmkit.cohorts._groups import CodeMode, read_codes
from lvmkit.cohorts._sources import local_day, trimmed

ROWS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class EventTables:
    """Tables of events: one, each row of which has a code of every mode, or one table for each mode."""

    # Their columns are p, v, d, day, x and n (patient, visit, date as text and as a day, index date, count) and c0, c1,
    # … (the code of each mode); those that are not needed are missing.

    database: duckdb.DuckDBPyConnection
    tables: tuple[str, ...]
    modes: tuple[CodeMode, ...]
    numeric: tuple[bool, ...]
    """Whether the codes of each mode are numbers in the source."""
    bases: tuple[str, ...] = ()
    """Tables of the rows as they came, if other than `tables`."""
    counted: bool = False
    visit: str = ""
    """Column of the visit whose rows count once, v or day; "" where each row counts."""
    dated: bool = False
    """Whether rows must have a day."""
    joined: tuple[str, ...] = ()
    """Tables of patients i that rows must be found in."""
    conditions: tuple[str, ...] = ()
    """Further SQL condition on the rows counted."""

    @property
    def given(self) -> tuple[str, ...]:
        """Tables of the rows as they came."""
        return self.bases or self.tables

    def table(self, mode: int) -> str:
        """Return the table that holds the codes of a mode."""
        return self.tables[mode if len(self.tables) > 1 else 0]

    def one(self, query: str) -> int:
        """Return the single number of a query."""
        [value] = self.database.execute(query).fetchall()[0]
        return int(value or 0)

    def rows(self, table: str, modes: Iterable[int] = ()) -> str:
        """Return SQL, after FROM, of the rows of a table that count, with the codes of some modes numbered."""
        codes = [f"JOIN codes{mode} USING (c{mode})" for mode in modes]
        more = [f"JOIN {name} USING (i)" for name in self.joined]
        where = ["v IS NOT NULL"] * (self.visit == "v") + ["day IS NOT NULL"] * self.dated
        conditions = " AND ".join([*where, *self.conditions])
        joins = " ".join([table, "JOIN records USING (p)", *codes, *more])
        return f"{joins} WHERE {conditions}" if conditions else joins

    def fetch(self, query: str) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a query."""
        found = self.database.execute(query).fetchnumpy()
        return {name: np.asarray(values) for name, values in found.items()}


def dated_rows(columns: dict[str, str], relation: str) -> str:
    """Return SQL of columns chosen from a relation, with the day of the date d if that is among them."""
    chosen = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    day = f", {local_day('d')} AS day" if "d" in columns else ""
    return f"SELECT *{day} FROM (SELECT {chosen} FROM {relation})"


def number_codes(
    visits: EventTables, mode: int, repairs: Repairs
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the table ``codesM`` of texts c and group numbers k; return texts with their code, and the groups."""
    about, c = visits.modes[mode], f"c{mode}"
    texts = f"SELECT {c} AS c, count(*) AS rows FROM {visits.table(mode)} GROUP BY {c}"
    codes = visits.database.execute(
        f"SELECT c, rows FROM ({texts}) WHERE {trimmed('c')} IS NOT NULL ORDER BY c"
    ).df()
    own = Repairs()
    own.dropped["entries_without_code"] = visits.one(
        f"SELECT count(*) FROM {visits.table(mode)}"
    ) - int(codes["rows"].sum())
    entries = Entries(visits.database, about.column, numeric_codes=visits.numeric[mode])
    read, labels = read_codes(codes, entries, about, own)
    repairs.absorb(own, about.name)
    used = read[read["k"] >= 0]
    keys = pd.DataFrame({c: used["c"].astype(object), f"k{mode}": used["k"].astype(np.int32)})
    visits.database.register("keys", keys)
    visits.database.execute(f"CREATE TEMP TABLE codes{mode} AS SELECT * FROM keys")
    visits.database.unregister("keys")
    return read, labels


def count_cells(visits: EventTables, shape: tuple[int, ...], repairs: Repairs) -> Cells:
    """Count, for each patient and codes of all modes, the visits (or rows, or their counts) that have them."""
    # Patients are counted by blocks, so that memory grows with the cells and not with the ways to them.
    modes = range(len(visits.modes))
    rows = sum(visits.one(f"SELECT count(*) FROM {table}") for table in visits.tables)
    if len(visits.tables) > 1:
        _see(visits, repairs)
    else:
        _see_rows(visits)
    blocks, repeated = [], 0
    for block in _blocks(shape[0], rows):
        query = _together(visits, block) if len(visits.tables) > 1 else _in_rows(visits, block)
        found = visits.fetch(query)
        repeated += int((found["r"] - found["n"]).sum()) if "r" in found else 0
        seen = found["n"] > 0
        places = tuple(found[name][seen] for name in ("i", *(f"k{mode}" for mode in modes)))
        blocks.append(Cells(*ordered(places, _small(found["n"][seen]), shape)))
    repairs.dropped["entries_repeated"] = repairs.dropped.get("entries_repeated", 0) + repeated
    places = tuple(np.concatenate(axes) for axes in zip(*(c.places for c in blocks), strict=True))
    return Cells(places, np.concatenate([cells.counts for cells in blocks]))


def _blocks(n_patients: int, rows: int) -> list[str]:
    """Return SQL conditions on the patient's number that cut rows into blocks of about `ROWS_AT_ONCE`."""
    size = ceil(n_patients / ceil(rows / ROWS_AT_ONCE))
    return [f"i >= {first} AND i < {first + size}" for first in range(0, n_patients, size)]


def _small(counts: Numbers) -> Numbers:
    """Return counts in half the memory where they allow it."""
    return counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.int64)


def _in_rows(visits: EventTables, block: str) -> str:
    """Return SQL that counts codes of the same row."""
    place = ", ".join(["i", *(f"k{mode}" for mode in range(len(visits.modes)))])
    rows = f"seen WHERE {block}"
    if visits.counted:
        return f"SELECT {place}, CAST(sum(v) AS BIGINT) AS n FROM {rows} GROUP BY {place}"
    if not visits.visit:
        return f"SELECT {place}, count(*) AS n FROM {rows} GROUP BY {place}"
    once = f"SELECT {place}, count(*) AS r FROM {rows} GROUP BY {place}, v"
    return (
        f"SELECT {place}, count(*) AS n, CAST(sum(r) AS BIGINT) AS r FROM ({once}) GROUP BY {place}"
    )


def _together(visits: EventTables, block: str) -> str:
    """Return SQL that counts visits which codes of all modes have in common."""
    modes = range(len(visits.modes))
    place = ", ".join(["i", *(f"k{mode}" for mode in modes)])
    tables = _chained([f"(SELECT * FROM seen{mode} WHERE {block})" for mode in modes])
    return f"SELECT {place}, count(*) AS n FROM {tables} GROUP BY {place}"


def _see_rows(visits: EventTables) -> None:
    """Make the table ``seen`` of the numbers in each row, with its count or visit as v."""
    modes = range(len(visits.modes))
    [table] = visits.tables
    numbers = ", ".join(["i", *(f"k{mode}" for mode in modes)])
    count = f", CAST({table}.n AS DOUBLE) AS v" if visits.counted else ""
    visit = f", {visits.visit} AS v" if visits.visit else ""
    visits.database.execute(
        f"CREATE TEMP TABLE seen AS SELECT {numbers}{count}{visit} FROM {visits.rows(table, modes)}"
    )


def _see(visits: EventTables, repairs: Repairs) -> None:
    """Make the tables ``seen0``, ``seen1``, … of each code once a visit; state visits that lack a mode."""
    repeated, seen = 0, []
    for mode, table in enumerate(visits.tables):
        rows = visits.rows(table, [mode])
        visits.database.execute(
            f"CREATE TEMP TABLE seen{mode} AS "
            f"SELECT i, {visits.visit} AS v, k{mode}, count(*) AS r FROM {rows} GROUP BY ALL"
        )
        repeated += visits.one(f"SELECT sum(r) - count(*) FROM seen{mode}")
        seen.append(f"SELECT i, v, {1 << mode} AS mode FROM seen{mode}")
    repairs.dropped["entries_repeated"] = repeated
    found = f"SELECT bit_or(mode) AS modes FROM ({' UNION ALL '.join(seen)}) GROUP BY i, v"
    whole = f"count(*) FILTER (modes = {(1 << len(seen)) - 1})"
    [(every, complete)] = visits.database.execute(
        f"SELECT count(*), {whole} FROM ({found})"
    ).fetchall()
    names = " or ".join(f"a {mode.name}" for mode in visits.modes)
    repairs.drop(
        "visits_without_every_mode",
        every - complete,
        f"{every - complete:,} of {number_of(every, 'visit')} lack {names}: they count nowhere.",
    )


def _chained(tables: list[str]) -> str:
    """Return SQL, after FROM, that joins tables where patient and visit are the same."""
    named = [f"{table} AS t{number}" for number, table in enumerate(tables)]
    return " JOIN ".join(named[:1] + [f"{table} USING (i, v)" for table in named[1:]])
