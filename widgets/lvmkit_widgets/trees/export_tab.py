"""Take the tree away: pictures, tables, text, JSON, a page that works without internet, the clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pandas as pd

from lvmkit.charts import png, svg, tree_chart, tree_table
from lvmkit_widgets.clusters.export_tables import csv
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.tables import (
    clusters_table,
    codes_table,
    nodes_table,
    rows_table,
    shown_nodes,
    tree_json,
    tree_text,
)
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.export import TWICE, GivesSteps, written

DRAWN = 200  # nodes of a picture, at most
FILES = {
    "picture": ("Tree (SVG)", "The tree down to the cut, with sizes and first terms."),
    "picture_png": ("Tree (PNG)", "The same as a picture of dots."),
    "nodes": ("All branches (CSV)", "Size, split, reason and terms of every branch."),
    "clusters": ("Clusters (CSV)", "The clusters of the cut."),
    "codes": ("Terms by cluster (CSV)", "The most relevant terms of every cluster, λ as chosen."),
    "json": ("Tree (JSON)", "Structure, names and cut, for programs."),
    "text": ("Tree (text)", "Indented lines, for a letter or a report."),
    "page": ("Page (HTML)", "One file that answers without Python and without internet."),
    "python": ("Steps as Python (py)", "Repeats the cuts and names."),
    "rows": ("Rows by cluster (CSV)", "The cluster of every row, by its id."),
}
TABLES: dict[str, Callable[[NavigatorState], pd.DataFrame]] = {
    "nodes": nodes_table,
    "clusters": clusters_table,
    "codes": codes_table,
    "rows": rows_table,
}
TEXTS = {"json": "application/json", "text": "text/plain", "python": "text/x-python"}


class Files(GivesSteps[NavigatorState]):
    """Buttons that hand over files, and the steps taken."""

    title: ClassVar[str] = "Steps and files"
    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small"})

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        self.form.visible = not state.empty
        private = " – private" if state.private else ""
        buttons = [
            {
                "name": name,
                "kind": "button",
                "label": label + (private if name == "rows" else ""),
                "help": told,
            }
            for name, (label, told) in FILES.items()
            if name != "rows" or state.corpus is not None
        ]
        check = {
            "name": "small",
            "kind": "check",
            "label": f"Show counts below {state.threshold} on this screen and in tables",
            "wide": True,
        }
        note = {"name": "note", "kind": "note", "label": note_of(state)}
        self.form.controls = [*buttons, *([check] if state.private else []), note]
        self.form.values = {"small": not state.hide_small}
        self.show_steps()

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        super().connect(board)
        board.listen("files", "values", self._set)

    def _set(self, values: dict[str, Any]) -> None:
        """Hide small counts, or show them."""
        self.state.hide_small = not values.get("small")

    def warning(self, name: str) -> str:
        """Say that rows are of single patients."""
        single = name == "rows" and self.state.private
        return " It holds ids of single patients: keep it here." if single else ""

    def made(self, name: str) -> tuple[str, bytes, str]:
        """Make a file; `name` is a key of `FILES`."""
        state = self.state
        if name in TABLES:
            file = {"nodes": "branches", "codes": "terms"}.get(name, name)
            return f"{file}.csv", csv(TABLES[name](state)), "text/csv"
        if name in TEXTS:
            texts = {
                "json": tree_json,
                "text": tree_text,
                "python": lambda s: f"{s.history.code}\n",
            }
            file = {"json": "tree.json", "text": "tree.txt", "python": "steps.py"}[name]
            return file, texts[name](state).encode(), TEXTS[name]
        if name == "page":
            return "tree.html", written(self._board.to_html, "tree.html"), "text/html"
        chart = tree_picture(state)
        if name == "picture_png":
            return "tree.png", png(chart), "image/png"
        return "tree.svg", svg(chart).encode(), "image/svg+xml"


def note_of(state: NavigatorState) -> str:
    """Say what files hold."""
    if not state.private:
        return "The page holds no text of a document, only the words of branches."
    return (
        "The page holds totals only, and counts below "
        f"{state.threshold} are hidden in it always; in tables and pictures as on this screen. Names are in all of "
        f"them as you wrote them. Rows by cluster name single patients: keep that file with the data. {TWICE}"
    )


def tree_picture(state: NavigatorState, *, width: int = 860) -> Any:
    """Draw the tree down to the cut."""
    shown = shown_nodes(state)
    if len(shown) > DRAWN:
        message = (
            f"A picture of {len(shown):,} branches could not be read; cut the tree higher up first "
            f"(at most {DRAWN} are drawn)."
        )
        raise ValueError(message)
    figures = state.figures
    sizes, weights = figures.sizes(), figures.weights()
    table = tree_table(state.tree, frontier=state.frontier, names=state.names, n_terms=0).assign(
        label=[state.label(i) for i in shown],
        n=[f"{n:,}" if isinstance(n, int) else n for n in (sizes[i] for i in shown)],
        share=weights[shown],
        terms=[figures.hints[i] for i in shown],
    )
    return tree_chart(table, width=width, row_name=state.noun)
