"""Held-out perplexity of topic models by document completion."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import map_blocks, row_blocks
from lvmkit.core.topics import checked_counts, checked_topics
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import require_number

_NUMBERS = 4_000_000
"""Numbers of a block at most: word probabilities of the entries of its documents."""

Infer = Callable[[Any], npt.ArrayLike]
"""Takes sparse rows of counts (n, d), returns the topic mixtures (n, k)."""


@checked()
def perplexity(
    centers: npt.ArrayLike,
    X: Any,
    *,
    infer: Infer | None = None,
    n_steps: int = 50,
    smoothing: float = 0.001,
    random_state: RandomState = 0,
) -> float:
    """Predict half of each document's tokens from the other half.

    Parameters
    ----------
    centers : array (k, d)
        Topics: probability of each word; rows sum to 1.
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        How often each document has each word; documents that the topics were not learned from. The words are
        those of `centers`, in the same order.
    infer : callable, optional
        Takes the known halves (sparse rows) and returns the documents' topic mixtures (n, k), for example
        `model.transform`; a model that was fitted with names gets those of `X` too, in a sparse DataFrame. By
        default mixtures are fitted by `n_steps` steps of EM with the topics fixed.
    n_steps : int, default=50
        Steps of EM, from equal shares.
    smoothing : float, default=0.001
        Share of the uniform distribution mixed into the topics, so that no word is impossible.
    random_state : int, Generator or None, default=0
        Seed of the halves.

    Returns
    -------
    float
        exp(−mean log-probability of the predicted tokens); smaller is better, at most about d.

    Raises
    ------
    ValueError
        If entries are no counts, `centers` no probabilities, no document has two tokens, or `infer` returns
        no mixtures.

    Notes
    -----
    Document completion (Wallach 2009, section 5.1). Of a document's tokens, in a random order of the
    words, every second one is predicted; documents with a single token are left out. Memory is bounded by
    blocks of documents.

    Examples
    --------
    >>> import numpy as np
    >>> topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    >>> round(perplexity(topics, [[4, 4, 0, 0], [0, 0, 4, 4]], smoothing=0), 3)
    2.0
    """
    topics = _smoothed(centers, smoothing)
    require_number(n_steps, "n_steps", least=1, whole=True)
    matrix, names = features.unwrapped(X)
    known, predicted = halves(checked_counts(matrix, topics.shape[1]), random_state)
    mixtures = _mixtures(topics, known, infer and named(infer, names), n_steps)
    total = log_probability(topics, predicted, mixtures)
    with np.errstate(over="ignore"):
        return float(np.exp(-total / predicted.sum(dtype=np.float64)))


def completion(
    centers: npt.ArrayLike,
    X: Any,
    *,
    infer: Infer | None = None,
    smoothing: float = 0.001,
    random_state: RandomState = 0,
) -> tuple[float, int]:
    """Predict each half of the documents' tokens from the other: log-probability in nats, and tokens."""
    # Documents with a single token are left out. See `perplexity`.
    topics = _smoothed(centers, smoothing)
    one, other = halves(checked_counts(X, topics.shape[1]), random_state)
    total = 0.0
    for known, predicted in ((one, other), (other, one)):
        total += log_probability(topics, predicted, _mixtures(topics, known, infer, 50))
    return total, int(one.sum(dtype=np.float64) + other.sum(dtype=np.float64))


def named(infer: Infer, names: Any) -> Infer:
    """Let a model that was fitted with names have the rows' names: without them scikit-learn would warn."""
    model = getattr(infer, "__self__", None)
    if names is None or not hasattr(model, "feature_names_in_"):
        return infer
    frames: Any = pd.DataFrame.sparse
    return lambda rows: infer(frames.from_spmatrix(rows, columns=names))


def _smoothed(centers: npt.ArrayLike, share: float) -> Array:
    """Mix a share of the uniform distribution into the topics."""
    require_number(share, "smoothing", least=0)
    if share > 1:
        msg = f"smoothing is a share, at most 1; found {share!r}"
        raise ValueError(msg)
    topics = checked_topics(centers)
    return (1 - share) * topics + share / topics.shape[1]


