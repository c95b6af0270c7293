"""Tab that fits another number of phenotypes, or other scores."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, ClassVar

import numpy as np

from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.phenotypes.tab import PhenotypeTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.jobs import Cancelled, Progress
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.ui.widgets import Form, Text

MOST, HIGHEST = 200, 100


class PhenotypeFitTab(PhenotypeTab):
    """What to fit, and how the model that is shown was fitted."""

    title: ClassVar[str] = "Fit again"
    depends: ClassVar[frozenset[str]] = frozenset({"history"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Fit again",
            help="The same counts, another number of phenotypes or other scores. Names and notes go to "
            "the phenotypes that are most alike, where that is clear; marks have to be given anew. Undo brings the "
            "phenotypes before back.",
        )
        self.told = Text(title="The model that is shown", needs_python=True)
        self.components = {"fit": self.form, "fitted": self.told}
        self.layout = {"row": ["fit", "fitted"]}

    def attach(self, state: CardsState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        self.form.visible = state.people is not None and hasattr(state.model, "fit")
        self.form.controls = [
            {
                "name": "n_components",
                "kind": "number",
                "label": "Number of phenotypes",
                "min": 1,
                "max": MOST,
                "step": 1,
            },
            {
                "name": "max_score",
                "kind": "number",
                "label": "Largest score τ",
                "min": 1,
                "max": HIGHEST,
                "step": 1,
                "help": "Fewer levels are easier to read; more come nearer to the counts.",
            },
            {"name": "fit", "kind": "button", "label": "Fit", "primary": True},
        ]

        self.refresh()  # before the tab is opened: what is typed at once must not be overwritten

    def refresh(self) -> None:
        """Show the state as it is now."""
        phenotypes = self.state.phenotypes
        top = max([phenotypes.high, *(mode.high for mode in phenotypes.modes)])
        if self.changed("values", phenotypes):
            self.form.values = {"n_components": len(phenotypes), "max_score": top}
        self.told.text = told_of(self.state)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        self._board: Any = board
        board.listen("fit", "pressed", lambda _: self._fit())

    def _fit(self) -> None:
        """Fit what is asked for."""
        values = self.form.values
        if values.get("n_components") is None or values.get("max_score") is None:
            message = "Say how many phenotypes to look for, and the largest score."
            raise ValueError(message)
        if any(float(values[name]) % 1 for name in ("n_components", "max_score")):
            message = "The number of phenotypes and the largest score are whole numbers."
            raise ValueError(message)
        job = self.state.plan_refit(int(values["n_components"]), max_score=int(values["max_score"]))
        at_once = asked_by.get() is None
        work = (lambda progress: job.work(heard_here(progress))) if at_once else job.work
        self._board.background(work, job.done, label=job.title)


def heard_here(progress: Progress) -> Callable[..., None]:
    """Hear of the work from this thread only."""
    here = get_ident()

    def tell(text: str, share: float | None = None) -> None:
        if get_ident() == here:
            progress(text, share)
        elif progress.cancelled:
            raise Cancelled

    return tell


def told_of(state: CardsState) -> str:
    """Say how the model was fitted, and how concise it is."""
    phenotypes, model = state.phenotypes, state.model
    scored = [
        f"{int(np.count_nonzero(mode.scores)):,} of {mode.scores.size:,} scores of {mode.name} are not 0; "
        f"they can be from {mode.low} to {mode.high}"
        for mode in phenotypes.modes
    ]
    lines = [f"{len(phenotypes)} phenotypes", *scored]
    fit = getattr(model, "fit_", None)
    if fit is not None:
        lines.append(
            f"Fit {float(fit):.3f}: 1 would be all counts exactly, 0 is no better than expecting nothing."
        )
    steps, why = getattr(model, "n_iter_", None), getattr(model, "stopped_by_", None)
    if steps is not None:
        ended = f" ({'the fit changed no more' if why == 'tol' else why})" if why else ""
        lines.append(f"{steps} iterations{ended}")
    return "\n".join(f"- {line}" for line in lines)
