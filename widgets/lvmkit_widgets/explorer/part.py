"""What a part of the explorer is: components, where they stand, and how they follow the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from lvmkit_widgets.component import Component
from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.explorer_state import ExplorerState

KEPT = 50  # pictures a part remembers


class Part:
    """A part of the explorer.

    Subclasses make `components` and `layout` when they are made, before any cohort is open, and
    write `refresh`.
    """

    title: ClassVar[str] = ""
    depends: ClassVar[frozenset[str]] = frozenset()
    components: dict[str, Component]
    layout: Any
    state: ExplorerState

    def __init__(self) -> None:
        self.stale = False
        self._drawn: dict[str, tuple[Any, ...]] = {}
        self._pictures: dict[tuple[Any, ...], str] = {}

    def bind(self, state: ExplorerState) -> None:
        """Follow another state from now on.

        Parameters
        ----------
        state : ExplorerState
            What the part shows and changes.
        """
        self.state = state
        self.stale = True
        self._drawn, self._pictures = {}, {}

    def refresh(self) -> None:
        """Show the state as it is now."""
        raise NotImplementedError

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader.

        Parameters
        ----------
        board : Dashboard
            The dashboard that holds the components.
        """

    def pick(self, mark: Mapping[str, Any]) -> None:
        """Pick the cluster and the code of a mark.

        Parameters
        ----------
        mark : mapping
            With "cluster", "code", or both.
        """
        picked: dict[str, Any] = {}
        if mark.get("cluster") is not None:
            picked["cluster"] = int(mark["cluster"])
        if mark.get("code"):
            picked["code"] = str(mark["code"])
        self.state.param.update(**picked)

    def changed(self, name: str, *depends: Any) -> bool:
        """Tell whether something must be made again, and remember what it is made of now.

        Parameters
        ----------
        name : str
            What is made.
        *depends : object
            What it is made of; large values are compared by identity.

        Returns
        -------
        bool
            True at first and when anything differs.
        """
        known = self._drawn.get(name)
        self._drawn[name] = depends
        return known is None or any(
            a is not b and a != b for a, b in zip(known, depends, strict=True)
        )

    def picture(self, draw: Callable[[], str], *depends: Any) -> str:
        """Draw a picture, or take the one drawn before.

        Parameters
        ----------
        draw : callable
            Returns the picture.
        *depends : object
            Hashable; what it is drawn from.

        Returns
        -------
        str
            The same text for the same values, while it is among the last few.
        """
        if depends not in self._pictures:
            while len(self._pictures) >= KEPT:
                self._pictures.pop(next(iter(self._pictures)))
            self._pictures[depends] = draw()
        return self._pictures[depends]
