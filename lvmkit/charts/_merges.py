"""Tree of the sets that covariates join along a path of clusterings, and the part of it that is shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import whole_numbers


def covariate_names(path: Any, names: Sequence[str] | None, d: int) -> list[str]:
    """Return what covariates are called."""
    known = path.feature_names if names is None else names
    if known is None:
        return [f"x{j}" for j in range(d)]
    if len(known) != d:
        msg = f"names needs one text for each of the {d} covariates; found {len(known)}"
        raise ValueError(msg)
    return [str(name) for name in known]


def members_of(labels: Labels, cluster: int | None, covariates: Sequence[int] | None) -> Labels:
    """Return the covariates whose clusters are tabulated."""
    if covariates is not None:
        wanted = np.unique(whole_numbers(covariates, "covariates"))
        if wanted.size and not 0 <= wanted[0] <= wanted[-1] < len(labels):
            msg = f"covariates has numbers from {wanted[0]} to {wanted[-1]}; they go from 0 to {len(labels) - 1}"
            raise ValueError(msg)
    if cluster is not None:
        found = np.flatnonzero(labels == cluster)
        if cluster < 0 or not found.size:
            msg = f"cluster={cluster}; the solution has clusters 0 to {labels.max()}"
            raise ValueError(msg)
        return found
    inside = labels >= 0 if covariates is None else np.isin(labels, labels[wanted]) & (labels >= 0)
    return np.flatnonzero(inside)


def merge_rows(path: Any, at: int, members: Labels) -> list[dict[str, Any]]:
    """Return the sets that arise, from the clusters of the solution down to single covariates."""
    rows: list[dict[str, Any]] = []
    order = sorted(range(len(path)), key=lambda step: path[step].nu)
    first = first_in([path[step].labels for step in order])

    def add(inside: Labels, parent: int | None, step: int) -> int:
        only = int(inside[0]) if len(inside) == 1 else None
        since = step if only is None else order[first[only]]  # what it says by itself
        row = {"node": len(rows), "parent": parent, "step": since, "size": len(inside)}
        rows.append(row | {"covariate": only, "first": int(inside[0])})
        return len(rows) - 1

    live = [(add(block, None, at), block) for block in _parts(path[at].labels, members)]
    for step in reversed(order[: order.index(at)]):
        labels, below = path[step].labels, []
        for node, block in live:
            if len(block) == 1:
                continue
            parts = _parts(labels, block)
            if len(parts) == 1:
                rows[node]["step"] = step
                below.append((node, block))
                continue
            below += [(add(part, node, step), part) for part in parts]
        live = below
    for node, block in live:
        if len(block) > 1:  # together from the first solution on
            for covariate in block:
                add(np.array([covariate]), node, 0)
    voices = {step: speaks_for(path[step].cluster_coef) for step in {row["step"] for row in rows}}
    for row in rows:
        labels = np.asarray(path[row["step"]].labels)
        row["cluster"] = own = int(labels[row["first"]])
        row["whole"] = int((labels == own).sum()) == row["size"]
        best, odds = voices[row["step"]]
        row["class_index"], row["odds_ratio"] = int(best[own]), float(odds[own])
    return rows


def first_in(labels: Sequence[Labels]) -> Labels:
    """Return for each covariate the first solution that it has a weight in; 0 if there is none."""
    found = np.full(len(labels[0]), -1)
    for place, own in enumerate(labels):
        found[(found < 0) & (np.asarray(own) >= 0)] = place
        if (found >= 0).all():
            break
    return np.maximum(found, 0)


def weights_alone(path: Any) -> Array:
    """Return the weights of covariates (classes, d) in the first solution that each has one in; 0 if there is none."""
    first = first_in([solution.labels for solution in path])
    found = np.zeros((len(path.classes), len(first)))
    for step in np.unique(first):
        labels = np.asarray(path[int(step)].labels)
        there = np.flatnonzero((first == step) & (labels >= 0))
        found[:, there] = np.asarray(path[int(step)].cluster_coef)[:, labels[there]]
    return found


def _parts(labels: Labels, block: Labels) -> list[Labels]:
    """Return a set of covariates by their clusters, in the order of their first; those without a weight are alone."""
    own = np.asarray(labels)[block]
    own = np.where(own < 0, -1 - np.arange(len(own)), own)
    if not own.size or (own == own[0]).all():
        return [block] if own.size else []
    _, first, where = np.unique(own, return_index=True, return_inverse=True)
    return [block[where == k] for k in np.argsort(first, kind="stable")]


def speaks_for(coef: npt.ArrayLike) -> tuple[Labels, Array]:
    """Return the class with the highest weight in each column, and its odds ratio against the second."""
    weights = np.asarray(coef, dtype=float)
    best = np.sort(weights, axis=0)
    second = best[-2] if len(best) > 1 else np.zeros(best.shape[1])
    with np.errstate(over="ignore"):
        return weights.argmax(axis=0), np.exp(best[-1] - second)


def shown_leaves(
    rows: list[dict[str, Any]], covariates: Sequence[int] | None, least: float, max_items: int
) -> set[int]:
    """Choose the leaves that are shown."""
    wanted = None if covariates is None else {int(j) for j in covariates}
    leaves = [
        row
        for row in rows
        if row["covariate"] is not None
        and row["odds_ratio"] >= least
        and (wanted is None or row["covariate"] in wanted)
    ]
    leaves.sort(key=lambda row: (-row["odds_ratio"], row["covariate"]))
    return {row["node"] for row in leaves[:max_items]}


def visible_rows(rows: list[dict[str, Any]], shown: set[int]) -> pd.DataFrame:
    """Return what is seen of the tree, depth first: no set with one part but the clusters of the solution."""
    children: dict[int, list[int]] = {row["node"]: [] for row in rows}
    for row in reversed(rows):  # parts come after what they are parts of
        node, parent = row["node"], row["parent"]
        if row["covariate"] is not None:
            kept = [node] if node in shown else []
        else:
            parts = sorted(children[node], key=lambda k: (-rows[k]["size"], rows[k]["first"]))
            children[node] = parts
            kept = [node] if len(parts) > 1 or (parent is None and parts) else parts
        if parent is not None:
            children[parent] += kept
        row["kept"] = bool(kept) and kept[0] == node
    found: list[dict[str, Any]] = []
    waiting = [(row["node"], None) for row in reversed(rows) if row["parent"] is None]
    waiting = [(k, above) for k, above in waiting if rows[k]["kept"]]
    while waiting:
        node, parent = waiting.pop()
        found.append({**rows[node], "parent": parent})
        waiting += [(child, node) for child in reversed(children[node])]
    columns = ["node", "parent", "step", "size", "covariate", "whole", "cluster", "class_index"]
    table = pd.DataFrame(found, columns=[*columns, "odds_ratio"])
    for name in ("parent", "covariate"):
        table[name] = pd.array(table[name].tolist(), dtype="Int64")
    table["order"] = _heights(found)
    return table


def _heights(found: list[dict[str, Any]]) -> Array:
    """Return places from top: covariates one below the other, sets in the middle of their parts."""
    order: dict[int, float] = {}
    leaves = [row["node"] for row in found if row["covariate"] is not None]
    order |= {node: float(i) for i, node in enumerate(leaves)}
    parts: dict[int, list[float]] = {}
    for row in reversed(found):
        node = row["node"]
        if node not in order:
            order[node] = (min(parts[node]) + max(parts[node])) / 2
        parts.setdefault(row["parent"], []).append(order[node])
    return np.array([order[row["node"]] for row in found], dtype=float)
