"""Hand files over to the reader's browser, wherever Python runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import param

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import StatePart
from lvmkit_widgets.ui.widgets import Form, Table

TWICE = (
    "Two pages or tables of one cohort, from before and after a change, can together give hidden counts away: share "
    "one of them, and keep the other with the data."
)
"""What each note beside buttons of files says: small counts are hidden in each file by itself only."""
S = TypeVar("S", bound=param.Parameterized)


class GivesFiles:
    """A part whose form "files" has a button for every file; a part says how they are made."""

    _board: Any

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board = board
        board.listen("files", "pressed", self._give)

    def _give(self, name: str) -> None:
        """Hand over a file."""
        file, data, mime = self.made(name)
        self._board.download(file, data, mime=mime)
        self._board.say(f"{file} was handed to your browser.{self.warning(name)}")

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file."""
        raise NotImplementedError  # every part makes files of its own

    def warning(self, name: str) -> str:
        """Say what to mind with a file."""
        del name
        return ""


class GivesSteps(GivesFiles, StatePart[S]):
    """Such a part that lists the steps taken too, to go back to one; its state is one that `Walks`."""

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(title="Take away")
        self.steps = Table(
            title="Steps so far",
            help="Pick a step to go back to it; nothing is lost.",
            columns=[
                {"key": "step", "label": "Step", "kind": "integer"},
                {"key": "text", "label": "What was done", "kind": "text"},
            ],
            key="step",
            needs_python=True,
        )
        self.components = {"files": self.form, "taken": self.steps}
        self.layout = ["files", "taken"]

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        super().connect(board)
        board.listen("taken", "pick", lambda step: self._walks.go_to(int(step)))

    def show_steps(self) -> None:
        """Show the steps as they are now."""
        history = self._walks.history
        self.steps.rows = [{"step": i, "text": step.text} for i, step in enumerate(history.steps)]
        self.steps.selected = history.position

    @property
    def _walks(self) -> Any:
        """The state, which keeps a history."""
        return self.state


def written(write: Callable[[Path], Any], file: str) -> bytes:
    """Return what a function writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / file)
        return (Path(folder) / file).read_bytes()
