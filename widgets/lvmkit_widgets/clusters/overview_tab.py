"""Tab with all clusters at a glance: table 1, figure 1a and figure 1b of Ruffini 2017."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import (
    frequencies_chart,
    frequencies_table,
    heatmap_matrix,
    relevance_summary,
    svg,
)
from lvmkit.disclosure.text import shown_count, stands_for
from lvmkit_widgets.clusters.heading import share_word
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.heatmap import heat_fields
from lvmkit_widgets.ui.widgets import Form, Heat, Picture, Table

SUMMARY = [
    {"key": "label", "label": "Cluster", "kind": "text"},
    {"key": "n", "label": "Patients", "kind": "integer"},
    {"key": "share", "label": "Share", "kind": "percent"},
    {"key": "codes", "label": "What marks it", "kind": "text"},
]


STANDS_FOR = {
    "key": "estimate",
    "label": "Stand for",
    "kind": "integer",
    "help": "Sum of the weights: how many of the population these patients stand for. Shares are of these.",
}


class OverviewTab(ClusterTab):
    """Summary table, disease-frequency chart and heat map of all clusters."""

    title: ClassVar[str] = "Overview"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "cluster", "code", "balance", "top", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.summary = Table(
            title="The clusters",
            help="The most relevant codes of each cluster at the balance λ chosen under “What "
            "marks it”.",
            columns=SUMMARY,
            key="cluster",
            page_size=30,
            download="clusters.csv",
        )
        self.chosen = Form(inline=True)
        self.frequencies = Picture(
            title="How frequent the commonest codes are",
            help="Each bar is the share of a cluster's patients who have the code.",
            download="disease-frequencies",
        )
        self.heat = Heat(
            title="Patients by codes",
            help="Each line is a patient, or the mean of a few; lines of a cluster stand together, "
            "similar patients next to each other. Yellow: has the code; hatched: not shown, because "
            "few patients have it or lack it. Turn the wheel to zoom.",
        )
        self.components = {
            "summary": self.summary,
            "overview_options": self.chosen,
            "frequencies": self.frequencies,
            "heat": self.heat,
        }
        self.layout = ["summary", "overview_options", "frequencies", "heat"]
        self._order: tuple[Any, Any] = (None, None)

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, counts = self.state, self.state.counts()
        self.chosen.controls = [
            {
                "name": "top",
                "kind": "range",
                "label": "Codes in the pictures",
                "min": 5,
                "max": 40,
                "step": 1,
            }
        ]
        self.chosen.values = {"top": state.top}
        if self.changed("summary", counts, state.balance):
            weighted = counts.weighted is not None
            columns = (
                [*SUMMARY, STANDS_FOR] if weighted else SUMMARY
            )  # last: narrow pages cut it off
            self.summary.param.update(columns=columns, rows=self._summary_rows())
        self.summary.selected = state.cluster
        if self.changed("frequencies", counts, state.top):
            chart = frequencies_chart(frequencies_table(counts, top=state.top), width=900)
            self.frequencies.param.update(
                svg=svg(chart),
                alt=f"{share_word(state)} of patients with each of the {state.top} commonest codes, "
                "by cluster.",
            )
        if self.changed("heat", state.assignment, state.clustering.labels, state.top):
            self.heat.param.update(**self.heat_fields())
        self.heat.param.update(selected=state.cluster, code=state.code)

    def _summary_rows(self) -> list[dict[str, Any]]:
        """Return table 1 of Ruffini 2017."""
        state = self.state
        table = relevance_summary(state.counts(), balance=state.balance, top=5)
        sizes = zip(table["n"], state.assignment.sizes, strict=True)
        n = [shown_count(shown, whole, state.threshold) for shown, whole in sizes]
        table = table.assign(n=pd.Series(n, index=table.index, dtype=object))
        keys = ["cluster", "label", "n", "share", "codes"]
        if "estimate" in table:
            known = zip(table["estimate"], state.counts().sizes, strict=True)
            table["estimate"] = pd.Series([stands_for(*row) for row in known], dtype=object)
            keys.append("estimate")
        return [dict(zip(keys, row, strict=True)) for row in table[keys].itertuples(index=False)]

    def heat_fields(self, smallest: int = 0) -> dict[str, Any]:
        """Pack the patients for the heat map."""
        state, a = self.state, self.state.assignment
        if self._order[0] is not a:
            found = heatmap_matrix(
                a.X, a.labels, top=40, clusters=a.ids, feature_names=state.codes, max_rows=2000
            )
            self._order = (a, found)
        found = self._order[1]
        codes = [str(code) for code in found.codes[: max(state.top, 20)]]
        columns = [state.codes.index(code) for code in codes]
        shown, secret = np.ones(len(a.ids), dtype=bool), None
        if smallest:
            counts = state.counts(shared=True)
            shown = ~np.isnan(counts.sizes)
            secret = np.isnan(counts.counts[shown][:, columns])
        return heat_fields(
            a.X[found.order][:, columns],
            a.labels[found.order],
            codes=codes,
            titles=[state.patients.titles.get(code, "") for code in codes],
            ids=[int(i) for i in a.ids[shown]],
            names=[
                name for name, known in zip(state.clustering.labels, shown, strict=True) if known
            ],
            smallest=smallest,
            hidden=secret,
        )

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("summary", "pick", lambda id: self.pick({"cluster": id}))
        board.listen("overview_options", "values", self._options)
        board.listen("frequencies", "pick", self.pick)
        board.listen("heat", "pick", self.pick)

    def _options(self, values: dict[str, Any]) -> None:
        """Show more or fewer codes."""
        if values.get("top"):
            self.state.top = int(values["top"])
