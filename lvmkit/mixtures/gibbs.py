"""Gibbs sampling of documents' topic mixtures when topics and alpha are known; many documents at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import map_blocks
from lvmkit.core.topics import checked_counts, checked_topics
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import as_numbers, listed, require_number, teller
from lvmkit.mixtures.gibbs_blocks import OneLevel, Sampler, TwoLevels

__all__ = ["topic_mixtures"]

_DOCUMENTS = 8_000
"""Documents of a block: steps are long enough that two threads seldom wait for the interpreter's lock."""
_TOKENS = 4_000_000
"""Tokens of a typical block at most: 16 bytes each."""
_LONG = 1_000
"""Tokens from which a document is long: as there are seldom many, a step should have few operations."""
_LONG_DOCUMENTS = 500


def topic_mixtures(
    X: Any,
    centers: npt.ArrayLike,
    alpha: npt.ArrayLike,
    *,
    n_sweeps: int = 50,
    n_burn: int = 10,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Array:
    """Estimate the topic mixture of every document, given the topics of a latent Dirichlet allocation.

    Parameters
    ----------
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        How often each document has each word. The words are those of `centers`, in the same order.
    centers : array (k, d)
        Topics: probability of each word; rows sum to 1.
    alpha : array (k,)
        Parameters of the Dirichlet distribution of the mixtures. A topic with 0 is in no document.
    n_sweeps : int, default=50
        How often the topic of every token is drawn.
    n_burn : int, default=10
        Sweeps at the beginning that are not counted.
    random_state : int, Generator or None, default=0
        Seed.
    progress : callable, optional
        Called with a text and the fraction done; raising from it cancels the work.

    Returns
    -------
    array (n, k)
        Mixtures; rows sum to 1. alpha / Σ alpha where a document has no word that any topic knows.

    Raises
    ------
    ValueError
        If counts are negative, broken or not finite, shapes disagree, the rows of `centers` are no
        probabilities, `alpha` is negative or all 0, or no sweep is left after `n_burn`.

    Notes
    -----
    The topic of token i, a word w, is drawn with probability proportional to
    μ_jw (n_{-i,j} + α_j) (Ruffini thesis, Remark 3.3.2, eq. 3.7). The estimate is the mean of
    (n_j + α_j) / (t + α_0) over the sweeps after `n_burn`, where the thesis takes the last sweep: the mean
    is the expectation of the mixture given its topics, averaged, and has a fraction of the noise.

    A word that no topic has says nothing about the mixture and is left out.

    A document's answer depends on its own words and the seed alone, not on the other rows, their order or the
    number of threads: the random numbers of a sweep are the same for all documents, shifted modulo 1 by a
    hash of the document (Cranley 1976). For each document they are independent and uniform. Equal
    documents get equal answers.

    Time: one sweep costs O(tokens · k), about 60 to 100 ns per token on one core at k = 50.
    Long documents in small numbers are slow: their tokens follow one another.

    Examples
    --------
    >>> import numpy as np
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> topic_mixtures(np.array([[9, 0, 0], [0, 0, 9], [0, 0, 0]]), topics, [0.5, 0.5])
    array([[0.95, 0.05],
           [0.05, 0.95],
           [0.5 , 0.5 ]])
    """
    topics, prior = _checked_model(centers, alpha)
    counts = checked_counts(X, topics.shape[1])
    _check_sweeps(n_sweeps, n_burn)
    tell = teller(progress)
    seed = int(generator_of(random_state).integers(2**63))
    present = np.flatnonzero(prior > 0)
    mixtures = np.zeros((counts.shape[0], len(prior)))
    done = 0
    for rows, found in _by_blocks(
        counts, topics[present], prior[present], (n_sweeps, n_burn, seed)
    ):
        mixtures[np.ix_(rows, present)] = found
        done += len(rows)
        tell("Topic mixtures", done / len(mixtures))
    return mixtures


def _checked_model(centers: npt.ArrayLike, alpha: npt.ArrayLike) -> tuple[Array, Array]:
    """Return topics and prior as float64, or refuse them."""
    topics = checked_topics(centers)
    prior: Array = as_numbers(alpha, "alpha")
    if prior.shape != topics.shape[:1]:
        msg = f"alpha must have one number for each of the {len(topics)} topics in centers; found shape {prior.shape}"
        raise ValueError(msg)
    if not ((prior >= 0) & np.isfinite(prior)).all() or not prior.any():
        msg = f"alpha must be 0 or more, and above 0 for one topic at least; found {listed(prior)}"
        raise ValueError(msg)
    return topics, prior


def _check_sweeps(n_sweeps: int, n_burn: int) -> None:
    """Refuse numbers of sweeps that leave nothing to average."""
    require_number(n_burn, "n_burn", least=0, whole=True)
    require_number(n_sweeps, "n_sweeps", least=1, whole=True)
    if n_sweeps <= n_burn:
        msg = f"n_sweeps must be greater than n_burn; found {n_sweeps} and {n_burn}"
        raise ValueError(msg)


def _by_blocks(
    counts: Any, topics: Array, alpha: Array, schedule: tuple[int, int, int]
) -> Iterator[tuple[Labels, Array]]:
    """Yield the rows and the mixtures of one block of documents after the other, the longest first."""
    # Documents of about the same length end together, so that few idle. Which way a document goes depends on its own
    # length alone; what else is in its block makes no difference to its answer.
    lengths = np.asarray(counts.sum(axis=1))
    order = np.argsort(-lengths, kind="stable")
    n_long = int((lengths >= _LONG).sum())
    for rows, lanes, most in (
        (order[:n_long], OneLevel, _LONG_DOCUMENTS),
        (order[n_long:], TwoLevels, _DOCUMENTS),
    ):
        if not len(rows):
            continue
        sampler = Sampler(topics, alpha, schedule, lanes)
        size = int(np.clip(_TOKENS / max(lengths[rows].mean(), 1), 1, most))
        done = 0
        for found in map_blocks(sampler.mixtures, counts[rows], size):
            yield rows[done : done + len(found)], found
            done += len(found)
