"""What topics and documents must be: probabilities of words, and counts of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit import _rows
from lvmkit._checks import listed
from lvmkit._typing import Array


def checked_counts(X: Any, n_words: int) -> Any:
    """Return documents as sparse rows of whole counts, float32.

    Parameters
    ----------
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        Counts of words.
    n_words : int
        How many words there must be.

    Returns
    -------
    sparse rows (n, d), float32
        Sorted, without stored zeros.

    Raises
    ------
    ValueError
        If there is no row, the number of words differs, or an entry is no count.
    """
    matrix, _ = _rows.unwrapped(X)
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n_words or not matrix.shape[0]:
        msg = (
            f"X must be documents by the {n_words} words of the topics; found shape {matrix.shape}"
        )
        raise ValueError(msg)
    counts = _rows.as_float32_rows(sparse.csr_array(matrix))
    values = counts.data
    wrong = ~((values >= 0) & (values == np.floor(values)) & np.isfinite(values))
    if wrong.any():
        first = int(np.argmax(wrong))
        row = int(np.searchsorted(counts.indptr, first, side="right")) - 1
        where = f"first in row {row}, column {int(counts.indices[first])}"
        msg = (
            "X holds how often each document has each word: whole numbers, 0 or more; found "
            f"{listed(np.unique(values[wrong]))} ({where})"
        )
        raise ValueError(msg)
    return counts


def checked_topics(centers: npt.ArrayLike) -> Array:
    """Return topics as float64, refusing what is no probability distribution over words.

    Parameters
    ----------
    centers : array (k, d)
        Topics.

    Returns
    -------
    array (k, d)
        The same numbers.

    Raises
    ------
    ValueError
        If entries are negative or not finite, or a row does not sum to 1.
    """
    topics: Array = np.asarray(centers, dtype=np.float64)
    if topics.ndim != 2 or not topics.size:
        msg = f"centers are topics by words; found shape {topics.shape}"
        raise ValueError(msg)
    wrong = topics[~((topics >= 0) & np.isfinite(topics))]
    if wrong.size:
        msg = f"centers are probabilities of words; found {listed(wrong)}"
        raise ValueError(msg)
    sums = topics.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > 1e-3)
    if off.size:
        msg = (
            f"each topic's probabilities sum to 1; topics {listed(off)} sum to {listed(sums[off])}"
        )
        raise ValueError(msg)
    return topics
