"""Tabs of a dashboard, each a view of one state, and the dashboard that refreshes those in sight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import param

from lvmkit.core.arguments import checked
from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.widgets import Form

KEPT = 50  # pictures a part remembers
S = TypeVar("S", bound=param.Parameterized)


class Tab(Generic[S]):
    """A tab, or a part that is always seen: components, their layout, and how they show the state."""

    # Subclasses make `components` and `layout` when they are made, before any cohort is open, and write `refresh`.

    title: ClassVar[str] = ""
    depends: ClassVar[frozenset[str]] = frozenset()
    components: dict[str, Component]
    layout: Any
    state: S

    def __init__(self) -> None:
        self.stale = False
        self._drawn: dict[str, tuple[Any, ...]] = {}
        self._pictures: dict[tuple[Any, ...], str] = {}

    def attach(self, state: S) -> None:
        """Follow another state from now on."""
        self.state = state
        self.stale = True
        self._drawn, self._pictures = {}, {}

    def refresh(self) -> None:
        """Show the state as it is now."""
        raise NotImplementedError

    def show_selection(self) -> None:
        """Show what is picked, whether the part is seen or not."""
        # The browser hands picks on by links; fields that lag behind in Python would be sent when the part is opened,
        # and could undo what the reader picked a moment before.

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""

    def changed(self, name: str, *depends: Any) -> bool:
        """Tell whether something must be made again, and remember what it is made of now."""
        known = self._drawn.get(name)
        self._drawn[name] = depends
        return known is None or any(
            a is not b and a != b for a, b in zip(known, depends, strict=True)
        )

    def picture(self, draw: Callable[[], str], *depends: Any) -> str:
        """Draw a picture, or take the one drawn before."""
        if depends not in self._pictures:
            while len(self._pictures) >= KEPT:
                self._pictures.pop(next(iter(self._pictures)))
            self._pictures[depends] = draw()
        return self._pictures[depends]


class StepsBar(Tab[S]):
    """Undo and redo above every tab, and what else is set there; its state is an `UndoRedo`."""

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True)
        self.components = {"steps": self.form}
        self.layout = "steps"

    def options(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the controls beside undo and redo, and their values."""
        raise NotImplementedError

    def take(self, values: dict[str, Any]) -> None:
        """Take the values of these controls."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show the state as it is now."""
        state: Any = self.state
        controls, values = self.options()
        self.form.controls = [*undo_buttons(state.history), *controls]
        self.form.values = values

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("steps", "pressed", self._press)
        board.listen("steps", "values", lambda values: self.take(values))

    def _press(self, name: str) -> None:
        """Go a step back or forward."""
        state: Any = self.state
        state.press(name)


class TabbedDashboard(Dashboard, Generic[S]):
    """A dashboard of one state: some tabs always seen, the others refreshed when opened."""

    heading_depends: ClassVar[frozenset[str]] = frozenset()
    state: S

    def __init__(
        self,
        components: dict[str, Component],
        *,
        frame: Sequence[Tab[S]],
        tabs: Sequence[Tab[S]],
        title: str,
        links: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._frame, self._tabs = list(frame), list(tabs)
        every = dict(components)
        for part in self.every_part:
            every |= part.components
        super().__init__(every, next(iter(components)), title=title, links=links)
        self.stage.tabs = {"main": 0}
        for part in self.every_part:
            part.connect(self)
        self.listen("stage", "tabs", lambda _: self._sync.settled(lambda: self._refresh(set())))

    @property
    def every_part(self) -> list[Tab[S]]:
        """The parts of the frame and of the tabs."""
        return [*self._frame, *self._tabs]

    @property
    def tabs_layout(self) -> dict[str, Any]:
        """The tabs as a node of a layout."""
        tabs = [{"title": part.title, "content": part.layout} for part in self._tabs]
        return {"tabs": tabs, "id": "main"}

    def show_state(self, state: S) -> None:
        """Show another state from now on."""
        self.state = state
        with self.batch():
            for part in self.every_part:
                part.attach(state)
            self._refresh(set(state.param))
        state.param.watch(self._changed, [field for field in state.param if field != "name"])

    def update_all(self) -> None:
        """Refresh every part, seen or not."""
        with self.batch():
            for part in self.every_part:
                self._update(part)

    @checked()
    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet: of people totals only, small counts hidden.

        What keeps working in it is told by the class. Two pages of one cohort, from before and after a change, can
        together give hidden counts away: share one.

        Parameters
        ----------
        path : str or Path
            File to write, replaced as a whole or not at all.

        Returns
        -------
        Path
            The file.
        """
        state: Any = self.state
        shown = not getattr(state, "hide_small", True)
        with self.batch():
            try:
                if shown:
                    state.hide_small = True
                self.update_all()
                return super().to_html(path)
            finally:
                if shown:
                    state.hide_small = False

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return fields that a saved page shows with other values, by component."""
        return self._page_fields()

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what a saved page shows when the reader picks something else."""
        return self._page_cases()

    def _page_fields(self) -> dict[str, dict[str, Any]]:
        """Return fields of components that a saved page shows otherwise."""
        return {}

    def _page_cases(self) -> list[dict[str, Any]]:
        """Return what a saved page shows for each choice of the reader."""
        return []

    def _heading(self) -> dict[str, str]:
        """Title, subtitle, footer and, where there is such a component, what is left out."""
        return {}

    def _changed(self, *events: Any) -> None:
        """Follow the state: everything that is seen, once."""
        if events[0].obj is not self.state:
            return
        names = {event.name for event in events}
        self._sync.settled(lambda: self._show_changes(names))

    def _show_changes(self, names: set[str]) -> None:
        """Show what these fields of the state are now, and what the last step did."""
        with self.batch():
            self._refresh(names)
            message = getattr(self.state, "message", "")
            if "message" in names and message:
                self.say(message)

    def _refresh(self, names: set[str]) -> None:
        """Refresh the parts that are seen; remember which others are out of date."""
        opened = self._tabs[self.stage.tabs.get("main", 0)]
        for part in self.every_part:
            part.show_selection()
            part.stale |= bool(part.depends & names)
            if part.stale and (part in self._frame or part is opened):
                self._update(part)
        if names & self.heading_depends:
            self._show_heading()

    def _show_heading(self) -> None:
        """Show title, subtitle, footer, and what is left out."""
        fields = self._heading()
        left_out = fields.pop("left_out", "")
        if "left_out" in self.components:
            self.components["left_out"].param.update(text=left_out, visible=bool(left_out))
        self.stage.param.update(**fields)

    def _update(self, part: Tab[S]) -> None:
        """Refresh a part."""
        part.stale = False
        part.refresh()
