"""Cohorts from a file: guess the layout, read, or say what is missing."""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import re
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import pandas as pd

from lvmkit import cohorts
from lvmkit.cohorts._files import (
    fault_of_start,
    first_bytes,
    first_line,
    is_gzip,
    is_parquet,
    likely_utf16,
    separator_of,
    text_encoding,
)
from lvmkit.cohorts._h5ad import read_h5ad
from lvmkit.cohorts.weights import with_weight
from lvmkit.core.folders import expanded
from lvmkit.core.reading import require_file
from lvmkit.core.validation import DataWarning

MESSAGE = "“{name}” cannot be read: {reason}."
"""Messages about unreadable files."""
ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq", ".h5ad")
PREVIEW_ROWS = 300
MOST_ATTRIBUTES = 12
MOST_LEVELS = 12
FEW_COUNTS = 5  # at least so many columns of counts make a table of counts
BLOCK = 1 << 20
MOST_COLUMNS = 20_000  # to guess the layout of more takes longer than anybody waits

PATIENT = (
    *("patient", "patient_id", "patientid", "subject_id", "subject", "person_id", "person"),
    *("pid", "member_id", "desynpuf_id", "record", "record_id", "encounter", "encounter_id"),
    *("visit_id", "hadm_id", "id"),
)
CODE = (
    *("code", "icd_code", "icd", "icd9_code", "icd10_code", "icd9", "icd10", "dx_code", "dx"),
    *("diagnosis_code", "diagnosis", "condition_code", "condition_concept_id", "concept_id"),
)
TITLE = ("description", "title", "code_title", "code_description", "diagnosis_name", "name")
ICD = re.compile(r"(?:\d{3}|V\d{2}|E\d{3}|[A-TV-Z]\d[0-9A-Z])\.?[0-9A-Z]{0,4}", re.IGNORECASE)
DIAGNOSIS = re.compile(r"d(x|g|iag)|icd|cond|code", re.IGNORECASE)

Kind = Literal["wide", "events", "counts"]


@dataclass(frozen=True)
class Layout:
    """Layout of a table: the roles of its columns."""

    kind: Kind
    codes: tuple[str, ...]  # Columns of codes (one for events), or of counts
    patient: str | None = None  # Column that names patient or record; needed for events
    attributes: tuple[str, ...] = ()  # Columns kept as attributes
    title: str | None = None  # Column that says what the code of an event means
    weight: str | None = None  # Column of how many of the population a record stands for

    @property
    def text(self) -> str:
        """The layout in words."""
        shown = ", ".join(self.codes[:3]) + (" …" if len(self.codes) > 3 else "")
        what = {
            "wide": f"one row per record, codes in {len(self.codes)} columns ({shown})",
            "events": f"one row per patient ({self.patient}) and code ({shown})",
            "counts": f"one row per record, one column per code ({len(self.codes)} columns)",
        }[self.kind]
        kept = f"; kept as attributes: {', '.join(self.attributes)}" if self.attributes else ""
        weighed = f"; weighted by {self.weight}" if self.weight else ""
        return what + kept + weighed


def preview(path: str | Path) -> pd.DataFrame:
    """Read the first rows of a table as text."""
    file = _checked(path)
    if is_parquet(file.name):
        return _read_parquet(file, PREVIEW_ROWS).fillna("").astype(str)
    return _read_text(file, encoding_of(file), dtype=str, keep_default_na=False, nrows=PREVIEW_ROWS)


def is_h5ad(path: Path) -> bool:
    """Return whether a file is an h5ad by its name, in any case."""
    return path.suffix.lower() == ".h5ad"


def guess(table: pd.DataFrame) -> Layout | None:
    """Guess how a table makes a cohort."""
    names = {str(name).lower(): str(name) for name in table.columns}
    patient = next((names[name] for name in PATIENT if name in names), None)
    wide = _wide_columns(table)
    if wide:
        return Layout("wide", wide, attributes=_attributes(table, {*wide, patient}))
    code = next((names[name] for name in CODE if name in names), None)
    if patient and code:
        title = next((names[name] for name in TITLE if name in names), None)
        return Layout("events", (code,), patient, title=title)
    counts = tuple(
        str(name) for name in table.columns if _is_count(table[name]) and name != patient
    )
    if len(counts) >= FEW_COUNTS and len(counts) > len(table.columns) / 2:
        kept = [str(name) for name in table.columns if name not in {*counts, patient}]
        return Layout("counts", counts, patient, tuple(kept[:MOST_ATTRIBUTES]))
    return None


