"""Sources of documents: lists, folders, tables and files of lines."""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts._attributes import column_value, typed
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._files import (
    GZIP,
    MARKS,
    MESSAGE,
    encoding_advice,
    fault_of_text,
    is_utf8,
    other_kind,
)
from lvmkit.cohorts._sources import opened
from lvmkit.cohorts._time_zones import quoted
from lvmkit.core.reading import require_file
from lvmkit.core.validation import listed
from lvmkit.core.writing import shown_name

TEXTS = (".txt", ".txt.gz")
LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and halves of characters: h5ad files cannot hold them."""


@dataclass(frozen=True)
class TextSource:
    """Texts in their order."""

    texts: list[str]
    attributes: pd.DataFrame
    """Indexed by the documents' ids."""
    name: str
    """Name of the source in messages and in ``uns``; never a path."""


def read(
    source: Any, text: str | None, document: str | None, encoding: str, repairs: Repairs
) -> TextSource:
    """Read documents from whatever holds them."""
    is_utf8(encoding)
    path = _path(source)
    if isinstance(source, pd.DataFrame):
        return of_frame(source, text, document, "the DataFrame")
    if path is not None and path.name.lower().endswith(LINES):
        return of_frame(json_lines(path, encoding), text, document, path.name)
    if path is not None and not path.name.lower().endswith(TEXTS) and not path.is_dir():
        return _of_table(path, text, document, encoding, repairs)
    if text is not None or document is not None:
        given = f"text={text!r}" if text is not None else f"document={document!r}"
        msg = f"{given} names a column, but source has none: leave it out."
        raise ValueError(msg)
    if path is not None:
        return _of_files(path, encoding, repairs)
    return _of_list(source)


def _path(source: Any) -> Path | None:
    """Return the file or folder that a source names; refuse a text where a list of texts is meant."""
    if not isinstance(source, str | Path):
        return None
    shown = str(source)
    if shown and os.path.isdir(shown):
        return Path(shown)
    if shown and os.path.lexists(shown):
        return require_file(shown, MESSAGE)
    if isinstance(source, str) and (len(shown.split()) > 3):
        msg = "source is one string and no file or folder; for one document pass a list of it: [text]."
        raise ValueError(msg)
    named = shown_name(Path(shown)) if shown else ""
    msg = (
        f"source: there is no file or folder {named!r}; give a folder of .txt files, a .jsonl, CSV or "
        "Parquet file, or a list of texts."
    )
    raise FileNotFoundError(msg)


def of_frame(frame: pd.DataFrame, text: str | None, document: str | None, name: str) -> TextSource:
    """Take texts from one column; the others are attributes."""
    if frame.columns.nlevels > 1:
        msg = f"source: {name} has column names of {frame.columns.nlevels} levels; give each column one name first."
        raise ValueError(msg)
    _check_column(frame, "text", text, name, needed=True)
    _check_column(frame, "document", document, name)
    repeated = frame.columns[frame.columns.duplicated()].unique()
    if len(repeated):
        msg = f"source: {name} has several columns named {listed(repeated.tolist())}; rename them."
        raise ValueError(msg)
    named = frame if document is None else frame.set_index(document)
    others = named.drop(columns=[text])
    return _documents(named[text], named.index, others, name)


def _check_column(
    frame: pd.DataFrame, argument: str, column: str | None, name: str, *, needed: bool = False
) -> None:
    """Refuse a column that is not named or not there."""
    has = listed([str(known) for known in frame.columns], 20)
    if column is None and needed:
        msg = f"{argument}: name the column that holds the texts; {name} has {has}."
        raise ValueError(msg)
    if column is not None and column not in frame.columns:
        msg = f"{argument}={column!r} is not a column of {name}; it has {has}."
        raise ValueError(msg)


def _of_table(
    path: Path, text: str | None, document: str | None, encoding: str, repairs: Repairs
) -> TextSource:
    """Read a CSV or Parquet file; an empty cell is an empty text."""
    with opened(path, encoding=encoding) as table:
        named = {"text": text, "document": document}
        if text is None:
            _check_column(
                pd.DataFrame(columns=list(table.kinds)), "text", None, table.name, needed=True
            )
        for argument, column in named.items():
            if column is not None:
                table.check(argument, column)
        plain = {column for column in named.values() if column}
        table.state_zones([column for column in table.kinds if column not in plain], repairs)
        values = ", ".join(
            f"coalesce({table.text(c)}, '') AS {quoted(c)}"
            if c in plain
            else f"{column_value(table, c)} AS {quoted(c)}"
            for c in table.kinds
        )
        frame = table.database.execute(f"SELECT {values} FROM {table.relation}").df()
        return of_frame(frame, text, document, table.name)


