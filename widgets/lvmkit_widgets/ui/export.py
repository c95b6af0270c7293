"""Files that readers take away: a button for each, and the steps taken so far."""

from __future__ import annotations

import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd

from lvmkit.charts import png, svg
from lvmkit_widgets.ui.controls import button, column, note
from lvmkit_widgets.ui.state import State, StepState
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Table

TWICE = (
    "Two pages or tables of one cohort, from before and after a change, can together give hidden counts away: share "
    "one of them, and keep the other with the data."
)
"""What each note beside buttons of files says: small counts are hidden in each file by itself only."""
FORMULA = re.compile(
    r"^(?:[\t\r\n]|[\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]*[=+\-@"
    r"\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])"
)
"""How a formula begins, perhaps after blanks or what cannot be seen; signs may be full-width. dom.js has the same."""
SAVING = ("model", "python")
"""Exports that all of the work can be made of again."""
MIMES = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "npz": "application/octet-stream",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
S = TypeVar("S", bound=State)
T = TypeVar("T")  # Of any state


def always(_: Any) -> bool:
    """Offer a file whatever the state is."""
    return True


@dataclass(frozen=True)
class Export(Generic[T]):
    """A file that readers can take away."""

    name: str  # Of its button
    label: str
    file: str | Callable[[T], str]  # Its name, whose ending tells what it is
    make: Callable[[T], Any] | None = None  # Table, text, chart or bytes; None: the saved page
    help: str | None = None
    private: str = ""  # What to mind with rows of single people, said when it is handed over
    mark: str = " – private"  # Added to the label of a private file
    offered: Callable[[T], bool] = always  # Whether it can be made now


def steps_export(help: str) -> Export[Any]:
    """Return the export of the steps as Python."""
    code: Callable[[Any], str] = lambda state: f"{state.history.code}\n"  # noqa: E731
    return Export("python", "Steps as Python (py)", "steps.py", code, help)


def table_export(
    name: str, label: str, make: Callable[[Any], Any], help: str, *, file: str = "", **more: Any
) -> Export[Any]:
    """Return the export of a table as CSV; without `file` it has the name of its button."""
    return Export(name, f"{label} (CSV)", f"{file or name}.csv", make, help, **more)


def chart_exports(
    name: str, label: str, file: Callable[[Any], str], make: Callable[[Any], Any], *help: str
) -> tuple[Export[Any], Export[Any]]:
    """Return the exports of a chart as a drawing and as a picture of dots, and what is said of each."""
    told, dots = help or (None, None)
    drawing = Export(name, f"{label} (SVG)", lambda state: f"{file(state)}.svg", make, told)
    png = lambda state: f"{file(state)}.png"  # noqa: E731
    return drawing, Export(f"{name}_png", f"{label} (PNG)", png, make, dots)


def model_export(save: Callable[[Any, Path], Any], help: str, **more: Any) -> Export[Any]:
    """Return the export of the model, as `save` writes it."""
    make = lambda state: written(lambda path: save(state, path), "model.npz")  # noqa: E731
    return Export("model", "Model (npz)", "model.npz", make, help, **more)


def page_export(
    file: str, help: str = "One file that answers without Python and without internet."
) -> Export[Any]:
    """Return the export of the saved page."""
    return Export("page", "Page (HTML)", file, help=help)


