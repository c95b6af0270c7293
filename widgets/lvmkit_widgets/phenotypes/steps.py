"""Bar with undo and redo, who marks, and whether small counts are hidden."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.tabs import StepsBar


class PhenotypeStepsBar(StepsBar[CardsState]):
    """Undo and redo, who marks, and whether small counts are hidden."""

    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small", "threshold", "author"})

    def options(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the other controls and their values."""
        state = self.state
        author = {
            "name": "author",
            "kind": "text",
            "label": "Who marks",
            "placeholder": "your name (optional)",
        }
        hide = {"name": "hide", "kind": "check", "label": f"Hide counts below {state.threshold}"}
        controls = [author, *([hide] if state.private and state.known else [])]
        return controls, {"hide": state.hide_small, "author": state.author}

    def take(self, values: dict[str, Any]) -> None:
        """Take the settings."""
        author = " ".join(str(values.get("author") or "").split())
        self.state.param.update(hide_small=bool(values.get("hide")), author=author)