def halves(counts: Any, random_state: RandomState) -> tuple[Any, Any]:
    """Deal each document's tokens to two halves by turns, in a random order of the words, (m, d). counts (n, d)."""
    # Documents that would leave a half empty, those with fewer than two tokens, are not in the result.
    counts = counts[np.flatnonzero(counts.sum(axis=1) >= 2)]
    if not counts.shape[0]:
        msg = "no document has two tokens: there is nothing to predict one half from the other"
        raise ValueError(msg)
    generator = generator_of(random_state)
    order = generator.permutation(counts.shape[1])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    parts = (counts.data.astype(np.int64), rank[counts.indices], counts.indptr)
    dealt = sparse.csr_array(parts, shape=counts.shape)
    dealt.sort_indices()
    ends = np.concatenate([[0], np.cumsum(dealt.data)])
    # Every second document begins with the other half, by chance.
    begin = generator.integers(2, size=counts.shape[0]) - ends[dealt.indptr[:-1]]
    shift = np.repeat(begin, np.diff(dealt.indptr))
    first = (ends[1:] + shift + 1) // 2 - (ends[:-1] + shift + 1) // 2
    return tuple(_rows_of(dealt, part, order) for part in (first, dealt.data - first))


def _rows_of(dealt: Any, values: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> Any:
    """Return rows of counts in the words' own order, without zeros."""
    parts = (values.astype(np.float32), order[dealt.indices].astype(np.int32), dealt.indptr)
    rows = sparse.csr_array(parts, shape=dealt.shape, copy=True)
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows


def _mixtures(topics: Array, known: Any, infer: Infer | None, n_steps: int) -> Array:
    """Return the mixtures of the documents, from EM or from the callable."""
    if infer is None:
        size = _block_size(known, len(topics))
        return np.vstack(list(map_blocks(lambda rows: _em(topics, rows, n_steps), known, size)))
    mixtures: Array = np.asarray(infer(known), dtype=np.float64)
    wanted = (known.shape[0], len(topics))
    shares = mixtures.shape == wanted and bool((mixtures >= -1e-9).all())
    if not shares or not np.allclose(mixtures.sum(axis=1), 1, rtol=0, atol=1e-6):
        msg = (
            f"infer must return topic mixtures {wanted}, rows that sum to 1; found shape "
            f"{mixtures.shape}" + ("" if mixtures.shape != wanted else " with other sums or signs")
        )
        raise ValueError(msg)
    return mixtures


def _block_size(rows: Any, k: int) -> int:
    """Return how many documents keep a block within bounds."""
    per_row = max(rows.nnz / max(rows.shape[0], 1), 1) * k
    return int(np.clip(_NUMBERS / per_row, 1, 4_000))


def _em(topics: Array, rows: Any, n_steps: int) -> Array:
    """Fit the mixtures of a block of documents by EM; the words' probabilities are gathered once."""
    n, lengths = rows.shape[0], np.diff(rows.indptr)
    words = np.ascontiguousarray(topics.T[rows.indices])
    totals = np.asarray(rows.sum(axis=1), dtype=np.float64)[:, None]
    mixtures = np.full((n, len(topics)), 1 / len(topics))
    entries = (np.zeros(rows.nnz), np.arange(rows.nnz), rows.indptr)
    ratios = sparse.csr_array(entries, shape=(n, rows.nnz))
    for _ in range(n_steps):
        spread = np.repeat(mixtures, lengths, axis=0)
        probability = np.einsum("ek,ek->e", spread, words)
        # Without smoothing a word may be impossible under every topic left: it says nothing.
        np.divide(rows.data, probability, out=ratios.data, where=probability > 0)
        found = mixtures * (ratios @ words)
        mixtures = np.where(found.any(axis=1, keepdims=True), found / totals, mixtures)
        mixtures /= mixtures.sum(axis=1, keepdims=True)
    return mixtures


def log_probability(topics: Array, counts: Any, mixtures: Array) -> float:
    """Return the log-probability of all tokens of the documents under their mixtures."""
    total, done = 0.0, 0

    def block_sum(rows: Any, shares: Array) -> float:
        spread = np.repeat(shares, np.diff(rows.indptr), axis=0)
        probability = np.einsum("ek,ek->e", spread, topics.T[rows.indices])
        with np.errstate(divide="ignore"):
            return float(rows.data.astype(np.float64) @ np.log(probability))

    for rows in row_blocks(counts, _block_size(counts, len(topics))):
        total += block_sum(rows, mixtures[done : done + rows.shape[0]])
        done += rows.shape[0]
    return total
