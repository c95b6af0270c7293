"""Hand files over to the reader's browser, wherever Python runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lvmkit_widgets.dashboard import Dashboard


class GivesFiles:
    """A part whose form "files" has a button for every file; a part says how they are made."""

    _board: Any

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader.

        Parameters
        ----------
        board : Dashboard
            The dashboard that holds the components.
        """
        self._board = board
        board.listen("files", "pressed", self._give)

    def _give(self, name: str) -> None:
        """Hand over a file."""
        file, data, mime = self.made(name)
        self._board.download(file, data, mime=mime)
        self._board.say(f"{file} was handed to your browser.{self.warning(name)}")

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file.

        Parameters
        ----------
        name : str
            Of the button.

        Returns
        -------
        file : str
            Its name.
        data : bytes
            Contents.
        mime : str
            Kind of contents.
        """
        raise NotImplementedError  # every part makes files of its own

    def warning(self, name: str) -> str:
        """Say what to mind with a file.

        Parameters
        ----------
        name : str
            Of the button.

        Returns
        -------
        str
            Usually empty.
        """
        del name
        return ""


def written(write: Callable[[Path], Any], file: str) -> bytes:
    """Return what a function writes to a file.

    Parameters
    ----------
    write : callable
        Takes the path.
    file : str
        Name of the file.

    Returns
    -------
    bytes
        Contents; the file is gone again.
    """
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / file)
        return (Path(folder) / file).read_bytes()
