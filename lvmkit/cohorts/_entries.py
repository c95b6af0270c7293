"""Table of (record, code) entries in DuckDB, tallied as a sparse matrix."""

from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._icd import FORMS, category_of, find_system, spell, system_name
from lvmkit.cohorts._sources import trimmed
from lvmkit.core.validation import listed

ROUNDED = r"[-+]?\d(\.\d+[eE]\+?|[eE]\+)\d{2,3}"
"""Numbers as spreadsheets write long ones."""
INEXACT = 2**24
"""Smallest whole number from which float32 is not exact."""


@dataclass(frozen=True)
class Entries:
    """The table ``entries`` (p, c and optionally s, n, d: record, code, system, count, date; all text)."""

    database: duckdb.DuckDBPyConnection
    code_column: str
    numeric_codes: bool
    cells: int = 1
    """Entries made of each row of the source."""
    counted: bool = False
    dated: bool = False
    systems: bool = False
    record_column: str = "record"

    def all(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.database.execute(query).fetchall()


@dataclass(frozen=True)
class Tally:
    """Counts: a records × features matrix and the names of both."""

    counts: sparse.csr_array
    records: npt.NDArray[np.object_]
    features: pd.DataFrame
    """By row: code, system."""


def tally(entries: Entries, *, system: str | None, level: str, repairs: Repairs) -> Tally:
    """Count the entries of each record and feature, repairing and stating what is unclear."""
    number_records(entries, repairs)
    meant = spelled(_raw_codes(entries, system, repairs), entries, level, repairs)
    if level == "category":
        meant["code"] = list(map(category_of, meant["code"], meant["system"]))
    features = (
        meant.loc[meant["code"] != "", ["system", "code"]]
        .drop_duplicates()
        .sort_values(["code", "system"])
        .reset_index(drop=True)
    )
    if features.empty:
        msg = f"code={entries.code_column!r}: no row has a usable code; is it the right column and system?"
        raise ValueError(msg)
    place = {key: i for i, key in enumerate(features.itertuples(index=False, name=None))}
    pairs = zip(meant["system"], meant["code"], strict=True)
    columns = np.array([place.get(pair, -1) for pair in pairs], dtype=np.int64)
    named = entries.database.execute("SELECT any_value(t) AS t FROM records GROUP BY i ORDER BY i")
    records = np.asarray(named.fetchnumpy()["t"], dtype=object)
    found = _pairs(entries, repairs)
    column = columns[found["k"]]
    use = column >= 0
    shape = (len(records), len(features))
    # scikit-learn refuses 64-bit indices, and they take twice the memory.
    where = (found["i"][use].astype(np.int32), column[use].astype(np.int32))
    counts = sparse.coo_array((found["n"][use], where), shape=shape).tocsr()
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return Tally(counts.astype(np.float32), records, features)


def number_records(entries: Entries, repairs: Repairs) -> None:
    """Give records numbers in the order of their ids: whole numbers by value, then texts."""
    # Blanks are cut from the distinct texts, in a second query: in one, DuckDB would cut them from every row.
    entries.database.execute(
        "CREATE TEMP TABLE ids AS SELECT p, count(*) AS n FROM entries GROUP BY p"
    )
    entries.database.execute(
        f"CREATE TEMP TABLE named AS SELECT p, {trimmed('p')} AS t, n FROM ids"
    )
    entries.database.execute(
        "CREATE TEMP TABLE records AS SELECT p, t, n, CAST(dense_rank() OVER "
        "(ORDER BY TRY_CAST(t AS HUGEINT) NULLS LAST, t) - 1 AS INTEGER) AS i "
        "FROM named WHERE t IS NOT NULL"
    )
    [(named,)] = entries.all("SELECT coalesce(sum(n), 0) FROM records")
    [(total,)] = entries.all("SELECT count(*) FROM entries")
    rows = int(total - named) // entries.cells
    repairs.drop(
        "rows_without_record", rows, f"{number_of(rows, 'row')} without a record id ignored."
    )
    rounded = entries.all(
        f"SELECT t FROM records WHERE regexp_full_match(t, '{ROUNDED}') ORDER BY t LIMIT 6"
    )
    if rounded:
        repairs.tell(
            f"{entries.record_column!r} holds rounded numbers such as {rounded[0][0]!r}, which several records may "
            "share: a spreadsheet has shortened long ids. Export them as text."
        )
    if not named:
        msg = "source: no row has a record id; is it the right column?"
        raise ValueError(msg)


def _raw_codes(entries: Entries, system: str | None, repairs: Repairs) -> pd.DataFrame:
    """Make the table ``codes`` of distinct texts; return it with the system of each."""
    columns = "c, coalesce(s, '') AS s" if entries.systems else "c, '' AS s"
    by = "c, s" if entries.systems else "c"
    entries.database.execute(
        f"CREATE TEMP TABLE texts AS SELECT {columns}, n AS rows FROM "
        f"(SELECT {by}, count(*) AS n FROM entries GROUP BY {by})"
    )
    entries.database.execute(
        "CREATE TEMP TABLE codes AS SELECT *, CAST(row_number() OVER (ORDER BY c, s) - 1 AS INTEGER) AS k "
        f"FROM texts WHERE {trimmed('c')} IS NOT NULL"
    )
    codes = entries.database.execute("SELECT c, s, rows FROM codes ORDER BY k").df()
    [(total,)] = entries.all("SELECT count(*) FROM entries")
    repairs.drop("entries_without_code", int(total - codes["rows"].sum()))
    if entries.systems:
        names = {text: system_name(text) for text in codes["s"].unique()}
        return codes.assign(system=codes["s"].map(names))
    if system is None:
        system = find_system(list(zip(codes["c"], codes["rows"], strict=True)), entries.code_column)
    return codes.assign(system=system)


def spelled(codes: pd.DataFrame, entries: Entries, level: str, repairs: Repairs) -> pd.DataFrame:
    """Spell every distinct text; state what was padded and what is no code."""
    forms = [spell(c, s) for c, s in zip(codes["c"], codes["system"], strict=True)]
    codes = codes.assign(code=[f.code for f in forms], padded=[f.padded for f in forms])
    _refuse_most_unreadable(codes, entries)
    wrong = codes[codes["code"] == ""]
    n_wrong = int(wrong["rows"].sum())
    repairs.drop(
        "entries_unreadable",
        n_wrong,
        f"{number_of(n_wrong, 'entry', 'entries')} ignored: not codes of the system in {entries.code_column!r}: "
        f"{listed(wrong['c'].tolist())}.",
    )
    _state_zeros(codes, entries, level, repairs)
    return codes


def _refuse_most_unreadable(codes: pd.DataFrame, entries: Entries) -> None:
    """Refuse a column in which most rows of a system are no codes of it."""
    for system, rows in ((str(name), rows) for name, rows in codes.groupby("system")):
        wrong = rows[rows["code"] == ""]
        if system in FORMS and 2 * wrong["rows"].sum() > rows["rows"].sum():
            msg = (
                f"code={entries.code_column!r}: most rows said to be {system} do not have the form of its codes: "
                f"{listed(wrong['c'].tolist())}. Name the right column, or pass system='other' for codes as they are."
            )
            raise ValueError(msg)


def _state_zeros(codes: pd.DataFrame, entries: Entries, level: str, repairs: Repairs) -> None:
    """State which leading zeros were restored and which cannot be."""
    padded = codes[codes["padded"]]
    if len(padded):
        n = int(padded["rows"].sum())
        shown = [f"{c} → {f}" for c, f in zip(padded["c"], padded["code"], strict=True)]
        repairs.tell(
            f"{entries.code_column!r} has lost leading zeros: restored in {n:,} of "
            f"{number_of(int(codes['rows'].sum()), 'entry', 'entries')} ({', '.join(shown[:5])})."
        )
    if not entries.numeric_codes or "icd9" not in set(codes["system"]):
        return
    if level == "full" and codes["c"].str.contains(".", regex=False).any():
        msg = (
            f"code={entries.code_column!r} holds decimal numbers, in which 250.1 and 250.10 are one; "
            "read the column as text, or use level='category'."
        )
        raise ValueError(msg)
    long = codes[codes["c"].str.fullmatch(r"\d{4,5}")]
    if len(long):
        repairs.tell(
            f"{entries.code_column!r} holds numbers, not text: in codes such as {long['c'].iloc[0]} a lost leading "
            "zero cannot be seen, so they are taken as written; read the column as text."
        )


def _pairs(entries: Entries, repairs: Repairs) -> dict[str, Any]:
    """Each record i with each distinct code k, and their number n after repeated rows are settled."""
    source = "entries JOIN records USING (p) JOIN codes ON entries.c = codes.c"
    if entries.systems:
        source += " AND coalesce(entries.s, '') = codes.s"
    number = "CAST(count(*) AS FLOAT) AS n"
    columns = f"i, k, {number}"
    if entries.counted:
        total = f"least(sum(CAST(entries.n AS DOUBLE)), {INEXACT})"
        columns = f"i, k, CAST({total} AS FLOAT) AS n, count(*) AS rows"
    elif entries.dated:
        source = f"(SELECT i, k, d, count(*) AS rows FROM {source} GROUP BY i, k, d)"
        columns = f"i, k, {number}, CAST(sum(rows) AS BIGINT) AS rows"
    result = entries.database.execute(f"SELECT {columns} FROM {source} GROUP BY i, k").fetchnumpy()
    found = {name: np.asarray(values) for name, values in result.items()}
    once = entries.dated and not entries.counted
    distinct = found["n"].sum(dtype=np.float64) if once else len(found["n"])
    read = found.get("rows", found["n"]).sum(dtype=np.float64)
    repairs.drop("entries_repeated", int(read - distinct))
    return found


def check_counts(entries: Entries, column: str | None) -> None:
    """Refuse counts that are missing, negative or no whole numbers, naming their rows."""
    if column is None:
        return
    number = "TRY_CAST(n AS DOUBLE)"
    wrong = entries.all(
        "SELECT rowid + 1, coalesce(nullif(trim(n), ''), 'nothing') FROM entries "
        f"WHERE {number} IS NULL OR NOT isfinite({number}) OR {number} < 0 OR {number} <> trunc({number}) "
        "ORDER BY rowid LIMIT 6"
    )
    if wrong:
        shown = ", ".join(f"row {row}: {value}" for row, value in wrong[:5])
        msg = (
            f"count={column!r} needs whole numbers of at least 0; found {shown}"
            f"{' and more' if len(wrong) > 5 else ''}. Correct or leave out these rows (row 1 is the first "
            "after the header)."
        )
        raise ValueError(msg)
