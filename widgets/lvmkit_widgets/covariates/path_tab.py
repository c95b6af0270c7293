"""Slider over the solutions, other ways to choose one, and curves along ν."""

from __future__ import annotations

from typing import Any

from lvmkit.charts import svg
from lvmkit.charts.path_curves import path_curves_chart, path_curves_table
from lvmkit_widgets.covariates.state import PathState, accuracies_told, likelihoods
from lvmkit_widgets.ui.controls import button, number
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.page import shortened
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab, pressed
from lvmkit_widgets.ui.widgets import Form, Picture, StepSlider, Text
from lvmkit_widgets.ui.words import refuse

ABOUT = (
    "**ν** (say “nu”) is how strongly similar covariates are pulled together: on the left each stands alone with "
    "a weight of its own; the further right, the more of them share one weight and form a cluster, until all are "
    "one. A good ν has few clusters and still tells the classes apart."
)
SHOWN = "The curves show what becomes of the number of clusters{} as ν grows. "
LIKELIHOOD = (
    "The marginal likelihood rates how well a clustering explains the classes and takes off for every weight it "
    "needs; its highest point is the solution to start with. "
)
ACCURACY = "Accuracy on the training data always flatters; accuracy on other data or by cross-validation does not. "
BEST = (
    "The one to start with: it explains the classes best for the number of weights that it needs."
)
CROSS = "The fewest clusters whose mean is within one standard error of the best."
CLICK = "Click on the curves to look at a solution."


class PathForm(Tab[PathState]):
    """Beside every tab: which ν."""

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(inline=True)
        self.components = {
            "nu": StepSlider(label="Clustering"),
            "choose": self.form,
            "about": Text(text=ABOUT, tone="note"),
            "curves": Picture(title="Along ν", download="along-nu"),
        }
        self.layout = ["nu", "choose", "about", "curves"]
        self.events = {
            "nu.selected": lambda state, place: state.choose(state.offered[place]),
            "choose.pressed": self._press,
            "curves.pick": lambda state, mark: state.choose(int(mark["step"])),
        }

    def picks(self, state: PathState) -> Fields:
        """Show which solution is looked at."""
        return {"nu": {"options": options(state), "selected": state.offered.index(state.step)}}

    def fields(self, state: PathState) -> Fields:
        """Show the ways to choose a solution, and the curves."""
        buttons = [*controls_of(state), *undo_buttons(state.history)]
        told = accuracies_told(state)
        what = (
            ", the marginal likelihood and the accuracy" if told else " and the marginal likelihood"
        )
        help = SHOWN.format(what) + LIKELIHOOD + (ACCURACY if told else "") + CLICK
        curves = {"svg": draw_curves(state), "alt": curves_text(state), "help": help}
        values = {"k": int(state.solution.n_clusters)}
        return {"choose": {"controls": buttons, "values": values}, "curves": curves}

    def _press(self, state: PathState, name: str) -> PathState:
        """Choose in another way, or go a step back or forth."""
        if name == "best":
            return state.choose_best()
        if name == "cross":
            return state.choose_cross_validated()
        if name != "nearest":
            return pressed(state, name)
        k = self.form.values.get("k")
        if k is None:
            refuse("Say how many clusters there shall be.")
        return state.choose_n_clusters(int(k))


def controls_of(state: PathState) -> list[dict[str, Any]]:
    """Describe the ways to choose a solution."""
    tried = button("cross", "By cross-validation", help=CROSS)
    return [
        button("best", "Best by marginal likelihood", help=BEST, primary=True),
        *([tried] if state.chosen is not None else []),
        number("k", "Number of clusters", max=len(state.names)),
        button("nearest", "Show nearest"),
    ]


@remembered
def options(state: PathState) -> list[dict[str, str]]:
    """Describe the solutions for the slider."""
    held, n = state.offered, len(state.path)
    part = [f"this page holds {len(held)} of {n} values of ν"] if len(held) < n else []
    return [option(state, step, *part) for step in held]


def option(state: PathState, step: int, *more: str) -> dict[str, str]:
    """Describe a solution for the slider."""
    notes = []
    if step == int(state.path.best):
        notes.append("best by marginal likelihood")
    if step == state.chosen:
        notes.append("chosen by cross-validation")
    if not bool(getattr(state.path[step], "converged", True)):
        notes.append("not converged: take its clusters with care")
    return {"label": state.describe(step), "note": "; ".join([*notes, *more])}


@remembered
def draw_curves(state: PathState) -> str:
    """Draw the curves with the solution marked that is looked at."""
    table = path_curves_table(state.path, selected=state.step, held_out=state.held_out)
    if not accuracies_told(state):
        table = table[table["quantity"].isin(["clusters", "marginal_likelihood"])]
    picture = svg(path_curves_chart(table, width=440, links=state.live))
    return shortened(picture)


def curves_text(state: PathState) -> str:
    """Say what the curves show at the solution that is looked at."""
    solution, step = state.solution, state.step
    told = f"{state.describe(step)}. Log marginal likelihood {likelihoods(state)[step]:,.1f}"
    if accuracies_told(state):
        told += f", accuracy on the training data {float(solution.accuracy):.3f}"
    if accuracies_told(state) and state.held_out is not None:
        told += f", on other data {state.held_out[step]:.3f}"
    return f"{told}. The best by marginal likelihood is {state.describe(int(state.path.best))}."
