"""Validation of topics (probabilities of words) and of word counts."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, check_matrix, listed


def checked_counts(X: Any, n_words: int) -> Any:
    """Return documents as sparse rows of whole counts, float32, (n, d)."""
    matrix, names = features.unwrapped(X)
    labels = (features.row_names(X), names)
    counts = features.canonical(check_matrix(matrix, rows=labels[0], columns=labels[1], sound=True))
    if counts.shape[1] != n_words:
        msg = (
            f"X must be documents by the {n_words} words of the topics; found shape {counts.shape}"
        )
        raise ValueError(msg)
    counts = sparse.csr_array(counts)
    values = counts.data
    wrong = (values < 0) | (values != np.floor(values))
    if wrong.any():
        msg = (
            "X holds how often each document has each word: whole numbers, 0 or more; found "
            f"{listed(np.unique(values[wrong]))} (first {features.first_place(counts, wrong, labels)})"
        )
        raise ValueError(msg)
    features.require_counts(counts, labels, "topics")
    return features.in_float32(counts)


def checked_topics(centers: npt.ArrayLike) -> Array:
    """Return topics as float64, refusing what is no probability distribution over words, (k, d)."""
    topics: Array = as_numbers(centers, "centers")
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
            f"each topic of centers must sum to 1; topics {listed(off)} sum to {listed(sums[off])}"
        )
        raise ValueError(msg)
    return topics
