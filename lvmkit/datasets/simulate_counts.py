"""Simulated counts with whole-number factors: exact products, and Poisson counts around one."""

from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.cohorts._cells import canonical
from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import require_number
from lvmkit.datasets.simulate import check_sizes

__all__ = ["SimulatedCounts", "make_exact_counts", "make_poisson_counts"]

BLOCK_ROWS = 20_000
LARGEST_SCORE, LARGEST_CODE_SCORE = 3, 5
CODES = {1: (60,), 2: (14, 8)}
"""By number of feature modes: how many codes of each a phenotype has."""
RATES = {1: 0.35, 2: 0.12}
BACKGROUND_CELLS = 12
Sizes = int | tuple[int, ...]


class SimulatedCounts(NamedTuple):
    """Simulated counts and their truth.

    Attributes
    ----------
    X : csr_array (n, d) or coo_array (n, d1, d2, …)
        Counts: whole numbers, float32 in a matrix and int32 in a tensor.
    factors : tuple of array
        Whole-number scores of each mode, patients first, by component: (n, R), (d1, R), ….
    weights : array (R,)
        Weight of each component: the expected counts are the sum over components of weight × product of scores,
        plus what the description says.
    description : str
        How the data were made.
    """

    X: sparse.csr_array | sparse.coo_array
    factors: tuple[Labels, ...]
    weights: Array
    description: str


@checked(n_samples=1)
def make_exact_counts(
    n_samples: int = 100,
    n_features: int | tuple[int, ...] = 40,
    n_components: int = 3,
    *,
    density: float = 0.3,
    max_score: int = 5,
    max_weight: int = 50,
    random_state: RandomState = None,
) -> SimulatedCounts:
    """Simulate counts that are exactly a product of whole-number factors, so that a perfect solution exists.

    The dense form is never made: memory grows with the cells that are not 0.

    Parameters
    ----------
    n_samples : int, default=100
        Patients, n.
    n_features : int or tuple of int, default=40
        Codes: one number for a matrix, one for each further mode for a tensor.
    n_components : int, default=3
        Components, R.
    density : float, default=0.3
        Expected share of scores above 0; every component has at least one in each mode.
    max_score : int, default=5
        Largest score; those above 0 are uniform on 1 to this.
    max_weight : int, default=50
        Largest weight; uniform on 1 to this.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedCounts
        X, factors, weights, description.

    Raises
    ------
    TypeError
        If a number is none, or no whole number where one is needed.
    ValueError
        If a size, `max_score` or `max_weight` is below 1, or `density` is not above 0 and at most 1.

    Notes
    -----
    The model of Perros 2018, problems (2) and (12).

    Examples
    --------
    >>> data = make_exact_counts(6, (4, 3), 2, random_state=0)
    >>> data.X.shape, [factor.shape for factor in data.factors]
    ((6, 4, 3), [(6, 2), (4, 2), (3, 2)])
    >>> exact = np.einsum("r,ir,jr,kr", data.weights, *data.factors)
    >>> bool((data.X.toarray() == exact).all())
    True
    """
    shape = _shape(n_samples, n_features, n_components)
    require_number(density, "density", least=0, above=True)
    require_number(max_score, "max_score", least=1, whole=True)
    require_number(max_weight, "max_weight", least=1, whole=True)
    if density > 1:
        msg = f"density={density}; expected a share, above 0 and at most 1."
        raise ValueError(msg)
    rng = generator_of(random_state)
    factors = tuple(_scores(size, n_components, density, max_score, rng) for size in shape)
    weights = rng.integers(1, max_weight, n_components, endpoint=True)
    others = reduce(_products, map(sparse.csc_array, factors[1:]))
    X = sparse.csr_array(sparse.csr_array(factors[0] * weights) @ others.T)
    kind = "Matrix" if len(shape) == 2 else f"Tensor of order {len(shape)}"
    description = f"{kind}: exact product of {n_components} components, scores up to {max_score}."
    return SimulatedCounts(_formed(X, shape), factors, weights.astype(float), description)


