"""Bar with undo and redo, who marks, and whether small counts are hidden."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.tabs import StepsBar


class PhenotypeStepsBar(StepsBar[CardsState]):
    """Undo and redo, who marks, and whether small counts are hidden."""

    def options(self, state: CardsState) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the other controls and their values."""
        rule = state.disclosure
        author = {
            "name": "author",
            "kind": "text",
            "label": "Who marks",
            "placeholder": "your name (optional)",
        }
        hide = {"name": "hide", "kind": "check", "label": f"Hide counts below {rule.threshold}"}
        controls = [author, *([hide] if state.private and state.known else [])]
        return controls, {"hide": rule.on_screen, "author": state.author}

    def take(self, state: CardsState, values: dict[str, Any]) -> CardsState:
        """Take the settings."""
        author = " ".join(str(values.get("author") or "").split())
        return state.replace(author=author).disclose(on_screen=bool(values.get("hide")))
