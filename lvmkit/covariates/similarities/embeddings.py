"""Similarity of embedded covariates, and word embeddings from cooccurrence."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from lvmkit.core import features
from lvmkit.core.linalg import top_eigenpairs
from lvmkit.core.typing import Array
from lvmkit.core.validation import check_matrix, check_source, require_number, require_range
from lvmkit.covariates.similarities.neighbors import symmetric

NEAREST_SIMILARITY = 0.5
"""Similarity that words have to their nearest neighbor, in the middle of all."""
MIN_DISTANCE = 0.1
"""Smallest distance in the middle of all, of words at distance 1 from the origin: less is not blown up."""


def from_embeddings(W: Any, *, n_neighbors: int | None = None) -> Array | sparse.csr_array:
    """Return exp(−½‖w_i − w_j‖²) for all pairs, or for near ones.

    Parameters
    ----------
    W : array-like (d, p)
        Place of each covariate. Rows of NaN have none, and are similar to nothing.
    n_neighbors : int or None, default=None
        Keep the pairs of which one is among so many nearest ones of the other. None keeps all.

    Returns
    -------
    array (d, d), or csr_array with `n_neighbors`
        Similarities between 0 and 1; the diagonal is 0.

    Raises
    ------
    ValueError
        If `W` is no table of numbers, holds infinite ones, or no row has a place.

    Notes
    -----
    Andrade 2021, section 5.1. With `n_neighbors` the d × d numbers are never formed.

    Examples
    --------
    >>> from_embeddings([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [[0.0, 0.607, 0.135], [0.607, 0.0, 0.082], [0.135, 0.082, 0.0]]
    >>> from_embeddings([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], n_neighbors=1).nnz
    4
    """
    if isinstance(W, pd.DataFrame):
        W = check_source(W, "W").to_numpy(dtype=np.float64, na_value=np.nan)
    W = check_matrix(W, "W", accept_sparse=False, dtype=np.float64, allow_nan=True)
    embedded = np.flatnonzero(~np.isnan(W).any(axis=1))
    if not len(embedded):
        msg = "W has no row without NaN; expected the place of at least one covariate"
        raise ValueError(msg)
    if n_neighbors is None:
        similarity = np.zeros((len(W), len(W)))
        similarity[np.ix_(embedded, embedded)] = np.exp(
            -0.5 * cdist(W[embedded], W[embedded], "sqeuclidean")
        )
        np.fill_diagonal(similarity, 0.0)
        return similarity
    require_number(n_neighbors, "n_neighbors", least=1, whole=True)
    distances, near = _nearest(W[embedded], n_neighbors)
    rows = np.repeat(embedded, near.shape[1])
    pairs = np.sort(np.column_stack([rows, embedded[near.ravel()]]), axis=1)
    (first, second), where = _once(pairs)
    return symmetric(first, second, np.exp(-0.5 * distances.ravel()[where] ** 2), d=len(W))


def _nearest(W: Array, n_neighbors: int) -> tuple[Array, Any]:
    """Return the distances and numbers of the nearest other rows."""
    count = min(n_neighbors, len(W) - 1)
    if count < 1:
        return np.empty((len(W), 0)), np.empty((len(W), 0), dtype=np.intp)
    search = NearestNeighbors(n_neighbors=count, n_jobs=1).fit(W)
    distances, near = search.kneighbors()
    return distances, near


def _once(pairs: Any) -> tuple[Any, Any]:
    """Return each pair once, and where it stood first."""
    unique, where = np.unique(pairs, axis=0, return_index=True)
    return unique.T, where


def word_embeddings(X: Any, n_components: int = 50) -> Array:
    """Place words so that those seen with the same words are near: what `from_embeddings` needs.

    Parameters
    ----------
    X : array, sparse array, DataFrame or AnnData (n, d)
        Texts by words: counts or anything else that is not 0 where a word occurs. Texts without classes, and those
        to be classified, serve alike.
    n_components : int, default=50
        Dimensions, p, at most d.

    Returns
    -------
    array (d, p)
        A place of each word; all are equally far from the origin, and half the words have a nearest neighbor with a
        similarity of at least 0.5. NaN for words that never occur, or have no place in so few dimensions.

    Raises
    ------
    ValueError
        If `n_components` is below 1 or above d, or no word occurs.
    TypeError
        If it is no whole number.

    Notes
    -----
    Stands for the word2vec of Andrade 2021, section 5.1, and needs no download and no
    seed: eigenvectors of positive pointwise mutual information, log of n·n_ij/(n_i·n_j), of occurring in a text
    together, scaled by the roots of their eigenvalues (Levy 2014).

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]])
    >>> from_embeddings(word_embeddings(X, 2)).round(2)[0].argmax()
    np.int64(1)
    """
    require_number(n_components, "n_components", least=1, whole=True)
    matrix, names = features.unwrapped(X)
    X = check_matrix(
        matrix, rows=features.row_names(X), columns=names, dtype=np.float64, sound=True
    )
    require_range(X, 1e100, "squares of more leave the range of double precision", (None, names))
    if n_components > X.shape[1]:
        msg = f"n_components={n_components}, but X has {X.shape[1]} words; ask for at most as many"
        raise ValueError(msg)
    information = _positive_information(sparse.csr_array(X != 0).astype(np.float64))
    # A sparse matrix is only multiplied by vectors; one that is small or nearly full is decomposed as a whole.
    values, vectors = top_eigenpairs(information, n_components)
    W = vectors * np.sqrt(np.maximum(values, 0))
    norms = np.linalg.norm(W, axis=1)
    lost = norms <= 1e-6 * norms.max()
    W /= np.where(lost, np.nan, norms)[:, np.newaxis]
    distances, _ = _nearest(W[~lost], 1)
    middle = float(np.median(distances)) if distances.size else 1.0
    return W * (np.sqrt(-2 * np.log(NEAREST_SIMILARITY)) / max(middle, MIN_DISTANCE))


def _positive_information(occurs: sparse.csr_array) -> Any:
    """Return the positive pointwise mutual information of words, dense where that is small."""
    together = (occurs.T @ occurs).tocoo()
    times = np.asarray(occurs.sum(axis=0)).ravel()
    if not times.any():
        msg = "X is 0 everywhere; expected texts in which words occur"
        raise ValueError(msg)
    first, second = together.coords
    lift = together.data * occurs.shape[0] / (times[first] * times[second])
    positive = np.maximum(np.log(lift), 0)
    information = sparse.csr_array((positive, (first, second)), shape=together.shape)
    return information.toarray() if occurs.shape[1] <= 1_500 else information
