"""Reading npz files that may come from anybody: declared sizes are checked before anything is read."""

import contextlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from lvmkit.core.reading import readable
from lvmkit.core.validation import require_number

MAX_BYTES = 1 << 30
"""What all arrays of a file may hold uncompressed, unless the caller allows more."""
MAX_HEADER_BYTES = 1 << 25
"""What the JSON text of a file may hold, at 4 bytes a character: some 8 million characters."""
MAX_DEPTH = 100
"""Lists and mappings one inside another in the JSON text."""
MAX_ARRAYS = 10_000
"""Arrays of a file."""

_MAX_DIRECTORY = 1 << 21
_MAX_NPY_HEADER = 1_000
_MAX_DIMENSIONS = 32
_BLOCK = 1 << 20
_ANY_SIZE = 1 << 50
_HEAD = re.compile(
    r"\{'descr': '([<>|=][biufU]\d{1,12})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,18}, )*(?:\d{1,18},?)?)\), \} *\n"
)
_TEXT_BYTES = 64  # of a short text in Python
_ITEM_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8)}
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError),
    *(EOFError, KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError),
    *(SyntaxError, MemoryError),  # RecursionError is a RuntimeError
)


def read_npz(
    path: str | os.PathLike[str], kind: str, wanted: Callable[[str], bool], max_bytes: int
) -> dict[str, npt.NDArray[Any]]:
    """Read arrays of numbers and text, `max_bytes` at most, all or none; others than those wanted are refused."""
    # `kind` names in messages what the file should be, such as "lvmkit model file".
    require_number(max_bytes, "max_bytes", least=1, whole=True)
    with readable(path) as file, complete(path, kind), _opened(file, max_bytes) as stored:
        members = _members(stored, max_bytes)
        found: dict[str, npt.NDArray[Any]] = {}
        room = max_bytes
        for key in members:
            if not wanted(key):
                msg = f"it holds {key[:50]!r}, which is no part of it"
                raise ValueError(msg)
            found[key] = _array(stored, members[key], key, room, max_bytes)
            room -= _cost(found[key])
        return found


@contextmanager
def complete(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Context manager: raise any fault of the content as one ValueError that names the file and its kind."""
    try:
        yield
    except UNREADABLE as error:
        msg = f"{Path(path).name} is not a complete {kind} ({fault_of(error)}); save it again, or get another copy"
        raise ValueError(msg) from error


def _cost(values: npt.NDArray[Any]) -> int:
    """Return the bytes that an array takes, also as a list of texts."""
    return max(values.nbytes, _TEXT_BYTES * values.size if values.dtype.kind == "U" else 0)


def fault_of(error: BaseException) -> str:
    """Say in a few words what was wrong with the content of a file."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, KeyError):
        return f"it lacks {error.args[0]!r}" if error.args else "a part is missing"
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text[:300].rstrip(".")


def json_of(array: npt.NDArray[Any], *, finite: bool = True) -> Any:
    """Return what the JSON text in an array of one text says: not too long, not too deep, finite numbers if asked."""
    if array.dtype.kind != "U" or array.size != 1:
        msg = f"its header is an array of {array.dtype} and shape {array.shape}, not one text"
        raise ValueError(msg)
    if array.nbytes > MAX_HEADER_BYTES:
        msg = f"its header takes {array.nbytes:,} bytes; at most {MAX_HEADER_BYTES:,} are read"
        raise ValueError(msg)
    try:
        content = json.loads(str(array.ravel()[0]))
    except RecursionError as error:
        msg = f"its header is nested more than {MAX_DEPTH} deep"
        raise ValueError(msg) from error
    _require_json(content, finite=finite)
    return content


def _require_json(content: Any, *, finite: bool) -> None:
    """Refuse what is nested too deeply, or holds numbers that are not finite."""
    level, depth = [content], 0
    while level:
        if depth > MAX_DEPTH:
            msg = f"its header is nested more than {MAX_DEPTH} deep"
            raise ValueError(msg)
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list | tuple):
                inner.extend(value)
            elif finite and isinstance(value, float) and not isfinite(value):
                msg = f"its header holds the number {value}"
                raise ValueError(msg)
        level, depth = inner, depth + 1


def is_npz_of(path: str | os.PathLike[str], prefix: str) -> bool:
    """Tell whether the header of a file names a format that begins like this; only the header is read."""
    named = header_of(path).get("format")
    return isinstance(named, str) and named.startswith(prefix)


