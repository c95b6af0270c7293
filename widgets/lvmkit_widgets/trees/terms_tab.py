"""Tabs of the codes of a branch, and of what tells its two parts apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.trees.figures import TreeFigures
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Relevance, SplitContrast

TOP = 25  # codes in the table
SAVED_CELLS = 150_000  # numbers, nodes times codes; about eleven bytes each in the page
LIVE_CELLS = 500_000  # numbers, nodes times codes, that a browser gets; eight bytes each
HELP = (
    "λ = 1 ranks {name}s by how frequent they are in the branch; λ = 0 by how much more frequent they are there "
    "than overall; 0.6 is a good start (Sievert & Shirley 2014). Relevance is λ·log(share) + "
    "(1−λ)·log(share ÷ overall share). Pick a {name} to see in which other branches it lives."
)
LINKS = [
    ("tree.row", "relevance.cluster"),
    ("tree.code", "relevance.code"),
    ("relevance.code", "tree.code"),
    ("branches.pick", "tree.code"),
    ("clusters.pick", "tree.selected"),
    ("tree.selected", "clusters.selected"),
]


class BranchTermsTab(Tab[NavigatorState]):
    """Codes by relevance; λ is the browser's matter."""

    title: ClassVar[str] = "Terms"

    def __init__(self) -> None:
        super().__init__()
        self.components = {"relevance": Relevance(top=TOP)}
        self.layout = "relevance"
        self.events = {
            "relevance.balance": lambda state, balance: state.replace(balance=balance),
            "relevance.code": NavigatorState.search,
            "relevance.cluster": missed,
            "tree.row": missed,
        }

    def initial(self, state: NavigatorState) -> Fields:
        """Say what the numbers are of."""
        title = f"{state.column_name.capitalize()}s of the branch"
        shown = {"title": title, "help": HELP.format(name=state.column_name)}
        return {"relevance": {**shown, "download": "branch", "visible": not state.empty}}

    def fields(self, state: NavigatorState) -> Fields:
        """Show the codes of the node."""
        return terms_fields(state)


class SplitTab(Tab[NavigatorState]):
    """What tells the two parts of a node apart; the browser finds it in the numbers of the terms."""

    title: ClassVar[str] = "What splits it"

    def __init__(self) -> None:
        super().__init__()
        branches = SplitContrast(
            title="What tells the two parts apart",
            help="Where the two parts of the branch differ most in frequency, in standard deviations "
            "(standardized difference). Bars and numbers are the frequency in each part; pick a line to see where "
            "else it lives, or a part to go on from there.",
        )
        self.components = {"branches": branches}
        self.layout = "branches"
        self.events = {"branches.pick": NavigatorState.search}

    def fields(self, state: NavigatorState) -> Fields:
        """Send the numbers: of large trees, the browser lacks those of most nodes."""
        return {**terms_fields(state), "branches": {"visible": not state.empty}}


def missed(state: NavigatorState, row: int | None) -> NavigatorState | None:
    """Say again where the numbers of the node are, should the browser say that it has none."""
    # It says so together with the node that was picked; should it come later than the answer, it would undo it.
    return state.renew() if row is None else None


def terms_fields(state: NavigatorState) -> Fields:
    """Return the numbers of the codes, and where among them those of the node are."""
    if state.empty:
        return {}
    _ = state.renewed
    columns, cells = None, LIVE_CELLS
    if not state.live:
        columns = saved_columns(state)
        cells = SAVED_CELLS * len(state.figures.words) // max(len(columns), 1)
    held = held_nodes(state, cells)
    row = held.index(state.node)
    relevance = {
        **packed_numbers(state, state.figures, tuple(held), columns),
        "labels": labels_of(state, columns),
        "names": [state.label(i) for i in held],
        "balance": state.balance,
        "code": state.code,
        "cluster": row,
    }
    every = len(held) == len(state.layout)
    return {"relevance": relevance, "tree": {"held": None if every else held, "row": row}}


