"""Work that is kept between visits: for each cohort a file with its model, names, notes, merges and steps."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import platformdirs

import lvmkit
from lvmkit.core.npz import header_of
from lvmkit.storage import is_model_file

VARIABLE = "LVMKIT_SESSIONS"
"""Environment variable that names another folder than the user's own."""
LISTED = 8  # recent sessions


@dataclass(frozen=True)
class Session:
    """The file that holds what was done with a cohort; there is none before the first step."""

    path: Path
    source: str  # Name of a known cohort, or path of a file
    k: int  # Clusters of the first fit

    @classmethod
    def of(cls, source: str, k: int) -> Self:
        """Return the session of a cohort."""
        path, about = Path(source), [source]
        if path.is_file():  # another file of the same name is another cohort
            status = path.stat()
            source = str(path.resolve())
            about = [source, str(status.st_size), str(status.st_mtime_ns)]
        digest = hashlib.sha256("\n".join([*about, str(k)]).encode()).hexdigest()[:16]
        folder = sessions_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(folder / f"{path.stem[:40]}-{digest}.npz", source, k)

    def model(self) -> tuple[Any, str]:
        """Return the model to go on with, or None, and what to say of it."""
        if not self.path.is_file():
            return None, ""
        when = written(self.path)
        try:
            return lvmkit.load(self.path), f"Gone on where you were on {when}."
        except (ValueError, OSError):
            aside = self.put_aside("damaged")
            return None, f"What was kept on {when} cannot be read; it was put aside as {aside}."

    def put_aside(self, why: str) -> Path:
        """Give the file another name, so that nothing is lost; return it."""
        aside = self.path.with_suffix(f".{why}.npz")
        return self.path.replace(aside) if self.path.is_file() else aside


def sessions_folder() -> Path:
    """Return the folder of the sessions: the user's own, or the one that `LVMKIT_SESSIONS` names."""
    return Path(os.environ.get(VARIABLE) or platformdirs.user_data_path("lvmkit") / "sessions")


def recent() -> list[tuple[Session, str]]:
    """List the sessions that can be gone on with, the newest first, and what was done in each."""
    files = sorted(sessions_folder().glob("*.npz"), key=lambda path: -path.stat().st_mtime)
    return list(_listed(path for path in files if path.suffixes == [".npz"]))[:LISTED]


def _listed(files: Iterator[Path]) -> Iterator[tuple[Session, str]]:
    """Yield sessions whose headers can be read; the others are told when they are opened."""
    for path in files:
        notes = header_of(path).get("annotations") if is_model_file(path) else None
        about = notes.get("session") if isinstance(notes, Mapping) else None
        if isinstance(notes, Mapping) and isinstance(about, Mapping):
            source, k = about.get("source"), about.get("k")
            if isinstance(source, str) and isinstance(k, int) and k > 0:
                yield Session(path, source, k), _told(notes, path)


def _told(notes: Mapping[str, Any], path: Path) -> str:
    """Say what was done in a session: names, splits, merges, and when."""
    clusters, steps = notes.get("clusters") or [], notes.get("steps") or []
    names = [str(c.get("name")) for c in clusters if isinstance(c, Mapping) and c.get("name")]
    codes = [str(step.get("code")) for step in steps if isinstance(step, Mapping)]
    named = ", ".join(names[:4]) + (" …" if len(names) > 4 else "") if names else "no names"
    parts = [named]
    for what in ("split", "merge"):
        n = sum(f".{what}(" in code for code in codes)
        parts += [f"{n} {what}{'' if n == 1 else 's'}"] if n else []
    return " · ".join([*parts, written(path)])


def written(path: Path) -> str:
    """Say when a file was written."""
    return f"{datetime.fromtimestamp(path.stat().st_mtime):%d %b %Y, %H:%M}"
