"""Files of events: which ones a path or glob names, other encodings, and what is wrong with a bad one."""

import codecs
import csv
import glob
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

CHUNK = 1 << 20
PARQUET = {".parquet", ".pq"}
WORKBOOKS = {b"PK\x03\x04", b"\xd0\xcf\x11\xe0"}
"""First bytes of zip archives, which .xlsx files are, and of older .xls files."""


def named_files(source: str | Path | Sequence[str | Path]) -> list[str]:
    """Files that paths or globs name, those of a glob sorted; each checked to be one that can be read."""
    paths = [source] if isinstance(source, str | Path) else source
    names = [name for path in paths for name in _matching(str(path))]
    seen: set[Path] = set()
    for name in names:
        _check_start(name)
        if Path(name).absolute() in seen:
            msg = f"source names the file {Path(name).name!r} twice; its rows would count twice."
            raise ValueError(msg)
        seen.add(Path(name).absolute())
    if len({is_parquet(name) for name in names}) > 1:
        msg = "source names CSV and Parquet files together; read one kind at a time."
        raise ValueError(msg)
    return names


def _matching(text: str) -> list[str]:
    """Files that one path or glob names, sorted."""
    if Path(text).is_file():
        return [text]
    names = sorted(name for name in glob.glob(text, recursive=True) if Path(name).is_file())
    if not names:
        msg = f"source: no file matches {text!r}; give a CSV or Parquet file, or a glob such as 'events-*.csv'."
        raise FileNotFoundError(msg)
    return names


def _check_start(name: str) -> None:
    """Refuse an empty file, and an Excel workbook whatever its ending."""
    with Path(name).open("rb") as file:
        start = file.read(4)
    if not start:
        msg = f"source: the file {Path(name).name!r} is empty (0 bytes); export it again."
        raise ValueError(msg)
    if start in WORKBOOKS:
        msg = (
            f"source: {Path(name).name!r} is an Excel workbook or a zip archive, not a table as text: "
            "save the sheet as CSV (or unpack the archive) and read that."
        )
        raise ValueError(msg)


def is_parquet(name: str) -> bool:
    """Whether a file is Parquet, by its ending."""
    return Path(name).suffix.lower() in PARQUET


def is_utf8(encoding: str) -> bool:
    """Whether an encoding needs no copy; refuse one that Python does not know."""
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        msg = f"encoding={encoding!r} is not known; try 'utf-8', 'cp1252', 'latin-1' or 'utf-16'."
        raise ValueError(msg) from None


def in_utf8(name: str, encoding: str, folder: Path) -> str:
    """Copy a text file of another encoding into `folder` as UTF-8; return the copy's name."""
    copy = folder / f"{len(list(folder.iterdir()))}-{Path(name).name.removesuffix('.gz')}"
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    with _opened(name) as read, copy.open("w", encoding="utf-8", newline="") as write:
        for block in iter(lambda: read.read(CHUNK), b""):
            write.write(_decoded(decoder, block, Path(name).name, encoding, done))
            done += len(block)
        write.write(_decoded(decoder, b"", Path(name).name, encoding, done))
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
    opener = gzip.open if name.endswith(".gz") else open
    return cast("BinaryIO", opener(name, "rb"))


def check_delimited(name: str, header: str) -> None:
    """Refuse a file that was read as one column although its header names several."""
    delimiter = max(",;\t|", key=header.count)
    if delimiter not in header:
        return
    with _opened(name) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        rows = csv.reader(text, delimiter=delimiter)
        width = len(next(rows))
        uneven = next((row for row in rows if len(row) not in {0, width}), None)
        found = "a quotation mark may not be closed"
        if uneven is not None:
            found = f"line {rows.line_num:,} has {len(uneven)} fields, the header {width}"
    msg = f"source: {Path(name).name!r} does not read as a table: {found}; correct the file."
    raise ValueError(msg)


def diagnosis(names: list[str], error: Exception) -> str:
    """Say in plain words why files could not be read."""
    for name in names:
        fault = _parquet_fault(name) if is_parquet(name) else _text_fault(name)
        if fault:
            return f"source: {Path(name).name!r} {fault}"
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = " ".join(lines[: 4 if "CSV Error" in lines[0] else 1])
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
