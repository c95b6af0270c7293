"""Export tab of the tree navigator: the tree as pictures, tables, text, JSON and page, and the steps."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from lvmkit.charts import tree_chart, tree_table
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.controls import check
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    StepsExportTab,
    chart_exports,
    page_export,
    steps_export,
    table_export,
)
from lvmkit_widgets.ui.tabs import Fields
from lvmkit_widgets.ui.words import refuse

WORDS = 10  # of each node
RANKED = 100  # codes of each cluster in the table that is taken away
DRAWN = 200  # nodes of a picture, at most
DRAWING = "The tree down to the cut, with sizes and first terms."
DOTS = "The same as a picture of dots."
BRANCHES = "Size, split, reason and terms of every branch."
TERMS = "The most relevant terms of every cluster, λ as chosen."
PRIVATE = (
    "Tables, pictures and the page hold totals only, and counts below {least} are hidden in them always. Names are "
    "in all of them as you wrote them. Rows by cluster name single patients: keep that file with the data. "
    + TWICE
)


def nodes_table(state: NavigatorState) -> pd.DataFrame:
    """Return one row for every node."""
    nodes, place = state.tree.nodes, {node: k for k, node in enumerate(state.frontier)}
    table = sizes_table(state, [node.id for node in nodes])
    columns: dict[str, Any] = {
        "parent": pd.array([node.parent for node in nodes], dtype="Int64"),
        "depth": state.layout.depths,
        "cluster": pd.array([place.get(node.id) for node in nodes], dtype="Int64"),
        "strength": [node.strength for node in nodes],
        "support": [node.support for node in nodes],
        "reason": state.figures.reasons,
    }
    first = ["node", "branch", "name", "parent", "depth", "n", "share"]
    return table.assign(**columns)[[*first, "cluster", "strength", "support", "reason", "terms"]]


def clusters_table(state: NavigatorState) -> pd.DataFrame:
    """Return one row for every cluster of the cut."""
    nodes, layout = list(state.frontier), state.layout
    table = sizes_table(state, nodes).assign(leaves=(layout.stop - layout.start)[nodes])
    table.insert(0, "cluster", range(len(nodes)))
    return table[[*table.columns.drop("terms"), "terms"]]


def sizes_table(state: NavigatorState, nodes: list[int]) -> pd.DataFrame:
    """Return name, size and the most relevant codes of some nodes, at the λ of now."""
    figures, sizes = state.figures, state.figures.sizes()
    best = [figures.best(i, max_items=WORDS, balance=state.balance) for i in nodes]
    return pd.DataFrame(
        {
            "node": nodes,
            "branch": [state.layout.labels[i] for i in nodes],
            "name": [state.names.get(i, "") for i in nodes],
            "n": [sizes[i] for i in nodes],
            "share": figures.weights()[nodes],
            "terms": [", ".join(figures.words[j] for j in columns) for columns in best],
        }
    )


def codes_table(state: NavigatorState) -> pd.DataFrame:
    """Return the most relevant codes of every cluster of the cut, at the λ of now."""
    parts = []
    for k, node in enumerate(state.frontier):
        table = state.figures.table(node, max_items=RANKED, balance=state.balance)
        labels, name = state.layout.labels, state.names.get(node, "")
        own = {"cluster": k, "branch": labels[node], "name": name}
        parts.append(pd.DataFrame(own, index=table.index).join(table))
    return pd.concat(parts, ignore_index=True)


def rows_table(state: NavigatorState) -> pd.DataFrame:
    """Return the cluster and the leaf of every row, by its id: for this machine, not to be shared."""
    if state.corpus is None:
        refuse("There are no rows: pass the cohort to TreeNavigator.")
    nodes, place = np.array(state.frontier), state.cluster_labels()
    labels = np.array(state.layout.labels, dtype=object)
    names = np.array([state.names.get(int(i), "") for i in nodes], dtype=object)
    return pd.DataFrame(
        {
            "record": state.corpus.obs.index.astype(str),
            "cluster": place,
            "branch": labels[nodes][place],
            "name": names[place],
            "leaf": labels[state.layout.leaves][state.labels],
        }
    )


def tree_json(state: NavigatorState) -> str:
    """Write the tree with its names and cut as JSON."""
    records: list[Any] = []
    if not state.empty:
        table = nodes_table(state).astype(object)
        children: Any = [list(node.children) for node in state.tree.nodes]
        records = table.where(table.notna(), None).assign(children=children).to_dict("records")
    told = {"cut": list(state.frontier), "nodes": records}
    return json.dumps(told, allow_nan=False, ensure_ascii=False, indent=1, default=int)


def tree_text(state: NavigatorState) -> str:
    """Write the tree as indented lines, down to the cut."""
    figures, layout = state.figures, state.layout
    place = {node: f"[{k}] " for k, node in enumerate(state.frontier)}
    sizes, weights, hints = size_texts(state), figures.weights(), figures.hints
    lines = []
    for node in shown_nodes(state):
        share = "" if np.isnan(weights[node]) else f" ({weights[node]:.0%})"
        hint = f"({hints[node]})" if hints[node] else state.row_name
        told = state.names.get(node) or hint
        indent = "  " * int(layout.depths[node]) + place.get(node, "")
        lines.append(f"{indent}{layout.labels[node]}  {told}  {sizes[node]}{share}")
    return "\n".join(lines) + "\n"


def tree_picture(state: NavigatorState, *, width: int = 860) -> Any:
    """Draw the tree down to the cut."""
    shown = shown_nodes(state)
    if len(shown) > DRAWN:
        refuse(
            f"A picture of {len(shown):,} branches could not be read; cut the tree higher up first "
            f"(at most {DRAWN} are drawn)."
        )
    figures, sizes = state.figures, size_texts(state)
    table = tree_table(state.tree, frontier=state.frontier, names=state.names, n_terms=0).assign(
        label=[state.label(i) for i in shown],
        n=[sizes[i] for i in shown],
        share=figures.weights()[shown],
        terms=[figures.hints[i] for i in shown],
    )
    return tree_chart(table, width=width, row_name=state.row_name)


def size_texts(state: NavigatorState) -> list[str]:
    """Write the size of each node."""
    return [f"{n:,}" if isinstance(n, int) else n for n in state.figures.sizes()]


def shown_nodes(state: NavigatorState) -> list[int]:
    """List the nodes above the cut and on it."""
    layout, cut = state.layout, list(state.frontier)
    below = {j for i in cut for j in layout.tree.walk(i)} - set(cut)
    return [i for i in layout.order if i not in below]


EXPORTS: tuple[Export[NavigatorState], ...] = (
    *chart_exports("picture", "Tree", lambda _: "tree", tree_picture, DRAWING, DOTS),
    table_export("nodes", "All branches", nodes_table, BRANCHES, file="branches"),
    table_export("clusters", "Clusters", clusters_table, "The clusters of the cut."),
    table_export("codes", "Terms by cluster", codes_table, TERMS, file="terms"),
    Export(
        "json", "Tree (JSON)", "tree.json", tree_json, "Structure, names and cut, for programs."
    ),
    Export(
        "text", "Tree (text)", "tree.txt", tree_text, "Indented lines, for a letter or a report."
    ),
    page_export("tree.html"),
    steps_export("Repeats the cuts and names."),
    table_export(
        "rows",
        "Rows by cluster",
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
        self.events = {
            **self.events,
            "files.values": lambda state, told: state.disclose(on_screen=not told.get("small")),
        }

    def options(self, state: NavigatorState) -> list[dict[str, Any]]:
        """Offer to show small counts."""
        label = f"Show counts below {state.disclosure.threshold} on this screen"
        return [check("small", label, wide=True)] if state.private else []

    def note(self, state: NavigatorState) -> str:
        """Say what files hold."""
        if state.private:
            return PRIVATE.format(least=state.disclosure.threshold)
        return "The page holds no text of a document, only the words of branches."

    def fields(self, state: NavigatorState) -> Fields:
        """Show the buttons, and whether small counts are seen."""
        shown = super().fields(state)
        small = {"visible": not state.empty, "values": {"small": not state.disclosure.on_screen}}
        return {**shown, "files": {**shown["files"], **small}}
