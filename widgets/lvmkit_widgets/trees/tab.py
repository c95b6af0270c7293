"""Base of the tabs of the tree navigator."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.tabs import Tab


class TreeTab(Tab[NavigatorState]):
    """A part of the tree navigator; its marks pick nodes and codes."""

    def pick(self, node: Any) -> None:
        """Pick a node."""
        if node is not None and int(node) < len(self.state.layout):
            self.state.node = int(node)

    def search(self, code: Any) -> None:
        """Show the branches of a code."""
        self.state.code = str(code or "")
