"""Export tab of the stability panel: tables, pictures, page, model."""

from __future__ import annotations

from functools import partial
from typing import Any

import lvmkit
from lvmkit.models import Model
from lvmkit_widgets.stability.clusters_tab import bars_of, clusters_frame, consensus_of
from lvmkit_widgets.stability.curve_tab import curve_of
from lvmkit_widgets.stability.state import NOTHING, StabilityState
from lvmkit_widgets.ui.export import TWICE, Export, ExportTab, page_export, written


def can_be_saved(state: StabilityState) -> bool:
    """Tell whether `lvmkit.save` takes the model that is looked at."""
    try:
        return isinstance(state.subject.estimator_at(*state.picked), Model)
    except Exception:  # noqa: BLE001 - methods may raise anything; measuring tells what
        return False


class StabilityExportTab(ExportTab[StabilityState]):
    """Buttons that hand over files."""

    exports = (
        Export(
            "repeats",
            "Every repeat (CSV)",
            "stability-repeats.csv",
            lambda state: state.table(),
            "Adjusted Rand index of every method, number and repeat.",
        ),
        Export(
            "clusters",
            "Clusters (CSV)",
            "stability-clusters.csv",
            clusters_frame,
            "Stability of the clusters that are looked at, and with which they swap members.",
        ),
        Export("curve", "Stability (PNG)", "stability-curve.png", curve_of),
        Export("bars", "Clusters (PNG)", "stability-bars.png", bars_of),
        Export("consensus", "Consensus (PNG)", "stability-consensus.png", consensus_of),
        page_export(
            "stability.html",
            "One file that answers without Python and without internet; totals only.",
        ),
        Export(
            "model",
            "Model (npz)",
            "model.npz",
            lambda state: written(partial(lvmkit.save, state.estimator_at()), "model.npz"),
            "The method and number that are looked at, fitted to all rows; of the model itself, that one "
            "with its names. lvmkit.load reads it.",
            offered=can_be_saved,
        ),
    )

    def note(self, state: StabilityState) -> str:
        """Say what is looked at, and what files hold."""
        least = state.disclosure.threshold
        return (
            f"Looked at: {state.cell_name}. Sizes below {least} are hidden everywhere. In Python, "
            f"state.estimator_at({state.value}) returns it fitted to all rows, to be used elsewhere. While repeats are "
            f"measured the buttons wait; a cancel frees them. {TWICE}"
        )

    def content(self, export: Export[Any], state: StabilityState, file: str) -> bytes:
        """Make the contents of a file, once something is measured."""
        if state.study is None and export.name != "model":
            raise ValueError(NOTHING)
        return super().content(export, state, file)