@checked(n_samples=1)
def make_poisson_counts(
    n_samples: int,
    n_features: int | tuple[int, int] = 583,
    n_components: int = 10,
    *,
    random_state: RandomState = None,
) -> SimulatedCounts:
    """Simulate encounter counts of patients by codes, or by pairs of codes, that follow phenotypes.

    Each patient has two phenotypes with scores uniform on 0 to 3. A phenotype has 60 codes in a matrix, 14 and 8
    codes in a tensor, with scores uniform on 1 to 5 (or as many as there are). Counts are Poisson around 0.35
    (matrix) or 0.12 (tensor) times the product of scores. In addition, in a matrix the code j (from 0) is seen
    0.25/(j + 3)^0.6 times on average; in a tensor 12 cells, drawn uniformly, are seen once more. A patient has
    about 72 counts above 0 in the matrix and 130 in the tensor; patients are drawn by blocks of rows, and the dense
    form is never made.

    Parameters
    ----------
    n_samples : int
        Patients, n.
    n_features : int or (int, int), default=583
        Codes of a matrix, or the sizes of both further modes of a tensor, such as (583, 239).
    n_components : int, default=10
        Phenotypes, R, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedCounts
        X, factors, weights (0.35 or 0.12 each), description.

    Raises
    ------
    ValueError
        If a size is below 1, there are fewer than 2 components, or more than two further modes.

    Notes
    -----
    Sizes like those of Perros 2018, tables 3 to 5.

    Examples
    --------
    >>> data = make_poisson_counts(1_000, 60, 4, random_state=0)
    >>> data.X.shape, [factor.shape for factor in data.factors], data.weights.tolist()
    ((1000, 60), [(1000, 4), (60, 4)], [0.35, 0.35, 0.35, 0.35])
    """
    shape = _shape(n_samples, n_features, n_components)
    order = len(shape) - 1
    if order not in CODES or n_components < 2:
        msg = (
            f"n_features={n_features!r}, n_components={n_components}; expected one or two sizes and at least 2 "
            "components."
        )
        raise ValueError(msg)
    rng = generator_of(random_state)
    chosen = [
        _phenotypes(size, min(size, n), n_components, rng)
        for size, n in zip(shape[1:], CODES[order], strict=True)
    ]
    people = _people(n_samples, n_components, rng)
    blocks = [
        _drawn(people[first : first + BLOCK_ROWS], chosen, shape[1:], rng)
        for first in range(0, n_samples, BLOCK_ROWS)
    ]
    X = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    background = "rarer codes" if order == 1 else f"{BACKGROUND_CELLS} cells each"
    return SimulatedCounts(
        _formed(X, shape),
        (people, *chosen),
        np.full(n_components, RATES[order]),
        f"Poisson counts of {n_components} phenotypes, two a patient, and {background} beside them.",
    )


def _shape(n_samples: int, n_features: Sizes, n_components: int) -> tuple[int, ...]:
    """Sizes of all modes, checked."""
    features = n_features if isinstance(n_features, tuple) else (n_features,)
    sizes = {"n_samples": n_samples, "n_components": n_components}
    check_sizes(sizes | {f"n_features[{i}]": size for i, size in enumerate(features)})
    if not features:
        msg = "n_features is empty; expected the size of at least one mode."
        raise ValueError(msg)
    return (n_samples, *features)


def _scores(
    size: int, n_components: int, density: float, largest: int, rng: np.random.Generator
) -> Labels:
    """Draw sparse scores of one mode; no column is empty."""
    values = rng.integers(1, largest, (size, n_components), endpoint=True)
    scores = np.where(rng.random((size, n_components)) < density, values, 0)
    for column in np.flatnonzero(~scores.any(axis=0)):
        row = rng.integers(size)
        scores[row, column] = values[row, column]
    return scores


