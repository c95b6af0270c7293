"""Tabs of the codes of a branch, and of what tells its two parts apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.trees.figures import TreeFigures
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.tab import TreeTab
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Relevance, SplitContrast

TOP = 25  # codes in the table
LIVE_CELLS = 500_000  # numbers, nodes times codes, that a browser gets; eight bytes each
LINKS = [
    ("tree.row", "relevance.cluster"),
    ("tree.code", "relevance.code"),
    ("relevance.code", "tree.code"),
    ("branches.pick", "tree.code"),
    ("clusters.pick", "tree.selected"),
    ("tree.selected", "clusters.selected"),
]


class BranchTermsTab(TreeTab):
    """Codes by relevance; λ is the browser's matter."""

    title: ClassVar[str] = "Terms"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"node", "code", "balance", "hide_small", "history"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.relevance = Relevance(top=TOP)
        self._held: list[int] = []  # nodes whose numbers the browser was sent last
        self.components = {"relevance": self.relevance}
        self.layout = "relevance"

    def attach(self, state: NavigatorState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self._held = []
        self.relevance.param.update(
            title=f"{state.column_name.capitalize()}s of the branch",
            help=help_of(state.column_name),
            labels=labels_of(state),
            download="branch",
            visible=not state.empty,
        )

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        if state.empty:
            return
        held = held_nodes(state, LIVE_CELLS)
        if self.changed("numbers", state.figures, tuple(held)):
            self.relevance.param.update(**packed_numbers(state, held))
        self.relevance.param.update(
            names=[state.label(i) for i in held],
            balance=state.balance,
            code=state.code,
        )
        self.tree.held = None if len(held) == len(state.layout) else held
        self._held = held
        self._place()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self.tree: Any = board.components["tree"]
        board.listen("relevance", "balance", self._weigh)
        board.listen("relevance", "code", self.search)
        board.listen("relevance", "cluster", self._missed)
        board.listen("tree", "row", self._missed)

    def _missed(self, row: int | None) -> None:
        """Say again where the numbers of the node are, should the browser say that it has none."""
        # It says so together with the node that was picked, and the fields of one message come in no order: this may
        # come after the answer to the pick, and would undo it.
        if row is None and self.state.node in self._held:
            self._place()

    def _place(self) -> None:
        """Say where among the numbers those of the node are."""
        self.relevance.cluster = self.tree.row = self._held.index(self.state.node)

    def _weigh(self, balance: float) -> None:
        """Take the balance."""
        self.state.balance = balance


class SplitTab(TreeTab):
    """What tells the two parts of a node apart; the browser finds it in the numbers of the terms."""

    title: ClassVar[str] = "What splits it"
    depends: ClassVar[frozenset[str]] = frozenset({"node", "hide_small", "history"})

    def __init__(self) -> None:
        super().__init__()
        self.branches = SplitContrast(
            title="What tells the two parts apart",
            help="Where the two parts of the branch differ most in frequency, in standard deviations "
            "(standardized difference). Bars and numbers are the frequency in each part; pick a line to see where "
            "else it lives, or a part to go on from there.",
        )
        self.components = {"branches": self.branches}
        self.layout = "branches"

    def refresh(self) -> None:
        """Show the state as it is now: of large trees, the browser lacks numbers of most nodes."""
        self.branches.visible = not self.state.empty
        self._terms.refresh()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        every: Any = board
        self._terms = next(part for part in every.every_part if isinstance(part, BranchTermsTab))
        board.listen("branches", "pick", self.search)


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


def packed_numbers(
    state: NavigatorState, held: list[int], columns: list[int] | None = None
) -> dict[str, Any]:
    """Pack the numbers of some nodes."""
    figures: TreeFigures = state.figures
    index = np.array(held, dtype=np.intp)
    kept = np.arange(len(figures.words)) if columns is None else np.array(columns, dtype=np.intp)
    fields: dict[str, Any] = {
        "centers": packed(figures.shares(index)[:, kept], np.float32),
        "overall": packed(figures.overall[kept], np.float32),
        "counts": packed(figures.counts(index)[:, kept], np.int32),
        "weights": np.nan_to_num(figures.weights()[index]).round(6),
        "codes": [figures.words[j] for j in kept],
        "titles": [figures.titles[j] for j in kept],
        "size": figures.total,
        "totals": packed(figures.counts([0])[0][kept], np.int32) if state.of_words else b"",
    }
    return fields


def labels_of(state: NavigatorState) -> dict[str, str]:
    """Say what the columns of the codes are."""
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
    left_out = len(state.words) - len(state.figures.words) if not state.empty else 0
    if left_out:
        labels["rest"] = f"The {left_out:,} rarest {column_name}s are left out of so large a tree."
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


def help_of(name: str) -> str:
    """Explain the table of codes."""
    return (
        f"λ = 1 ranks {name}s by how frequent they are in the branch; λ = 0 by how much more frequent they are there "
        "than overall; 0.6 is a good start (Sievert & Shirley 2014). Relevance is λ·log(share) + "
        f"(1−λ)·log(share ÷ overall share). Pick a {name} to see in which other branches it lives."
    )
