"""Work that is kept between visits: for each cohort file a model with its names, notes, merges and steps."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import platformdirs

import lvmkit

VARIABLE = "LVMKIT_SESSIONS"
"""Environment variable that names another folder than the user's own."""


class Session:
    """The file that holds what was done with a cohort; there is none before the first step."""

    def __init__(self, source: str, k: int) -> None:
        path, about = Path(source), [source]
        if path.is_file():  # another file of the same name is another cohort
            status = path.stat()
            about = [str(path.resolve()), str(status.st_size), str(status.st_mtime_ns)]
        digest = hashlib.sha256("\n".join([*about, str(k)]).encode()).hexdigest()[:16]
        folder = Path(
            os.environ.get(VARIABLE) or platformdirs.user_data_path("lvmkit") / "sessions"
        )
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / f"{path.stem[:40]}-{digest}.npz"

    def model(self) -> tuple[Any, str]:
        """Return the model to go on with, or None, and what to say of it."""
        if not self.path.is_file():
            return None, ""
        when = f"{datetime.fromtimestamp(self.path.stat().st_mtime):%d %b %Y, %H:%M}"
        try:
            return lvmkit.load(self.path), f"Gone on where you were on {when}."
        except (ValueError, OSError):
            aside = self.put_aside("damaged")
            return None, f"What was kept on {when} cannot be read; it was put aside as {aside}."

    def put_aside(self, why: str) -> Path:
        """Give the file another name, so that nothing is lost; return it."""
        aside = self.path.with_suffix(f".{why}.npz")
        return self.path.replace(aside) if self.path.is_file() else aside
