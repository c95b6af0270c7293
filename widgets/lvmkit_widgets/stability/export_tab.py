"""Take results away: tables, pictures, a page that works without internet, and the model."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import lvmkit
from lvmkit import charts
from lvmkit.models import Model
from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.stability.clusters_tab import clusters_frame
from lvmkit_widgets.stability.state import GOAL, StabilityState
from lvmkit_widgets.stability.tab import StabilityPart
from lvmkit_widgets.stability.verdict_tab import NOTHING, cell_name
from lvmkit_widgets.ui.export import TWICE, GivesFiles, written
from lvmkit_widgets.ui.widgets import Form

FILES = {
    "repeats": "Every repeat (CSV)",
    "clusters": "Clusters (CSV)",
    "curve": "Stability (PNG)",
    "bars": "Clusters (PNG)",
    "consensus": "Consensus (PNG)",
    "page": "Page (HTML)",
    "model": "Model (npz)",
}
HELP = {
    "repeats": "Adjusted Rand index of every method, number and repeat.",
    "clusters": "Stability of the clusters that are looked at, and with which they swap members.",
    "page": "One file that answers without Python and without internet; totals only.",
    "model": "The method and number that are looked at, fitted to all rows; of the model itself, that one "
    "with its names. lvmkit.load reads it.",
}


class Files(GivesFiles, StabilityPart):
    """Buttons that hand over files."""

    title: ClassVar[str] = "Take away"
    depends: ClassVar[frozenset[str]] = frozenset({"method", "value"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(title="Take away")
        self.components = {"files": self.form}
        self.layout = "files"

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        names = [name for name in FILES if name != "model" or can_be_saved(state)]
        buttons = [
            {"name": name, "kind": "button", "label": FILES[name], "help": HELP.get(name)}
            for name in names
        ]
        told = (
            f"Looked at: {cell_name(state)}. Sizes below {state.threshold} are hidden everywhere. In Python, "
            f"state.estimator_at({state.value}) returns it fitted to all rows, to be used elsewhere. While repeats are "
            f"measured the buttons wait; a cancel frees them. {TWICE}"
        )
        self.form.controls = [*buttons, {"name": "note", "kind": "note", "label": told}]

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        if state.study is None and name != "model":
            raise ValueError(NOTHING)
        if name in ("repeats", "clusters"):
            table = state.table() if name == "repeats" else clusters_frame(state)
            return f"stability-{name}.csv", csv(table), "text/csv"
        if name in ("page", "model"):
            file = "stability.html" if name == "page" else "model.npz"
            if name == "page":
                return file, written(self._board.to_html, file), "text/html"
            model = state.estimator_at()
            return file, written(partial(lvmkit.save, model), file), "application/octet-stream"
        return f"stability-{name}.png", charts.png(picture_of(state, name)), "image/png"


def can_be_saved(state: StabilityState) -> bool:
    """Tell whether `lvmkit.save` takes the model that is looked at."""
    try:
        return isinstance(state.subject.estimator_at(*state.picked), Model)
    except Exception:  # noqa: BLE001 - methods may raise anything; measuring tells what
        return False


def picture_of(state: StabilityState, name: str) -> Any:
    """Draw a picture as it may be shared."""
    if name == "curve":
        return charts.stability_curve_chart(
            charts.stability_curve_table(state.table()), goal=GOAL, width=760
        )
    study: Any = state.study
    hidden = state.hidden(study)
    if name == "bars":
        return charts.cluster_stability_chart(
            charts.cluster_stability_table(study, hidden=hidden), width=760
        )
    return charts.consensus_chart(charts.consensus_matrix(study, blocks=True, hidden=hidden))
