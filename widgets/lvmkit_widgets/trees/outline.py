"""The tree beside every tab, the breadcrumb, the name of a node, undo and redo."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from lvmkit.trees.figures import TreeFigures
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.tab import TreeTab
from lvmkit_widgets.trees.terms_tab import holds_all
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.widgets import Breadcrumb, Form, TreeOutline

HELP = (
    "Each line is a branch: a group of {rows}, and under it the two parts it is split in. The bar is its share of "
    "all {rows}. Split tells how clearly the two parts are set apart (strength, from 0 to 1) or, where that was "
    "tried, how well the split reappears on resampled rows; lines to the parts are the thicker the clearer the "
    "split. Branches without a name show the {column}s that are more frequent in them than in the "
    "branch they are a part of. "
    "\n\nA cut says where to stop on the way down: every {row} is in one of its clusters, which have numbers in boxes. "
    "Cut at a level with the slider, or by hand: pick a branch and make it one cluster, or split a cluster. "
    "\n\nFind a {column} to see in which branches it lives."
)


class Outline(TreeTab):
    """The tree beside every tab."""

    depends: ClassVar[frozenset[str]] = frozenset({"node", "code", "history", "hide_small"})

    def __init__(self) -> None:
        super().__init__()
        self.tree = TreeOutline(title="Branches")
        self.trail = Breadcrumb(title="Where you are")
        self.naming = Form(inline=True)
        self.components = {"tree": self.tree, "trail": self.trail, "naming": self.naming}
        self.layout = "tree"

    def attach(self, state: NavigatorState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        rows = {
            "rows": state.row_name,
            "column": state.column_name,
            "row": state.row_name.removesuffix("s"),
        }
        self.tree.param.update(
            **structure(state),
            row_name=state.row_name,
            column_name=state.column_name,
            opened=first_opened(state),
            frontier=list(state.frontier),
            help=HELP.format(**rows),
        )
        self.trail.visible = not state.empty
        self.naming.visible = not state.empty

    def show_selection(self) -> None:
        """Show what is picked."""
        self.tree.selected = self.state.node

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        if state.empty:
            return
        if self.changed("numbers", state.figures):
            self.tree.param.update(**numbers_of(state.figures))
        self.tree.param.update(
            frontier=list(state.frontier),
            names={str(node): name for node, name in state.names.items()},
            code=state.code,
            found=self._found(),
        )
        self._name()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("tree", "selected", self._select)
        board.listen("tree", "code", self.search)
        board.listen("tree", "cut", self._cut)
        board.listen("naming", "pressed", self._pressed)

    def _select(self, node: Any) -> None:
        """Pick a node; a name that was typed for the one before is kept."""
        shown = self.state.node
        typed = str(self.naming.values.get("name") or "").strip()
        try:
            if node != shown and typed != self.state.names.get(shown, ""):
                self.state.rename(shown, typed)
        finally:
            self.pick(node)

    def _found(self) -> dict[str, Any]:
        """How often each node has the code, where the browser cannot tell."""
        state = self.state
        if not state.code or holds_all(state):
            return {}
        n = state.figures.n_with_code(state.code)
        return {"code": state.code, "n": n} if n else {}

    def _name(self) -> None:
        """Offer a name for the node, and the way back."""
        state = self.state
        hint = state.figures.hints[state.node]
        self.naming.controls = [
            {
                "name": "name",
                "kind": "text",
                "label": f"Name of {state.layout.labels[state.node]}",
                "placeholder": hint or "for instance: everybody",
                "wide": True,
            },
            {"name": "keep", "kind": "button", "label": "Keep"},
            *undo_buttons(state.history, arrows=False),
        ]
        self.naming.values = {"name": state.names.get(state.node, "")}

    def _cut(self, asked: dict[str, Any]) -> None:
        """Take the cut that the browser shows already; an impossible one is taken back there."""
        state = self.state
        try:
            if asked.get("level") is not None:
                state.cut(depth=int(asked["level"]))
            elif asked.get("prune") is not None:
                state.prune(int(asked["prune"]))
            elif asked.get("split") is not None:
                state.split(int(asked["split"]))
        finally:
            self.tree.frontier = list(state.frontier)

    def _pressed(self, name: str) -> None:
        """Keep the name, or go back or forth."""
        state = self.state
        if not state.press(name):
            state.rename(state.node, str(self.naming.values.get("name") or ""))


def structure(state: NavigatorState) -> dict[str, Any]:
    """Describe the tree without numbers of rows."""
    nodes = state.tree.nodes
    return {
        "children": [list(node.children) for node in nodes],
        "strength": [_measured(node.strength) for node in nodes],
        "support": [_measured(node.support) for node in nodes],
        "selected": 0 if nodes else None,
    }


def numbers_of(figures: TreeFigures) -> dict[str, Any]:
    """Describe the rows of every node, and why leaves are leaves, as far as that may be shown."""
    reasons = list(dict.fromkeys(filter(None, figures.reasons)))
    place = {reason: i for i, reason in enumerate(reasons)}
    return {
        "sizes": figures.sizes(),
        "weights": figures.weights().round(6),
        "hints": figures.hints,
        "reasons": reasons,
        "why": [place.get(reason) for reason in figures.reasons],
    }


def first_opened(state: NavigatorState) -> list[int]:
    """Choose the nodes that are open at first: those above the cut."""
    found: set[int] = set()
    for node in state.frontier:
        above = state.tree.nodes[node].parent
        while above is not None and above not in found:
            found.add(above)
            above = state.tree.nodes[above].parent
    return sorted(found)


def _measured(value: float) -> float | None:
    """Round a measure of a split; None where there is none."""
    return None if math.isnan(value) else round(float(value), 4)
