"""The tree beside every tab, the breadcrumb, the name of a node, undo and redo."""

from __future__ import annotations

from typing import Any

from lvmkit.trees.figures import TreeFigures
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.terms_tab import holds_all
from lvmkit_widgets.ui.controls import name_form, take_typed
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab, pressed, taken_back
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


class Outline(Tab[NavigatorState]):
    """The tree beside every tab."""

    def __init__(self) -> None:
        super().__init__()
        # what was typed is heard before a pick that comes with it
        self.components = {
            "naming": Form(inline=True),
            "tree": TreeOutline(title="Branches"),
            "trail": Breadcrumb(title="Where you are"),
        }
        self.layout = "tree"
        self.events = {
            "naming.values": take_typed,
            "naming.pressed": press,
            "tree.selected": NavigatorState.pick,
            "tree.code": NavigatorState.search,
            "tree.cut": cut,
        }

    def initial(self, state: NavigatorState) -> Fields:
        """Show the structure of the tree, open down to the cut."""
        rows, column, nodes = state.row_name, state.column_name, state.tree.nodes
        tree = {
            "children": [list(node.children) for node in nodes],
            "strength": [round(float(node.strength), 4) for node in nodes],
            "support": [round(float(node.support), 4) for node in nodes],
            "row_name": rows,
            "column_name": column,
            "opened": sorted({i for node in state.frontier for i in state.tree.path(node)[:-1]}),
            "help": HELP.format(rows=rows, column=column, row=rows.removesuffix("s")),
        }
        there = {"visible": not state.empty}
        return {"tree": tree, "trail": there, "naming": there}

    def picks(self, state: NavigatorState) -> Fields:
        """Show what is picked."""
        return {"tree": {"selected": state.node if len(state.layout) else None}}

    def fields(self, state: NavigatorState) -> Fields:
        """Show numbers, names and cut, where a code is, and the name of the node."""
        if state.empty:
            return {}
        _ = state.renewed
        told = not state.code or holds_all(state)  # the browser knows by itself
        n = [] if told else state.figures.n_with_code(state.code)
        tree = {
            **numbers_of(state, state.figures),
            "frontier": list(state.frontier),
            "names": {str(node): name for node, name in state.names.items()},
            "code": state.code,
            "found": {"code": state.code, "n": n} if n else {},
        }
        label = f"Name of {state.layout.labels[state.node]}"
        hint = state.figures.hints[state.node] or "for instance: everybody"
        back = undo_buttons(state.history, arrows=False)
        return {"tree": tree, "naming": name_form(label, name_of(state), hint, *back)}


def name_of(state: NavigatorState) -> str:
    """Return the name of the node as it was typed, else the one it has."""
    return state.names.get(state.node, "") if state.typed is None else state.typed


def cut(state: NavigatorState, asked: dict[str, Any]) -> Any:
    """Take the cut that the browser shows already; an impossible one is taken back there."""
    again = state.renew()
    try:
        if asked.get("level") is not None:
            return again.cut(depth=int(asked["level"]))
        if asked.get("prune") is not None:
            return again.prune(int(asked["prune"]))
        return again.split(int(asked["split"])) if asked.get("split") is not None else state
    except ValueError as error:
        return taken_back(state, str(error))


def press(state: NavigatorState, name: str) -> NavigatorState:
    """Keep the name, or go back or forth."""
    stepped: NavigatorState | None = pressed(state, name)
    return state.rename(state.node, name_of(state)) if stepped is None else stepped


@remembered
def numbers_of(_: NavigatorState, figures: TreeFigures) -> dict[str, Any]:
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
