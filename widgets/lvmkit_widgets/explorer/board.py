"""The explorer as a dashboard that can be opened on one cohort after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lvmkit_widgets.component import Component
from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.explorer import report
from lvmkit_widgets.explorer.change import Change
from lvmkit_widgets.explorer.compare import Compare
from lvmkit_widgets.explorer.heading import footer, subtitle
from lvmkit_widgets.explorer.marks import Marks
from lvmkit_widgets.explorer.members import Members
from lvmkit_widgets.explorer.newcomer import Newcomer
from lvmkit_widgets.explorer.overview import Overview
from lvmkit_widgets.explorer.part import Part
from lvmkit_widgets.explorer.people import People
from lvmkit_widgets.explorer.share import Share
from lvmkit_widgets.explorer.strip import Steps, Strip
from lvmkit_widgets.explorer_state import ExplorerState
from lvmkit_widgets.kinds import Status


class ExplorerBoard(Dashboard):
    """All parts of the explorer, bound to one state at a time.

    Parameters
    ----------
    above : mapping of str to Component
        Further components, for instance to open files.
    """

    state: ExplorerState

    def __init__(self, above: dict[str, Component] | None = None) -> None:
        self._steps, self._strip = Steps(), Strip()
        self._frame: list[Part] = [self._steps, self._strip]
        self._overview, self._compare = Overview(), Compare()
        first: list[Part] = [self._overview, Marks(), People(), self._compare]
        self._tabs = [*first, Members(), Newcomer(), Change(), Share()]
        components: dict[str, Component] = {"status": Status(), **(above or {})}
        for part in (*self._frame, *self._tabs):
            components |= part.components
        super().__init__(components, "status", title="Cluster explorer")
        self.stage.tabs = {"main": 0}
        for part in (*self._frame, *self._tabs):
            part.connect(self)
        self.listen("stage", "tabs", lambda _: self._refresh(set()))

    @property
    def parts_layout(self) -> list[Any]:
        """Where the parts stand."""
        tabs = [{"title": part.title, "content": part.layout} for part in self._tabs]
        return [
            {"row": [self._steps.layout, "status"], "widths": [1, 3]},
            {"sidebar": self._strip.layout, "main": ["naming", {"tabs": tabs, "id": "main"}]},
        ]

    def show_state(self, state: ExplorerState) -> None:
        """Explore another state from now on.

        Parameters
        ----------
        state : ExplorerState
            Model and cohort.
        """
        self.state = state
        with self.batch():
            for part in (*self._frame, *self._tabs):
                part.bind(state)
            self._refresh(set(state.param))
        state.param.watch(self._changed, [field for field in state.param if field != "name"])

    def to_html(self, path: str | Path) -> Path:
        """Save a report: one file, totals only, small counts hidden, without patients.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        Path
            The file.
        """
        hidden = self.state.hide_small
        with self.batch():
            try:
                self.state.hide_small = True
                for part in (*self._frame, *self._tabs):
                    self._update(part)
                return super().to_html(path)
            finally:
                self.state.hide_small = hidden

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return what a saved page shows instead.

        Returns
        -------
        dict
            The heading and the heat map without small counts, and the first codes of the tables.
        """
        return report.fixed(self.state, self._overview, self._compare)

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what else a saved page shows when the reader picks a cluster.

        Returns
        -------
        list of dict
            For each cluster, its codes and where the first of them sits.
        """
        return report.cases(self.state)

    def _changed(self, *events: Any) -> None:
        """Follow the state: everything that is seen, once."""
        if events[0].obj is not self.state:
            return
        names = {event.name for event in events}
        with self.batch():
            self._refresh(names)
            if "message" in names and self.state.message:
                self.say(self.state.message)

    def _refresh(self, names: set[str]) -> None:
        """Refresh the parts that are seen; remember which others are out of date."""
        opened = self._tabs[self.stage.tabs.get("main", 0)]
        for part in (*self._frame, *self._tabs):
            part.stale |= bool(part.depends & names)
            if part.stale and (part in self._frame or part is opened):
                self._update(part)
        if names & {"assignment", "history", "hide_small", "threshold"}:
            self.stage.param.update(
                title=self.state.title, subtitle=subtitle(self.state), footer=footer(self.state)
            )

    def _update(self, part: Part) -> None:
        """Refresh a part."""
        part.stale = False
        part.refresh()
