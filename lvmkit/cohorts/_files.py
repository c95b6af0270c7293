"""Files of events: paths and globs, encodings, and diagnosis of unreadable files."""

import codecs
import csv
import glob
import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from lvmkit.core.reading import require_file
from lvmkit.core.validation import require_text
from lvmkit.core.writing import shown_name

MESSAGE = "source: cannot read {name!r}: {reason}"
"""Messages about unreadable files."""

CHUNK = 1 << 20
PARQUET = {".parquet", ".pq"}
GZIP = b"\x1f\x8b"
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""First bytes of texts that say their encoding; the longer ones first."""
OTHERS = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook or another older Office file, not a table as text: save the sheet as CSV",
    b"\x89PNG": "a PNG picture, not a table: name the file that holds the table",
    b"\xff\xd8\xff": "a JPEG picture, not a table: name the file that holds the table",
    b"GIF8": "a GIF picture, not a table: name the file that holds the table",
    b"%PDF": "a PDF document, not a table: export the table as CSV where it comes from",
    b"\x89HDF": "an HDF5 file (h5ad), not a table: give it the ending .h5ad, or read it with anndata.read_h5ad",
    b"PAR1": "a Parquet file: give it the ending .parquet",
    b"SQLite format 3": "an SQLite database: connect to it with sqlite3.connect and pass a query with connection=",
    **{
        b"BZh%d1AY&SY" % level: "compressed by bzip2: unpack it, or compress it by gzip"
        for level in range(1, 10)
    },
    b"\xfd7zXZ": "compressed by xz: unpack it, or compress it by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it, or compress it by gzip",
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it and read the table inside",
    b"Rar!": "a RAR archive: unpack it and read the table inside",
    b"\x93NUMPY": "a NumPy array: load it with numpy.load and pass it to from_counts",
    b"{\\rtf": "a text document (RTF), not a table: export the table as CSV",
}
"""First bytes of files that are no text, and what to say of them."""
NO_TABLES = {
    b"<!DOCTYPE": "a web page, not a table: download the table itself and name that file",
    b"<!doctype": "a web page, not a table: download the table itself and name that file",
    b"<html": "a web page, not a table: download the table itself and name that file",
    b"<stata_dta>": "a Stata file, not a table as text: export it as CSV",
    b"$FL2": "an SPSS file, not a table as text: export it as CSV",
    b"HEADER RECORD*": "a SAS transport file, not a table as text: export it as CSV",
}
"""First bytes of files that may be texts, but are no tables."""
PATHS = re.compile(r"(?:/[^/\s\"']+){2,}")
"""Paths in messages of DuckDB, which are nobody's business."""


def named_files(source: str | Path | Sequence[str | Path], encoding: str = "utf-8") -> list[str]:
    """Files that paths or globs name, those of a glob sorted; each checked to be one that can be read."""
    paths = [source] if isinstance(source, str | Path) else source
    names = [name for path in paths for name in _matching(str(path))]
    seen: set[str] = set()
    for name in names:
        check_start(name, encoding)
        if os.path.realpath(name) in seen:
            msg = f"source names the file {Path(name).name!r} twice, so that its rows would count twice; name it once."
            raise ValueError(msg)
        seen.add(os.path.realpath(name))
    if len({is_parquet(name) for name in names}) > 1:
        msg = "source names CSV and Parquet files together; read one kind at a time."
        raise ValueError(msg)
    return names


def _matching(text: str) -> list[str]:
    """Files that one path or glob names, sorted; each once, however many links lead to it."""
    if _is_file(text):
        return [text]
    shown = shown_name(Path(text))
    if not glob.has_magic(text):
        if "\0" not in text and os.path.isdir(text):
            msg = f"source: {shown!r} is a folder; name its files, for example by a glob: '{shown}/*.csv'."
            raise FileNotFoundError(msg)
        require_file(text, MESSAGE)
    try:
        found = sorted(_walked(text), key=lambda name: (name.count(os.sep), name))
    except (OSError, ValueError):  # a name that no system allows
        found = []
    once = {os.path.realpath(name): name for name in reversed(found) if _is_file(name)}
    names = sorted(once.values())
    if not names:
        msg = f"source: no file matches {shown!r}; give a CSV or Parquet file, or a glob such as 'events-*.csv'."
        raise FileNotFoundError(msg)
    return names


def _is_file(name: str) -> bool:
    """Whether there is such a file; a name that no system allows is none."""
    return os.path.isfile(name)


