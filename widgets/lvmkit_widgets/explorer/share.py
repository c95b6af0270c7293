"""Take results away: tables, assignment, report, model, and the steps as Python."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.explorer_state import ExplorerState
from lvmkit_widgets.giving import GivesSteps, written
from lvmkit_widgets.kinds import Form
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

TABLES = {"clusters": clusters_table, "codes": codes_table, "assignment": assignment_table}


class Share(GivesSteps[ExplorerState]):
    """Buttons that hand over files, the steps taken, and the Python that repeats them."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "autosave"})

    def __init__(self) -> None:
        super().__init__()
        self.keep = Form(title="Keep")
        self.code = Form(
            title="The same in Python", help="Repeats the steps up to the one that is marked."
        )
        self.components |= {"autosave": self.keep, "python": self.code}
        self.layout = [{"row": ["files", "autosave"]}, {"row": ["taken", "python"]}]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, history = self.state, self.state.history
        self.form.controls = [
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
        self.show_steps()
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
        super().connect(board)
        board.listen("autosave", "values", self._set)

    def _set(self, values: dict[str, Any]) -> None:
        """Take the settings."""
        path = str(values.get("autosave") or "").strip()
        if path and path != self.state.autosave:
            self.state.save(path)
        self.state.autosave = path or None

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is that of one of `FILES`."""
        state = self.state
        if name in TABLES:
            return f"{name}.csv", csv(TABLES[name](state)), "text/csv"
        if name == "python":
            return "steps.py", f"{state.history.code}\n".encode(), "text/x-python"
        if name == "report":
            return "report.html", written(self._board.to_html, "report.html"), "text/html"
        return "model.npz", written(state.save, "model.npz"), "application/octet-stream"

    def warning(self, name: str) -> str:
        """Say which file is private."""
        return " It holds ids of single patients: keep it here." if name == "assignment" else ""
