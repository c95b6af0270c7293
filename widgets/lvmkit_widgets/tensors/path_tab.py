"""Tab of the sparsity path and BIC, along λ and the number of clusters."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from lvmkit.charts import (
    sparsity_path_chart,
    sparsity_path_table,
    svg,
    tensor_selection_chart,
    tensor_selection_table,
)
from lvmkit_widgets.tensors.disclosure import groups_of, rounded_bic, small_clusters
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.page import shortened
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import Picture, Text

ALONE = (
    "One model was passed. To see what becomes of it with other λ or numbers of clusters, pass "
    "`path=lvmkit.models.select_penalty(X, 3)` or `select_tensor_components(X)` too."
)
HELP = (
    "From right to left λ becomes smaller and more entries are selected. Those that appear first, and stay, tell "
    "clusters apart most clearly. Click on the curves to look at a model."
)
BIC_HELP = (
    "BIC rates how well a model explains the samples and takes off for every discriminant that it needs: lower is "
    "better. The error rate compares clusters with the known groups, whichever numbers they have; groups are not "
    "used to fit or choose. Click to look at a model."
)


class PenaltyPathTab(Tab[TensorState]):
    """The sparsity path, and BIC."""

    title: ClassVar[str] = "Along λ"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small"})

    def __init__(self) -> None:
        super().__init__()
        self.sparsity = Picture(title="Which entries are left", help=HELP, download="sparsity-path")
        self.bic = Picture(title="Which λ", help=BIC_HELP, download="bic-lambda")
        self.numbers = Picture(title="How many clusters", help=BIC_HELP, download="bic-clusters")
        self.alone = Text(text=ALONE, tone="note")
        self.components = {
            "sparsity": self.sparsity,
            "bic": self.bic,
            "numbers": self.numbers,
            "alone": self.alone,
        }
        self.layout = [
            "alone",
            {"row": ["sparsity", ["bic", "numbers"]], "widths": [1.5, 1]},
        ]

    def show_selection(self) -> None:
        """Show what there is, before it is drawn."""
        path = self.state.solution.path
        self.alone.visible = path is None
        self.sparsity.visible = self.bic.visible = path is not None
        self.numbers.visible = path is not None and len(self.state.numbers) > 1

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        if state.solution.path is None:
            return
        for part, draw in (
            (self.sparsity, draw_sparsity),
            (self.bic, draw_bic),
            (self.numbers, draw_numbers),
        ):
            if part.visible:
                key = (draw.__name__, state.index, state.suppressing)
                part.param.update(svg=self.picture(partial(draw, state, state.index), *key))
        self.sparsity.alt = f"Strength of entries against λ. {state.title_of(state.index)}."
        self.bic.alt = self.numbers.alt = bic_text(state, state.index)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        for name in ("sparsity", "bic", "numbers"):
            board.listen(name, "pick", self._pick)

    def _pick(self, mark: dict[str, str]) -> None:
        """Look at the model of a place in the path, or of a number of clusters."""
        state = self.state
        if "components" in mark:
            state.choose_n_components(int(mark["components"]))
            return
        wanted = state.solution.path.models[int(mark["step"])]
        state.choose(next(i for i, s in enumerate(state.solutions) if s.model is wanted))


def draw_sparsity(state: TensorState, index: int, *, links: bool = True) -> str:
    """Draw the strength of entries against λ; of models with a hidden cluster none are shown."""
    one = state.solutions[index]
    path, modes = one.path, state.modes
    hidden = [
        other.step
        for i, other in enumerate(state.solutions)
        if other.path is path
        and path.models[other.step] is other.model
        and small_clusters(state, i)
    ]
    table = sparsity_path_table(
        path, selected=one.step, hidden=hidden, mode_names=modes.names, labels=modes.labels
    )
    return shortened(svg(sparsity_path_chart(table, width=620, links=links)))


def draw_bic(state: TensorState, index: int, *, links: bool = True) -> str:
    """Draw BIC against λ."""
    chart = tensor_selection_chart(_table(state, index), against="penalty", width=460, links=links)
    return shortened(svg(chart))


def draw_numbers(state: TensorState, index: int, *, links: bool = True) -> str:
    """Draw BIC against the number of clusters."""
    chart = tensor_selection_chart(
        _table(state, index), against="n_components", width=460, links=links
    )
    return shortened(svg(chart))


def bic_text(state: TensorState, index: int) -> str:
    """Say what the curves of BIC show at a model."""
    bic = rounded_bic(state)[index]
    return (
        f"{state.title_of(index)}: BIC {bic:,.0f}."
        if state.suppressing
        else f"{state.title_of(index)}: BIC {bic:,.1f}."
    )


def _table(state: TensorState, index: int) -> Any:
    """Tabulate BIC and error rates with a model marked."""
    one = state.solutions[index]
    table = state.remembered(f"selection {state.suppressing}", lambda: _whole_table(state))
    chosen = (table["n_components"] == one.n_components) & (table["step"] == one.step)
    return table.assign(selected=chosen)


def _whole_table(state: TensorState) -> Any:
    """Tabulate BIC; error rates only where no count of groups is hidden, since they could be found from these."""
    truth = state.sets[0].groups
    if state.suppressing and truth is not None:
        counted = (groups_of(state, i, 0) for i in range(len(state.solutions)))
        truth = None if any(c is None or c.attrs["hidden"] for c in counted) else truth
    return tensor_selection_table(state.path, truth=truth)
