"""Files written as a whole or not at all: beside the target, onto the disk, then into its place."""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be deleted
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".lvmkit-", ".partial"
LONGEST = 100
"""Letters of a file's name that messages repeat."""
STALE_SECONDS = 3_600
"""Age of a leftover that is taken for one where files cannot be locked."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM)
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when all of it is on the disk; if that fails, nothing changes."""
    # A link is followed. A private file is its owner's (0600); others keep the permissions of the file that was there,
    # or get the usual ones. What killed processes left of earlier attempts is deleted.
    try:
        target = _real(Path(path))
        _remove_leftovers(target)
        draft, file = _draft(target, private=private)
        with file:
            try:
                yield file
                _flush(file)
                if fcntl is None:
                    file.close()
                draft.replace(target)  # before its lock ends: nobody takes it for a leftover
            except BaseException:
                if fcntl is None:
                    file.close()
                draft.unlink(missing_ok=True)
                raise
        _sync_folder(target.parent)
    except OSError as error:
        if error.errno is None:  # told in words already
            raise
        raise in_words(error, Path(path), "write") from error


def require_place(path: Path) -> None:
    """Refuse a path that no file can be written to, before the work that is to be written."""
    try:
        target = _real(path)
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, "")
    except OSError as error:
        if error.errno is None:
            raise
        raise in_words(error, path, "write") from error


def in_words(error: OSError, path: Path, doing: str) -> OSError:
    """Return an error of the same type that says what could not be done with which file, and why."""
    told = type(error)(
        f"cannot {doing} {shown_name(path)!r}: {describe_os_error(error, path, doing)}"
    )
    told.errno = error.errno
    return told


def describe_os_error(error: OSError, path: Path, doing: str) -> str:
    """Say why something could not be done with a file, and what to do instead."""
    return {
        **dict.fromkeys(
            _FULL,
            "the disk is full, or the file would be larger than is allowed; make room, or choose another folder",
        ),
        **dict.fromkeys(
            _FORBIDDEN, f"you have no permission to {doing} it; ask who owns the folder"
        ),
        errno.EROFS: "the disk is read-only; choose another folder",
        errno.ENOENT: _missing(path, doing),
        errno.EISDIR: "it is a folder; name a file in it",
        errno.ENOTDIR: f"{shown_name(path.parent)!r} is no folder; choose another",
        errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
        errno.ELOOP: "it is a link that leads to itself; name the file itself",
    }.get(error.errno or 0, error.strerror or str(error))


def _missing(path: Path, doing: str) -> str:
    """Say which part of a path is not there."""
    if not os.path.isdir(path.parent):
        more = ", or make it first" if doing == "write" else ""
        return f"there is no folder {shown_name(path.parent)!r}; check the path{more}"
    if doing != "write" and os.path.islink(path):
        return "it is a link to a file that is gone; name another"
    return "there is no such file; check its name and its folder"


def shown_name(path: Path) -> str:
    """Return the name of a file as messages show it: without the folders, which may tell of people; cut."""
    name = path.name or str(path)
    name = name.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _real(path: Path) -> Path:
    """Return the path that links lead to; refuse what is no file, or in no folder."""
    if "\0" in str(path):
        msg = f"cannot write {shown_name(path)!r}: a name cannot hold the null character; type it again"
        raise ValueError(msg)
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise in_words(OSError(errno.ELOOP, ""), path, "write")
    if target.is_dir():
        raise in_words(IsADirectoryError(errno.EISDIR, ""), path, "write")
    if target.exists() and not target.is_file():
        msg = f"cannot write {shown_name(path)!r}: it is a device or a pipe, no file; choose another name"
        raise OSError(msg)
    if not target.parent.is_dir():
        missing = not target.parent.exists()
        error = (
            FileNotFoundError(errno.ENOENT, "")
            if missing
            else NotADirectoryError(errno.ENOTDIR, "")
        )
        raise in_words(error, target, "write")
    return target


def _draft(target: Path, *, private: bool) -> tuple[Path, BinaryIO]:
    """Create the file that is written to, locked as long as it is open."""
    mode = 0o600 if private else 0o666  # the folder and the umask take from it
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    while True:
        draft = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}{SUFFIX}")
        file = os.fdopen(os.open(draft, flags, mode), "w+b")
        try:
            if _locked(file) is not False and os.fstat(file.fileno()).st_nlink:
                if not private and fcntl and target.exists():
                    os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                return draft, file
        except BaseException:
            file.close()
            draft.unlink(missing_ok=True)
            raise
        file.close()  # who cleans up was faster than the lock: once more


def _prefix(target: Path) -> str:
    """Begin the names of all drafts of one target; short, however long its name."""
    return f"{PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def _locked(file: BinaryIO) -> bool | None:
    """Lock a file: whether nobody else has it, or None where files cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_leftovers(target: Path) -> None:
    """Delete drafts of the target whose writer is gone: nobody holds their lock."""
    for draft in target.parent.glob(f"{_prefix(target)}*{SUFFIX}"):
        with contextlib.suppress(OSError), draft.open("rb") as file:
            free = _locked(file)
            if free is None:
                free = time.time() - draft.stat().st_mtime > STALE_SECONDS
            if free:
                if fcntl is None:
                    file.close()
                draft.unlink()


def _flush(file: BinaryIO) -> None:
    """Bring what was written onto the disk."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _sync_folder(folder: Path) -> None:
    """Bring the new name onto the disk, where folders can be."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