def _of_files(path: Path, encoding: str, repairs: Repairs) -> TextSource:
    """Read one document from each .txt file of a folder, or from one file."""
    if not path.is_dir():
        stem = Path(path.name.removesuffix(".gz")).stem
        return _documents([decoded(path, encoding)], [stem], None, path.name)
    there = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    names = [p for p in there if p.suffix.lower() == ".txt"]
    below = _below(path)
    elsewhere = (
        f"{number_of(len(below), '.txt file')} in subfolders of {path.name!r} ({listed(below, 3)}): not read; "
        "to have them, move them up, or make the subfolder the source."
    )
    if not names:
        has = listed([p.name for p in there]) or "no files at all"
        msg = f"source: the folder {path.name!r} holds no .txt files; it has {has}."
        msg += f" {elsewhere}" if below else ""
        raise ValueError(msg)
    repairs.drop("files_in_subfolders", len(below), elsewhere)
    texts = [decoded(name, encoding) for name in names]
    ids = [name.stem for name in names]
    return _documents(texts, ids, None, f"{number_of(len(names), 'file')} of {path.name!r}")


def _below(folder: Path) -> list[str]:
    """Name the .txt files in the subfolders of a folder; what begins with a dot is not for readers."""
    found = (
        p.relative_to(folder)
        for p in folder.rglob("*")
        if p.suffix.lower() == ".txt" and p.is_file()
    )
    deep = (p.parts for p in found if len(p.parts) > 1)
    return sorted("/".join(parts) for parts in deep if not any(p.startswith(".") for p in parts))


def decoded(path: Path, encoding: str) -> str:
    """Read a text file, any ends of lines made one; say where it is not in the encoding."""
    data = _bytes(path)
    plain = is_utf8(encoding)
    if plain:
        encoding = next((its for mark, its in MARKS.items() if data.startswith(mark)), encoding)
    fault = other_kind(str(path), data[:4096])
    fault = f"is {_as_text(fault)}" if fault else fault_of_text(data[:4096], encoding)
    if fault:
        msg = f"source: {path.name!r} {fault}."
        raise ValueError(msg)
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        at, line = error.start, data.count(b"\n", 0, error.start) + 1
        fault = (
            encoding_advice(at, line, data[at])
            if plain
            else f"is not in encoding={encoding!r}: byte 0x{data[at]:02X} at offset {at:,} (line {line:,}). "
            "Try encoding='utf-8', 'cp1252' or 'utf-16'."
        )
        msg = f"source: {path.name!r} {fault}"
        raise ValueError(msg) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _as_text(kind: str) -> str:
    """Turn a message about a table into one about a document."""
    words = {"a table as text": "plain text", "table": "text", "as CSV": "as plain text"}
    for table, text in words.items():
        kind = kind.replace(table, text)
    return kind


def _bytes(path: Path) -> bytes:
    """Read a file, decompressed if it is gzip."""
    try:
        data = path.read_bytes()
    except OSError as error:
        found = "vanished" if isinstance(error, FileNotFoundError) else error.strerror
        msg = (
            f"source: {path.name!r} cannot be read: {found}; copy it to this machine and read that."
        )
        raise ValueError(msg) from None
    if path.suffix.lower() != ".gz" and data[:2] != GZIP:
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        msg = f"source: {path.name!r} is cut short or damaged; copy it again."
        raise ValueError(msg) from None