def open_cohort(path: str | Path, *, layout: Layout | None = None, min_codes: int = 3) -> Any:
    """Open a file as a cohort."""
    file = _checked(path)
    if is_h5ad(file):
        return read_h5ad(file)
    table = preview(file)
    chosen = layout or guess(table)
    if chosen is None:
        columns = ", ".join(map(str, table.columns[:12]))
        message = (
            f"“{file.name}” has the columns {columns}, which do not tell where the diagnoses are. "
            "Say which columns hold the codes, and which one the patient."
        )
        raise ValueError(message)
    with warnings.catch_warnings():  # the dashboard shows the repairs
        warnings.simplefilter("ignore", DataWarning)
        return _read(file, chosen, min_codes)


def list_files(folders: Sequence[str | Path]) -> list[Path]:
    """List the files in folders that may be cohorts."""
    found: dict[Path, Path] = {}  # by where links lead, as a folder may hold itself
    for folder in folders:
        for pattern in ("*", "*/*"):
            # unlike Path.glob this goes on where a folder vanishes meanwhile
            for name in sorted(glob.glob(os.path.join(glob.escape(str(folder)), pattern))):
                path = Path(name)
                if path.name.lower().endswith(ENDINGS) and path.is_file():
                    found.setdefault(path.resolve(), path)
    return list(found.values())[:200]


def encoding_of(file: Path) -> str:
    """Tell the encoding of a text file."""
    marked = text_encoding(str(file), "utf-8")
    if marked == "utf-8":
        marked = likely_utf16(first_bytes(str(file), inside=True)) or "utf-8"
    candidates = [marked] if marked != "utf-8" else ["utf-8", "cp1252"]
    try:
        return next((name for name in candidates if _fits(file, name)), "latin-1")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"“{file.name}” is cut short or damaged; copy it again."
        raise ValueError(message) from error
    except OSError as error:
        message = f"“{file.name}” cannot be read: {error.strerror}."
        raise ValueError(message) from error


def _fits(file: Path, encoding: str) -> bool:
    """Whether all bytes of a file are text in an encoding; an encoding that its first bytes name has to fit."""
    decoder = codecs.getincrementaldecoder(encoding)()
    opener = gzip.open if is_gzip(str(file)) or file.suffix.lower() == ".gz" else open
    try:
        with opener(file, "rb") as stream:
            for block in iter(lambda: stream.read(BLOCK), b""):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        if encoding in ("utf-8", "cp1252"):
            return False
        message = f"“{file.name}” is cut short or damaged; copy it again."
        raise ValueError(message) from error
    return True


