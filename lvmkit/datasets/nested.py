"""Simulated documents of nested topics: pairs within fours within all."""

import numpy as np
from scipy import sparse

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import require_number
from lvmkit.datasets.simulate import check_sizes, feature_names
from lvmkit.datasets.simulate_topics import SimulatedTopics

__all__ = ["make_nested_topics"]

N_TOPICS, N_WORDS = 8, 100
FREQUENT, RARE = 0.7, 0.1
BLOCKS = (13, 26, 39, 50)
"""Where, in either half of the words, the blocks end that four, two, two others and the last two topics share."""


@checked(n_samples=1)
def make_nested_topics(
    n_samples: int = 400, *, length: int = 200, random_state: RandomState = None
) -> SimulatedTopics:
    """Simulate documents of eight nested topics over 100 words.

    Four topics share the first half of the words, four the second. Within either half, topics have a block of
    words in common, and with each one other topic a block more.

    Parameters
    ----------
    n_samples : int, default=400
        Documents, n.
    length : int, default=200
        Words of a document.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedTopics
        X, mixtures (each document has one topic), labels, alpha, weights, centers, feature_names, description.

    Raises
    ------
    TypeError
        If a size is no whole number.
    ValueError
        If a size is below 1.

    Notes
    -----
    Ruffini thesis, section 5.4.1 and figure 5.1a. The text names neither the lengths nor the weights; here words
    are 0.7 or 0.1 before noise uniform on [0, 0.1] and normalization, and weights uniform on [0, 1], normalized,
    with which SIDIWO, SVTD and the tensor power method reach about the indexes of its table 5.1 (flat ALS and random
    projections come out better than there, SVD worse).

    Examples
    --------
    >>> data = make_nested_topics(random_state=0)
    >>> data.X.shape, data.centers.shape
    ((400, 100), (8, 100))
    """
    check_sizes({"n_samples": n_samples})
    require_number(length, "length", least=1, whole=True)
    rng = generator_of(random_state)
    centers = _nested() + rng.random((N_TOPICS, N_WORDS)) / 10
    centers /= centers.sum(axis=1, keepdims=True)
    weights = rng.random(N_TOPICS)
    weights /= weights.sum()
    labels = rng.choice(N_TOPICS, n_samples, p=weights)
    return SimulatedTopics(
        sparse.csr_array(rng.multinomial(length, centers[labels]).astype(np.float32)),
        np.eye(N_TOPICS)[labels],
        labels,
        np.zeros(N_TOPICS),
        weights,
        centers,
        feature_names(N_WORDS, "w"),
        f"Single-topic model: {N_TOPICS} nested topics over {N_WORDS} words, {length} words a document.",
    )


def _nested() -> Array:
    """Return which words are frequent in which topic."""
    centers = np.full((N_TOPICS, N_WORDS), RARE)
    for half in (0, 1):
        topics, words = 4 * half + np.arange(4), 50 * half + np.arange(50)
        shared = ([0, 1, 2, 3], [0, 2], [0, 1], [2, 3])
        for members, block in zip(shared, np.split(words, BLOCKS[:-1]), strict=True):
            centers[np.ix_(topics[members], block)] = FREQUENT
    return centers
