"""Export tab of the tree navigator: pictures, tables, text, JSON, page, steps."""

from __future__ import annotations

from typing import Any, ClassVar

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
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.export import TWICE, Export, StepsExportTab, page_export, steps_export

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

    depends: ClassVar[frozenset[str]] = frozenset({"history", "hide_small"})
    exports = EXPORTS

    def refresh(self) -> None:
        """Show the state as it is now."""
        super().refresh()
        self.form.visible = not self.state.empty
        self.form.values = {"small": not self.state.hide_small}

    def options(self) -> list[dict[str, Any]]:
        """Offer to show small counts."""
        label = f"Show counts below {self.state.threshold} on this screen and in tables"
        check = {"name": "small", "kind": "check", "label": label, "wide": True}
        return [check] if self.state.private else []

    def note(self) -> str:
        """Say what files hold."""
        return note_of(self.state)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        super().connect(board)
        board.listen("files", "values", self._set)

    def _set(self, values: dict[str, Any]) -> None:
        """Hide small counts, or show them."""
        self.state.hide_small = not values.get("small")


def note_of(state: NavigatorState) -> str:
    """Say what files hold."""
    if not state.private:
        return "The page holds no text of a document, only the words of branches."
    return (
        "The page holds totals only, and counts below "
        f"{state.threshold} are hidden in it always; in tables and pictures as on this screen. Names are in all of "
        f"them as you wrote them. Rows by cluster name single patients: keep that file with the data. {TWICE}"
    )
