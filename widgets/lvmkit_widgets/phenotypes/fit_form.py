"""Tab that fits another number of phenotypes, or other scores."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, ClassVar

import numpy as np

from lvmkit.sustain.phenotypes import Phenotypes
from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.controls import button, number
from lvmkit_widgets.ui.jobs import Cancelled, Progress
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.ui.tabs import Fields, Job, Tab
from lvmkit_widgets.ui.widgets import Form, Text
from lvmkit_widgets.ui.words import refuse

MOST, HIGHEST = 200, 100


class PhenotypeFitTab(Tab[CardsState]):
    """What to fit, and how the model that is shown was fitted."""

    title: ClassVar[str] = "Fit again"

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Fit again",
            help="The same counts, another number of phenotypes or other scores. Names and notes go to "
            "the phenotypes that are most alike, where that is clear; marks have to be given anew. Undo brings the "
            "phenotypes before back.",
        )
        told = Text(title="The model that is shown", needs_python=True)
        self.components = {"fit": self.form, "fitted": told}
        self.layout = {"row": ["fit", "fitted"]}
        self.events = {"fit.pressed": self._fit}

    def picks(self, state: CardsState) -> Fields:
        """Offer a fit like that of the model that is shown."""
        # also before the tab is opened: what is typed at once must not be overwritten
        there = state.people is not None and hasattr(state.model, "fit")
        return {"fit": {**form_of(state, state.phenotypes), "visible": there}}

    def fields(self, state: CardsState) -> Fields:
        """Say how the model was fitted."""
        return {"fitted": {"text": told_of(state)}} if state.live else {}

    def _fit(self, state: CardsState, _: str) -> Job[CardsState]:
        """Fit what is asked for."""
        values = self.form.values
        if values.get("n_components") is None or values.get("max_score") is None:
            refuse("Say how many phenotypes to look for, and the largest score.")
        if any(float(values[name]) % 1 for name in ("n_components", "max_score")):
            refuse("The number of phenotypes and the largest score are whole numbers.")
        job = state.plan_refit(int(values["n_components"]), max_score=int(values["max_score"]))
        at_once = asked_by.get() is None
        work = (lambda progress: job.work(heard_here(progress))) if at_once else job.work
        return Job(job.label, work, job.done)


@remembered
def form_of(_: CardsState, phenotypes: Phenotypes) -> dict[str, Any]:
    """Describe the form, with the numbers of these phenotypes."""
    top = max([phenotypes.high, *(mode.high for mode in phenotypes.modes)])
    levels = "Fewer levels are easier to read; more come nearer to the counts."
    controls = [
        number("n_components", "Number of phenotypes", max=MOST),
        number("max_score", "Largest score τ", max=HIGHEST, help=levels),
        button("fit", "Fit", primary=True),
    ]
    return {"controls": controls, "values": {"n_components": len(phenotypes), "max_score": top}}


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
