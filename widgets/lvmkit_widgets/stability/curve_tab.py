"""Tab of stability against the number of clusters or the depth."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.charts import stability_curve_chart, stability_curve_table, svg
from lvmkit.scores.stability.verdict import REAPPEARS
from lvmkit_widgets.stability.data import Cell
from lvmkit_widgets.stability.state import GOAL, StabilityState
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Picture, Table

WAIT = "The first results appear here within a moment."


class CurveTab(Tab[StabilityState]):
    """Every method and value."""

    title: ClassVar[str] = "Comparison"

    def __init__(self) -> None:
        super().__init__()
        curve = Picture(
            help="Adjusted Rand index of two fits to different rows: 1 where the same rows come together "
            "again, about 0 where only chance agrees. Recommended is the largest number whose mean reaches "
            f"{GOAL:g}, or, where none does, the largest within one standard error of the best.",
            download="stability",
        )
        table = Table(
            title="Pick one to look at its clusters",
            help="Reappear: clusters whose mean Jaccard index with their best match in other fits is "
            f"{REAPPEARS:g} or more. Sample: so far of a sample of the rows.",
            key="id",
            page_size=12,
            download="stability.csv",
            empty="Nothing has been measured yet.",
        )
        self.components = {"curve": curve, "values": table}
        self.layout = ["curve", "values"]
        self.events = {"values.selected": pick_row}

    def initial(self, state: StabilityState) -> Fields:
        """Name what is compared."""
        title = f"Stability against the {state.subject.value_name}"
        deep = state.subject.deep
        found = column("found", "Clusters", "integer", help="Of the first fit")
        columns = [
            column("method", "Method"),
            column("value", "Depth" if deep else "Clusters", "integer"),
            *([found] if deep else []),
            column("mean", "Mean index", "number", digits=2),
            column("span", "Range"),
            column("reappear", "Reappear"),
            column("repeats", "Repeats", "integer"),
            column("note", "Note"),
        ]
        return {"curve": {"title": title}, "values": {"columns": columns}}

    def picks(self, state: StabilityState) -> Fields:
        """Show what is picked."""
        return {"values": {"selected": row_id(state.picked)}}

    def fields(self, state: StabilityState) -> Fields:
        """Show every method and value."""
        drawn = draw_curve(state)
        why = " ".join(f"{name}: {why}" for name, why in state.table().attrs["why"].items())
        name, wait = ("stability", "") if drawn else ("", WAIT)
        curve = {"svg": drawn, "alt": why or WAIT, "caption": wait, "download": name}
        return {"curve": curve, "values": {"rows": rows_of(state)}}


def pick_row(state: StabilityState, key: str) -> StabilityState:
    """Look at another method or value."""
    method, _, value = str(key).rpartition(" · ")
    return state.pick(method, int(value))


@remembered
def draw_curve(state: StabilityState) -> str:
    """Draw every method and value."""
    what = "depth" if state.subject.deep else "number of clusters asked for"
    return "" if state.table().empty else svg(curve_of(state, x_title=what))


def curve_of(state: StabilityState, **options: Any) -> Any:
    """Draw every method and value, fit to be shared."""
    table = stability_curve_table(state.table())
    return stability_curve_chart(table, goal=GOAL, width=760, **options)


def row_id(cell: Cell) -> str:
    """Return the key of a row."""
    return f"{cell.method} · {cell.value}"


def rows_of(state: StabilityState) -> list[dict[str, Any]]:
    """Describe every method and value."""
    best = state.table().attrs["recommended"]
    rows = []
    for cell in state.every_cell():
        study = state.study_of(cell)
        row: dict[str, Any] = {"id": row_id(cell), **cell._asdict()}
        if study is not None:
            shown = ~np.isin(study.clusters, state.hidden(study))
            stable = int((study.cluster_stability[shown] >= REAPPEARS).sum())
            row |= {"found": int(study.found[0]), "repeats": study.n_repeats}
            row |= {"mean": float(study.ari.mean()), "reappear": f"{stable} of {int(shown.sum())}"}
            row["span"] = f"{study.ari.min():.2f}–{study.ari.max():.2f}".replace("-", "−")
            best_one = "recommended" if study.ari.mean() >= GOAL else f"best, below {GOAL:g}"
            notes = [best_one] if best.get(cell.method) == cell.value else []
            row["note"] = ", ".join([*notes, *(["sample"] if state.is_sampled(cell) else [])])
        rows.append(row)
    return rows
