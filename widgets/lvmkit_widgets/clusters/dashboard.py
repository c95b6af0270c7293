"""The cluster explorer as a dashboard, its base for one cohort after another, and that of dashboards which open one."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import panel as pn

from lvmkit.core.arguments import checked
from lvmkit_widgets.clusters.attributes_tab import AttributesTab
from lvmkit_widgets.clusters.codes_tab import CodesTab, draw_profile, first_code
from lvmkit_widgets.clusters.compare_tab import CompareTab
from lvmkit_widgets.clusters.edit_tab import EditTab
from lvmkit_widgets.clusters.export_tab import ClusterExportTab
from lvmkit_widgets.clusters.new_patient_tab import NewPatientTab
from lvmkit_widgets.clusters.overview_tab import OverviewTab
from lvmkit_widgets.clusters.patients_tab import ClusterPatientsTab
from lvmkit_widgets.clusters.sidebar import ClusterSidebar, ClusterStepsBar, footer, subtitle
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.state import State
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status
from lvmkit_widgets.ui.words import refuse

S = TypeVar("S", bound=State)
MOST_PICTURES = 600_000  # bytes of pictures of codes; with more the page would grow too large
FOLLOW = ("relevance", "heat", "summary", "evidence")


class ExplorerDashboard(TabbedDashboard[ExplorerState]):
    """All parts of the explorer, bound to one state at a time."""

    addresses = (
        ("cluster", "sizes", "selected", None),
        ("lambda", "relevance", "balance", (0, 1)),
        ("search", "relevance", "search", None),
    )

    def __init__(self, above: dict[str, Component] | None = None) -> None:
        self._steps, self._sidebar = ClusterStepsBar(), ClusterSidebar()
        first = [OverviewTab(), CodesTab(), AttributesTab(), CompareTab()]
        super().__init__(
            {"status": Status(), **(above or {})},
            frame=[self._steps, self._sidebar],
            tabs=[*first, ClusterPatientsTab(), NewPatientTab(), EditTab(), ClusterExportTab()],
            title="Cluster explorer",
        )

    @property
    def parts_layout(self) -> list[Any]:
        """Where the parts stand."""
        return [
            {"row": [self._steps.layout, "status"], "widths": [1, 3]},
            {"sidebar": self._sidebar.layout, "main": ["naming", self.tabs_layout]},
        ]

    def _page_cases(self, state: ExplorerState) -> list[Cases[ExplorerState]]:
        """Return what happens when the reader of a saved page picks a cluster."""
        return [clusters_to_pick(state)]

    def _heading(self, state: ExplorerState) -> dict[str, str]:
        """Title, subtitle and footer."""
        return {"title": state.title, "subtitle": subtitle(state), "footer": footer(state)}

    def _keep(self, old: ExplorerState, new: ExplorerState) -> None:
        """Save the model after a step."""
        if new.history is not old.history:
            self.keep_file()

    def keep_file(self) -> None:
        """Save the model, where the reader wants that; a file that somebody else has written is left alone."""
        state, place = self.state, self.state.autosave
        if place is None:
            return
        if changed := state.files.changed(place):
            self.state = state.replace(autosave=None)
            what = f"It is not saved: “{place}” {changed}. Name one under Steps and files."
            refuse(f"{state.message} {what}".strip())
        state.files.save(self._model_to_save(state), place)

    def _model_to_save(self, state: ExplorerState) -> Any:
        """Return what is written after every step."""
        return state.model


class ClusterExplorer(ExplorerDashboard):
    """Dashboard of the clusters of a cohort.

    Parameters
    ----------
    model : BernoulliMixture
        Fitted; names, notes and merges saved with it are restored. The explorer works on a copy of
        them: several can be open on one model, and only `explorer.state.save` changes it.
    cohort : AnnData
        Patients by codes.
    name : str, optional
        What the cohort is called in the heading; by default what it says of its source.
    source : str, optional
        Python that gives `model` and `cohort`, for the record of steps.

    Raises
    ------
    TypeError
        When the model is not a fitted mixture, or the cohort not a table.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> model = lvmkit.BernoulliMixture(n_components=4).fit(cohort)
    >>> explorer = ClusterExplorer(model, cohort)
    >>> explorer.state = explorer.state.rename(0, "Heart")
    >>> explorer.state.clustering.labels[0]
    'Heart'
    """

    @checked()
    def __init__(self, model: Any, cohort: Any, *, name: str = "", source: str = "") -> None:
        state = ExplorerState.of(model, cohort, name=name, source=source)
        super().__init__()
        self.stage.layout = self.parts_layout
        self.show_state(state)


class ExplorerBelow(TabbedDashboard[S]):
    """A dashboard whose `explorer` is shown below it; in a notebook the reader is told how to open one."""

    called: ClassVar[str] = ""  # What examples call the dashboard
    explored: ClassVar[str] = ""  # What the explorer shows
    _column: Any = None

    def explorer(self) -> ClusterExplorer:
        """Return a cluster explorer of what is picked."""
        raise NotImplementedError

    def open_explorer(self) -> None:
        """Open the cluster explorer below this dashboard; in a notebook, tell how to."""
        if self._column is None:
            self.say(f"Run this in the next cell: {self.called}.explorer()", state="info")
            return
        label = f"Opening the {self.explored} in the cluster explorer"
        self.background(lambda _: self.explorer(), self._show_below, label=label, can_cancel=False)

    def _opened(self, explorer: ClusterExplorer) -> str:
        """Name what an explorer shows."""
        raise NotImplementedError

    def _show_below(self, explorer: ClusterExplorer) -> None:
        """Show an explorer under this dashboard."""
        self._column[:] = [self._sync.page(), explorer.__panel__()]
        self.say(f"The {self._opened(explorer)} are open in the cluster explorer below.")

    def __panel__(self) -> Any:
        """Return the dashboard, with room for an explorer below, as a Panel column; always the same one."""
        if self._column is None:
            self._column = pn.Column(self._sync.page(), sizing_mode="stretch_width", margin=0)
        return self._column


def clusters_to_pick(state: ExplorerState) -> Cases[ExplorerState]:
    """Return what happens when the reader picks a cluster; its code is shown where there is room for all."""
    states = {str(id): state.replace(cluster=id, code="") for id in state.clustering.ids}
    counts = state.counts()
    pictures = (draw_profile(one, counts, first_code(one, counts)) for one in states.values())
    room = sum(map(len, pictures)) <= MOST_PICTURES
    return Cases("sizes.selected", states, only=[*FOLLOW, *(["profile"] if room else [])])
