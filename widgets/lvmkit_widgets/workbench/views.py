"""Dashboards of what a workbench has open: one menu, one cohort, the same clusters, names and picks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ipywidgets
import numpy as np
import panel as pn

import lvmkit
from lvmkit.core.typing import Labels
from lvmkit.mixtures.clustering import Clustering
from lvmkit.mixtures.refit import quiet
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.state import StepState
from lvmkit_widgets.ui.widgets import Status
from lvmkit_widgets.workbench.registry import HOME, View

COLUMN = "cluster"
"""The attribute under which other dashboards show the cluster of a patient."""
WAITING = "waiting"
"""The key of a page that waits for a dashboard."""
KEPT = 8  # fits that all visitors share


class Shown(NamedTuple):
    """What other dashboards are made of: the patients that are shown, and their clusters."""

    cohort: Any  # Patients by codes, with the attribute `cluster`
    clustering: Clustering
    labels: Labels  # Place of each patient's cluster
    picked: int  # Place of the cluster that is picked
    name: str  # Of the cohort
    model: Any = None  # Of the same dashboard before
    kept: Mapping[str, Any] | None = None  # "params" and "annotations" of an earlier visit
    fits: Fits | None = None
    key: str = ""  # What the fit depends on

    @classmethod
    def of(cls, state: ExplorerState) -> Shown:
        """Return what a cluster explorer shows."""
        patients, clustering, labels = state.patients, state.clustering, labels_of(state)
        known = set(state.codes)
        columns = [i for i, code in enumerate(patients.codes) if code in known]
        cohort = patients.cohort[patients.rows(state.view.subset)]
        cohort = cohort[:, columns].copy() if len(columns) < cohort.n_vars else cohort.copy()
        column = COLUMN if COLUMN not in cohort.obs else f"{COLUMN} of the workbench"
        cohort.obs[column] = np.array(clustering.labels, dtype=object)[labels]
        picked = clustering.position(state.cluster)
        return cls(cohort, clustering, labels, picked, state.title)

    def fitted(self, make: Callable[[dict[str, Any]], Any]) -> Any:
        """Return the model of the dashboard before, or one fitted with the parameters that were kept."""
        if self.model is not None:
            return self.model
        kept, fits = self.kept or {}, self.fits or Fits()
        params, notes = kept.get("params"), kept.get("annotations")
        try:
            fitted = copy(fits.get(self.key, make, params if isinstance(params, dict) else {}))
        except (TypeError, ValueError):
            if not params:
                raise
            fitted = copy(fits.get(self.key, make, {}))  # what was kept is none of ours
        if isinstance(notes, dict) and notes:
            fitted.annotations_ = notes
        return fitted

    def of_clusters(self) -> Any:
        """Return a mixture of the clusters, as they were merged and named."""
        clustering = self.clustering
        codes = list(clustering.mixture.codes)
        model = lvmkit.BernoulliMixture.from_parameters(
            clustering.weights, clustering.centers, feature_names=codes
        ).set_params(binarize=0)
        model.labels_ = self.labels
        names = {str(i): cluster.name for i, cluster in enumerate(clustering.clusters)}
        model.annotations_ = {"topic_names": {i: name for i, name in names.items() if name}}
        return model


class Fits:
    """Models that were fitted, so that no page fits again what another has."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def get(self, key: str, make: Callable[[dict[str, Any]], Any], params: dict[str, Any]) -> Any:
        """Return a model, fitted if nobody has asked for it yet."""
        key = f"{key} {json.dumps(params, sort_keys=True)}"
        if key not in self._known:
            made = make(params)
            while len(self._known) >= KEPT:
                self._known.pop(next(iter(self._known)), None)
            self._known[key] = made
        return self._known[key]


class Left(NamedTuple):
    """How a dashboard was left: what its fit and all of it depend on, and its state."""

    fit_key: str
    key: str
    state: Any
    picked: int | None  # Cluster of the explorer that it was told of last


@dataclass
class Work:
    """What the pages of one session share beside the file: fits, and how dashboards were left."""

    fits: Fits = field(default_factory=Fits)
    left: dict[str, Left] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)  # As the session's file has it


