"""What a saved page of the covariate path has room for, and what its reader can pick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lvmkit.core.typing import Labels
from lvmkit_widgets.covariates.clusters_tab import of_solution
from lvmkit_widgets.covariates.merges_tab import tree_fields
from lvmkit_widgets.covariates.state import HeldSolutions, PathState
from lvmkit_widgets.ui.tabs import Cases

HELD = 30  # solutions in a page, at most
ROOM = 300_000  # bytes of clusters and weights; with more the page would grow too large
TREES = 400_000  # bytes of trees


def held(state: PathState) -> Labels:
    """Choose the solutions that a page holds."""
    path = state.path
    wanted = {state.step, int(path.best)}
    wanted |= set() if state.chosen is None else {state.chosen}
    labels = [np.asarray(solution.labels) for solution in path]
    differ = [0, *(s for s in range(1, len(path)) if not np.array_equal(labels[s], labels[s - 1]))]
    size = max(len(of_solution(state, s)["weights"]) + labels[s].size * 4 for s in (0, state.step))
    room = int(np.clip(ROOM // max(size, 1), 3, HELD))
    places = np.linspace(0, len(differ) - 1, min(room, len(differ))).round().astype(int)
    return np.array(sorted({differ[i] for i in places} | wanted), dtype=int)


def page_state(state: PathState) -> PathState:
    """Return the state of a page, with what it holds."""
    shared = state.for_others
    steps = tuple(int(step) for step in held(state))
    return shared.replace(held=HeldSolutions(state.step, steps, frozenset(trees(shared, steps))))


def cases(state: PathState) -> Iterator[Cases[PathState]]:
    """Yield what happens when the reader moves ν or picks a cluster."""
    there = state.held
    assert there is not None
    solutions = {
        str(place): state.at(step, first(state, step)) for place, step in enumerate(there.steps)
    }
    # with the tree of all clusters, the tree stays whichever is picked
    follow = ["clusters", "curves", *(["tree"] if state.every else [])]
    resets = ["clusters.selected", "clusters.covariate", "clusters.shown"]
    yield Cases("nu.selected", solutions, only=follow, resets=resets)
    picked = {} if state.every else {f"{s}:{c}": state.at(s, c) for s, c in there.trees}
    without = {} if state.every else {"": state.replace(held=there._replace(trees=frozenset()))}
    yield Cases("clusters.shown", without | picked, only=["tree"])


def trees(state: PathState, steps: tuple[int, ...]) -> Iterator[tuple[int, int | None]]:
    """Yield what trees there is room for: of the cluster picked first of each solution, then of the largest of ours."""
    if state.every:
        yield state.step, None
        return
    ours = [(state.step, cluster) for cluster in _largest_first(state)]
    others = [(step, state.first_of(step)) for step in steps if step != state.step]
    wanted = dict.fromkeys([(state.step, state.cluster), *others, *ours])
    room = TREES
    for step, cluster in wanted:
        if cluster is not None and room > 0:
            room -= len(tree_fields(state, step, cluster)["svg"])
            yield step, cluster


def first(state: PathState, step: int) -> int | None:
    """Return the cluster that a page shows first of a solution."""
    mine = step == state.step and state.cluster is not None
    return state.cluster if mine else state.first_of(step)


def _largest_first(state: PathState) -> list[int]:
    """List the clusters that have a tree."""
    sizes = np.bincount(state.labels[state.labels >= 0])
    order = np.argsort(-sizes, kind="stable")
    return [int(i) for i in order if sizes[i] > 1]
