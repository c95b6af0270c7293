"""The dashboard of the stability of a clustering, and the files that it hands over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import lvmkit
from lvmkit.cohorts.weights import not_weighted
from lvmkit.core.arguments import checked
from lvmkit.models import Model
from lvmkit_widgets.stability.clusters_tab import (
    ClusterStabilityTab,
    ConsensusTab,
    bars_of,
    clusters_frame,
    consensus_of,
)
from lvmkit_widgets.stability.curve_tab import CurveTab, curve_of, row_id
from lvmkit_widgets.stability.data import Subject
from lvmkit_widgets.stability.run_form import RunForm
from lvmkit_widgets.stability.state import NOTHING, StabilityState, checked_repeats
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    ExportTab,
    model_export,
    page_export,
    table_export,
)
from lvmkit_widgets.ui.page import target_of
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Cases, Fields, Tab, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status, Text
from lvmkit_widgets.ui.words import small_counts

REPEATS = "Adjusted Rand index of every method, number and repeat."
CLUSTERS = "Stability of the clusters that are looked at, and with which they swap members."
PAGE = "One file that answers without Python and without internet; totals only."
MODEL = (
    "The method and number that are looked at, fitted to all rows; of the model itself, that one with its names. "
    "lvmkit.load reads it."
)
SAVED_CASES = 24  # methods and values of which a saved page holds the pictures


class StabilityPanel(TabbedDashboard[StabilityState]):
    """Dashboard of the stability of a clustering, alone and against other methods and numbers of clusters.

    Measuring begins when a browser shows the dashboard (in Python: with `measure`), on a sample of the
    rows where there are many, and every repeat is shown as soon as it is there.

    Parameters
    ----------
    estimator : clusterer
        Anything with `fit` and `labels_` or `predict`. The clusters of a fitted one are looked for in
        other fits, under the names kept in its `annotations_`; one that is not fitted yet is fitted to
        all rows. It is never changed.
    cohort : AnnData, DataFrame, array or sparse matrix (n, d)
        The rows.
    methods : mapping of str to estimator or callable, optional
        What to compare with; a callable takes a value and returns an estimator. By default k-means,
        bisecting k-means and a spectral tree; an empty mapping compares with nothing.
    values : iterable of int, optional
        Numbers of clusters, or depths, to compare; by default some around the estimator's own.
    n_repeats : int, default=5
        Repeats of each.

    Raises
    ------
    TypeError
        When the estimator is none, or the cohort no table.
    ValueError
        When there are fewer than 20 rows, or an option is out of range.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:1000]
    >>> model = lvmkit.BernoulliMixture(n_components=3).fit(cohort)
    >>> panel = StabilityPanel(model, cohort, methods={}, values=[2, 3], n_repeats=2)
    >>> panel.measure()
    >>> panel.state.study.n_repeats
    2
    """

    addresses = (("pick", "values", "selected", None),)

    @checked()
    def __init__(
        self,
        estimator: Any,
        cohort: Any,
        *,
        methods: Mapping[str, Any] | None = None,
        values: Iterable[int] | None = None,
        n_repeats: int = 5,
    ) -> None:
        subject = Subject(estimator, cohort, methods)
        state = StabilityState.of(subject, values=values, n_repeats=checked_repeats(n_repeats))
        self._run = RunForm()
        tabs = [CurveTab(), ClusterStabilityTab(), ConsensusTab(), StabilityExportTab()]
        status, frame = Status(waiting=True), [VerdictText(), self._run]
        super().__init__({"status": status}, frame=frame, tabs=tabs, title="Stability")
        self.stage.layout = ["status", "verdict", {"sidebar": "run", "main": self.tabs_layout}]
        self.show_state(state)

    def measure(self) -> None:
        """Measure what is still to be measured, and return when it is done."""
        self._run.measure()

    @checked()
    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet.

        It holds totals only; clusters of fewer than 11 rows are named, and nothing else is told of them.
        Where nothing has been measured yet, everything is measured first.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        Path
            The file.
        """
        target_of(path)  # before everything is measured
        if self.state.study is None and not self.busy:
            self.measure()
        return super().to_html(path)

    def _page_state(self) -> StabilityState:
        """Return the state that a saved page shows, with pictures of what is measured."""
        state = self.state
        known = [cell for cell in state.cells() if state.study_of(cell) is not None]
        return state.for_others.replace(held=frozenset(known[:SAVED_CASES]))

    def _page_cases(self, state: StabilityState) -> Iterable[Cases[StabilityState]]:
        """Return what happens when the reader of a saved page picks another method or value."""
        states = {row_id(cell): state.pick(*cell) for cell in state.cells()}
        return [Cases("values.selected", states, only=["verdict", "clusters", "bars", "blocks"])]

    def _heading(self, state: StabilityState) -> dict[str, str]:
        """Title, subtitle and footer."""
        subject = state.subject
        parts = [
            f"{subject.n_rows:,} {subject.row_name} · {subject.matrix.shape[1]:,} columns",
            f"{len(state.chosen)} methods · {len(state.values)} {subject.what}",
            f"{state.n_repeats} repeats of each",
            not_weighted(subject.cohort),
        ]
        told = small_counts(state.disclosure.threshold, hidden=True)
        return {
            "title": f"Stability of {subject.name}",
            "subtitle": " · ".join(filter(None, parts)),
            "footer": "Clusters keep the numbers of the model. "
            f"{told} Nothing is told of clusters as small as that.",
        }


