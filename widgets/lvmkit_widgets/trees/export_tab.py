"""Export tab of the tree navigator: pictures, tables, text, JSON, page, steps."""

from __future__ import annotations

from typing import Any

from lvmkit.charts import tree_chart, tree_table
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
from lvmkit_widgets.ui.export import TWICE, Export, StepsExportTab, page_export, steps_export
from lvmkit_widgets.ui.tabs import Fields

DRAWN = 200  # nodes of a picture, at most


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
    return tree_chart(table, width=width, row_name=state.row_name)


EXPORTS: tuple[Export[NavigatorState], ...] = (
    Export(
        "picture",
        "Tree (SVG)",
        "tree.svg",
        tree_picture,
        "The tree down to the cut, with sizes and first terms.",
    ),
    Export("picture_png", "Tree (PNG)", "tree.png", tree_picture, "The same as a picture of dots."),
    Export(
        "nodes",
        "All branches (CSV)",
        "branches.csv",
        nodes_table,
        "Size, split, reason and terms of every branch.",
    ),
    Export(
        "clusters", "Clusters (CSV)", "clusters.csv", clusters_table, "The clusters of the cut."
    ),
    Export(
        "codes",
        "Terms by cluster (CSV)",
        "terms.csv",
        codes_table,
        "The most relevant terms of every cluster, λ as chosen.",
    ),
    Export(
        "json", "Tree (JSON)", "tree.json", tree_json, "Structure, names and cut, for programs."
    ),
    Export(
        "text", "Tree (text)", "tree.txt", tree_text, "Indented lines, for a letter or a report."
    ),
    page_export("tree.html"),
    steps_export("Repeats the cuts and names."),
    Export(
        "rows",
        "Rows by cluster (CSV)",
        "rows.csv",
        rows_table,
        "The cluster of every row, by its id.",
        private="It holds ids of single patients: keep it here.",
        offered=lambda state: state.corpus is not None,
    ),
)


class TreeExportTab(StepsExportTab[NavigatorState]):
    """Buttons that hand over files, and the steps taken."""

    exports = EXPORTS

    def __init__(self) -> None:
        super().__init__()
        self.events = {**self.events, "files.values": show_small}

    def options(self, state: NavigatorState) -> list[dict[str, Any]]:
        """Offer to show small counts."""
        label = f"Show counts below {state.disclosure.threshold} on this screen"
        check = {"name": "small", "kind": "check", "label": label, "wide": True}
        return [check] if state.private else []

    def note(self, state: NavigatorState) -> str:
        """Say what files hold."""
        return note_of(state)

    def fields(self, state: NavigatorState) -> Fields:
        """Show the buttons, and whether small counts are seen."""
        shown = super().fields(state)
        small = {"visible": not state.empty, "values": {"small": not state.disclosure.on_screen}}
        return {**shown, "files": {**shown["files"], **small}}


def show_small(state: NavigatorState, values: dict[str, Any]) -> NavigatorState:
    """Hide small counts, or show them."""
    return state.disclose(on_screen=not values.get("small"))


def note_of(state: NavigatorState) -> str:
    """Say what files hold."""
    if not state.private:
        return "The page holds no text of a document, only the words of branches."
    return (
        "Tables, pictures and the page hold totals only, and counts below "
        f"{state.disclosure.threshold} are hidden in them always. Names are in all of "
        f"them as you wrote them. Rows by cluster name single patients: keep that file with the data. {TWICE}"
    )