def json_lines(path: Path, encoding: str = "utf-8") -> pd.DataFrame:
    """Read a file of one JSON object a line."""
    rows = []
    for number, line in enumerate(decoded(path, encoding).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            msg = f"source: {path.name!r} line {number:,} is no JSON: {error.msg} at character {error.colno:,}."
            raise ValueError(msg) from None
        if not isinstance(row, dict):
            msg = (
                f'source: {path.name!r} line {number:,} is no JSON object, such as {{"text": "…"}}.'
            )
            raise ValueError(msg)
        rows.append(row)
    return pd.DataFrame(rows)


def _of_list(source: Any) -> TextSource:
    """Take texts from a list, a Series or a mapping of ids to texts."""
    if isinstance(source, AnnData) or sparse.issparse(source) or getattr(source, "ndim", 1) > 1:
        msg = (
            f"source is a matrix ({type(source).__name__}), no texts; a matrix of counts becomes a cohort by "
            "from_counts(X, binary=False)."
        )
        raise TypeError(msg)
    if isinstance(source, bytes | bytearray) or not isinstance(source, Iterable):
        msg = f"source must be a list of texts, a path or a DataFrame, not {type(source).__name__}."
        raise TypeError(msg)
    if isinstance(source, Mapping):
        texts, ids = list(source.values()), list(source)
    else:
        texts = list(source)
        ids = list(source.index) if isinstance(source, pd.Series) else list(range(len(texts)))
    return _documents(texts, ids, None, f"a list of {number_of(len(texts), 'text')}")


def _documents(
    texts: Iterable[Any], ids: Iterable[Any], attributes: pd.DataFrame | None, name: str
) -> TextSource:
    """Check texts and ids, and put them together."""
    texts, keys = list(texts), [str(key) for key in ids]
    if not texts:
        msg = f"source: {name} has no documents."
        raise ValueError(msg)
    missing = [key for key, text in zip(keys, texts, strict=True) if _is_missing(text)]
    if missing:
        msg = (
            f"source: the text of {number_of(len(missing), 'document')} is missing: {listed(missing)}. "
            "Leave these out, or fill them with ''."
        )
        raise ValueError(msg)
    wrong = [
        f"{key!r} ({type(text).__name__})"
        for key, text in zip(keys, texts, strict=True)
        if not isinstance(text, str)
    ]
    if wrong:
        more = f" and {len(wrong) - 5:,} more" if len(wrong) > 5 else ""
        msg = f"source must hold texts (str); no text: {', '.join(wrong[:5])}{more}. Convert these with str()."
        raise ValueError(msg)
    index = pd.Index(keys, dtype=object)
    repeated = index[index.duplicated()].unique()
    if len(repeated):
        msg = f"source: several documents are called {listed(repeated.tolist())}; give each its own id."
        raise ValueError(msg)
    if attributes is None:
        attributes = pd.DataFrame(index=index)
    named = attributes.set_axis([str(column) for column in attributes.columns], axis=1)
    return TextSource(texts, typed(named.set_axis(index)), name)


def _is_missing(text: Any) -> bool:
    """Whether a value is None, NaN or NA."""
    return text is None or text is pd.NA or (isinstance(text, float | np.floating) and text != text)


def joined(
    documents: TextSource, attributes: pd.DataFrame | None, repairs: Repairs
) -> pd.DataFrame:
    """Add a table of attributes, matched by id, to those of the source."""
    if attributes is None:
        return documents.attributes
    table = attributes.set_axis([str(key) for key in attributes.index])
    table = table.set_axis([str(column) for column in table.columns], axis=1)
    _check_attributes(table, documents)
    ids = documents.attributes.index
    unused = int((~table.index.isin(ids)).sum())
    without = int((~ids.isin(table.index)).sum())
    if without:
        repairs.tell(f"{number_of(without, 'document')} without a row in attributes: left missing.")
    repairs.drop(
        "attributes_without_document",
        unused,
        f"{number_of(unused, 'row')} of attributes belong to no document: ignored.",
    )
    return documents.attributes.join(typed(table.reindex(ids)))


def _check_attributes(table: pd.DataFrame, documents: TextSource) -> None:
    """Refuse attributes that repeat a document or a name, or that belong to no document."""
    repeated = table.index[table.index.duplicated()].unique()
    if len(repeated):
        msg = f"attributes has several rows for {listed(repeated.tolist())}; keep one per document."
        raise ValueError(msg)
    both = [name for name in table.columns if name in documents.attributes]
    if both:
        msg = f"attributes and source both have a column {listed(both)}; rename one."
        raise ValueError(msg)
    ids = documents.attributes.index
    if not table.index.isin(ids).any():
        msg = (
            f"attributes: its index ({listed(table.index[:5].tolist())}) names none of the documents "
            f"({listed(ids[:5].tolist())}); give it the documents' ids as index."
        )
        raise ValueError(msg)


def writable(texts: Iterable[str], repairs: Repairs) -> list[str]:
    """Replace by blanks the characters that h5ad files cannot hold."""
    clean = [UNWRITABLE.sub(" ", text) for text in texts]
    n = sum(a != b for a, b in zip(texts, clean, strict=True))
    if n:
        repairs.tell(
            f"{number_of(n, 'text')} with characters that are none (NUL): replaced by blanks."
        )
    return clean
