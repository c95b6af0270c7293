"""Gibbs sampling of documents' topic mixtures, topics and alpha given; many documents at a time."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.linalg import generator_of
from lvmkit.core.parallel import map_blocks
from lvmkit.core.progress import callback_of
from lvmkit.core.topics import checked_counts, checked_topics
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import as_numbers, listed, require_number

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
    tell = callback_of(progress)
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


_GROUP = 8
"""Topics of a group: eight float32 are 32 bytes, which numpy gathers in one move."""
_BITS = 23
"""Bits of a random number: the sum of two such numbers is exact in float32."""
_BELOW = np.float32(1 - 2.0**-24)
_ONE = np.float32(1)


class Sampler:
    """Topics by groups, prior and random numbers that all blocks share."""

    def __init__(
        self, topics: Array, alpha: Array, schedule: tuple[int, int, int], lanes: type["Lanes"]
    ) -> None:
        k, d = topics.shape
        self.alpha, self.lanes = alpha, lanes
        self.width = width = lanes.width or k
        self.n_groups = -(-k // width)
        self.n_sweeps, self.n_burn, self.seed = schedule
        # Only ratios count: with the largest one 1, nothing that matters is lost in float32.
        largest = topics.max(axis=0)
        self.known = largest > 0
        scaled = np.zeros((d, self.n_groups * width), dtype=np.float32)
        scaled[:, :k] = (topics / np.where(self.known, largest, 1)).T
        self.words = np.ascontiguousarray(
            scaled.reshape(d, self.n_groups, width).transpose(1, 0, 2)
        )

    def mixtures(self, rows: Any) -> Array:
        """Return the mixtures of a block of documents."""
        rows = _without(rows, self.known)
        lengths = np.asarray(rows.sum(axis=1)).astype(np.int64)
        # Again: the words left out may have changed the order.
        order = np.argsort(-lengths, kind="stable")
        block = Block(self, rows[order], lengths[order])
        total = np.zeros(block.counts.shape)
        for sweep in range(self.n_sweeps):
            block.sweep(self._uniforms(sweep, block.n_positions), first=sweep == 0)
            if sweep >= self.n_burn:
                total += block.counts
        total /= self.n_sweeps - self.n_burn
        total -= block.prior
        k = len(self.alpha)
        drawn = total.transpose(1, 0, 2).reshape(len(lengths), -1)[:, :k] + self.alpha
        found = np.empty_like(drawn)
        found[order] = drawn
        found /= found.sum(axis=1, keepdims=True)
        return found

    def _uniforms(self, sweep: int, n: int) -> npt.NDArray[np.float32]:
        """Return one number for each position; the first ones do not depend on how many there are."""
        bits = np.random.default_rng([self.seed, sweep]).integers(2**32, size=n, dtype=np.uint32)
        return _fractions(bits)


class Block:
    """Documents, the longest first, with the topic of each of their tokens."""

    # Arrays of tokens run over the positions, then over the documents that have a token there: always the first ones.
    # Arrays of topics have the shape (group, document, topic in the group).

    def __init__(self, sampler: Sampler, rows: Any, lengths: Labels) -> None:
        n = len(lengths)
        self.tables = sampler.words
        self.n_positions = int(lengths.max(initial=0))
        self.active = np.searchsorted(-lengths, -np.arange(self.n_positions), side="left")
        self.offsets = np.concatenate([[0], np.cumsum(self.active)])
        document = np.repeat(np.arange(n), lengths)
        position = np.arange(len(document)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self.words = np.empty(len(document), dtype=np.intp)
        self.words[self.offsets[position] + document] = np.repeat(
            rows.indices, rows.data.astype(np.int64)
        )
        self.states = np.zeros(len(document), dtype=np.intp)
        self.prior = _rounded(sampler.alpha, lengths, sampler.width)
        self.counts = self.prior.copy()
        self.shift = _fractions(_hashes(rows))
        self.documents = np.arange(n)
        self.room = np.empty(self.counts.size, dtype=np.float32)
        self.lanes = sampler.lanes

    def sweep(self, uniforms: npt.NDArray[np.float32], *, first: bool) -> None:
        """Draw the topic of every token once; in the first sweep tokens have none yet."""
        start = 0
        for stop in [*(np.flatnonzero(np.diff(self.active)) + 1), self.n_positions]:
            if stop == start:
                continue
            lanes = self.lanes(self, int(self.active[start]))
            for position in range(start, stop):
                tokens = slice(self.offsets[position], self.offsets[position + 1])
                states = self.states[tokens]
                if not first:
                    lanes.add(states, -_ONE)
                lanes.draw(self.words[tokens], uniforms[position], states)
                lanes.add(states, _ONE)
            start = stop


class Lanes:
    """The first m documents of a block, and room for one step of each."""

    # Every operation works on all m at once and on each in the same way, so that the result for a document does not
    # depend on m.

    width: ClassVar[int]
    """Topics of a group; 0 for all in one."""

    def __init__(self, block: Block, m: int) -> None:
        groups, n, width = block.counts.shape
        self.tables = block.tables
        self.flat_counts, self.counts = block.counts.reshape(-1), block.counts[:, :m]
        self.shift, self.document = block.shift[:m], block.documents[:m]
        self.first, self.stride = self.document * width, n * width
        self.products = block.room[: groups * m * width].reshape(groups, m, width)
        self.total, self.point, self.some = (np.empty(m, dtype=np.float32) for _ in range(3))
        self.place = np.empty(m, dtype=np.intp)

    def add(self, states: Labels, amount: np.float32) -> None:
        """Count each document's token for its topic, or no longer."""
        self.flat_counts.take(states, 0, self.some, "clip")
        np.add(self.some, amount, self.some)
        self.flat_counts[states] = self.some

    def draw(self, words: Labels, uniform: np.float32, states: Labels) -> None:
        """Draw a topic for one word of each document, by inversion."""
        raise NotImplementedError

    def _weigh(self, words: Labels) -> None:
        """Set the unnormalized probabilities of the topics."""
        self.tables.take(words, 1, self.products, "clip")
        np.multiply(self.products, self.counts, self.products)

    def _aim(self, uniform: np.float32, total: Array) -> None:
        """Set the point in [0, total) that decides; the sum of shift and uniform is exact."""
        np.add(self.shift, uniform, self.point)
        np.floor(self.point, self.some)
        np.subtract(self.point, self.some, self.point)
        np.multiply(self.point, total, self.point)