def _walked(pattern: str) -> Iterator[str]:
    """Yield what a glob names; with ** each folder once, also where links lead in a circle."""
    parts = Path(pattern).parts
    if "**" not in parts:
        yield from glob.glob(pattern)
        return
    place = parts.index("**")
    tail = str(Path(*parts[place + 1 :])) if place + 1 < len(parts) else "*"
    seen: set[str] = set()
    for base in glob.glob(str(Path(*parts[:place]))) if place else ["."]:
        for folder, below, _ in os.walk(base, followlinks=True):
            real = os.path.realpath(folder)
            below[:] = [] if real in seen else [n for n in below if not n.startswith(".")]
            if real not in seen:
                seen.add(real)
                yield from _walked(os.path.join(glob.escape(folder), tail))


def check_start(name: str, encoding: str = "utf-8") -> None:
    """Refuse an empty file, and what is no table whatever its ending."""
    require_file(name, MESSAGE)
    fault = fault_of_start(name, encoding)
    if fault:
        msg = f"source: the file {shown_name(Path(name))!r} {fault}."
        raise ValueError(msg)


def fault_of_start(name: str, encoding: str = "utf-8") -> str:
    """Say why a file cannot be a table, by its first bytes; "" if it may be one."""
    try:
        start = first_bytes(name)
        if name.lower().endswith(".gz") and start[:2] != GZIP:
            return "is named .gz and not compressed by gzip: rename it, or copy it again"
        kind = (
            ""
            if is_parquet(name) and start[:4] == b"PAR1"
            else other_kind(name, start, OTHERS | NO_TABLES)
        )
        fault = (
            ""
            if kind or is_parquet(name)
            else fault_of_text(first_bytes(name, inside=True), encoding)
        )
    except OSError as error:
        return f"cannot be opened: {error.strerror}; copy it to this machine and read that"
    return f"is {kind}" if kind else fault


def first_bytes(name: str, *, inside: bool = False) -> bytes:
    """Return the first bytes of a file, or of what is compressed in it; none if that is damaged."""
    try:
        with _opened(name) if inside else Path(name).open("rb") as file:
            return file.read(4096)
    except (EOFError, gzip.BadGzipFile, zlib.error):  # said where it is read
        return b""


def fault_of_text(start: bytes, encoding: str = "utf-8") -> str:
    """Say if a text is none in UTF-8, as every second byte is 0; "" if it may be one."""
    likely = likely_utf16(start) if is_utf8(encoding) else ""
    return likely and (
        f"is no text in UTF-8 (every second byte is 0); if it is UTF-16, pass encoding={likely!r}"
    )


def likely_utf16(start: bytes) -> str:
    """Return which UTF-16 a text without a mark begins like; "" if like none."""
    if start.startswith(tuple(MARKS)) or start.count(0) <= len(start) // 3:
        return ""
    return "utf-16-be" if start[::2].count(0) > start[1::2].count(0) else "utf-16-le"


def other_kind(name: str, start: bytes, others: Mapping[bytes, str] = OTHERS) -> str:
    """Return the kind of a binary file, "" for text."""
    if start[:4] == b"PK\x03\x04":
        return _archive(name)
    return next((what for first, what in others.items() if start.startswith(first)), "")


def _archive(name: str) -> str:
    """Say what a zip archive holds, or that it is an Excel workbook."""
    try:
        with zipfile.ZipFile(name) as archive:
            inside = [Path(member).name for member in archive.namelist() if member[-1:] != "/"]
    except (zipfile.BadZipFile, OSError, ValueError):
        inside = []
    if not inside or "[Content_Types].xml" in inside:
        return (
            "an Excel workbook or a zip archive, not a table as text: "
            "save the sheet as CSV (or unpack the archive) and read that"
        )
    more = f" and {len(inside) - 1:,} more" if len(inside) > 1 else ""
    return f"a zip archive that holds {inside[0]!r}{more}: unpack it and read the table inside"


def text_encoding(name: str, encoding: str) -> str:
    """Return the encoding of a text file: as its first bytes say where UTF-8 was expected, else as given."""
    if not is_utf8(encoding):
        return encoding
    try:
        with _opened(name) as file:
            start = file.read(4)
    except (EOFError, OSError, zlib.error):  # damaged: said where it is read
        return encoding
    return next((its for mark, its in MARKS.items() if start.startswith(mark)), encoding)