def _read_text(file: Path, encoding: str, **options: Any) -> pd.DataFrame:
    """Read rows of a text file, separated as its header is."""
    header = first_line(str(file), encoding)
    separator = separator_of(header)
    width = header.count(separator) + 1
    if width > MOST_COLUMNS:
        message = (
            f"“{file.name}” has {width:,} columns; at most {MOST_COLUMNS:,} can be opened here. Leave out those that "
            "are not needed, or read it in Python and pass it to cohorts.from_counts."
        )
        raise ValueError(message)
    packed: Literal["gzip"] | None = "gzip" if is_gzip(str(file)) else None
    try:
        found: pd.DataFrame = pd.read_csv(
            file, sep=separator, encoding=encoding, compression=packed, **options
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        message = f"“{file.name}” cannot be read as a table: {error}. Export it again as CSV."
        raise ValueError(message) from error
    except OSError as error:
        message = f"“{file.name}” cannot be read: {error.strerror or error}."
        raise ValueError(message) from error
    return found


def _checked(path: str | Path) -> Path:
    """Return the path of a file that can be opened."""
    try:
        file = require_file(expanded(str(path)), MESSAGE)
    except OSError as error:
        raise ValueError(str(error)) from error
    if not file.name.lower().endswith(ENDINGS):
        message = f"“{file.name}” is none of {', '.join(ENDINGS)}; name one of these, or export the table as CSV."
        raise ValueError(message)
    # UTF-16 is no fault here, as it would be for the engine: `encoding_of` finds it
    fault = "" if is_h5ad(file) else fault_of_start(str(file), encoding="utf-16")
    if fault:
        message = f"“{file.name}” {fault}."
        raise ValueError(message)
    return file


def _read(file: Path, layout: Layout, min_codes: int) -> Any:
    """Read a table by its layout."""
    encoding = "utf-8" if is_parquet(file.name) else encoding_of(file)
    if layout.kind == "wide":
        cohort = cohorts.from_wide(
            file,
            codes=list(layout.codes),
            attributes=list(layout.attributes),
            patient=layout.patient,
            weight=layout.weight,
            system=None,
            min_codes=min_codes,
            encoding=encoding,
        )
    elif layout.kind == "events":
        if layout.patient is None:
            message = "Say which column names the patient."
            raise ValueError(message)
        cohort = cohorts.from_events(
            file,
            patient=layout.patient,
            code=layout.codes[0],
            attributes=list(layout.attributes),
            titles=_titles(file, layout, encoding),
            weight=layout.weight,
            min_codes=min_codes,
            encoding=encoding,
        )
    else:
        cohort = _read_counts(file, layout, min_codes, encoding)
    if encoding in ("cp1252", "latin-1", "utf-16-le", "utf-16-be"):
        told = f"The file is not UTF-8; it was read as {encoding}."
        cohort.uns["cohort"]["repairs"] = [told, *cohort.uns["cohort"]["repairs"]]
    return cohort


def _titles(file: Path, layout: Layout, encoding: str) -> dict[str, str] | None:
    """Read the titles of codes from a column, where there is one."""
    if layout.title is None:
        return None
    columns = [layout.codes[0], layout.title]
    if is_parquet(file.name):
        table = _read_parquet(file)[columns].astype(str)
    else:
        table = _read_text(file, encoding, dtype=str, usecols=columns)
    return dict(table.dropna().drop_duplicates(columns[0])[columns].itertuples(index=False))


def _read_counts(file: Path, layout: Layout, min_codes: int, encoding: str) -> Any:
    """Read a table with one column per code."""
    table = _read_parquet(file) if is_parquet(file.name) else _read_text(file, encoding)
    if layout.patient is not None:
        table = table.set_index(table[layout.patient].astype(str))
    obs = table[with_weight(layout.attributes, layout.weight)]
    return cohorts.from_counts(
        table[list(layout.codes)], obs=obs, min_codes=min_codes, weight=layout.weight
    )


def _read_parquet(file: Path, rows: int | None = None) -> pd.DataFrame:
    """Read the first rows of a Parquet file, or all."""
    most = "" if rows is None else f" LIMIT {rows}"
    try:
        with duckdb.connect() as database:
            database.execute("SET TimeZone = 'UTC'")  # else instants have the days of this machine
            query = f"SELECT * FROM read_parquet(?){most}"
            return database.execute(query, [glob.escape(str(file))]).df()
    except duckdb.Error as error:
        message = f"“{file.name}” is cut short or is not a Parquet file; export it again."
        raise ValueError(message) from error


def _wide_columns(table: pd.DataFrame) -> tuple[str, ...]:
    """Find numbered columns that hold diagnoses, such as dx01 … dx15."""
    groups: dict[str, list[str]] = {}
    for name in map(str, table.columns):
        stem = re.sub(r"[\s_.-]?\d+$", "", name)
        if stem != name:
            groups.setdefault(stem, []).append(name)
    best: tuple[str, ...] = ()
    for stem, names in groups.items():
        named = bool(DIAGNOSIS.search(stem))
        if len(names) > 1 and named and _code_share(table[names]) > 0.5 and len(names) > len(best):
            best = tuple(names)
    return best


def _code_share(cells: pd.DataFrame) -> float:
    """Share of the filled cells that look like ICD codes."""
    texts = pd.Series(cells.to_numpy().ravel()).astype(str).str.strip()
    filled = texts[~texts.isin(["", "?", "nan", "None", "NA"])]
    return float(filled.map(lambda text: bool(ICD.fullmatch(text))).mean()) if len(filled) else 0.0


def _is_count(values: pd.Series[Any]) -> bool:
    """Whether all values are small whole numbers."""
    numbers = pd.to_numeric(values, errors="coerce")
    return bool(numbers.notna().all() and (numbers % 1 == 0).all() and numbers.between(0, 99).all())


def _attributes(table: pd.DataFrame, used: set[str | None]) -> tuple[str, ...]:
    """Choose columns to keep as attributes: numbers, and text with few values."""
    kept = []
    for name in map(str, table.columns):
        if name in used or re.search(r"\d+$", name) or name.lower() in PATIENT:
            continue
        values = table[name].replace("", pd.NA).dropna()
        numeric = len(values) > 0 and pd.to_numeric(values, errors="coerce").notna().all()
        if numeric or 1 < values.nunique() <= MOST_LEVELS:
            kept.append(name)
    return tuple(kept[:MOST_ATTRIBUTES])