class ExportTab(Tab[S]):
    """A tab with a button for every file of `exports`, and the steps taken so far where the state has any."""

    title: ClassVar[str] = "Take away"
    exports: Sequence[Export[Any]] = ()
    steps: ClassVar[bool] = False  # Whether the state has steps to go back to
    _board: Any

    def __init__(
        self, exports: Sequence[Export[Any]] = (), note_of: Callable[[Any], str] = lambda _: ""
    ) -> None:
        super().__init__()
        self.exports, self._note_of = exports or self.exports, note_of
        self.components = {"files": Form(title="Take away")}
        self.layout = "files"
        if self.steps:
            self.components["taken"] = Table(
                title="Steps so far",
                help="Pick a step to go back to it; nothing is lost.",
                columns=[column("step", "Step", "integer"), column("text", "What was done")],
                key="step",
                needs_python=True,
            )
            self.layout = ["files", "taken"]
            self.events = {"taken.pick": lambda state, step: state.go_to(int(step))}

    def note(self, state: S) -> str:
        """Say what files hold, or nothing."""
        return self._note_of(state)

    def options(self, state: S) -> list[dict[str, Any]]:
        """Return controls that stand below the buttons."""
        return []

    def fields(self, state: S) -> Fields:
        """Show the buttons, and the steps."""
        controls = [
            button(
                one.name,
                one.label + (one.mark if one.private and state.private else ""),
                help=one.help,
            )
            for one in self.exports
            if one.offered(state)
        ]
        controls += self.options(state)
        if said := self.note(state):
            controls.append(note(said))
        shown: Fields = {"files": {"controls": controls}}
        if not isinstance(state, StepState) or not self.steps:
            return shown
        steps, position = state.history.steps, state.history.position
        rows = [{"step": i, "text": step.text} for i, step in enumerate(steps)]
        return {**shown, "taken": {"rows": rows, "selected": position}}

    def connect(self, board: Any) -> None:
        """Listen to the reader."""
        super().connect(board)
        self._board = board
        board.listen("files", "pressed", self._hand_over)

    def _hand_over(self, name: str) -> None:
        """Hand a file over to the browser."""
        file, data, mime = self.made(name)
        self._board.download(file, data, mime=mime)
        self._board.say(f"{file} was handed to your browser.{self.warning(name)}")
        if name in SAVING and isinstance(state := self._board.state, StepState):
            self._board.state = state.replace(saved=state.value)

    def still(self, state: S) -> str:
        """Return the first picture that can be drawn."""
        for export in self.exports:
            name = export.file if isinstance(export.file, str) else export.file(state)
            drawn = name.endswith((".png", ".svg")) and export.offered(state)
            if drawn and export.make is not None:
                with suppress(ValueError):  # nothing to draw yet
                    return image(export.make(state), self._board.stage.title)
        return ""

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file: its name, contents and kind of contents."""
        export, state = self._export(name), self._board.state
        file = export.file if isinstance(export.file, str) else export.file(state)
        return file, self.content(export, state, file), MIMES[file.rpartition(".")[2]]

    def content(self, export: Export[S], state: S, file: str) -> bytes:
        """Make the contents of a file; in those for others small counts are hidden."""
        if export.make is None:
            return written(self._board.to_html, file)
        return as_bytes(export.make(state if export.private else state.for_others), file)

    def warning(self, name: str) -> str:
        """Say what to mind with a private file."""
        private = self._export(name).private
        return f" {private}" if private and self._board.state.private else ""

    def _export(self, name: str) -> Export[Any]:
        """Return an export by the name of its button."""
        return next(export for export in self.exports if export.name == name)


class StepsExportTab(ExportTab[S]):
    """Such a tab of a state with steps: it lists them too, to go back to one."""

    title: ClassVar[str] = "Steps and files"
    steps: ClassVar[bool] = True


def image(picture: Any, alt: str) -> str:
    """Return a chart, or an SVG text, as an image of HTML."""
    drawn = isinstance(picture, str)
    data = picture.encode() if drawn else png(picture, scale=1)
    kind, text = "svg+xml" if drawn else "png", b64encode(data).decode("ascii")
    style = "max-width: 100%; background: white"
    return f'<img alt="{escape(alt)}" style="{style}" src="data:image/{kind};base64,{text}">'


def as_bytes(made: Any, file: str) -> bytes:
    """Return a table, text, chart or bytes as a file of this name holds it."""
    if isinstance(made, bytes):
        return made
    if isinstance(made, pd.DataFrame):
        return csv(made)
    if isinstance(made, str):
        return made.encode()
    return png(made) if file.endswith(".png") else svg(made).encode()


def written(write: Callable[[Path], Any], file: str) -> bytes:
    """Return what a function writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / file)
        return (Path(folder) / file).read_bytes()


def csv(table: pd.DataFrame) -> bytes:
    """Write a table as CSV that spreadsheets read: UTF-8 with a mark, no formulas."""
    safe = table.copy()
    for name in table.select_dtypes(exclude="number"):
        safe[name] = table[name].astype(object).map(_no_formula)
    text = safe.rename(columns=_no_formula).to_csv(index=False, lineterminator="\r\n")
    return text.encode("utf-8-sig")


def _no_formula(value: object) -> object:
    """Keep spreadsheets from running text as a formula."""
    return "'" + value if isinstance(value, str) and FORMULA.match(value) else value
