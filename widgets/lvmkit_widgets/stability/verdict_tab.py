"""The verdict in words, and which number of clusters is recommended."""

from __future__ import annotations

from lvmkit_widgets.stability.state import StabilityState
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Text

NOTHING = "Nothing has been measured yet."
NOT_SAVED = "A saved page holds {} of these pictures; this one is not among them."


class VerdictText(Tab[StabilityState]):
    """Two or three sentences above everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.components = {"verdict": Text(title="In short", tone="note")}
        self.layout = "verdict"

    def fields(self, state: StabilityState) -> Fields:
        """Show the verdict on what is looked at."""
        return {"verdict": {"text": verdict_of(state)}}


@remembered
def verdict_of(state: StabilityState) -> str:
    """Say how stable the clusters are that are looked at, and what is recommended."""
    study, cell = state.study_shown(), state.picked
    told = [failed for failed in [state.failures.get(cell, "")] if failed]
    if study is not None:
        told.append(f"**{cell_name(state)}.** {study.verdict(unnamed=state.hidden(study))}")
    elif not told:
        told.append(f"**{cell_name(state)}.** {NOTHING}")
    return "\n\n".join([*told, *recommended(state), *sampled(state)])


def cell_name(state: StabilityState) -> str:
    """Name what is looked at."""
    if state.method == state.subject.name and state.subject.parameter is None:
        return state.method
    depth, clusters = f"depth {state.value}", f"{state.value} clusters"
    return f"{state.method}, {depth if state.subject.deep else clusters}"


def not_drawn(state: StabilityState) -> str:
    """Say why a page has no pictures of what is looked at; "" where it has."""
    there = state.held is None or state.picked in state.held
    return "" if there else NOT_SAVED.format(len(state.held or ()))


def recommended(state: StabilityState) -> list[str]:
    """Say which value is recommended, and why."""
    table = state.table()
    mine = table[table["method"] == state.method]
    if mine["value"].nunique() < 2:
        return []
    found = state.recommended()
    if found.value is None:
        return [f"None is recommended: {found.why}"]
    what, why = state.subject.value_name, found.why.partition(": ")[2]
    return [f"**Recommended {what} for {state.method}: {found.value}**, {why}"]


def sampled(state: StabilityState) -> list[str]:
    """Say what rests on a sample of the rows."""
    subject = state.subject
    cells = [cell for cell in state.cells() if state.is_sampled(cell)]
    if subject.sample is None or not cells:
        return []
    size = f"a sample of {len(subject.sample):,} of the {subject.n_rows:,} {subject.row_name}"
    if state.is_sampled(state.picked):
        return [f"So far this rests on {size}; all of them follow."]
    return [f"{len(cells)} of the {len(state.cells())} numbers compared rest on {size} so far."]
