"""Export tab of the cluster explorer: tables, report, model, steps as Python, autosave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from lvmkit.core.folders import reader_folders
from lvmkit.storage import is_model_file
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui import controls
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    StepsExportTab,
    model_export,
    steps_export,
    table_export,
)
from lvmkit_widgets.ui.tabs import Fields, taken_back
from lvmkit_widgets.ui.widgets import Form
from lvmkit_widgets.ui.words import refuse

CLUSTERS = "Size, share and note of each cluster. Small counts hidden."
CODES = "Every code of every cluster. Small counts hidden."
REPORT = "One page for colleagues: totals only, opens without a network."
MODEL = "Clusters, names and notes; lvmkit.load reads it. It hides nothing: keep it with the data."


def codes_table(state: ExplorerState) -> pd.DataFrame:
    """Return every code of every cluster, fit to be shared."""
    table = state.association()
    table = table[table["n_in"] != 0].copy()
    names = {c.id: c.label for c in state.clustering.clusters}
    table.insert(1, "name", table["cluster"].map(names))
    table.insert(3, "title", [state.patients.titles.get(code, "") for code in table["code"]])
    return _weighed(table, state)


def clusters_table(state: ExplorerState) -> pd.DataFrame:
    """Return one row per cluster, fit to be shared."""
    counts = state.counts()
    table = pd.DataFrame(
        {
            "cluster": state.clustering.ids,
            "name": state.clustering.labels,
            "patients": state.shown_sizes(counts),
            "share": counts.weights,
            "note": [c.note for c in state.clustering.clusters],
        }
    )
    if counts.weighted is not None:
        table.insert(3, "stand_for", counts.weighted.sizes)
    return _weighed(table, state)


def assignment_table(state: ExplorerState) -> pd.DataFrame:
    """Return the cluster of every patient, by record id: for this machine, not to be shared."""
    table = state.assignment.table(state.clustering.labels)
    table.insert(0, "record", state.patients.cohort.obs_names[state.assignment.rows])
    return table if state.weights is None else table.assign(weight=state.weights)


def _weighed(table: pd.DataFrame, state: ExplorerState) -> pd.DataFrame:
    """Say in a table what its shares are weighted by, of data with weights."""
    name = state.patients.weighted_by
    return table.assign(weighted_by=name) if name else table


EXPORTS: tuple[Export[ExplorerState], ...] = (
    table_export("clusters", "Clusters", clusters_table, CLUSTERS),
    table_export("codes", "Codes by cluster", codes_table, CODES),
    Export("report", "Report (HTML)", "report.html", help=REPORT),
    model_export(ExplorerState.save, MODEL),
    steps_export("Repeats everything done here."),
    table_export(
        "assignment",
        "Patients by cluster",
        assignment_table,
        "Ids of single patients: keep this file on this machine.",
        private="It holds ids of single patients: keep it here.",
    ),
)


class ClusterExportTab(StepsExportTab[ExplorerState]):
    """Buttons that hand over files, the steps taken, and the Python that repeats them."""

    exports = EXPORTS

    def __init__(self) -> None:
        super().__init__()
        code = Form(
            title="The same in Python", help="Repeats the steps up to the one that is marked."
        )
        self.components |= {"autosave": Form(title="Keep"), "python": code}
        self.layout = [{"row": ["files", "autosave"]}, {"row": ["taken", "python"]}]
        folders = reader_folders()
        self.events = {
            **self.events,
            "autosave.values": lambda state, values: set_place(state, values, folders),
            "autosave.pressed": answer,
        }

    def note(self, state: ExplorerState) -> str:
        """Say what two files can give away."""
        return TWICE

    def fields(self, state: ExplorerState) -> Fields:
        """Show files, steps, where the model is kept, and the steps as Python."""
        code, _ = state.history.code, state.renewed
        lines = min(max(code.count("\n") + 1, 4), 20)
        area = controls.textarea("code", "To copy", rows=lines, wide=True)
        return {
            **super().fields(state),
            "autosave": {"controls": place_controls(state), "values": {"autosave": shown(state)}},
            "python": {"controls": [area], "values": {"code": code}},
        }


def place_controls(state: ExplorerState) -> list[dict[str, Any]]:
    """Describe where the model is saved, and the question whether a model there may be replaced."""
    label, example = "Save the model after every step to", "a file name, such as heart.npz"
    help = "Names, notes and merges are kept in it."
    place = controls.text("autosave", label, placeholder=example, help=help)
    if state.asked is None:
        return [place]
    replace = controls.button("replace", f"Replace “{state.asked.name}”")
    return [place, replace, controls.button("leave", "Leave it")]


def shown(state: ExplorerState) -> str:
    """Return the place that is asked about, or else the one where the model is saved."""
    return state.autosave or "" if state.asked is None else str(state.asked)


def set_place(state: ExplorerState, values: dict[str, Any], folders: Any) -> Any:
    """Take where the model is to be saved; of a model that is there, ask."""
    text = str(values.get("autosave") or "").strip()
    if text == shown(state):
        return state
    if not text:
        return state.replace(autosave=None, asked=None)
    try:
        path = model_place(folders.checked(text, write=True))
    except ValueError as error:
        return taken_back(state.replace(asked=None), f"{error}{kept_at(state)}")
    if not path.exists():
        return save_to(state, path)
    question = f"“{path.name}” holds a model already. Replace it, leave it, or name another file."
    return state.replace(asked=path).tell(question + kept_at(state))


def answer(state: ExplorerState, name: str) -> ExplorerState:
    """Replace a model, or leave it as it is."""
    path = state.asked
    if path is None:
        return state
    if name == "replace":
        return save_to(state, model_place(path))
    return state.replace(asked=None).tell(f"“{path.name}” is left as it is.{kept_at(state)}")


def save_to(state: ExplorerState, path: Path) -> ExplorerState:
    """Save the model, now and after every step."""
    state.save(path)
    told = f"The model is saved to “{path}”, now and after every step."
    return state.replace(autosave=str(path), asked=None).tell(told, tone="done")


def kept_at(state: ExplorerState) -> str:
    """Say where the model is saved at present."""
    place = state.autosave
    return (
        f" The model is still saved to “{Path(place).name}”." if place else " Nothing is saved yet."
    )


def model_place(path: Path) -> Path:
    """Return a path where a model may be saved: of the right ending, and of no other file."""
    if path.suffix.lower() != ".npz":
        refuse(f"Models are saved as .npz: name it “{path.stem or 'model'}.npz”.")
    if not path.parent.is_dir():
        refuse(f"There is no folder “{path.parent}”: make it first, or name another.")
    if (path.is_symlink() or path.exists()) and not is_model_file(path):
        refuse(f"“{path.name}” is there and no model of lvmkit: name another file.")
    return path