def _products(left: sparse.csc_array, right: sparse.csc_array) -> sparse.csc_array:
    """Products of the scores of two modes, for each component: the Khatri-Rao product."""
    columns = [sparse.kron(left[:, [r]], right[:, [r]], format="csc") for r in range(left.shape[1])]
    return sparse.csc_array(sparse.hstack(columns, format="csc"))


def _formed(X: sparse.csr_array, shape: tuple[int, ...]) -> sparse.csr_array | sparse.coo_array:
    """Give the counts of patients × cells the shape of the modes."""
    X.sort_indices()
    if len(shape) == 2:
        return X.astype(np.float32, copy=False)
    rows = np.repeat(np.arange(X.shape[0], dtype=np.int32), np.diff(X.indptr))
    coords = (rows, *np.unravel_index(X.indices, shape[1:]))
    return canonical(sparse.coo_array((X.data.astype(np.int32, copy=False), coords), shape=shape))


def _phenotypes(size: int, n_codes: int, n_components: int, rng: np.random.Generator) -> Labels:
    """Draw the codes of each phenotype and their scores."""
    scores = np.zeros((size, n_components), dtype=np.int64)
    for r in range(n_components):
        codes = rng.choice(size, n_codes, replace=False)
        scores[codes, r] = rng.integers(1, LARGEST_CODE_SCORE, n_codes, endpoint=True)
    return scores


def _people(n: int, n_components: int, rng: np.random.Generator) -> Labels:
    """Draw two different phenotypes of each patient and their scores."""
    first = rng.integers(n_components, size=n)
    second = (first + rng.integers(1, n_components, size=n)) % n_components
    scores = np.zeros((n, n_components), dtype=np.int64)
    for phenotype in (first, second):
        scores[np.arange(n), phenotype] = rng.integers(LARGEST_SCORE, size=n, endpoint=True)
    return scores


def _drawn(
    people: Labels, chosen: list[Labels], sizes: tuple[int, ...], rng: np.random.Generator
) -> sparse.csr_array:
    """Draw the counts of a block of patients, as patients × cells."""
    others = reduce(_products, map(sparse.csc_array, chosen))
    rows, cells, counts = [], [], []
    for r in range(people.shape[1]):
        who = np.flatnonzero(people[:, r])
        where, scores = others[:, [r]].nonzero()[0], others[:, [r]].data
        drawn = rng.poisson(RATES[len(sizes)] * np.outer(people[who, r], scores))
        row, cell = np.nonzero(drawn)
        rows.append(who[row])
        cells.append(where[cell])
        counts.append(drawn[row, cell])
    row, cell = _background(len(people), sizes, rng)
    data = np.concatenate([*counts, np.ones(len(row), dtype=np.int64)])
    # 32-bit numbers wherever they do, as there are many
    small_enough = np.int32 if prod(sizes) < 2**31 else np.int64
    where = tuple(
        np.concatenate(part).astype(small_enough) for part in ([*rows, row], [*cells, cell])
    )
    small = data.astype(np.float32 if len(sizes) == 1 else np.int32)
    return sparse.coo_array((small, where), shape=(len(people), prod(sizes))).tocsr()


def _background(
    n: int, sizes: tuple[int, ...], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw what is seen beside the phenotypes: one count for each row and cell returned."""
    if len(sizes) > 1:
        cells = rng.integers(prod(sizes), size=n * BACKGROUND_CELLS)
        return np.repeat(np.arange(n), BACKGROUND_CELLS), cells
    rates = 0.25 / (np.arange(sizes[0]) + 3) ** 0.6
    numbers = rng.poisson(rates.sum(), n)
    limits = rates.cumsum()
    codes = np.searchsorted(limits[:-1], rng.random(numbers.sum()) * limits[-1], side="right")
    return np.repeat(np.arange(n), numbers), codes
