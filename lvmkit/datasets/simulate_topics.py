"""Simulated word counts: topic models and mixtures of independent Poisson variables, with their truth."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import require_flag, require_number
from lvmkit.datasets.simulate import SimulatedMixture, check_sizes, feature_names

__all__ = ["SimulatedTopics", "make_poisson_mixture", "make_topics"]

BLOCK_ROWS = 50_000
TOPICS = ("zipf", "uniform")
Length = float | tuple[int, int]


class SimulatedTopics(NamedTuple):
    """A simulated corpus and its truth.

    Attributes
    ----------
    X : csr_array (n, d)
        Counts of words, float32.
    mixtures : array (n, k)
        Topic mixture of each document; rows sum to 1.
    labels : array (n,)
        Topic with the largest share of the document; its only one in a single-topic corpus.
    alpha : array (k,)
        Parameter of the Dirichlet distribution of the mixtures. Zeros in a single-topic corpus, the limit
        in which each document has one topic.
    weights : array (k,)
        Expected share of each topic; sums to 1.
    centers : array (k, d)
        Topics: probability of each word; rows sum to 1.
    feature_names : array of str (d,)
        Names of the words.
    description : str
        How the data were made.
    """

    X: sparse.csr_array
    mixtures: Array
    labels: Labels
    alpha: Array
    weights: Array
    centers: Array
    feature_names: npt.NDArray[np.str_]
    description: str


@checked(n_samples=1)
def make_topics(
    n_samples: int,
    n_features: int = 10_000,
    n_topics: int = 50,
    *,
    alpha0: float = 1.0,
    length: Length = 80.0,
    topics: str = "zipf",
    single: bool = False,
    random_state: RandomState = None,
) -> SimulatedTopics:
    """Simulate documents from latent Dirichlet allocation, or from the single-topic model.

    The memory needed grows with the number of words drawn, never with documents × features.

    Parameters
    ----------
    n_samples : int
        Documents, n.
    n_features : int, default=10000
        Words of the vocabulary, d.
    n_topics : int, default=50
        Topics, k.
    alpha0 : float, default=1.0
        Sum of the parameter of the Dirichlet distribution of mixtures; small: few topics in a document.
        Not used if `single`.
    length : float or (int, int), default=80.0
        Words of a document: the mean of a Poisson variable, of which 0 becomes 1, or the least and
        most of a uniform one.
    topics : {"zipf", "uniform"}, default="zipf"
        "zipf": probabilities are proportional to 1/(rank + 30) times the exponential of twice a standard
        normal variable; weights are Dirichlet(10). "uniform": both are uniform on [0, 1], divided by
        their sum.
    single : bool, default=False
        Whether each document has one topic, drawn by the weights.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedTopics
        X, mixtures, labels, alpha, weights, centers, feature_names, description.

    Raises
    ------
    TypeError
        If `alpha0` or `length` is no number (or pair of whole numbers).
    ValueError
        If a size is below 1, `alpha0` is not above 0, or an option is unknown.

    Notes
    -----
    Models: Ruffini thesis, Sections 3.2 and 3.3. ``topics="uniform", single=True, length=(3, 100)`` are the
    corpora of its Section 3.4.1.

    Examples
    --------
    >>> data = make_topics(1_000, 200, 3, random_state=0)
    >>> data.X.shape, data.mixtures.shape, data.centers.shape
    ((1000, 200), (1000, 3), (3, 200))
    >>> data.alpha.sum().round(6)
    np.float64(1.0)
    >>> short = make_topics(1_000, 200, 3, topics="uniform", single=True, length=(3, 100), random_state=0)
    >>> float(short.X.sum(axis=1).min()) >= 3
    True
    """
    check_sizes({"n_samples": n_samples, "n_features": n_features, "n_topics": n_topics})
    require_number(alpha0, "alpha0", least=0, above=True)
    _check_length(length)
    require_flag(single, "single")
    if not isinstance(topics, str) or topics not in TOPICS:
        msg = f"topics={topics!r}; expected 'zipf' or 'uniform'."
        raise ValueError(msg)
    rng = generator_of(random_state)
    centers, weights = _parameters(n_features, n_topics, topics, rng)
    alpha = np.zeros(n_topics) if single else alpha0 * weights
    mixtures = _mixtures(n_samples, weights, alpha, rng)
    lengths = _lengths(n_samples, length, rng)
    drawn = f"length {length}" if isinstance(length, tuple) else f"mean length {length:g}"
    model = "Single-topic model" if single else f"Latent Dirichlet allocation, alpha0 = {alpha0:g}"
    return SimulatedTopics(
        _words(lengths, mixtures, centers, rng),
        mixtures,
        mixtures.argmax(axis=1),
        alpha,
        weights,
        centers,
        feature_names(n_features, "w"),
        f"{model}: {n_topics} topics ({topics}) over {n_features} words, {drawn}.",
    )


@checked(n_samples=1)
def make_poisson_mixture(
    n_samples: int,
    n_features: int = 100,
    n_components: int = 5,
    *,
    total: float = 5.0,
    random_state: RandomState = None,
) -> SimulatedMixture:
    """Simulate counts from a mixture of independent Poisson variables.

    Parameters
    ----------
    n_samples : int
        Rows, n.
    n_features : int, default=100
        Features, d.
    n_components : int, default=5
        Components, k.
    total : float, default=5.0
        Expected sum of a row, in each component.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedMixture
        X (counts), labels, weights, centers (rates), feature_names, description.

    Raises
    ------
    TypeError
        If `total` is no number.
    ValueError
        If a size is below 1 or `total` is not above 0.

    Notes
    -----
    Ruffini thesis, Section 2.3: rates and weights are uniform on [0, 1], divided so that the rates of a
    component sum to `total` and the weights to 1.

    Examples
    --------
    >>> data = make_poisson_mixture(1_000, random_state=0)
    >>> data.X.shape, data.centers.sum(axis=1).round(6).tolist()
    ((1000, 100), [5.0, 5.0, 5.0, 5.0, 5.0])
    """
    check_sizes({"n_samples": n_samples, "n_features": n_features, "n_components": n_components})
    require_number(total, "total", least=0, above=True)
    rng = generator_of(random_state)
    shares, weights = _parameters(n_features, n_components, "uniform", rng)
    one_each = _mixtures(n_samples, weights, np.zeros(n_components), rng)
    # independent Poisson variables are a Poisson total, spread by their shares of it
    X = _words(rng.poisson(total, n_samples), one_each, shares, rng)
    return SimulatedMixture(
        X,
        one_each.argmax(axis=1),
        weights,
        total * shares,
        feature_names(n_features),
        f"Mixture of {n_components} components over {n_features} Poisson features of total {total:g}.",
    )


def _check_length(length: object) -> None:
    """Refuse a mean that is not above 0, and bounds that are none."""
    if not isinstance(length, tuple):
        require_number(length, "length", least=0, above=True)
        return
    if len(length) != 2:
        msg = f"length={length!r}; expected a mean, or the least and most words of a document."
        raise ValueError(msg)
    for bound in length:
        require_number(bound, "length", least=1, whole=True)
    if length[0] > length[1]:
        msg = f"length={length!r}; expected the least number of words first."
        raise ValueError(msg)


def _parameters(d: int, k: int, topics: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw topics (k, d) and weights (k,)."""
    if topics == "uniform":
        centers, weights = rng.random((k, d)), rng.random(k)
    else:
        centers = np.exp(2 * rng.standard_normal((k, d))) / (np.arange(d) + 30.0)
        weights = rng.dirichlet(np.full(k, 10.0))
    return centers / centers.sum(axis=1, keepdims=True), weights / weights.sum()


