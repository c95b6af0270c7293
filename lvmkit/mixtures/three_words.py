"""Three words of every document: the data of the simplest estimator of moments."""

from typing import Any

import numpy as np
from scipy import sparse


def three_words(rows: Any, generator: np.random.Generator) -> sparse.csr_array:
    """Draw three words of every document, without replacement; shorter ones are left empty, (n, d)."""
    # Anandkumar 2012b; Ruffini thesis, Remark 3.2.3. Averaged over the orders of the three words, which the
    # estimator does not depend on in the mean.
    counts = sparse.csr_array(rows)
    ends = np.cumsum(counts.data, dtype=np.float64)
    starts = np.concatenate([[0.0], ends])[counts.indptr]
    totals = np.diff(starts)
    long = np.flatnonzero(totals >= 3)
    # Distinct places among t: the second and third skip the ones taken, smaller ones first.
    first = np.floor(generator.random(len(long)) * totals[long])
    second = np.floor(generator.random(len(long)) * (totals[long] - 1))
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third = np.floor(generator.random(len(long)) * (totals[long] - 2))
    third += third >= low
    third += third >= high
    places = np.concatenate([starts[long] + place for place in (first, second, third)])
    words = counts.indices[np.searchsorted(ends, places, side="right")]
    ones = np.ones(len(words), dtype=np.float32)
    return sparse.csr_array((ones, (np.tile(long, 3), words)), shape=counts.shape)
