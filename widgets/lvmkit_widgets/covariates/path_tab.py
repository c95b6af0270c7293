"""Slider over the solutions, other ways to choose one, and curves along ν."""

from __future__ import annotations

from typing import Any, ClassVar

from lvmkit.charts import svg
from lvmkit.charts.path_curves import path_curves_chart, path_curves_table
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.covariates.tables import accuracies_told, likelihoods
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.page import shortened
from lvmkit_widgets.ui.tabs import Tab
from lvmkit_widgets.ui.widgets import Form, Picture, StepSlider, Text

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
CLICK = "Click on the curves to look at a solution."


class PathForm(Tab[PathState]):
    """Beside every tab: which ν."""

    depends: ClassVar[frozenset[str]] = frozenset({"history"})

    def __init__(self) -> None:
        super().__init__()
        self.slider = StepSlider(label="Clustering")
        self.form = Form(inline=True)
        self.about = Text(text=ABOUT, tone="note")
        self.curves = Picture(title="Along ν", download="along-nu")
        self.components = {
            "nu": self.slider,
            "choose": self.form,
            "about": self.about,
            "curves": self.curves,
        }
        self.layout = ["nu", "choose", "about", "curves"]

    def attach(self, state: PathState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.slider.options = [option(state, step) for step in range(len(state.path))]
        self.curves.help = curves_help(state)

    def show_selection(self) -> None:
        """Show what is picked."""
        self.slider.selected = self.state.step

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        tried = {
            "name": "cross",
            "kind": "button",
            "label": "By cross-validation",
            "help": "The fewest clusters whose mean is within one standard error of the best.",
        }
        self.form.controls = [
            {
                "name": "best",
                "kind": "button",
                "label": "Best by marginal likelihood",
                "help": "The one to start with: it explains the classes best for the number of weights that it needs.",
                "primary": True,
            },
            *([tried] if state.chosen is not None else []),
            {
                "name": "k",
                "kind": "number",
                "label": "Number of clusters",
                "min": 1,
                "max": len(state.names),
                "step": 1,
            },
            {"name": "nearest", "kind": "button", "label": "Show nearest"},
            *undo_buttons(state.history),
        ]
        self.form.values = {"k": int(state.solution.n_clusters)}
        self.curves.param.update(
            svg=self.picture(lambda: draw_curves(state, state.step), state.step),
            alt=curves_text(state, state.step),
        )

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("nu", "selected", self._slide)
        board.listen("choose", "pressed", self._pressed)
        board.listen("curves", "pick", lambda mark: self.state.choose(int(mark["step"])))

    def _slide(self, step: int) -> None:
        """Look at the solution that the slider shows."""
        if step != self.state.step:
            self.state.choose(step)

    def _pressed(self, name: str) -> None:
        """Choose in another way, or go a step back or forth."""
        state = self.state
        if name == "best":
            state.choose_best()
        elif name == "cross":
            state.choose_cross_validated()
        elif not state.press(name):
            k = self.form.values.get("k")
            if k is None:
                message = "Say how many clusters there shall be."
                raise ValueError(message)
            state.choose_n_clusters(int(k))


def option(state: PathState, step: int) -> dict[str, Any]:
    """Describe a solution for the slider."""
    notes = []
    if step == int(state.path.best):
        notes.append("best by marginal likelihood")
    if step == state.chosen:
        notes.append("chosen by cross-validation")
    if not bool(getattr(state.path[step], "converged", True)):
        notes.append("not converged: take its clusters with care")
    return {"label": state.describe(step), "note": "; ".join(notes)}


def curves_help(state: PathState) -> str:
    """Say what the curves are: of accuracies only where these are told."""
    if not accuracies_told(state):
        return SHOWN.format(" and the marginal likelihood") + LIKELIHOOD + CLICK
    return (
        SHOWN.format(", the marginal likelihood and the accuracy") + LIKELIHOOD + ACCURACY + CLICK
    )


def draw_curves(state: PathState, step: int, *, links: bool = True) -> str:
    """Draw the curves with a solution marked."""
    table = path_curves_table(state.path, selected=step, held_out=state.held_out)
    if not accuracies_told(state):
        table = table[table["quantity"].isin(["clusters", "marginal_likelihood"])]
    picture = svg(path_curves_chart(table, width=440, links=links))
    return shortened(picture)


def curves_text(state: PathState, step: int) -> str:
    """Say what the curves show at a solution."""
    solution = state.path[step]
    told = f"{state.describe(step)}. Log marginal likelihood {likelihoods(state)[step]:,.1f}"
    if accuracies_told(state):
        told += f", accuracy on the training data {float(solution.accuracy):.3f}"
    if accuracies_told(state) and state.held_out is not None:
        told += f", on other data {state.held_out[step]:.3f}"
    return f"{told}. The best by marginal likelihood is {state.describe(int(state.path.best))}."
