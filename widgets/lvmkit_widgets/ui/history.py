"""Undo history of a dashboard: steps, undo, redo, and the Python that repeats them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from lvmkit.core import moved
from lvmkit_widgets.ui.controls import button
from lvmkit_widgets.ui.words import refuse

T = TypeVar("T")
START = (
    "import lvmkit\n"
    "from lvmkit_widgets.clusters.state import ExplorerState\n"
    "from lvmkit.cohorts.subset import Subset\n"
)
OPENED = "# model and cohort: the fitted model and the cohort that were opened"


@dataclass(frozen=True, eq=False)
class Step(Generic[T]):
    """One thing the analyst did."""

    text: str  # What was done, in words
    code: str  # A line of Python that does the same
    value: T  # Everything as it was after the step


@dataclass(frozen=True, eq=False)
class History(Generic[T]):
    """The steps so far, and where we stand in them. Every change returns a new value."""

    steps: tuple[Step[T], ...]  # Never empty; the first is the start
    position: int = 0  # Of the step that is shown

    @property
    def value(self) -> T:
        """Everything as it is now."""
        return self.steps[self.position].value

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return self.position > 0

    @property
    def can_redo(self) -> bool:
        """Whether a step was taken back."""
        return self.position < len(self.steps) - 1

    def push(self, text: str, code: str, value: T) -> History[T]:
        """Add a step after the one shown; what was undone is dropped."""
        kept = (*self.steps[: self.position + 1], Step(text, code, value))
        return History(kept, len(kept) - 1)

    def go_to(self, position: int) -> History[T]:
        """Go to a step."""
        if not 0 <= position < len(self.steps):
            refuse(f"There is no step {position}; the steps are 0 to {len(self.steps) - 1}.")
        return replace(self, position=position)

    def undo(self) -> History[T]:
        """Go one step back."""
        if not self.can_undo:
            refuse("There is nothing to undo.")
        return self.go_to(self.position - 1)

    def redo(self) -> History[T]:
        """Go one step forward."""
        if not self.can_redo:
            refuse("There is nothing to redo.")
        return self.go_to(self.position + 1)

    done, at = moved.OldName("push"), moved.OldName("go_to")
    undone, redone = moved.OldName("undo"), moved.OldName("redo")

    @property
    def code(self) -> str:
        """Python that repeats the steps up to the one shown."""
        return "\n".join(step.code for step in self.steps[: self.position + 1])


def undo_buttons(history: History[Any], *, arrows: bool = True) -> list[dict[str, Any]]:
    """Return the buttons that go a step back and forth, as controls of a form."""
    undo, redo = ("↶ Undo", "↷ Redo") if arrows else ("Undo", "Redo")
    return [
        button("undo", undo, disabled=not history.can_undo),
        button("redo", redo, disabled=not history.can_redo),
    ]


def opening(source: str) -> str:
    """Return the Python of the first step."""
    return f"{START}{source or OPENED}\nstate = ExplorerState.of(model, cohort)"


def started(call: str, told: str) -> str:
    """Return the Python of the first step: how a dashboard is made, and what its arguments were."""
    return f"from lvmkit_widgets import {call.partition('(')[0]}\n# {told}\nstate = {call}.state"
