"""Export tab of the cluster explorer: tables, report, model, steps as Python, autosave."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from lvmkit.core.folders import reader_folders
from lvmkit.storage import is_model_file
from lvmkit_widgets.clusters.export_tables import assignment_table, clusters_table, codes_table
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.export import TWICE, Export, StepsExportTab, steps_export, written
from lvmkit_widgets.ui.widgets import Form

EXPORTS: tuple[Export[ExplorerState], ...] = (
    Export(
        "clusters",
        "Clusters (CSV)",
        "clusters.csv",
        clusters_table,
        "Size, share and note of each cluster. Small counts hidden.",
    ),
    Export(
        "codes",
        "Codes by cluster (CSV)",
        "codes.csv",
        codes_table,
        "Every code of every cluster. Small counts hidden.",
    ),
    Export(
        "report",
        "Report (HTML)",
        "report.html",
        help="One page for colleagues: totals only, opens without a network.",
    ),
    Export(
        "model",
        "Model (npz)",
        "model.npz",
        lambda state: written(state.save, "model.npz"),
        "Clusters, names and notes; lvmkit.load reads it. It hides nothing: keep it with the data.",
    ),
    steps_export("Repeats everything done here."),
    Export(
        "assignment",
        "Patients by cluster (CSV)",
        "assignment.csv",
        assignment_table,
        "Ids of single patients: keep this file on this machine.",
        private="It holds ids of single patients: keep it here.",
    ),
)


class ClusterExportTab(StepsExportTab[ExplorerState]):
    """Buttons that hand over files, the steps taken, and the Python that repeats them."""

    depends: ClassVar[frozenset[str]] = frozenset({"history", "autosave"})
    exports = EXPORTS

    def __init__(self) -> None:
        super().__init__()
        self._folders = reader_folders()
        self._asked: Path | None = None  # a model that is there: may it be replaced?
        self.keep = Form(title="Keep")
        self.code = Form(
            title="The same in Python", help="Repeats the steps up to the one that is marked."
        )
        self.components |= {"autosave": self.keep, "python": self.code}
        self.layout = [{"row": ["files", "autosave"]}, {"row": ["taken", "python"]}]

    def refresh(self) -> None:
        """Show the state as it is now."""
        super().refresh()
        self._ask(self._asked)
        history = self.state.history
        lines = min(max(history.code.count("\n") + 1, 4), 20)
        self.code.controls = [
            {"name": "code", "kind": "textarea", "label": "To copy", "rows": lines, "wide": True}
        ]
        self.code.values = {"code": history.code}

    def note(self) -> str:
        """Say what two files can give away."""
        return TWICE

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        super().connect(board)
        board.listen("autosave", "values", self._set)
        board.listen("autosave", "pressed", self._answer)

    def _ask(self, path: Path | None) -> None:
        """Show where the model is saved, and the question whether a model there may be replaced."""
        self._asked = path
        question = (
            [] if path is None else [("replace", f"Replace “{path.name}”"), ("leave", "Leave it")]
        )
        self.keep.controls = [
            {
                "name": "autosave",
                "kind": "text",
                "label": "Save the model after every step to",
                "placeholder": "a file name, such as heart.npz",
                "help": "Names, notes and merges are kept in it.",
            },
            *({"name": name, "kind": "button", "label": label} for name, label in question),
        ]
        shown = self.state.autosave or "" if path is None else str(path)
        self.keep.values = {"autosave": shown}

    def _set(self, values: dict[str, Any]) -> None:
        """Take the settings."""
        text = str(values.get("autosave") or "").strip()
        if text == (self.state.autosave or "" if self._asked is None else str(self._asked)):
            return
        if not text:
            self.state.autosave = None
            self._ask(None)
            return
        try:
            path = model_place(self._folders.checked(text, write=True))
        except ValueError as error:
            self._ask(None)
            message = f"{error}{self._kept}"
            raise ValueError(message) from error
        if not path.exists():
            self._keep(path)
            return
        self._ask(path)
        self._board.say(
            f"“{path.name}” holds a model already. Replace it, leave it, or name another file.{self._kept}",
            state="info",
        )

    @property
    def _kept(self) -> str:
        """Where the model is saved at present."""
        place = self.state.autosave
        return (
            f" The model is still saved to “{Path(place).name}”."
            if place
            else " Nothing is saved yet."
        )

    def _answer(self, name: str) -> None:
        """Replace a model, or leave it as it is."""
        path = self._asked
        if path is None:
            return
        if name == "replace":
            self._keep(model_place(path))
        else:
            self._ask(None)
            self._board.say(f"“{path.name}” is left as it is.{self._kept}", state="info")

    def _keep(self, path: Path) -> None:
        """Save the model, now and after every step."""
        self.state.save(path)
        self.state.autosave = str(path)
        self._ask(None)
        self._board.say(f"The model is saved to “{path}”, now and after every step.")


def model_place(path: Path) -> Path:
    """Return a path where a model may be saved: of the right ending, and of no other file."""
    if path.suffix.lower() != ".npz":
        message = f"Models are saved as .npz: name it “{path.stem or 'model'}.npz”."
        raise ValueError(message)
    if not path.parent.is_dir():
        message = f"There is no folder “{path.parent}”: make it first, or name another."
        raise ValueError(message)
    if (path.is_symlink() or path.exists()) and not is_model_file(path):
        message = f"“{path.name}” is there and no model of lvmkit: name another file."
        raise ValueError(message)
    return path
