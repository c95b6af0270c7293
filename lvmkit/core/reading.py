"""Opening files for reading, with errors in plain words."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lvmkit.core.writing import describe_os_error, shown_name

MESSAGE = "cannot read {name!r}: {reason}"


def require_file(
    path: str | os.PathLike[str], message: str = MESSAGE, *, may_be_empty: bool = False
) -> Path:
    """Return the path of a file that can be read; `message` words the refusal of any other, by its name."""
    path = Path(path)
    try:
        reason = _fault(path, may_be_empty=may_be_empty)
    except OSError as error:
        raise _in_words(error, path, message) from error
    if reason:
        raise ValueError(message.format(name=shown_name(path), reason=reason))
    return path


@contextmanager
def readable(path: str | os.PathLike[str], message: str = MESSAGE) -> Iterator[BinaryIO]:
    """Open a file, or say why it cannot be; also what goes wrong while it is open."""
    path = require_file(path, message, may_be_empty=True)
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        if error.errno is None:
            raise
        raise _in_words(error, path, message) from error


def _fault(path: Path, *, may_be_empty: bool) -> str:
    """Say what is wrong with a path that the system does not refuse by itself, "" if nothing is."""
    if "\0" in str(path):
        return "a name cannot hold the null character; type it again"
    if str(path) == ".":  # also what becomes of no name at all
        return "it names no file; name one"
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "")
    if not stat.S_ISREG(found.st_mode):
        return "it is a device or a pipe, no file; save the data to a file and name that"
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, "")
    if not found.st_size and not may_be_empty:
        return "it is empty (0 bytes); export it again, or name another file"
    return ""


def _in_words(error: OSError, path: Path, message: str) -> OSError:
    """Return an error that says why a file cannot be read; one that no name can have is not there."""
    kind = type(error)
    if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
        kind = FileNotFoundError
    words = kind(
        message.format(name=shown_name(path), reason=describe_os_error(error, path, "read"))
    )
    words.errno = error.errno
    return words
