"""Suppression of counts of nested nodes, so that none follows from its parent and sibling."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.disclosure.rule import THRESHOLD

NEAR = 0.05  # of an estimate: it may be wrong by so much, or by the threshold if that is more
Mask = npt.NDArray[np.bool_]


def shown_counts(
    counts: npt.NDArray[Any],
    splits: npt.NDArray[np.intp],
    *,
    sizes: npt.NDArray[Any] | None = None,
    threshold: int = THRESHOLD,
) -> tuple[Array, Mask]:
    """Find what may be shown of the counts of all nodes of a tree."""
    # A node's count is the sum of its parts' counts, and no larger than the node. Hidden are counts of 1 to t − 1,
    # counts that all but 1 to t − 1 of the node's people have (so of less than t people also that none has a code,
    # unless nobody of the whole has it), sums below 2t − 1 of two parts of which one is small, from which the reader
    # could narrow it down, and, in nodes whose size is hidden, counts that all but 0 to t − 1 have: the size would be
    # between the count and what the sibling's counts leave.
    # Whatever value a small number takes, others have to make up for it, and a number that is 0, or that everybody has,
    # cannot. So from the leaves up: where one part is hidden, and of the other, or of what is left of it, there are
    # less than t, the whole is hidden too, unless the other is hidden as well and they can make up for each other: of
    # the one, and of what is left of it, there are t or more, and it is not hidden on behalf of its own parts. And from
    # the root down: where one part is hidden and the whole is not, the other part is hidden too; where the whole is
    # hidden and can make up, so is a part that can, or both. The tests look for the least and the largest value of
    # every small number under all sums and bounds together, by linear programs: none of them is determined.
    # An estimate of a part is the shown count, or the estimate, of the whole, less the other part: its shown count, or,
    # where that is small or the part has less than t people, half of t.
    cells = np.asarray(counts)
    few = bounds = none = np.zeros((len(cells), 1), dtype=bool)
    both = [cells]
    if sizes is not None:
        whole = np.asarray(sizes)[:, None]
        both, few = [cells, whole - cells], (whole >= 1) & (whole < threshold)
        bounds = _hidden([whole], none, none, splits, threshold) & (both[1] < threshold)
    hidden = _hidden(both, bounds, few, splits, threshold)
    return _estimated(cells, hidden, few, splits, threshold), hidden


def levels(splits: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Group splits, so that the nodes of a group are parts of nodes of the group before, (m, 3)."""
    if not len(splits):
        return []
    level = np.zeros(int(splits.max()) + 1, dtype=np.intp)
    for whole, left, right in splits:
        level[left] = level[right] = level[whole] + 1
    depth = level[splits[:, 0]]
    order = np.argsort(depth, kind="stable")
    return np.split(splits[order], np.flatnonzero(np.diff(depth[order])) + 1)


def _hidden(
    both: list[npt.NDArray[Any]],
    bounds: Mask,
    few: Mask,
    splits: npt.NDArray[np.intp],
    threshold: int,
) -> Mask:
    """Hide `bounds` and what follows; `both` are counts and rests, `few` are nodes of less people than t."""
    hidden = bounds | np.any([(x >= 1) & (x < threshold) for x in both], axis=0)
    nobody = both[0][splits[:, 0]] == 0  # of the whole has it, so that its parts are no secret
    hidden[splits[:, 1:]] &= ~nobody[:, None]
    enough, groups = 2 * threshold - 1, levels(splits)
    for group in groups:
        whole, left, right = group.T
        for x in both:
            parts = np.minimum(x[left], x[right])
            small = ((parts >= 1) | few[left] | few[right]) & (parts < threshold)
            hidden[whole] |= small & (x[whole] >= 1) & (x[whole] < enough)
    large, roomy = (np.all([x >= least for x in both], axis=0) for least in (enough, threshold))
    own = hidden.copy()  # what the pass adds stands for parts that cannot vary
    for group in reversed(groups):
        whole, left, right = group.T
        for part, other in ((left, right), (right, left)):
            each_other = hidden[other] & roomy[part] & own[part]
            hidden[whole] |= hidden[part] & ~roomy[other] & ~each_other
    for group in groups:
        whole, left, right = group.T
        one = hidden[left] | hidden[right]
        free = [hidden[part] & (roomy[part] | ~roomy[whole]) for part in (left, right)]
        bare = hidden[whole] & ~free[0] & ~free[1]  # the sum of its parts would tell it
        smaller = np.where(_least(both, left) <= _least(both, right), 0, 1)
        for side, part, other in ((0, left, right), (1, right, left)):
            first = large[part] & ((smaller == side) | ~large[other])
            neither = ~large[part] & ~large[other]
            hidden[part] |= (one & ~hidden[whole]) | (bare & (first | neither))
    return hidden


def _estimated(
    counts: npt.NDArray[Any],
    hidden: Mask,
    few: Mask,
    splits: npt.NDArray[np.intp],
    threshold: int,
) -> Array:
    """Replace hidden counts by what follows from the others, from the root down; NaN where nothing does."""
    shown = np.where(hidden, np.nan, counts)
    # A zero of a few people is no other than a one: whether there is an estimate beside it would tell.
    small = hidden & (few | ((counts >= 1) & (counts < threshold)))
    told = np.where(small, threshold / 2, shown)
    off = np.where(small, threshold / 2, 0.0)
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