class VerdictText(Tab[StabilityState]):
    """Two or three sentences above everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.components = {"verdict": Text(title="In short", tone="note")}
        self.layout = "verdict"

    def fields(self, state: StabilityState) -> Fields:
        """Show the verdict on what is looked at."""
        return {"verdict": {"text": verdict_of(state)}}


@remembered
def verdict_of(state: StabilityState) -> str:
    """Say how stable the clusters are that are looked at, and what is recommended."""
    study, cell = state.study, state.picked
    told = [failed for failed in [state.failures.get(cell, "")] if failed]
    if study is not None:
        study = replace(study, planned=max(state.n_repeats, study.n_repeats))
        told.append(f"**{state.cell_name}.** {study.verdict(unnamed=state.hidden(study))}")
    elif not told:
        told.append(f"**{state.cell_name}.** {NOTHING}")
    return "\n\n".join([*told, *recommended(state), *sampled(state)])


def recommended(state: StabilityState) -> list[str]:
    """Say which value is recommended, and why."""
    table = state.table()
    mine = table[table["method"] == state.method]
    if mine["value"].nunique() < 2:
        return []
    found = state.recommended()
    if found.value is None:
        return [f"None is recommended: {found.why}"]
    what, why = state.subject.value_name, found.why.partition(": ")[2]
    return [f"**Recommended {what} for {state.method}: {found.value}**, {why}"]


def sampled(state: StabilityState) -> list[str]:
    """Say what rests on a sample of the rows."""
    subject = state.subject
    cells = [cell for cell in state.cells() if state.is_sampled(cell)]
    if subject.sample is None or not cells:
        return []
    size = f"a sample of {len(subject.sample):,} of the {subject.n_rows:,} {subject.row_name}"
    if state.is_sampled(state.picked):
        return [f"So far this rests on {size}; all of them follow."]
    return [f"{len(cells)} of the {len(state.cells())} numbers compared rest on {size} so far."]


def can_be_saved(state: StabilityState) -> bool:
    """Tell whether `lvmkit.save` takes the model that is looked at."""
    try:
        return isinstance(state.subject.estimator_at(*state.picked), Model)
    except Exception:  # noqa: BLE001 - methods may raise anything; measuring tells what
        return False


class StabilityExportTab(ExportTab[StabilityState]):
    """Buttons that hand over files."""

    exports = (
        table_export(
            "repeats", "Every repeat", StabilityState.table, REPEATS, file="stability-repeats"
        ),
        table_export("clusters", "Clusters", clusters_frame, CLUSTERS, file="stability-clusters"),
        Export("curve", "Stability (PNG)", "stability-curve.png", curve_of),
        Export("bars", "Clusters (PNG)", "stability-bars.png", bars_of),
        Export("consensus", "Consensus (PNG)", "stability-consensus.png", consensus_of),
        page_export("stability.html", PAGE),
        model_export(
            lambda state, path: lvmkit.save(state.estimator_at(), path), MODEL, offered=can_be_saved
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