def header_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a file, without its arrays; nothing if there is none that can be read."""
    with contextlib.suppress(ValueError, OSError):
        with readable(path) as file, complete(path, "npz file"), _opened(file, _ANY_SIZE) as stored:
            member = _members(stored, _ANY_SIZE)["header"]
            header = json_of(_array(stored, member, "header", _ANY_SIZE, _ANY_SIZE), finite=False)
        return header if isinstance(header, dict) else {}
    return {}


@contextmanager
def _opened(file: BinaryIO, max_bytes: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose directory is short enough to be read."""
    size = file.seek(0, os.SEEK_END)
    if size > max_bytes:
        raise ValueError(_too_large(size, max_bytes))
    if size < 22:
        msg = "it is cut short or of another kind"
        raise ValueError(msg)
    file.seek(max(size - 22 - 20, 0))
    tail = file.read()
    if tail[-22:-18] != b"PK\5\6" or tail[-2:] != b"\0\0":
        msg = "it is cut short or of another kind"
        raise ValueError(msg)
    length = struct.unpack("<L", tail[-10:-6])[0]
    if tail[:4] == b"PK\6\7":  # sizes above 4 GiB stand in another record
        file.seek(struct.unpack("<Q", tail[8:16])[0] + 40)
        length = struct.unpack("<Q", file.read(8))[0]
        # where zipfile looks for it: just before
        file.seek(max(size - 22 - 20 - 56 + 40, 0))
        length = max(length, struct.unpack("<Q", file.read(8))[0])
    if length > _MAX_DIRECTORY:
        msg = f"its directory takes {length:,} bytes"
        raise ValueError(msg)
    file.seek(0)
    with zipfile.ZipFile(file) as stored:
        yield stored


def _members(stored: zipfile.ZipFile, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """Return the arrays of a file by name; refuse what is too much, or nothing that numpy writes."""
    found: dict[str, zipfile.ZipInfo] = {}
    for member in stored.infolist():
        key = member.filename.removesuffix(".npy")
        if key in found:
            msg = f"it holds {key!r} twice"
            raise ValueError(msg)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            msg = f"{key!r} is compressed in another way than numpy does"
            raise ValueError(msg)
        if key == member.filename:
            msg = f"it holds {key[:50]!r}, which is no array"
            raise ValueError(msg)
        found[key] = member
    header = found["header"].file_size if "header" in found else 0
    if header > MAX_HEADER_BYTES + _MAX_NPY_HEADER:
        msg = f"its header takes {header:,} bytes; at most {MAX_HEADER_BYTES:,} are read"
        raise ValueError(msg)
    total = sum(member.file_size for member in found.values())
    if total > max_bytes:
        raise ValueError(_too_large(total, max_bytes))
    if len(found) > MAX_ARRAYS:
        msg = f"it holds {len(found):,} arrays; at most {MAX_ARRAYS:,} are read"
        raise ValueError(msg)
    return found


def _too_large(size: int, max_bytes: int) -> str:
    """Say that a file holds more than is allowed."""
    return (
        f"it holds {size:,} bytes uncompressed, and max_bytes={max_bytes:,} allows no more; "
        "raise that if you trust the file"
    )


def _array(
    stored: zipfile.ZipFile, member: zipfile.ZipInfo, key: str, room: int, max_bytes: int
) -> npt.NDArray[Any]:
    """Read an array of numbers or text, if its declared shape and type make the size of the member."""
    with stored.open(member) as file:
        shape, fortran, dtype = _declared(file, key)
        size = prod(shape) * dtype.itemsize
        if size != member.file_size - file.tell():
            msg = f"{key!r} declares {size:,} bytes and holds {member.file_size - file.tell():,}"
            raise ValueError(msg)
        if dtype.kind == "U" and prod(shape) * _TEXT_BYTES > room:
            raise ValueError(_too_large(max_bytes - room + prod(shape) * _TEXT_BYTES, max_bytes))
        content = np.empty(size, dtype=np.uint8)
        place = 0
        while place < size:
            block = file.read(min(_BLOCK, size - place))
            if not block:
                msg = f"{key!r} is cut short"
                raise ValueError(msg)
            content[place : place + len(block)] = np.frombuffer(block, dtype=np.uint8)
            place += len(block)
        file.read(1)  # makes zipfile compare the checksum, also of an empty array
    if (
        dtype.kind == "U"
        and size
        and int(content.view("=u4" if dtype.isnative else ">u4").max()) > 0x10FFFF
    ):
        msg = f"{key!r} holds what is no text"
        raise ValueError(msg)
    values = content.view(dtype) if size else np.empty(0, dtype=dtype)
    values = values.reshape(shape, order="F" if fortran else "C")
    return values if dtype.isnative else values.astype(dtype.newbyteorder("="))


def _declared(file: Any, key: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, order and type from the head of a member: numbers and text only, as numpy writes them."""
    if np.lib.format.read_magic(file) != (1, 0):
        msg = f"{key!r} is an array of a version that lvmkit does not write"
        raise ValueError(msg)
    head = file.read(min(struct.unpack("<H", file.read(2))[0], _MAX_NPY_HEADER)).decode("latin-1")
    match = _HEAD.fullmatch(head)  # nothing is evaluated, unlike numpy does
    descr = match[1] if match else ""
    dtype = np.dtype(descr) if match and len(descr) < 20 else np.dtype("O")
    sizes = _ITEM_SIZES.get(dtype.kind)
    if match is None or not (dtype.itemsize in sizes if sizes else dtype.itemsize > 0):
        msg = f"{key!r} is no array of whole or real numbers, booleans or text: {head[:99].strip()}"
        raise ValueError(msg)
    shape = tuple(int(n) for n in match[3].split(",") if n.strip())
    if len(shape) > _MAX_DIMENSIONS:
        msg = f"{key!r} has {len(shape)} dimensions"
        raise ValueError(msg)
    return shape, match[2] == "True", dtype
