"""Tab with all clusters at a glance: table 1, figure 1a and figure 1b of Ruffini 2017."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit import charts
from lvmkit.disclosure.text import stands_for
from lvmkit.mixtures.assignment import Assignment
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters import codes_tab
from lvmkit_widgets.clusters.sidebar import share_word
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import column, number
from lvmkit_widgets.ui.export import image
from lvmkit_widgets.ui.heatmap import heat_fields
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Heat, Picture, Table

SUMMARY = [
    column("label", "Cluster"),
    column("n", "Patients", "integer"),
    column("share", "Share", "percent"),
    column("codes", "What marks it"),
]
SUMMARY_HELP = (
    "The most relevant codes of each cluster at the balance λ chosen under “What marks it”."
)
FREQUENCIES = "How frequent the commonest codes are"
FREQUENCIES_HELP = "Each bar is the share of a cluster's patients who have the code."
HEAT_HELP = (
    "Each line is a patient, or the mean of a few; lines of a cluster stand together, similar patients next to each "
    "other. Yellow: has the code; hatched: not shown, because few patients have it or lack it. Turn the wheel to zoom."
)
STANDS_FOR = f"{codes_tab.STANDS_FOR} Shares are of these."


class OverviewTab(Tab[ExplorerState]):
    """Summary table, disease-frequency chart and heat map of all clusters."""

    title: ClassVar[str] = "Overview"

    def __init__(self) -> None:
        super().__init__()
        summary = Table(
            title="The clusters",
            help=SUMMARY_HELP,
            columns=SUMMARY,
            key="cluster",
            page_size=30,
            download="clusters.csv",
        )
        self.components = {
            "summary": summary,
            "overview_options": Form(inline=True),
            "frequencies": Picture(
                title=FREQUENCIES, help=FREQUENCIES_HELP, download="disease-frequencies"
            ),
            "heat": Heat(title="Patients by codes", help=HEAT_HELP),
        }
        self.layout = ["summary", "overview_options", "frequencies", "heat"]
        self.events = {
            "summary.pick": lambda state, id: state.look(cluster=id),
            "overview_options.values": lambda state, values: state.replace(
                top=int(values.get("top") or state.top)
            ),
            "frequencies.pick": ExplorerState.pick_mark,
            "heat.pick": ExplorerState.pick_mark,
        }

    def fields(self, state: ExplorerState) -> Fields:
        """Show all clusters."""
        counts = state.counts()
        estimate = column("estimate", "Stand for", "integer", help=STANDS_FOR)
        # last: narrow pages cut it off
        columns = SUMMARY if counts.weighted is None else [*SUMMARY, estimate]
        top = number("top", "Codes in the pictures", kind="range", min=5, max=40)
        alt = f"{share_word(state)} of patients with each of the {state.top} commonest codes, by cluster."
        heat = fields_of_heat(state, state.assignment, tuple(state.clustering.labels))
        rows = summary_rows(state, counts)
        return {
            "summary": {"columns": columns, "rows": rows, "selected": state.cluster},
            "overview_options": {"controls": [top], "values": {"top": state.top}},
            "frequencies": {"svg": draw_frequencies(state, counts), "alt": alt},
            "heat": {**heat, "selected": state.cluster, "code": state.code},
        }

    def still(self, state: ExplorerState) -> str:
        """Return the table of clusters, and how frequent the commonest codes are."""
        counts = state.counts()
        names = {one["key"]: one["label"] for one in SUMMARY}
        table = pd.DataFrame(summary_rows(state, counts))[list(names)].rename(columns=names)
        text = table.to_html(index=False, border=0, float_format="{:.1%}".format, justify="left")
        picture = charts.frequencies_chart(charts.frequencies_table(counts, top=state.top))
        return f"{text}{image(picture, FREQUENCIES)}"


@remembered
def summary_rows(state: ExplorerState, counts: CodeCounts) -> list[dict[str, Any]]:
    """Return table 1 of Ruffini 2017."""
    table = charts.relevance_summary(counts, balance=state.balance, top=5)
    told: dict[str, Any] = {"n": state.shown_sizes(counts)}
    if counts.weighted is not None:
        told["estimate"] = list(map(stands_for, counts.weighted.sizes, counts.sizes))
    table = table.assign(**{name: pd.Series(one, dtype=object) for name, one in told.items()})
    keys = [str(name) for name in table]
    return [dict(zip(keys, row, strict=True)) for row in table.itertuples(index=False)]


@remembered
def draw_frequencies(state: ExplorerState, counts: CodeCounts) -> str:
    """Draw how frequent the commonest codes are."""
    return charts.svg(
        charts.frequencies_chart(charts.frequencies_table(counts, top=state.top), width=900)
    )


@remembered
def order_of_heat(state: ExplorerState, a: Assignment) -> Any:
    """Order the patients for the heat map."""
    return charts.heatmap_matrix(
        a.X, a.labels, top=40, clusters=a.ids.tolist(), feature_names=state.codes, max_rows=2000
    )


@remembered
def fields_of_heat(state: ExplorerState, a: Assignment, labels: tuple[str, ...]) -> dict[str, Any]:
    """Pack the patients for the heat map; in a page means of many, without small counts."""
    found, smallest = order_of_heat(state, a), 0 if state.live else state.disclosure.level
    codes = [str(code) for code in found.codes[: max(state.top, 20)]]
    columns = [state.codes.index(code) for code in codes]
    shown, secret = np.ones(len(a.ids), dtype=bool), None
    if smallest:
        counts = state.counts()
        shown = ~np.isnan(counts.sizes)
        secret = np.isnan(counts.counts[shown][:, columns])
    return heat_fields(
        a.X[found.order][:, columns],
        a.labels[found.order],
        codes=codes,
        titles=[state.patients.titles.get(code, "") for code in codes],
        ids=[int(i) for i in a.ids[shown]],
        names=[name for name, known in zip(labels, shown, strict=True) if known],
        smallest=smallest,
        hidden=secret,
    )
