"""Take results away: tables, assignment, report, model, and the steps as Python."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.explorer.part import Part
from lvmkit_widgets.kinds import Form, Table
from lvmkit_widgets.sharing import assignment_table, clusters_table, codes_table, csv

FILES = [
    ("clusters", "Clusters (CSV)", "Size, share and note of each cluster. Small counts hidden."),
    ("codes", "Codes by cluster (CSV)", "Every code of every cluster. Small counts hidden."),
    ("report", "Report (HTML)", "One page for colleagues: totals only, opens without a network."),
    (
        "model",
        "Model (npz)",
        "Clusters, names and notes; lvmkit.load reads it. It hides nothing: keep it with the data.",
    ),
    ("python", "Steps as Python (py)", "Repeats everything done here."),
    (
        "assignment",
        "Patients by cluster (CSV) – private",
        "Ids of single patients: keep this file on this machine.",
    ),
]


class Share(Part):
    """Buttons that hand over files, the steps taken, and the Python that repeats them."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "autosave"})

    def __init__(self) -> None:
        super().__init__()
        self.files = Form(title="Take away")
        self.keep = Form(title="Keep")
        self.steps = Table(
            title="Steps so far",
            help="Pick a step to go back to it; nothing is lost.",
            columns=[
                {"key": "step", "label": "Step", "kind": "integer"},
                {"key": "text", "label": "What was done", "kind": "text"},
            ],
            key="step",
            page_size=15,
            needs_python=True,
        )
        self.code = Form(
            title="The same in Python", help="Repeats the steps up to the one that is marked."
        )
        self.components = {
            "files": self.files,
            "autosave": self.keep,
            "taken": self.steps,
            "python": self.code,
        }
        self.layout = [{"row": ["files", "autosave"]}, {"row": ["taken", "python"]}]
        self._board: Dashboard | None = None

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, history = self.state, self.state.history
        self.files.controls = [
            {"name": name, "kind": "button", "label": label, "help": text}
            for name, label, text in FILES
        ]
        self.keep.controls = [
            {
                "name": "autosave",
                "kind": "text",
                "label": "Save the model after every step to",
                "placeholder": "a file name, such as heart.npz",
                "help": "Names, notes and merges are kept in it.",
            },
        ]
        self.keep.values = {"autosave": state.autosave or ""}
        self.steps.rows = [{"step": i, "text": step.text} for i, step in enumerate(history.steps)]
        self.steps.selected = history.position
        lines = min(max(history.code.count("\n") + 1, 4), 20)
        self.code.controls = [
            {"name": "code", "kind": "textarea", "label": "To copy", "rows": lines, "wide": True}
        ]
        self.code.values = {"code": history.code}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader.

        Parameters
        ----------
        board : Dashboard
            The dashboard that holds the components.
        """
        self._board = board
        board.listen("files", "pressed", self._give)
        board.listen("autosave", "values", self._set)
        board.listen("taken", "pick", lambda step: self.state.go_to(int(step)))

    def _set(self, values: dict[str, Any]) -> None:
        """Take the settings."""
        path = str(values.get("autosave") or "").strip()
        if path and path != self.state.autosave:
            self.state.save(path)
        self.state.autosave = path or None

    def _give(self, name: str) -> None:
        """Hand over a file."""
        if self._board is None:
            return
        state = self.state
        tables = {"clusters": clusters_table, "codes": codes_table, "assignment": assignment_table}
        if name in tables:
            file = f"{name}.csv"
            self._board.download(file, csv(tables[name](state)), mime="text/csv")
        elif name == "python":
            file = "steps.py"
            self._board.download(file, f"{state.history.code}\n".encode(), mime="text/x-python")
        else:
            file = "report.html" if name == "report" else "model.npz"
            write = self._board.to_html if name == "report" else state.save
            mime = "text/html" if name == "report" else "application/octet-stream"
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder) / file)
                self._board.download(file, (Path(folder) / file).read_bytes(), mime=mime)
        warning = " It holds ids of single patients: keep it here." if name == "assignment" else ""
        self._board.say(f"{file} was handed to your browser.{warning}")
