"""What may be shown of the counts of a tree, so that no small one follows from those around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit._typing import Array

NEAR = 0.05  # of an estimate: it may be wrong by so much, or by the threshold
Mask = npt.NDArray[np.bool_]


def shown_counts(
    counts: npt.NDArray[Any],
    splits: npt.NDArray[np.intp],
    *,
    sizes: npt.NDArray[Any] | None = None,
    threshold: int = 11,
) -> tuple[Array, Mask]:
    """Find what may be shown of the counts of all nodes of a tree.

    Parameters
    ----------
    counts : array (n_nodes, d)
        Whole numbers: people of each node that have each code.
    splits : array (n_splits, 3) of int
        A node and its two parts, a node before its parts; all nodes but the first are a part once.
    sizes : array (n_nodes,), optional
        People of each node; then counts that nearly all of them have are hidden too.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.

    Returns
    -------
    shown : array (n_nodes, d)
        Counts that may be shown. A hidden one is NaN, or an estimate, off by `threshold` or by 5 % at most, that
        is made of shown counts alone and so tells nothing more than these.
    hidden : array (n_nodes, d) of bool
        Which are hidden.

    Notes
    -----
    A node's count is the sum of its parts' counts. Hidden are counts of 1 to t − 1, counts that all but 1 to
    t − 1 of the node's people have, and sums below 2t − 1 of two parts of which one is small, from which
    the reader could narrow it down. Then, from the root down: where one part is hidden and the whole is
    not, the other part is hidden too; where the whole is hidden, one part of at least 2t − 1 is, or both.
    So every equation whole = part + part holds two hidden numbers or none. Each number stands in two of
    these equations at most, and they form a tree: whatever value one hidden number takes, the others
    can be chosen to fit, so none of them is determined, not even by solving all equations together.

    An estimate of a part is the shown count, or the estimate, of the whole, less the other part: its shown count,
    or, where that is small, the middle of 1 to t − 1.

    Examples
    --------
    >>> tree = np.array([[0, 1, 2]])
    >>> shown, hidden = shown_counts(np.array([[90], [4], [86]]), tree)
    >>> shown.ravel(), hidden.ravel()
    (array([90. , nan, 84.5]), array([False,  True,  True]))
    """
    cells = np.asarray(counts)
    rest = None if sizes is None else np.asarray(sizes)[:, None] - cells
    hidden = _hidden(cells, rest, splits, threshold)
    return _estimated(cells, hidden, splits, threshold), hidden


def levels(splits: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Group splits, so that the nodes of a group are parts of nodes of the group before.

    Parameters
    ----------
    splits : array (n_splits, 3) of int
        A node and its two parts, a node before its parts.

    Returns
    -------
    list of array (m, 3) of int
        The root's split is the first group.
    """
    if not len(splits):
        return []
    level = np.zeros(int(splits.max()) + 1, dtype=np.intp)
    for whole, left, right in splits:
        level[left] = level[right] = level[whole] + 1
    depth = level[splits[:, 0]]
    order = np.argsort(depth, kind="stable")
    return np.split(splits[order], np.flatnonzero(np.diff(depth[order])) + 1)


def _hidden(
    counts: npt.NDArray[Any], rest: Any, splits: npt.NDArray[np.intp], threshold: int
) -> Mask:
    """Hide counts; `rest` is what else is in each node, None where that is nothing to protect."""
    both = [counts] if rest is None else [counts, rest]
    hidden = np.any([(x >= 1) & (x < threshold) for x in both], axis=0)
    enough, groups = 2 * threshold - 1, levels(splits)
    for group in groups:
        whole, left, right = group.T
        for x in both:
            parts = np.minimum(x[left], x[right])
            small = (parts >= 1) & (parts < threshold)
            hidden[whole] |= small & (x[whole] < enough)
    large = np.all([x >= enough for x in both], axis=0)
    for group in groups:
        whole, left, right = group.T
        one = hidden[left] | hidden[right]
        bare = hidden[whole] & ~one  # the sum of two shown parts would tell it
        smaller = np.where(_least(both, left) <= _least(both, right), 0, 1)
        for side, part, other in ((0, left, right), (1, right, left)):
            first = large[part] & ((smaller == side) | ~large[other])
            neither = ~large[part] & ~large[other]
            hidden[part] |= (one & ~hidden[whole]) | (bare & (first | neither))
    return hidden


def _estimated(
    counts: npt.NDArray[Any], hidden: Mask, splits: npt.NDArray[np.intp], threshold: int
) -> Array:
    """Replace hidden counts by what follows from the others, from the root down; NaN where nothing does."""
    shown = np.where(hidden, np.nan, counts)
    small = hidden & (counts >= 1) & (counts < threshold)
    told = np.where(small, threshold / 2, shown)
    off = np.where(small, threshold / 2 - 1, 0.0)
    for group in levels(splits):
        whole, left, right = group.T
        for part, other in ((left, right), (right, left)):
            found = np.maximum(shown[whole] - told[other], 0)
            wrong = off[whole] + off[other]
            near = hidden[part] & ~small[part] & (wrong <= np.maximum(threshold, NEAR * found))
            shown[part] = np.where(near, found, shown[part])
            off[part] = np.where(near, wrong, off[part])
    return shown


def _least(both: list[npt.NDArray[Any]], nodes: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Return the smaller of a count and what is left of its node: how much a hidden count can vary."""
    return np.min([x[nodes] for x in both], axis=0)