class OneLevel(Lanes):
    """Few operations, for few documents: running sums over all topics."""

    width = 0

    def __init__(self, block: Block, m: int) -> None:
        super().__init__(block, m)
        self.sums, self.beyond = self.products[0], np.empty(self.products.shape[1:], dtype=np.bool_)
        self.last, self.points = self.sums[:, -1], self.point[:, None]

    def draw(self, words: Labels, uniform: np.float32, states: Labels) -> None:
        """Draw the first topic whose running sum is beyond the point."""
        self._weigh(words)
        np.add.accumulate(self.sums, 1, None, self.sums)
        self._aim(uniform, self.last)
        np.greater(self.sums, self.points, self.beyond)
        self.beyond.argmax(1, self.place)
        np.add(self.place, self.first, states)


class TwoLevels(Lanes):
    """Operations on long contiguous rows, for many documents."""

    # A topic is a place in its group, and a group: first the place is drawn, from eight sums over the groups, then the
    # group. Running sums over the groups stay where the products were.

    width = _GROUP

    def __init__(self, block: Block, m: int) -> None:
        super().__init__(block, m)
        groups = len(self.products)
        self.by_group = self.products.reshape(groups, m * _GROUP)
        self.layers = list(self.by_group)
        self.sums = [self.products[-1, :, i] for i in range(_GROUP)]
        self.before = np.zeros((_GROUP, m), dtype=np.float32)
        self.befores, self.flat_before = list(self.before), self.before.reshape(-1)
        self.column = np.empty((groups, m), dtype=np.float32)
        self.start = np.empty(m, dtype=np.intp)
        self.passed = np.empty((_GROUP - 1, m), dtype=np.bool_)
        self.passed_groups = np.empty((groups - 1, m), dtype=np.bool_)
        self.number: Labels = np.empty(m, dtype=np.uint8 if groups <= 255 else np.intp)

    def draw(self, words: Labels, uniform: np.float32, states: Labels) -> None:
        """Draw place and group; each is the number of sums that the point has passed."""
        self._weigh(words)
        for one, following in zip(self.layers, self.layers[1:], strict=False):
            np.add(one, following, following)
        before, sums = self.befores, self.sums
        np.copyto(before[1], sums[0])
        for i in range(2, _GROUP):
            np.add(before[i - 1], sums[i - 1], before[i])
        np.add(before[-1], sums[-1], self.total)
        self._aim(uniform, self.total)
        np.less_equal(self.before[1:], self.point, self.passed)
        self._count(self.passed)
        np.add(self.first, self.place, self.start)
        np.multiply(self.place, len(self.document), self.place)
        np.add(self.place, self.document, self.place)
        self.flat_before.take(self.place, 0, self.some, "clip")
        np.subtract(self.point, self.some, self.point)
        self.by_group.take(self.start, 1, self.column, "clip")
        # Rounding must not carry the point past the last sum: a topic without the word would be drawn.
        np.multiply(self.column[-1], _BELOW, self.some)
        np.minimum(self.point, self.some, out=self.point)
        np.less_equal(self.column[:-1], self.point, self.passed_groups)
        self._count(self.passed_groups)
        np.multiply(self.place, self.stride, self.place)
        np.add(self.place, self.start, states)

    def _count(self, passed: npt.NDArray[np.bool_]) -> None:
        """Set the place to the number of sums that do not exceed the point."""
        np.add.reduce(passed.view(np.uint8), 0, self.number.dtype, out=self.number)
        np.copyto(self.place, self.number)


def _without(rows: Any, known: npt.NDArray[np.bool_]) -> Any:
    """Leave out words that no topic has."""
    keep = known[rows.indices]
    if keep.all():
        return rows
    kept = np.concatenate([[0], np.cumsum(keep)])
    parts = (rows.data[keep], rows.indices[keep], kept[rows.indptr])
    return sparse.csr_array(parts, shape=rows.shape)


def _rounded(alpha: Array, lengths: Labels, width: int) -> npt.NDArray[np.float32]:
    """Spread alpha over the documents, rounded so that float32 counts on top of it stay exact."""
    padded = np.zeros((-(-len(alpha) // width), 1, width))
    padded.reshape(-1)[: len(alpha)] = alpha
    unit = 2.0 ** (np.frexp(lengths + alpha.max())[1] - 24)[:, None]
    return np.where(padded > 0, np.maximum(np.round(padded / unit), 1) * unit, 0).astype(np.float32)


def _fractions(bits: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Return numbers in [0, 1) with 23 bits."""
    return (bits >> np.uint32(32 - _BITS)).astype(np.float32) * np.float32(2.0**-_BITS)


def _hashes(rows: Any) -> npt.NDArray[np.uint32]:
    """Hash each document's words and counts, whatever their order."""
    words = rows.indices.astype(np.uint64) << np.uint64(32)
    entries = _mixed(words + rows.data.astype(np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return (_mixed(np.diff(sums[rows.indptr])) >> np.uint64(32)).astype(np.uint32)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64-bit numbers (the finalizer of SplitMix64, Steele 2014)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
