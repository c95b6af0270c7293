"""Folders in which a served dashboard may open and write files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

LONGEST, LONGEST_NAME = 4_095, 255
"""Bytes of a path, and of each name in it, on the file systems in use."""

_open_only: ContextVar[tuple[Path, ...] | None] = ContextVar("_open_only", default=None)


class Folders:
    """Folders that are allowed (all of them on one's own machine), and the check of typed paths."""

    def __init__(
        self, allowed: Sequence[Path] | None = None, readable: Sequence[Path] = ()
    ) -> None:
        self.allowed = None if allowed is None else tuple(map(_real, allowed))
        self.readable = tuple(map(_real, readable))

    def checked(self, text: str, *, write: bool = False) -> Path:
        """Return the path that a reader means."""
        if "\0" in text:
            message = f"{text!r} is no file name; type it again."
            raise ValueError(message)
        encoded = text.encode(errors="replace")
        if len(encoded) > LONGEST or max(map(len, encoded.split(b"/"))) > LONGEST_NAME:
            message = f"“{text[:40]}…” is no file name: it is too long. Name another file."
            raise ValueError(message)
        if self.allowed is None:
            return expanded(text)
        if not text.startswith(("//", "\\\\", "~")) or text[:2] in ("~", "~/"):
            path = _real(expanded(text))  # names of other machines and users are not even looked up
            if self.holds(path, write=write):
                return path
        named = (
            " or ".join(f"“{folder}”" for folder in self.allowed) or "any folder of this server's"
        )
        done = "written" if write else "opened"
        message = (
            f"“{text}” is not below {named}, and no link out of it is followed: only files there can be {done} "
            "from this page. Whoever runs the server starts it in the folder that holds the files."
        )
        raise ValueError(message)

    def holds(self, path: Path, *, write: bool = False) -> bool:
        """Return whether a file may be opened."""
        if self.allowed is None:
            return True
        places = self.allowed if write else (*self.allowed, *self.readable)
        real = _real(path)
        return any(real.is_relative_to(place) for place in places)


def folders_of(*folders: Path) -> tuple[Path, ...]:
    """Return folders without those that others hold, and without the root, which would allow everything."""
    real = [folder for folder in map(_real, folders) if folder != Path(folder.anchor)]
    kept: list[Path] = []
    for folder in real:
        if not any(folder.is_relative_to(other) for other in kept):
            kept.append(folder)
    return tuple(kept)


def expanded(text: str) -> Path:
    """Return a path with the home folder for "~"."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        message = f"“{text}” names a home folder that is not there; type the whole path."
        raise ValueError(message) from error


@contextmanager
def open_only(folders: Sequence[Path] | None) -> Iterator[None]:
    """Let dashboards that are made inside the ``with`` block keep their readers to some folders."""
    token = _open_only.set(None if folders is None else tuple(folders))
    try:
        yield
    finally:
        _open_only.reset(token)


def reader_folders() -> Folders:
    """Return where the readers of a dashboard that is being made may open and write files."""
    data = os.environ.get("LVMKIT_DATA")
    return Folders(_open_only.get(), [Path(data)] if data else [])


def _real(path: Path) -> Path:
    """Return a path without links and ".."; nothing has to be there."""
    try:
        real = path.expanduser().resolve()
        if real.is_symlink():  # a circle, which Python 3.13 no longer refuses
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return real
    except (OSError, RuntimeError) as error:  # links in a circle
        message = f"“{path.name}” leads nowhere; name another file."
        raise ValueError(message) from error
