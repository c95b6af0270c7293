"""Contents of a saved page of a tree: numbers of the nodes that fit, small counts hidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.terms_tab import TOP, held_nodes, labels_of, packed_numbers

SAVED_CELLS = 150_000  # numbers, nodes times codes; about eleven bytes each in the page


def saved_columns(state: NavigatorState) -> list[int]:
    """Choose the codes that the page holds."""
    figures = state.figures
    n, c = len(state.layout), len(figures.words)
    if n * c <= SAVED_CELLS:
        return list(range(c))
    room = min(max(SAVED_CELLS // n, 300), c)
    first = list(dict.fromkeys([*state.frontier, *range(min(n, 100))]))[:200]
    needed = np.zeros(c, dtype=bool)
    for balance in (0.0, 0.3, 0.6, 1.0):
        score = figures.scores(np.array(first), balance)
        best = np.argpartition(-score, min(TOP, c) - 1, axis=1)[:, :TOP]
        needed[np.unique(best)] = True
    frequent = np.nan_to_num(figures.overall)
    order = np.lexsort((-frequent, ~needed))
    return sorted(int(j) for j in order[: max(room, min(int(needed.sum()), 2 * room))])


def fixed(state: NavigatorState) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values."""
    if state.empty:
        return {}
    columns = saved_columns(state)
    held = held_nodes(state, SAVED_CELLS * len(state.figures.words) // max(len(columns), 1))
    numbers = packed_numbers(state, held, columns)
    labels = labels_of(state) | {"none": "The numbers of this branch are not in this page."}
    if len(columns) < len(state.words):
        labels["rest"] = (
            f"This page holds {len(columns):,} of {len(state.words):,} {state.column_name}s."
        )
    row = held.index(state.node)
    names = [state.label(i) for i in held]
    return {
        "relevance": {**numbers, "labels": labels, "names": names, "cluster": row},
        # Python makes the table: cuts that are made in the page do not change it.
        "clusters": {"title": "Clusters of the cut with which the page was saved"},
        "tree": {"held": None if len(held) == len(state.layout) else held, "row": row},
    }