def _mixtures(n: int, weights: Array, alpha: Array, rng: np.random.Generator) -> Array:
    """Draw the topic mixture of each document; of one topic where alpha is 0."""
    if alpha.any():
        return rng.dirichlet(alpha, n)
    mixtures = np.zeros((n, len(weights)))
    mixtures[np.arange(n), rng.choice(len(weights), n, p=weights)] = 1
    return mixtures


def _lengths(n: int, length: Length, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw the number of words of each document, at least 1."""
    if isinstance(length, tuple):
        return rng.integers(length[0], length[1], n, endpoint=True)
    return np.maximum(rng.poisson(length, n), 1)


def _words(
    lengths: npt.NDArray[np.int64], mixtures: Array, centers: Array, rng: np.random.Generator
) -> sparse.csr_array:
    """Draw the words of documents, block by block."""
    cumulative = centers.cumsum(axis=1)
    starts = range(0, len(lengths), BLOCK_ROWS)
    blocks = [
        _block(rng.multinomial(lengths[i : i + BLOCK_ROWS], mixtures[i : i + BLOCK_ROWS]),
               cumulative, rng)
        for i in starts
    ]  # fmt: skip
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _block(
    n_words: npt.NDArray[np.int64], cumulative: Array, rng: np.random.Generator
) -> sparse.csr_array:
    """Draw the words of some documents from how many each has of each topic."""
    n, k = n_words.shape
    d = cumulative.shape[1]
    rows = [np.repeat(np.arange(n, dtype=np.int32), n_words[:, h]) for h in range(k)]
    columns = [
        np.searchsorted(limits[:-1], rng.random(len(rows[h])) * limits[-1], side="right")
        for h, limits in enumerate(cumulative)
    ]
    row, column = np.concatenate(rows), np.concatenate(columns).astype(np.int32)
    counts = sparse.coo_array((np.ones(len(row), np.float32), (row, column)), shape=(n, d)).tocsr()
    counts.sum_duplicates()
    return counts
