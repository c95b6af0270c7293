"""What a part of a dashboard is, and a dashboard of parts that follow one state at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import param

from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.dashboard import Dashboard

KEPT = 50  # pictures a part remembers
S = TypeVar("S", bound=param.Parameterized)


class StatePart(Generic[S]):
    """A part of a dashboard: components, where they stand, and how they follow the state."""

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

    def bind(self, state: S) -> None:
        """Follow another state from now on."""
        self.state = state
        self.stale = True
        self._drawn, self._pictures = {}, {}

    def refresh(self) -> None:
        """Show the state as it is now."""
        raise NotImplementedError

    def follow(self) -> None:
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


class PartsBoard(Dashboard, Generic[S]):
    """A dashboard of parts: some always seen, the others in tabs and refreshed when opened."""

    state: S

    def __init__(
        self,
        components: dict[str, Component],
        *,
        frame: Sequence[StatePart[S]],
        tabs: Sequence[StatePart[S]],
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
        self.listen("stage", "tabs", lambda _: self._refresh(set()))

    @property
    def every_part(self) -> list[StatePart[S]]:
        """The parts of the frame and of the tabs."""
        return [*self._frame, *self._tabs]

    @property
    def tabs_layout(self) -> dict[str, Any]:
        """The tabs as a node of a layout."""
        tabs = [{"title": part.title, "content": part.layout} for part in self._tabs]
        return {"tabs": tabs, "id": "main"}

    def show_state(self, state: S) -> None:
        """Show another state from now on.

        Parameters
        ----------
        state : Parameterized
            What the parts follow.
        """
        self.state = state
        with self.batch():
            for part in self.every_part:
                part.bind(state)
            self._refresh(set(state.param))
        state.param.watch(self._changed, [field for field in state.param if field != "name"])

    def update_all(self) -> None:
        """Refresh every part, seen or not."""
        with self.batch():
            for part in self.every_part:
                self._update(part)

    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet: of people totals only, small counts hidden.

        Two pages of one cohort, from before and after a change, can together give hidden counts away: share one.

        Parameters
        ----------
        path : str or Path
            File to write.

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

    def heading(self, names: set[str]) -> None:
        """Write title, subtitle and footer anew if one of these fields of the state matters.

        Parameters
        ----------
        names : set of str
            What has changed.
        """

    def _changed(self, *events: Any) -> None:
        """Follow the state: everything that is seen, once."""
        if events[0].obj is not self.state:
            return
        names = {event.name for event in events}
        with self.batch():
            self._refresh(names)
            message = getattr(self.state, "message", "")
            if "message" in names and message:
                self.say(message)

    def _refresh(self, names: set[str]) -> None:
        """Refresh the parts that are seen; remember which others are out of date."""
        opened = self._tabs[self.stage.tabs.get("main", 0)]
        for part in self.every_part:
            part.follow()
            part.stale |= bool(part.depends & names)
            if part.stale and (part in self._frame or part is opened):
                self._update(part)
        self.heading(names)

    def _update(self, part: StatePart[S]) -> None:
        """Refresh a part."""
        part.stale = False
        part.refresh()
