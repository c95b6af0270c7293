"""Undo and redo, who marks, and whether small counts are hidden."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.phenotypes.tab import CardsPart
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form


class Steps(CardsPart):
    """Where we stand in the history, above every tab."""

    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small", "threshold", "author"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True)
        self.components = {"steps": self.form}
        self.layout = "steps"

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, history = self.state, self.state.history
        hide = {"name": "hide", "kind": "check", "label": f"Hide counts below {state.threshold}"}
        self.form.controls = [
            {"name": "undo", "kind": "button", "label": "↶ Undo", "disabled": not history.can_undo},
            {"name": "redo", "kind": "button", "label": "↷ Redo", "disabled": not history.can_redo},
            {
                "name": "author",
                "kind": "text",
                "label": "Who marks",
                "placeholder": "your name (optional)",
            },
            *([hide] if state.private and state.known else []),
        ]
        self.form.values = {"hide": state.hide_small, "author": state.author}

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("steps", "pressed", self._pressed)
        board.listen("steps", "values", self._set)

    def _set(self, values: dict[str, Any]) -> None:
        """Take the settings."""
        author = " ".join(str(values.get("author") or "").split())
        self.state.param.update(hide_small=bool(values.get("hide")), author=author)

    def _pressed(self, name: str) -> None:
        """Go a step back or forward."""
        if name == "undo":
            self.state.undo()
        else:
            self.state.redo()