def needs_copy(name: str, encoding: str) -> bool:
    """Whether DuckDB can read a file only as a copy: in another encoding, or compressed without saying so."""
    return not is_utf8(encoding) or (is_gzip(name) and not name.lower().endswith(".gz"))


def is_gzip(name: str) -> bool:
    """Whether a file is compressed by gzip, by its first bytes."""
    with Path(name).open("rb") as file:
        return file.read(2) == GZIP


def first_line(name: str, encoding: str = "utf-8") -> str:
    """Return the first line of a text file that is not blank, or its first 16 MB."""
    try:
        with (
            _opened(name) as file,
            io.TextIOWrapper(file, encoding, errors="replace", newline=None) as text,
        ):
            lines = iter(lambda: text.readline(1 << 24), "")
            return next((line for line in lines if line.strip("\r\n\ufeff")), "")
    except (EOFError, OSError, zlib.error):  # damaged: said where it is read
        return ""


def begins_blank(name: str) -> bool:
    """Whether a text file in UTF-8 begins with an empty line."""
    start = first_bytes(name, inside=True).removeprefix(codecs.BOM_UTF8)
    return start[:1] in (b"\r", b"\n")


def separator_of(header: str) -> str:
    """Return what separates the names in a header: a comma, semicolon, tab or bar; a comma if there is one name."""
    plain = re.sub(r'"[^"]*"', "", header)
    return max(",;\t|", key=plain.count)


def has_mixed_line_ends(name: str) -> bool:
    r"""Whether lines end in several ways: \n, \r\n or \r."""
    found = dict.fromkeys((b"\r\n", b"\n", b"\r"), 0)
    last = b""
    try:
        for block in _blocks(name):
            joined = last + block
            last = b"\r" if joined.endswith(b"\r") else b""
            whole = joined[: len(joined) - len(last)]
            both = whole.count(b"\r\n")
            found[b"\r\n"] += both
            found[b"\n"] += whole.count(b"\n") - both
            found[b"\r"] += whole.count(b"\r") - both
    except (EOFError, OSError, zlib.error):
        return False
    found[b"\r"] += len(last)
    return sum(n > 0 for n in found.values()) > 1


def with_one_line_end(name: str, folder: Path) -> str:
    """Copy a text file into `folder` with one kind of line ends; return the copy's name."""
    copy = folder / f"{len(list(folder.iterdir()))}-{Path(name).name.removesuffix('.gz')}"
    last = b""
    with copy.open("wb") as write:
        for block in _blocks(name):
            joined = last + block
            last = b"\r" if joined.endswith(b"\r") else b""
            whole = joined[: len(joined) - len(last)]
            write.write(whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        write.write(b"\n" * len(last))
    return str(copy)


def is_parquet(name: str) -> bool:
    """Whether a file is Parquet, by its ending."""
    return Path(name).suffix.lower() in PARQUET


def is_utf8(encoding: str) -> bool:
    """Whether an encoding needs no copy; refuse one that Python does not know."""
    require_text(encoding, "encoding")
    try:
        "".encode(encoding)  # refuses codecs that are no encodings of text, such as "hex"
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, ValueError):
        msg = f"encoding={encoding!r} is not known; try 'utf-8', 'cp1252', 'latin-1' or 'utf-16'."
        raise ValueError(msg) from None


def in_utf8(name: str, encoding: str, folder: Path) -> str:
    """Copy a text file of another encoding into `folder` as UTF-8; return the copy's name."""
    copy = folder / f"{len(list(folder.iterdir()))}-{Path(name).name.removesuffix('.gz')}"
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    try:
        with _opened(name) as read, copy.open("w", encoding="utf-8", newline="") as write:
            for block in iter(lambda: read.read(CHUNK), b""):
                write.write(_decoded(decoder, block, Path(name).name, encoding, done))
                done += len(block)
            write.write(_decoded(decoder, b"", Path(name).name, encoding, done))
    except (EOFError, gzip.BadGzipFile, zlib.error):
        msg = f"source: {Path(name).name!r} is cut short or damaged; copy it again."
        raise ValueError(msg) from None
    return str(copy)


def _decoded(
    decoder: codecs.IncrementalDecoder, block: bytes, name: str, encoding: str, done: int
) -> str:
    """Decode the next block, or say at which byte the file is not in this encoding."""
    waiting = len(decoder.getstate()[0])
    try:
        return decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        at = done - waiting + error.start
        msg = f"source: {name!r} is not in encoding={encoding!r}: cannot read the byte at offset {at:,}."
        raise ValueError(msg) from None


