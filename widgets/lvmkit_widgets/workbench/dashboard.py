"""The workbench: the cluster explorer with a form that opens cohorts, and a menu of other dashboards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anndata import AnnData

from lvmkit.cohorts.open_file import Layout
from lvmkit.core.arguments import checked
from lvmkit_widgets.clusters.dashboard import ExplorerDashboard
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.words import refuse
from lvmkit_widgets.workbench.open_form import Kept, Opened, OpenForm, fit_or_load, needs_columns
from lvmkit_widgets.workbench.registry import HOME, VIEWS
from lvmkit_widgets.workbench.sessions import KEY, restored, session_notes
from lvmkit_widgets.workbench.views import DashboardMenu, Work

AGAIN = "Open another cohort, or go on with an earlier one"


class Workbench(ExplorerDashboard):
    """Cluster explorer that opens cohorts, with a menu of all dashboards that the cohort allows.

    They show the same patients, clusters and names: those that the explorer shows when one is opened.

    Parameters
    ----------
    cohort_or_path : AnnData, str or Path, optional
        Opened and fitted at once; a name such as "nhds2010" or a path. Without it, the reader
        chooses.
    k : int, default=8
        Number of clusters of the first fit.

    Examples
    --------
    >>> import lvmkit
    >>> bench = Workbench(lvmkit.datasets.load_discharges()[:2000], k=4)
    >>> bench.state.clustering.ids
    [0, 1, 2, 3]
    >>> bench.open_view("tree").state.corpus.obs["cluster"].nunique()
    4
    """

    @checked(k=1)
    def __init__(self, cohort_or_path: Any = None, *, k: int = 8) -> None:
        self.opener = OpenForm()
        self._kept: Kept | None = None
        self._sessions: list[tuple[Any, str]] = []
        super().__init__(self.opener.components)
        self.stage.param.update(
            title="lvmkit workbench",
            subtitle="Which patients belong together? Open a cohort to see.",
            layout=["status", "intro", *self.opener.layout],
            here=HOME,
            view=HOME,
        )
        self.dashboards = DashboardMenu(self, VIEWS)
        self.listen("open", "pressed", self._open_pressed)
        self.listen("columns", "pressed", self._columns_pressed)
        self.listen("status", "pressed", self._anew)
        self.listen("recent", "pick", self._continue)
        if isinstance(cohort_or_path, Opened):  # read and fitted for all visitors of a server
            self._show(cohort_or_path)
        elif isinstance(cohort_or_path, (str, Path)):
            self._open(str(cohort_or_path), k=k)
        elif cohort_or_path is not None:
            if not isinstance(cohort_or_path, AnnData):
                message = (
                    "cohort_or_path must be a cohort (an AnnData table), a path, or a name such as 'nhds2010'; "
                    f"found {type(cohort_or_path).__name__}."
                )
                raise TypeError(message)
            source = "# cohort: the cohort that was opened"
            self._show(fit_or_load(cohort_or_path, k, source=source))

    # -- dashboards of what is open --------------------------------------------------------------

    @checked()
    def open_view(self, key: str) -> Any:
        """Show another dashboard of the same patients, clusters and names.

        Parameters
        ----------
        key : str
            One of the menu's: "clusters", "tree", "cards", "topics", "stability" or "covariates".

        Returns
        -------
        Dashboard
            The one that is shown.

        Raises
        ------
        ValueError
            If there is no such dashboard of this cohort, or none can be made of it.
        """
        known = [entry[0] for entry in self.stage.menu]
        if key not in known:
            refuse(f"There is no dashboard {key!r} of this cohort; there are {', '.join(known)}.")
        self.dashboards.turn_to(key)
        return self.dashboards.board

    def widget(self) -> Any:
        """Return the dashboard that is shown as a Jupyter widget; always the same one.

        Returns
        -------
        ipywidgets.VBox
            Layouts of ipywidgets take it: `ipywidgets.VBox([bench.widget()])`.
        """
        return self.dashboards.widget

    def __panel__(self) -> Any:
        """Return the dashboard that is shown as a Panel component; always the same one."""
        return self.dashboards.page

    def follow_address(self) -> None:
        """Let the address of the page carry which dashboard is shown, and what is looked at."""
        self.dashboards.addressed = True
        self.dashboards.follow_address(self)

    # -- opening -----------------------------------------------------------------------------------

    def _open_pressed(self, _: str) -> None:
        """Open what is chosen."""
        values, choice, model = self.opener.choose.values, self.opener.choice, self.opener.model
        if values.get("k") is None:
            refuse("Say how many clusters to look for.")
        self.opener.columns.visible = False
        if needs_columns(choice):
            self.opener.ask_columns(choice)
            self.say("Say which columns hold the codes, then open the file.", state="info")
            return
        self._open(choice, k=int(values["k"]), model=model)

    def _columns_pressed(self, _: str) -> None:
        """Open the file with the columns that were named."""
        layout = self.opener.layout_asked
        k = int(self.opener.choose.values.get("k") or 8)
        self._open(self.opener.choice, k=k, model=self.opener.model, layout=layout)

    def _open(
        self,
        choice: str,
        *,
        k: int,
        model: str = "",
        layout: Layout | None = None,
        session: Any = None,
    ) -> None:
        """Read and fit beside the dashboard; where visits are kept, go on with an earlier one."""
        before, opener = self._kept, self.opener
        if session is None and before is not None and not model and layout is None:
            session = type(before.session).of(choice, k)

        def work(progress: Any) -> Opened:
            known, told = (None, "") if session is None else session.model()
            file = model if known is None else str(session.path)
            opened = opener.open(choice, k=k, model=file, layout=layout)(progress)
            if before is None or session is None:
                return opened
            anew = opener.open(choice, k=k)
            return opened._replace(kept=Kept(session, anew, told, before.recent))

        self.background(work, self._show, label="Opening the cohort")

    def _show(self, opened: Opened) -> None:
        """Explore what was opened."""
        state, kept = explored(opened), opened.kept
        if kept is not None:
            state = state.replace(autosave=str(kept.session.path))
        with self.batch():
            self.show_state(state)
            self.opener.tell_repairs(opened.cohort)
            self.opener.columns.visible = False
            again = {"section": self.opener.layout, "title": AGAIN, "closed": True}
            self.stage.layout = [*self.parts_layout, again]
            self.dashboards.renew(self._work_of(opened))
            self.say(state.message or f"Opened: {state.title}.")
        if kept is not None:
            self._kept = kept
            mine = kept.session.path
            self._sessions = [one for one in kept.recent() if one[0].path != mine]
            self.opener.list_recent(self._sessions)
            if kept.told:
                told = " ".join(filter(None, (kept.told, state.message)))
                self.say(told, state="info", actions=[("anew", "Begin anew")])

    def _work_of(self, opened: Opened) -> Work:
        """Return what is known of other dashboards of a cohort."""
        work = Work() if opened.work is None else opened.work
        notes = (getattr(opened.model, "annotations_", None) or {}).get(KEY)
        views = notes.get("views") if isinstance(notes, dict) else None
        if isinstance(views, dict) and not work.kept:
            work.kept.update({k: v for k, v in views.items() if isinstance(v, dict)})
        return work

    def _continue(self, place: int) -> None:
        """Go on with what was worked on before."""
        session, _ = self._sessions[int(place)]
        if not session.source:
            refuse(f"What was kept there cannot be read. The file is {session.path}.")
        self._open(session.source, k=session.k, session=session)

    def _anew(self, button: str) -> None:
        """Read and fit anew, and put aside what was kept."""
        kept = self._kept
        if button != "anew" or kept is None:
            return

        def begun(opened: Opened) -> None:
            kept.session.put_aside("earlier")
            self._show(opened._replace(kept=kept._replace(told="")))
            self.keep_file()  # or a reload would show what the server began with

        self.background(kept.work, begun, label="Beginning anew")

    # -- what is kept ------------------------------------------------------------------------------

    def _model_to_save(self, state: ExplorerState) -> Any:
        """Return the model with steps, what is looked at, and what was done in other dashboards."""
        model, kept = state.model, self._kept
        if kept is not None and state.autosave == str(kept.session.path):
            about = {"source": kept.session.source, "k": kept.session.k}
            model.annotations_[KEY] = {
                **session_notes(state),
                **about,
                "views": self.dashboards.to_notes(),
            }
        return model


def explored(opened: Opened) -> ExplorerState:
    """Return the state of what was opened, with the steps of an earlier visit."""
    if opened.state is not None:
        state: ExplorerState = opened.state.for_another()
        return state.replace(model_opened=opened.model)
    state = ExplorerState.of(opened.model, opened.cohort, name=opened.name, source=opened.source)
    notes = getattr(opened.model, "annotations_", None) or {}
    if opened.kept is None or KEY not in notes:
        return state
    try:
        return restored(state, notes[KEY])
    except ValueError as error:  # names, notes and merges are there without them
        told = f"{state.message} Earlier steps cannot be undone: {error}."
        return state.replace(message=told.strip())
