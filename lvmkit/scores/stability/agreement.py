"""Clusters of one clustering found again in another: likeness, members that move, rows that stay together."""

from typing import NamedTuple

import numpy as np

from lvmkit.core.linalg import random_state_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.scores.stability.refits import UNSEEN


class Reappearance(NamedTuple):
    """How the clusters of a reference appear in another clustering of some of its rows."""

    jaccard: Array
    moved: Labels
    seen: Labels  # (k,): Members of each cluster that the other clustering was asked about


def reappearance(reference: Labels, found: Labels, k: int) -> Reappearance:
    """Compare a clustering with a reference whose clusters are numbered 0 … k − 1, −1 for noise."""
    known = found != UNSEEN
    left, right = reference[known], found[known]
    others, right = np.unique(right, return_inverse=True)
    table = np.bincount((left + 1) * len(others) + right, minlength=(k + 1) * len(others))
    table = table.reshape(k + 1, len(others))
    seen = table[1:].sum(axis=1)
    overlap, members = table[1:, others >= 0], table[:, others >= 0].sum(axis=0)
    either = seen[:, None] + members[None, :] - overlap
    jaccard = (overlap / np.maximum(either, 1)).max(axis=1, initial=0.0)
    moved = np.zeros((k, k), dtype=np.int64)
    if overlap.size:
        np.add.at(moved.T, overlap.argmax(axis=0), overlap.T)
    return Reappearance(np.where(seen > 0, jaccard, np.nan), moved, seen)


def togetherness(found: Labels, sample: Labels) -> tuple[Labels, Labels]:
    """Return which pairs of sampled rows are in one cluster, and which were both seen (s, s)."""
    labels = found[sample]
    there = labels != UNSEEN
    seen = there[:, None] & there[None, :]
    together = (labels[:, None] == labels[None, :]) & (labels >= 0)[:, None]
    return together.astype(np.int32), seen.astype(np.int32)


def stratified(reference: Labels, k: int, size: int, random_state: RandomState) -> Labels:
    """Draw rows from every cluster, about in proportion, a few of small ones; sorted by cluster."""
    random = random_state_of(random_state)
    order = random.permutation(len(reference))
    order = order[reference[order] >= 0]
    sizes = np.bincount(reference[order], minlength=k)
    quota = _quota(sizes, min(size, len(order)))
    order = order[np.argsort(reference[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    return order[rank < np.repeat(quota, sizes)]


def _quota(sizes: Labels, size: int) -> Labels:
    """Share out a sample: in proportion to the sizes, but a few rows of each cluster if there is room."""
    few = np.minimum(sizes, min(5, size // max(len(sizes), 1)))
    exact = size * sizes / max(int(sizes.sum()), 1)
    quota = np.maximum(exact.astype(np.int64), few)
    missing = size - int(quota.sum())
    if missing > 0:
        quota[np.argsort(quota - exact, kind="stable")[:missing]] += 1
    while quota.sum() > size:
        quota[np.argmax(quota)] -= 1
    return quota
