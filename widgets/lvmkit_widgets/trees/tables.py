"""The tree as tables, JSON and text; what is hidden on the screen is hidden in them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from lvmkit_widgets.trees.state import NavigatorState

WORDS = 10  # of each node
RANKED = 100  # codes of each cluster in the table that is taken away


def nodes_table(state: NavigatorState) -> pd.DataFrame:
    """Return one row for every node."""
    figures, layout = state.figures, state.layout
    nodes, place = state.tree.nodes, {node: k for k, node in enumerate(state.frontier)}
    columns: dict[str, Any] = {
        "node": [node.id for node in nodes],
        "branch": layout.labels,
        "name": [state.names.get(node.id, "") for node in nodes],
        "parent": pd.array([node.parent for node in nodes], dtype="Int64"),
        "depth": layout.depths,
        "n": figures.sizes(),
        "share": figures.weights(),
        "cluster": pd.array([place.get(node.id) for node in nodes], dtype="Int64"),
        "strength": [node.strength for node in nodes],
        "support": [node.support for node in nodes],
        "reason": figures.reasons,
        "terms": [terms_of(state, node.id) for node in nodes],
    }
    return pd.DataFrame(columns)


def terms_of(state: NavigatorState, node: int) -> str:
    """Write the most relevant codes of a node at the λ of now."""
    best = state.figures.best(node, max_items=WORDS, balance=state.balance)
    return ", ".join(state.figures.words[j] for j in best)


def clusters_table(state: NavigatorState) -> pd.DataFrame:
    """Return one row for every cluster of the cut."""
    figures, layout = state.figures, state.layout
    nodes = list(state.frontier)
    sizes, weights = figures.sizes(), figures.weights()
    return pd.DataFrame(
        {
            "cluster": range(len(nodes)),
            "node": nodes,
            "branch": [layout.labels[i] for i in nodes],
            "name": [state.names.get(i, "") for i in nodes],
            "n": [sizes[i] for i in nodes],
            "share": [weights[i] for i in nodes],
            "leaves": [int(layout.stop[i] - layout.start[i]) for i in nodes],
            "terms": [terms_of(state, i) for i in nodes],
        }
    )


def codes_table(state: NavigatorState) -> pd.DataFrame:
    """Return the most relevant codes of every cluster of the cut, at the λ of now."""
    figures, rows = state.figures, []
    for k, node in enumerate(state.frontier):
        score = figures.scores([node], state.balance)[0]
        share, n = figures.shares([node])[0], figures.counts([node])[0]
        for rank, j in enumerate(figures.best(node, max_items=RANKED, balance=state.balance), 1):
            rows.append(
                {
                    "cluster": k,
                    "branch": state.layout.labels[node],
                    "name": state.names.get(node, ""),
                    "rank": rank,
                    "code": figures.words[j],
                    "title": figures.titles[j],
                    "n": int(n[j]),
                    "share": float(share[j]),
                    "overall": float(figures.overall[j]),
                    "lift": float(share[j] / figures.overall[j]),
                    "relevance": float(score[j]),
                }
            )
    return pd.DataFrame(rows)


def rows_table(state: NavigatorState) -> pd.DataFrame:
    """Return the cluster and the leaf of every row, by its id: for this machine, not to be shared."""
    if state.corpus is None:
        message = "There are no rows: pass the cohort to TreeNavigator."
        raise ValueError(message)
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
    records = nodes_table(state).to_dict("records") if not state.empty else []
    for record, node in zip(records, state.tree.nodes, strict=True):
        record["children"] = list(node.children)
        for key, value in record.items():
            if not isinstance(value, list | str) and pd.isna(value):
                record[key] = None
    told = {"cut": list(state.frontier), "nodes": records}
    return json.dumps(told, allow_nan=False, ensure_ascii=False, indent=1, default=int)


def tree_text(state: NavigatorState) -> str:
    """Write the tree as indented lines, down to the cut."""
    figures, layout, place = state.figures, state.layout, {}
    place = {node: k for k, node in enumerate(state.frontier)}
    sizes, weights = figures.sizes(), figures.weights()
    lines = []
    for node in shown_nodes(state):
        n = sizes[node]
        size = f"{n:,}" if isinstance(n, int) else n
        share = "" if np.isnan(weights[node]) else f" ({weights[node]:.0%})"
        number = f"[{place[node]}] " if node in place else ""
        told = state.names.get(node) or (
            f"({figures.hints[node]})" if figures.hints[node] else state.row_name
        )
        indent = "  " * int(layout.depths[node])
        lines.append(f"{indent}{number}{layout.labels[node]}  {told}  {size}{share}")
    return "\n".join(lines) + "\n"


def shown_nodes(state: NavigatorState) -> list[int]:
    """List the nodes above the cut and on it."""
    cut, found, waiting = set(state.frontier), [], [0] if not state.empty else []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node not in cut:
            waiting.extend(reversed(state.tree.nodes[node].children))
    return found