def _opened(name: str) -> BinaryIO:
    """Open a file, decompressed if it is gzip."""
    compressed = name.lower().endswith(".gz") or is_gzip(name)
    opener = gzip.open if compressed else open
    return cast("BinaryIO", opener(name, "rb"))


def check_delimited(name: str, header: str) -> None:
    """Refuse a file that was read as one column although its header names several."""
    delimiter = max(",;\t|", key=header.count)
    if delimiter not in header:
        return
    fault = _layout_fault(name, delimiter) or "a quotation mark may not be closed"
    msg = f"source: {Path(name).name!r} does not read as a table: {fault}; correct the file."
    raise ValueError(msg)


def _layout_fault(name: str, delimiter: str) -> str:
    """Say where the rows of a text file stop being those of a table, "" if they do not."""
    width, start = 0, 1
    with _opened(name) as file, io.TextIOWrapper(file, "utf-8", newline=None) as text:
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                width = width or len(row)
                if len(row) not in {0, width}:
                    end = rows.line_num
                    where = (
                        f"line {end:,} has" if end == start else f"lines {start:,} to {end:,} have"
                    )
                    return f"{where} {len(row)} fields, the header {width}"
                start = rows.line_num + 1
        except csv.Error:
            return f"a quotation mark in line {start:,} may not be closed"
    return ""


def diagnosis(names: list[str], error: Exception) -> str:
    """Return in plain words why files could not be read."""
    for name in names:
        shown = Path(name).name
        try:
            fault = _parquet_fault(name) if is_parquet(name) else _text_fault(name)
            if not fault and not is_parquet(name):
                header = first_line(name)
                delimiter = separator_of(header)
                layout = _layout_fault(name, delimiter) if delimiter in header else ""
                fault = f"does not read as a table: {layout}; correct the file." if layout else ""
        except FileNotFoundError:
            fault = "vanished while it was read; is its drive still connected? Copy it to this machine and read that."
        except OSError as found:
            fault = f"could not be read to its end: {found.strerror}."
        if fault:
            return f"source: {shown!r} {fault}"
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told = " ".join(lines[: 4 if "CSV Error" in lines[0] else 1])
    for name in names:
        told = told.replace(name, Path(name).name)
    told = PATHS.sub(lambda found: Path(found[0]).name, told)
    return f"source: cannot read {', '.join(Path(n).name for n in names[:5])}: {told}"


def _parquet_fault(name: str) -> str:
    """Say what is wrong with a Parquet file, "" if it has both its ends."""
    data = Path(name).read_bytes() if Path(name).stat().st_size < 8 else _ends(name)
    whole = data[:4] == b"PAR1" and data[-4:] == b"PAR1"
    return "" if whole else "is cut short or is not a Parquet file; copy or export it again."


def _ends(name: str) -> bytes:
    """First and last four bytes of a file."""
    with Path(name).open("rb") as file:
        start = file.read(4)
        file.seek(-4, 2)
        return start + file.read(4)


def _text_fault(name: str) -> str:
    """Say what is wrong with the bytes of a CSV file, "" if it is whole and UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset, lines = 0, 1
    try:
        for block in _blocks(name):
            waiting = decoder.getstate()[0]
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                at = offset - len(waiting) + error.start
                line = lines + (waiting + block)[: error.start].count(b"\n")
                found = (waiting + block)[error.start]
                return encoding_advice(at, line, found)
            offset += len(block)
            lines += block.count(b"\n")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return (
            f"is cut short or damaged: only {offset:,} bytes could be decompressed; copy it again."
        )
    return ""


def _blocks(name: str) -> Iterator[bytes]:
    """Read a file block by block, decompressed if it is gzip."""
    with _opened(name) as file:
        yield from iter(lambda: file.read(CHUNK), b"")


def encoding_advice(offset: int, line: int, byte: int) -> str:
    """Say where a file stops being UTF-8 and what to pass instead."""
    likely = "'utf-16'" if offset == 0 and byte in (0xFE, 0xFF) else "'cp1252' or 'latin-1'"
    return (
        f"is not UTF-8: byte 0x{byte:02X} at offset {offset:,} (line {line:,}). "
        f"Pass the file's encoding, for example encoding={likely}."
    )
