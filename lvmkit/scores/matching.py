"""Matching of two clusterings of the same rows, error rate and adjusted Rand index."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

from lvmkit.core.typing import Array, Labels
from lvmkit.scores.counts import cluster_ids


class Matching(NamedTuple):
    """Which cluster of a second clustering is which of the first.

    Parameters
    ----------
    clusters : array (k,)
        Numbers of the first clustering's clusters, ascending.
    permutation : array (k,)
        Number of each one's partner in the second clustering; -1 where none is left.
    jaccard : array (k,)
        Rows in both partners over rows in either, in [0, 1]; 0 without a partner.
    overlap : DataFrame (k, number of clusters in the second)
        Rows in both, for each pair.
    """

    clusters: Labels
    permutation: Labels
    jaccard: Array
    overlap: pd.DataFrame

    def relabel(self, labels: npt.ArrayLike) -> Labels:
        """Give labels of the second clustering the numbers of their partners in the first.

        Parameters
        ----------
        labels : array (n,) of int
            Labels in the second clustering's numbers.

        Returns
        -------
        array (n,) of int
            Labels in the first one's numbers; those without a partner get new numbers above them.
        """
        ids = cluster_ids(labels)
        partner = {
            int(b): int(a) for a, b in zip(self.clusters, self.permutation, strict=True) if b >= 0
        }
        fresh = int(self.clusters.max(initial=-1)) + 1
        found, inverse = np.unique(ids, return_inverse=True)
        for number in found:
            if int(number) not in partner:
                partner[int(number)] = fresh
                fresh += 1
        return np.array([partner[int(number)] for number in found], dtype=np.int64)[inverse]


def match(a: npt.ArrayLike, b: npt.ArrayLike) -> Matching:
    """Pair the clusters of two clusterings so that as many rows as possible agree.

    Parameters
    ----------
    a : array (n,) of int
        First clustering.
    b : array (n,) of int
        Second clustering of the same rows; it may have more or fewer clusters.

    Returns
    -------
    Matching
        Partners, their Jaccard index and the overlap of every pair.

    Raises
    ------
    ValueError
        If the lengths differ or a label is negative.

    Notes
    -----
    The assignment is optimal (Kuhn 1955, by `scipy.optimize.linear_sum_assignment`); O(n + k³).

    Examples
    --------
    >>> found = match([0, 0, 1, 1], [5, 5, 5, 2])
    >>> found.permutation, found.jaccard.round(2)
    (array([5, 2]), array([0.67, 0.5 ]))
    """
    first, second = _pair(a, b)
    clusters, rows = np.unique(first, return_inverse=True)
    others, columns = np.unique(second, return_inverse=True)
    overlap = np.zeros((len(clusters), len(others)), dtype=np.int64)
    np.add.at(overlap, (rows, columns), 1)
    left, right = linear_sum_assignment(overlap, maximize=True)
    shared = overlap[left, right]
    either = overlap.sum(axis=1)[left] + overlap.sum(axis=0)[right] - shared
    permutation = np.full(len(clusters), -1, dtype=np.int64)
    jaccard = np.zeros(len(clusters))
    permutation[left], jaccard[left] = others[right], shared / either
    table = pd.DataFrame(overlap, index=clusters, columns=others)
    return Matching(clusters, permutation, jaccard, table)


def error_rate(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the share of rows on which two clusterings disagree, clusters paired at best.

    Parameters
    ----------
    a : array (n,) of int
        First clustering, for example the truth.
    b : array (n,) of int
        Second clustering of the same rows.

    Returns
    -------
    float
        Share of rows in [0, 1].

    Examples
    --------
    >>> error_rate([0, 0, 1, 1], [1, 1, 1, 0])
    0.25
    """
    overlap = match(a, b).overlap.to_numpy()
    left, right = linear_sum_assignment(overlap, maximize=True)
    return float(1 - overlap[left, right].sum() / overlap.sum())


def adjusted_rand(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the adjusted Rand index of two clusterings (Hubert 1985).

    Parameters
    ----------
    a : array (n,) of int
        First clustering.
    b : array (n,) of int
        Second clustering of the same rows.

    Returns
    -------
    float
        1 for the same clustering, about 0 for unrelated ones, at least -0.5.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import (
        adjusted_rand_score,
    )  # half a second that other scores need not wait for

    first, second = _pair(a, b)
    return float(adjusted_rand_score(first, second))


def _pair(a: Any, b: Any) -> tuple[Labels, Labels]:
    """Check that two clusterings are of the same rows."""
    first, second = cluster_ids(a), cluster_ids(b)
    if len(first) != len(second) or not len(first):
        found = f"found {len(first)} and {len(second)} labels"
        msg = f"both clusterings must label the same rows, one at least; {found}"
        raise ValueError(msg)
    smallest = min(first.min(), second.min())
    if smallest < 0:
        msg = f"cluster numbers are 0 or more; found {smallest}. Leave out rows without a cluster."
        raise ValueError(msg)
    return first, second
