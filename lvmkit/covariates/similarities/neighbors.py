"""Similarity thinned to nearest neighbors: convex clustering costs per edge."""

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_source, require_number
from lvmkit.covariates.similarities.edges import check_similarity


def nearest_neighbors(S: Any, n_neighbors: int = 5) -> sparse.csr_array:
    """Keep the pairs of which one is among the most similar ones of the other.

    Parameters
    ----------
    S : array or sparse array (d, d)
        Similarities.
    n_neighbors : int, default=5
        How many neighbors each covariate chooses; among equals those that stand first.

    Returns
    -------
    csr_array (d, d)
        The similarities of the pairs kept; symmetric. A covariate may have more neighbors than it chose, or fewer
        if it has no more that are similar at all.

    Raises
    ------
    ValueError
        If `S` is no similarity, or `n_neighbors` is below 1.
    TypeError
        If `n_neighbors` is no whole number.

    Notes
    -----
    Andrade 2021, section 4, limits similarities so where memory ends (5 neighbors).

    Examples
    --------
    >>> S = np.array([[0, 0.9, 0.5], [0.9, 0, 0.4], [0.5, 0.4, 0]])
    >>> nearest_neighbors(S, 1).toarray().tolist()
    [[0.0, 0.9, 0.5], [0.9, 0.0, 0.0], [0.5, 0.0, 0.0]]
    """
    require_number(n_neighbors, "n_neighbors", least=1, whole=True)
    S = check_source(S, "similarity")
    d = np.shape(S)[0] if np.ndim(S) or sparse.issparse(S) else 0
    first, second, similarity = check_similarity(S, d)
    if not sparse.issparse(S):
        # Most pairs of a dense similarity fall away before anything is sorted.
        least = _last_chosen(np.asarray(S, dtype=np.float64), n_neighbors)
        near = similarity >= np.minimum(least[first], least[second])
        first, second, similarity = first[near], second[near], similarity[near]
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort((columns, -np.tile(similarity, 2), rows))
    starts = np.concatenate([[0], np.bincount(rows, minlength=d).cumsum()])
    chosen = order[np.arange(len(order)) - starts[rows[order]] < n_neighbors]
    pairs = np.unique(chosen % max(len(first), 1))
    return symmetric(first[pairs], second[pairs], similarity[pairs], d=d)


def _last_chosen(S: Array, n_neighbors: int) -> Array:
    """Return the similarity of the last neighbor that each covariate chooses, or 0."""
    if n_neighbors >= len(S):
        return np.zeros(len(S))
    # Both halves alike, as rounding counts here.
    half = np.triu(S, 1)
    others = half + half.T
    place = len(S) - n_neighbors
    return np.asarray(np.partition(others, place, axis=1)[:, place])


def symmetric(first: Labels, second: Labels, similarity: Array, *, d: int) -> sparse.csr_array:
    """Return both halves of a sparse similarity of which the pairs are given once."""
    half = sparse.coo_array((similarity, (first, second)), shape=(d, d)).tocsr()
    return sparse.csr_array(half + half.T)
