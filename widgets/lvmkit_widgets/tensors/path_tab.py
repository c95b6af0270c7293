"""Tab of the sparsity path and BIC, along λ and the number of clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit import charts
from lvmkit_widgets.tensors.state import (
    TensorState,
    groups_of,
    rounded_bic,
    sizes_of,
    small_clusters,
)
from lvmkit_widgets.ui.page import shortened
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
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

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "sparsity": Picture(
                title="Which entries are left", help=HELP, download="sparsity-path"
            ),
            "bic": Picture(title="Which λ", help=BIC_HELP, download="bic-lambda"),
            "numbers": Picture(title="How many clusters", help=BIC_HELP, download="bic-clusters"),
            "alone": Text(text=ALONE, tone="note"),
        }
        self.layout = ["alone", {"row": ["sparsity", ["bic", "numbers"]], "widths": [1.5, 1]}]
        self.events = {f"{name}.pick": pick_mark for name in ("sparsity", "bic", "numbers")}

    def picks(self, state: TensorState) -> Fields:
        """Show what there is, before it is drawn."""
        there = state.solution.path is not None
        several = there and len(state.numbers) > 1
        shown = {"sparsity": there, "bic": there, "numbers": several, "alone": not there}
        return {name: {"visible": visible} for name, visible in shown.items()}

    def fields(self, state: TensorState) -> Fields:
        """Draw what there is."""
        index = state.index
        if state.solution.path is None:
            return {}
        alt = f"Strength of entries against λ. {state.title_of(index)}."
        against = {"bic": "penalty"} | (
            {"numbers": "n_components"} if len(state.numbers) > 1 else {}
        )
        bic, digits = rounded_bic(state)[index], 0 if state.suppressing else 1
        told = f"{state.title_of(index)}: BIC {bic:,.{digits}f}."
        return {
            "sparsity": {"svg": draw_sparsity(state, index), "alt": alt},
            **{n: {"svg": draw_bic(state, index, x), "alt": told} for n, x in against.items()},
        }


def pick_mark(state: TensorState, mark: dict[str, str]) -> TensorState:
    """Look at the model of a place in the path, or of a number of clusters."""
    if "components" in mark:
        return state.choose_n_components(int(mark["components"]))
    wanted = state.solution.path.models[int(mark["step"])]
    return state.choose(next(i for i, s in enumerate(state.solutions) if s.model is wanted))


@remembered
def draw_sparsity(state: TensorState, index: int) -> str:
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
    table = charts.sparsity_path_table(
        path, selected=one.step, hidden=hidden, mode_names=modes.names, labels=modes.labels
    )
    return shortened(charts.svg(charts.sparsity_path_chart(table, width=620, links=state.live)))


@remembered
def draw_bic(state: TensorState, index: int, against: Any) -> str:
    """Draw BIC and error rates against λ, or against the number of clusters, with a model marked."""
    one, table = state.solutions[index], _table(state)
    chosen = (table["n_components"] == one.n_components) & (table["step"] == one.step)
    marked = table.assign(selected=chosen)
    chart = charts.tensor_selection_chart(marked, against=against, width=460, links=state.live)
    return shortened(charts.svg(chart))


@remembered
def _table(state: TensorState) -> Any:
    """Tabulate BIC; error rates only where no count of groups is hidden, since they could be found from these."""
    truth = state.sets[0].groups
    if state.suppressing and truth is not None:
        counted = (groups_of(state, i, 0) for i in range(len(state.solutions)))
        truth = None if any(c is None or c.attrs["hidden"] for c in counted) else truth
    return charts.tensor_selection_table(state.path, truth=truth)


def models_table(state: TensorState) -> pd.DataFrame:
    """Return one row per model."""
    bic = rounded_bic(state)
    rows: list[dict[str, Any]] = [
        {
            "n_components": one.n_components,
            "penalty": one.penalty,
            "bic": bic[i],
            "n_selected": one.n_selected,
            "log_likelihood": float(getattr(one.model, "log_likelihood_", np.nan)),
            "clusters": "; ".join(map(str, sizes_of(state, i)[0])),
            "best": one.best,
            "selected": i == state.index,
        }
        for i, one in enumerate(state.solutions)
    ]
    table = pd.DataFrame(rows)
    return table.drop(columns="log_likelihood") if state.suppressing else table