class DashboardMenu:
    """The dashboards of a workbench, of which one is shown at a time."""

    def __init__(self, bench: Any, views: Mapping[str, View]) -> None:
        self.bench, self.views = bench, dict(views)
        self.work = Work()
        self.here, self._coming = HOME, ""  # what is shown, and what is being made
        self.addressed = False  # whether the address of the page tells which is shown
        self._boards: dict[str, Any] = {HOME: bench}
        self._column: Any = None
        self._box: Any = None
        self._follow(HOME, bench)

    # -- hosts -------------------------------------------------------------------------------------

    @property
    def page(self) -> Any:
        """The dashboard that is shown as a Panel column; always the same one."""
        if self._column is None:
            self._column = pn.Column(
                self._page_of(self.here), sizing_mode="stretch_width", margin=0
            )
        return self._column

    @property
    def widget(self) -> Any:
        """The same as a Jupyter widget."""
        if self._box is None:
            self._box = ipywidgets.VBox([self._widget_of(self.here)])
        return self._box

    def _page_of(self, key: str) -> Any:
        """Return a dashboard for Panel."""
        board = self._boards[key]
        return Dashboard.__panel__(board) if key == HOME else board.__panel__()

    def _widget_of(self, key: str) -> Any:
        """Return a dashboard for Jupyter."""
        return Dashboard.widget(self._boards[key])

    # -- what is shown -----------------------------------------------------------------------------

    def renew(self, work: Work) -> None:
        """Offer the dashboards of another cohort."""
        self.work, self._boards = work, {HOME: self.bench}
        cohort = self.bench.state.patients.cohort
        offered = [[key, v.label, v.help] for key, v in self.views.items() if v.offered(cohort)]
        clusters = [HOME, "Clusters", "Groups of patients, and what marks each of them"]
        self.bench.stage.menu = [clusters, *offered]
        if self.here != HOME:
            self._show(HOME)

    @property
    def board(self) -> Any:
        """The dashboard that is shown."""
        return self._boards[self.here]

    def turn_to(self, key: str) -> None:
        """Show a dashboard, made first where there is none of what the explorer shows now."""
        view, state = self.views.get(key), self.bench.state
        if key in (self.here, self._coming) or (view is None and key != HOME):
            return
        left = self.work.left.get(key)
        if view is None or (key in self._boards and left and left.key == key_of(key, view, state)):
            self._show(key)
            return
        before, board = self.here, self.board
        if board.busy:  # it goes on with its work
            board = self._waiting(view)
        self._coming = board.stage.view = key

        def stay() -> None:
            self._coming = ""
            if self.here == WAITING:
                self._show(before)
            board.stage.view = board.stage.here

        if not board.background(
            lambda progress: self._made(key, state, progress),
            lambda made: self._take(key, state, made),
            label=view.doing,
            undone=stay,
        ):
            stay()

    def _waiting(self, view: View) -> Any:
        """Show a page that waits for a dashboard, in the place of one that is at work itself."""
        board = Dashboard({"status": Status()}, "status", title=view.label)
        board.stage.param.update(menu=self.bench.stage.menu, here=WAITING, view=WAITING)
        self._boards[WAITING] = board
        self._follow(WAITING, board)
        self._show(WAITING)
        return board

    def _made(self, key: str, state: ExplorerState, progress: Any) -> Any:
        """Make a dashboard of what the explorer shows, as an earlier one was left."""
        view, fit_key = self.views[key], fit_key_of(key, self.views[key], state)
        left, kept = self.work.left.get(key), self.work.kept.get(key) or {}
        old = left.state if left is not None and left.fit_key == fit_key else None
        shown = Shown.of(state)._replace(
            model=getattr(old, "model", None),
            kept=kept if kept.get("fit") == fit_key else None,
            fits=self.work.fits,
            key=fit_key,
        )
        with quiet():  # dashboards say in their own words what was left out
            board = view.make(shown, progress)
        if self.addressed:  # what is left out of the address is what is seen at first
            self.follow_address(board)
        if old is not None:
            given = {name: getattr(board.state, name) for name in view.given}
            board.show_state(old.replace(**given, memory=board.state.memory))
        return board

    def _take(self, key: str, state: ExplorerState, board: Any) -> None:
        """Show a dashboard that was made."""
        view = self.views[key]
        self._boards[key] = board
        fit_key, left = fit_key_of(key, view, state), self.work.left.get(key)
        told = left.picked if left is not None and left.fit_key == fit_key else None
        self.work.left[key] = Left(fit_key, key_of(key, view, state), board.state, told)
        board.stage.param.update(menu=self.bench.stage.menu, here=key, view=key)
        self._follow(key, board)
        self._show(key)

    def follow_address(self, board: Any) -> None:
        """Let the address tell which dashboard is shown, and what of it."""
        board.home = HOME
        Dashboard.follow_address(board)

    def _show(self, key: str) -> None:
        """Put a dashboard in the place of the one that is shown."""
        before, self.here, self._coming = self._boards.get(self.here), key, ""
        board, state = self._boards[key], self.bench.state
        board.stage.view = key
        left = self.work.left.get(key)
        if left is not None and left.picked != state.cluster:
            self.work.left[key] = left._replace(picked=state.cluster)
            picked = state.clustering.position(state.cluster)
            board.state = self.views[key].pick(board.state, labels_of(state), picked)
        if key != WAITING:
            board.stage.unsaved = self._unsaved()
        if self._column is not None:
            self._column[:] = [self._page_of(key)]
        if self._box is not None:
            self._box.children = [self._widget_of(key)]
        if before is not None and before is not board:
            before.stage.view = before.stage.here

    def _follow(self, key: str, board: Any) -> None:
        """Turn to what the reader asks for, and hand on what is done with a dashboard."""
        board.listen(
            "stage", "view", lambda asked: self.turn_to(asked) if board is self.board else None
        )
        if key != WAITING:
            board.beside = self._unsaved
        if key in self.views:
            board.watch(lambda old, new: self._hand_on(key, board, old, new))

    def _unsaved(self) -> bool:
        """Tell whether work would be lost with the page."""
        return any(board.state.unsaved for key, board in self._boards.items() if key != WAITING)

    def _hand_on(self, key: str, board: Any, old: Any, new: Any) -> None:
        """Remember a state; tell the explorer of names and picks, and the session of steps."""
        if key not in self._boards or self._boards[key] is not board:
            return
        self.work.left[key] = self.work.left[key]._replace(state=new)
        bench = self.bench
        bench.state = self.views[key].back(bench.state, new)
        step = isinstance(new, StepState) and new.is_work and new.value is not old.value
        if step and bench.state.autosave is not None:
            bench.keep_file()
            board.state = new.replace(saved=new.value)

    def to_notes(self) -> dict[str, Any]:
        """Return what is kept of the dashboards' own models, as JSON values."""
        notes = dict(self.work.kept)
        for key, left in self.work.left.items():
            model = getattr(left.state, "model", None)
            if self.views[key].of == "patients" and model is not None:
                params = {
                    name: value
                    for name, value in model.get_params().items()
                    if isinstance(value, (int, str)) and not isinstance(value, bool)
                }
                notes[key] = {
                    "fit": left.fit_key,
                    "params": params,
                    "annotations": getattr(model, "annotations_", None) or {},
                }
        return notes


def labels_of(state: ExplorerState) -> Labels:
    """Return the place of each patient's cluster, (n,)."""
    place = np.zeros(max(state.clustering.ids) + 1, dtype=np.intp)
    place[state.clustering.ids] = np.arange(len(state.clustering.ids))
    return place[state.assignment.labels]


def fit_key_of(key: str, view: View, state: ExplorerState) -> str:
    """Return what a fit depends on, as a short text."""
    clustering = state.clustering
    parts: list[Any] = [key, state.view.subset.code, list(state.codes)]
    if view.of != "patients":
        parts += [clustering.ids, np.round(clustering.centers, 12).tobytes().hex()]
    if view.of == "cluster":
        parts += [state.cluster, clustering.cluster(state.cluster).label]
    return _short(parts)


def key_of(key: str, view: View, state: ExplorerState) -> str:
    """Return what all of a dashboard depends on: its fit, and the clusters with their names."""
    return f"{fit_key_of(key, view, state)} {_short(state.clustering.to_annotations())}"


def _short(value: Any) -> str:
    """Return a text that differs where JSON values do."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]
