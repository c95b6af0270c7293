"""Tab that compares two clusters, or one with all others."""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from lvmkit.charts import comparison_chart, comparison_table, svg
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.sidebar import share_word
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import column, select
from lvmkit_widgets.ui.paging import turning
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Picture, Table

EVERYONE_ELSE = "others"
WORDS = ("code", "title")
LISTED = 15  # codes on a page
LISTED_IN_PAGES = 40  # codes in the table of a saved page


class CompareTab(Tab[ExplorerState]):
    """Codes in which two clusters differ most."""

    title: ClassVar[str] = "Compare"

    def __init__(self) -> None:
        super().__init__()
        picture = Picture(
            title="Where they differ most",
            help="Codes with the largest difference in share, in percentage points. A share that "
            "few patients stand for is hidden; what is known of it is written in its place.",
            download="comparison",
        )
        self.components = {
            "pair": Form(inline=True, title="Which two"),
            "difference": picture,
            "differences": Table(key="code", page_size=LISTED, searchable=True),
        }
        every = {"section": "differences", "title": "All codes", "closed": True}
        self.layout = ["pair", "difference", every]
        self.events = {
            "pair.values": choose_pair,
            "differences.pick": lambda state, code: state.look(code=str(code)),
            "difference.pick": ExplorerState.pick_mark,
            **turning("differences", "differences"),
        }

    def fields(self, state: ExplorerState) -> Fields:
        """Show where the two differ."""
        counts = state.counts()
        shown = {"pair": pair_form(state, counts)}
        if len(counts.clusters) < 2 or state.cluster == state.other:
            return shown | {"difference": {"visible": False}, "differences": {"visible": False}}
        first = state.clustering.cluster(state.cluster).label
        other = state.other
        against = "all others" if other is None else state.clustering.cluster(other).label
        text = f"{share_word(state)} of patients with each code in {first} and in {against}."
        picture = {"svg": draw_difference(state, counts), "alt": text, "visible": True}
        rows = None if state.live else LISTED_IN_PAGES
        listed = state.differences.page_of(listed_codes(state, counts), WORDS, LISTED, first=rows)
        listed["columns"] = _columns(first, against)
        return shown | {"difference": picture, "differences": {**listed, "visible": True}}


def pair_form(state: ExplorerState, counts: CodeCounts) -> dict[str, Any]:
    """Describe the choice of the two."""
    named = zip(counts.clusters, counts.cluster_labels, strict=True)
    options = [[str(i), label] for i, label in named]
    others = [[EVERYONE_ELSE, "all other patients"], *options]
    second = EVERYONE_ELSE if state.other is None else str(state.other)
    return {
        "controls": [
            select("first", "Cluster", options),
            select("second", "compared with", others),
        ],
        "values": {"first": str(state.cluster), "second": second},
    }


def choose_pair(state: ExplorerState, values: dict[str, Any]) -> ExplorerState:
    """Take the two clusters."""
    second = values.get("second") or EVERYONE_ELSE
    other = None if second == EVERYONE_ELSE else int(second)
    return state.look(cluster=int(values["first"]), other=other)


@remembered
def draw_difference(state: ExplorerState, counts: CodeCounts) -> str:
    """Draw the codes in which the two differ most."""
    return svg(comparison_chart(compared(state, counts, state.top), width=720))


@remembered
def listed_codes(state: ExplorerState, counts: CodeCounts) -> pd.DataFrame:
    """List every code that somebody in one of the two has."""
    table = compared(state, counts, len(state.codes))
    table = table[~((table["n_first"] == 0) & (table["n_second"] == 0))]
    hidden = {name: table[name].astype(object) for name in ("first", "second")}
    shown = {n: values.where(values.notna(), table[f"{n}_text"]) for n, values in hidden.items()}
    titles = [state.patients.titles.get(code, "") for code in table["code"]]
    table = table.assign(title=titles, difference=100 * table["at_least"], **shown)
    return table[["code", "title", "first", "second", "difference"]]


def compared(state: ExplorerState, counts: CodeCounts, top: int) -> pd.DataFrame:
    """Compare the two; hidden counts only as far as they may be known."""
    return comparison_table(
        counts,
        state.cluster,
        state.other,
        top=top,
        whole=state.counts(whole=True),
        threshold=state.disclosure.threshold,
    )


def _columns(first: str, second: str) -> list[dict[str, Any]]:
    """Columns of the table of differences."""
    least = "In percentage points; where a share is hidden, the least it can be."
    return [
        column("code", "Code", "code"),
        column("title", "Diagnosis"),
        column("first", first, "percent"),
        column("second", second, "percent"),
        column("difference", "Difference", "number", digits=1, help=least),
    ]