@remembered
def saved_columns(state: NavigatorState) -> tuple[int, ...]:
    """Choose the codes that a saved page holds."""
    figures = state.figures
    n, c = len(state.layout), len(figures.words)
    if n * c <= SAVED_CELLS:
        return tuple(range(c))
    room = min(max(SAVED_CELLS // n, 300), c)
    first = list(dict.fromkeys([*state.frontier, *range(min(n, 100))]))[:200]
    return tuple(figures.leading(first, top=TOP, room=room))


def holds_all(state: NavigatorState, cells: int = LIVE_CELLS) -> bool:
    """Tell whether a browser holds the numbers of all nodes."""
    n, c = state.figures.counted.counts.shape
    return n * c <= cells


def held_nodes(state: NavigatorState, cells: int) -> list[int]:
    """Choose the nodes whose numbers a browser gets."""
    if holds_all(state, cells):
        return list(range(len(state.layout)))
    room = max(cells // max(len(state.figures.words), 1), 8)
    nodes, picked = state.tree.nodes, state.node
    parent = nodes[picked].parent
    near = [picked, *nodes[picked].children, *state.tree.path(picked)[::-1]]
    near += [] if parent is None else list(nodes[parent].children)
    near += [j for i in state.tree.path(picked)[-6:] for j in nodes[i].children]
    steady = [0, *state.frontier, *(j for i in state.frontier for j in nodes[i].children)]
    return list(dict.fromkeys([*steady[: room // 2], *near, *range(len(nodes))]))[:room]


@remembered
def packed_numbers(
    state: NavigatorState,
    figures: TreeFigures,
    held: tuple[int, ...],
    columns: tuple[int, ...] | None,
) -> dict[str, Any]:
    """Pack the numbers of some nodes."""
    index = np.array(held, dtype=np.intp)
    kept = np.arange(len(figures.words)) if columns is None else np.array(columns, dtype=np.intp)
    return {
        "centers": packed(figures.shares(index)[:, kept], np.float32),
        "overall": packed(figures.overall[kept], np.float32),
        "counts": packed(figures.counts(index)[:, kept], np.int32),
        "weights": np.nan_to_num(figures.weights()[index]).round(6),
        "codes": [figures.words[j] for j in kept],
        "titles": [figures.titles[j] for j in kept],
        "size": figures.total,
        "totals": packed(figures.counts([0])[0][kept], np.int32) if state.of_words else b"",
    }


def labels_of(state: NavigatorState, columns: tuple[int, ...] | None = None) -> dict[str, str]:
    """Say what the columns of the codes are, and what a page leaves out."""
    column_name, row_name = state.column_name, state.row_name
    labels = {
        "code": column_name.capitalize(),
        "find": column_name if column_name == "word" else f"{column_name} or meaning",
        "columns": f"{column_name}s",
        "inside": "in the branch",
        "all": "overall",
        "share": "Here",
        "balance": "1 frequent in the branch · 0 typical of it",
        "none": "The numbers of this branch are on their way …",
        "lift_help": f"Frequency in the branch divided by that overall: how typical the {column_name} is",
    }
    if left_out := len(state.words) - len(state.figures.words):
        labels["rest"] = f"The {left_out:,} rarest {column_name}s are left out of so large a tree."
    if not state.live:
        labels["none"] = "The numbers of this branch are not in this page."
    if columns is not None and len(columns) < len(state.words):
        held = f"{len(columns):,} of {len(state.words):,}"
        labels["rest"] = f"This page holds {held} {column_name}s."
    if state.of_words:
        return labels | {
            "n": "Here",
            "total": "Overall",
            "share": "Share",
            "bars": "Frequency",
            "n_help": f"How often the {column_name} occurs in the branch",
            "total_help": f"How often the {column_name} occurs in all",
            "share_help": f"Part of the {column_name} in all {column_name}s of the branch",
            "overall_help": f"Part of the {column_name} in all {column_name}s",
        }
    return labels | {
        "share_help": f"Share of the {row_name} of the branch with the {column_name}",
        "overall_help": f"Share of all {row_name} with the {column_name}",
    }
