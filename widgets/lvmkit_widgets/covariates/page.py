"""Contents of a saved page of the covariate path: solutions that fit, with an answer for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit.core.typing import Labels
from lvmkit_widgets.covariates.clusters_tab import fields_of
from lvmkit_widgets.covariates.merges_tab import tree_fields
from lvmkit_widgets.covariates.path_tab import curves_text, draw_curves, option
from lvmkit_widgets.covariates.state import PathState

HELD = 30  # solutions in a page, at most
ROOM = 300_000  # bytes of clusters and weights; with more the page would grow too large
TREES = 400_000  # bytes of trees
MISSING = {
    "svg": "",
    "alt": "",
    "caption": "The tree of this cluster is not in this page; the dashboard draws it.",
}


def held(state: PathState) -> Labels:
    """Choose the solutions that a page holds."""
    path = state.path
    wanted = {state.step, int(path.best)}
    wanted |= set() if state.chosen is None else {state.chosen}
    labels = [np.asarray(solution.labels) for solution in path]
    differ = [0, *(s for s in range(1, len(path)) if not np.array_equal(labels[s], labels[s - 1]))]
    size = max(len(fields_of(state, s)["weights"]) + labels[s].size * 4 for s in (0, state.step))
    room = int(np.clip(ROOM // max(size, 1), 3, HELD))
    places = np.linspace(0, len(differ) - 1, min(room, len(differ))).round().astype(int)
    return np.array(sorted({differ[i] for i in places} | wanted), dtype=int)


def fixed(state: PathState) -> dict[str, dict[str, Any]]:
    """Return the fields that a saved page shows with other values."""
    steps = held(state)
    options = [option(state, int(s)) for s in steps]
    if len(steps) < len(state.path):
        for told in options:
            told["note"] = "; ".join(filter(None, [told["note"], _part(len(steps), state)]))
    place = int(np.searchsorted(steps, state.step))
    return {
        "nu": {"options": options, "selected": place},
        "clusters": {"shown": f"{state.step}:{state.cluster}"},
        "curves": {"svg": draw_curves(state, state.step, links=False)},
        "tree": tree_fields(state, state.step, None if state.every else state.cluster, links=False),
    }


def cases(state: PathState) -> list[dict[str, Any]]:
    """Return what a saved page shows when the reader moves ν or picks a cluster."""
    steps = [int(step) for step in held(state)]
    firsts = {step: state.first_of(step) for step in steps}
    if state.cluster is not None:
        firsts[state.step] = state.cluster
    trees = {} if state.every else _trees(state, firsts)
    whole = tree_fields(state, state.step, None, links=False) if state.every else MISSING
    solutions: dict[str, dict[str, Any]] = {}
    for place, step in enumerate(steps):
        numbers = {f"clusters.{name}": value for name, value in fields_of(state, step).items()}
        key = f"{step}:{firsts[step]}"
        solutions[str(place)] = {
            **numbers,
            "clusters.covariate": None,
            "clusters.selected": firsts[step],
            "clusters.shown": key if key in trees else "",
            "curves.svg": draw_curves(state, step, links=False),
            "curves.alt": curves_text(state, step),
        }
        if state.every:  # the tree of all clusters stays, whichever is picked
            solutions[str(place)] |= _tree(whole if step == state.step else MISSING)
    return [{"when": "nu.selected", "cases": solutions}, {"when": "clusters.shown", "cases": trees}]


def _trees(state: PathState, firsts: dict[int, int | None]) -> dict[str, dict[str, Any]]:
    """Draw trees by solution and cluster: the one picked first of each solution, then the largest of ours."""
    trees, room = {"": _tree(MISSING)}, TREES
    ours = [(state.step, cluster) for cluster in _largest_first(state)]
    for step, cluster in [(state.step, firsts[state.step]), *firsts.items(), *ours]:
        if cluster is None or f"{step}:{cluster}" in trees or room <= 0:
            continue
        fields = tree_fields(state, step, cluster, links=False)
        room -= len(fields["svg"])
        trees[f"{step}:{cluster}"] = _tree(fields)
    return trees


def _tree(fields: dict[str, str]) -> dict[str, str]:
    """Return fields of the tree as a case has them."""
    return {f"tree.{name}": value for name, value in fields.items()}


def _largest_first(state: PathState) -> list[int]:
    """List the clusters that have a tree."""
    sizes = np.bincount(state.labels[state.labels >= 0])
    order = np.argsort(-sizes, kind="stable")
    return [int(i) for i in order if sizes[i] > 1]


def _part(n: int, state: PathState) -> str:
    """Say how much of the path is in the page."""
    return f"this page holds {n} of {len(state.path)} values of ν"
