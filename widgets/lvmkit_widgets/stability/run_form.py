"""Form of what to measure, and the work: run, cancel, go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from lvmkit_widgets.stability.data import Outcome
from lvmkit_widgets.stability.state import MOST_REPEATS, StabilityState, checked_values
from lvmkit_widgets.ui.controls import button, multiselect, number, select, text
from lvmkit_widgets.ui.jobs import Cancelled
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form
from lvmkit_widgets.ui.words import refuse

PROTOCOLS = [
    ["overlapping", "Two parts that share 80 %"],
    ["bootstrap", "All rows against rows drawn again"],
    ["halves", "Two halves, each predicts all"],
]


class RunForm(Tab[StabilityState]):
    """The plan, and the work: one repeat after the other, shown as soon as it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="What to compare",
            help="Each repeat fits a method twice to different rows and asks whether the same rows come "
            "together again (adjusted Rand index). Results appear after every repeat and are refined "
            "while you look; you may cancel at any time and go on later.",
        )
        self.components = {"run": self.form}
        self.layout = "run"
        self._total = 0
        self.events = {
            "run.pressed": lambda _state, _button: lambda _board: self._asked(),
            "status.seen": lambda _state, _seen: lambda _board: self._begin(),
        }

    def fields(self, state: StabilityState) -> Fields:
        """Show the plan."""
        values = {
            "values": written_values(state.values),
            "n_repeats": state.n_repeats,
            "methods": list(state.chosen),
            "protocol": state.protocol,
        }
        protocols = PROTOCOLS if hasattr(state.subject.estimator, "predict") else PROTOCOLS[:2]
        what, typed = state.subject.what.capitalize(), "Numbers and ranges, such as 2-8, 12."
        controls = [
            text("values", what, placeholder="2-8, 12", help=typed),
            number("n_repeats", "Repeats of each", max=MOST_REPEATS),
            multiselect("methods", "Methods", list(state.subject.methods)),
            select("protocol", "Compare", protocols),
            button("measure", "Measure", primary=True),
        ]
        return {"run": {"controls": controls, "values": values}}

    def connect(self, board: Any) -> None:
        """Listen to the reader."""
        super().connect(board)
        self._board = board
        self._status: Any = board.components["status"]

    def measure(self) -> None:
        """Measure what is still to be measured; in a browser, repeat by repeat beside the reader."""
        if self._board.busy:  # waiting here would block the loop that ends the work
            self._board.say("Still at work. Wait for it to end, or cancel it first.", state=None)
            return
        self._status.waiting = False
        self._total = len(self._board.state.todo())
        if not self._total:
            self._board.say("Everything is measured. Ask for more repeats to go on.", state="info")
            return
        self._next()
        while asked_by.get() is None and self._total:
            self._next()

    def _begin(self) -> None:
        """Begin when a browser shows the dashboard for the first time."""
        if self._status.waiting and not self._board.busy:
            self.measure()

    def _asked(self) -> None:
        """Take the plan of the form, and begin."""
        values, state = self.form.values, self._board.state
        if values.get("n_repeats") is None:
            refuse(f"Say how many repeats to make, from 1 to {MOST_REPEATS}.")
        wanted = parsed_values(str(values.get("values") or ""))
        self._board.state = state.plan(
            values=wanted,
            chosen=[str(name) for name in values.get("methods") or []],
            n_repeats=int(values["n_repeats"]),
            protocol=str(values.get("protocol") or state.protocol),
        )
        self.measure()

    def _next(self) -> None:
        """Measure the next repeat."""
        state = self._board.state
        todo = state.todo()
        done = self._total - len(todo)
        piece = todo[0]
        on = " on a sample" if piece.sampled else ""
        label = f"{piece.cell.method}, {piece.cell.value}{on}: {done + 1} of {self._total} repeats"

        def work(progress: Any) -> Outcome:
            def tell(_: str, share: float) -> None:
                progress(label, (done + share) / self._total)

            try:
                progress(label, done / self._total)
                return state.measured(piece, tell)
            except Cancelled:
                return Outcome(piece, None)

        self._board.background(work, self._took, label=label)

    def _took(self, outcome: Outcome) -> None:
        """Show a repeat, and go on with the next."""
        state = self._board.state = self._board.state.take(outcome)
        todo = state.todo()
        stopped = self._board.cancelled or (outcome.study is None and not outcome.failed)
        if stopped or not todo:
            self._end(len(todo), stopped=stopped and bool(todo))
        elif asked_by.get() is not None:
            self._next()

    def _end(self, left: int, *, stopped: bool) -> None:
        """Say how it ended."""
        total, self._total = self._total, 0
        if stopped:
            kept = f"{total - left} of {total} repeats are measured and kept."
            self._board.say(f"Stopped. {kept} “Measure” goes on from there.", state="info")
            return
        failures = self._board.state.failures
        if not failures:
            self._board.say("Measured.")
            return
        cell, why = next(iter(failures.items()))
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        told = f"Measured, except {cell.method}, {cell.value}: {why}{more}"
        self._board.say(told, state="info")


def parsed_values(typed: str) -> list[int]:
    """Read numbers from a text such as "2-8, 12"."""
    found: list[int] = []
    for part in re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", typed.strip())):
        ends = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if ends is None:
            refuse(f"Write numbers and ranges such as 2-8, 12; “{part or typed}” is neither.")
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return checked_values(found)


def written_values(values: Sequence[int]) -> str:
    """Write numbers as `parsed_values` reads them."""
    found = groupby(enumerate(values), lambda pair: pair[1] - pair[0])  # one after the other
    runs = [[value for _, value in run] for _, run in found]
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts)
