"""Initial integer factors: rounded real solutions, or random draws."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box, Weights, round_half_away

Start = tuple[list[Any], Weights]

PROBED = 20_000
"""Indexes of the longest mode by which scalings are judged; more would not change which is best."""


def unlock_zero_columns(factors: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """Set one coordinate, drawn at random, to 1 in each column that is zero ("zero-lock", section 4.1.5), (R, I_n)."""
    copies = [np.array(factor, dtype=np.float32, order="C") for factor in factors]
    for factor in copies:
        for r in np.flatnonzero(~factor.any(axis=1)):
            factor[r, rng.integers(factor.shape[1])] = 1
    return copies


def round_factors(real: Sequence[Array], boxes: Sequence[Box]) -> Start:
    """Round real factors as they are; all weights are 1. real (R, I_n)."""
    # Perros 2018, section 4.1.2, "Round".
    factors = [box.nearest(np.array(factor)) for factor, box in zip(real, boxes, strict=True)]
    return factors, np.ones(len(real[0]), dtype=np.int64)


def scale_and_round(real: Sequence[Array], boxes: Sequence[Box]) -> Start:
    """Stretch every column to the largest score before rounding; weights take up what was stretched. real (R, I_n)."""
    # Perros 2018, section 4.1.2, "Scale-and-round". A weight that rounds to 0, as most do, becomes 1.
    stretch = [_stretch(factor, box.most) for factor, box in zip(real, boxes, strict=True)]
    factors = [
        box.nearest(np.asarray(factor, float) * s[:, None])
        for factor, box, s in zip(real, boxes, stretch, strict=True)
    ]
    weights = round_half_away(1 / np.prod(stretch, axis=0))
    return factors, np.maximum(weights, 1).astype(np.int64)


def balance_and_round(real: Sequence[Array], boxes: Sequence[Box]) -> Start:
    """Scale each component, its columns against each other, so that rounding it loses least. real (R, I_n)."""
    # Of a component, all columns but the longest are scaled to peak at a score, and rounded. The longest one and the
    # weight are then the best ones given these. All peaks up to the largest score are tried.
    # Perros 2018 rounds columns as they are or stretches them all; both lose most of the fit when scores are small.
    factors = [np.zeros(factor.shape, dtype=np.float32) for factor in real]
    weights = np.ones(len(real[0]), dtype=np.int64)
    for r in range(len(weights)):
        columns, weights[r] = _rounded_component([np.asarray(f[r], float) for f in real], boxes)
        for factor, column in zip(factors, columns, strict=True):
            factor[r] = column
    return factors, weights


def draw_scores(
    shape: Sequence[int], n_components: int, boxes: Sequence[Box], rng: np.random.Generator
) -> Start:
    """Draw every score at random; all weights are 1."""
    factors = [
        rng.integers(box.least, box.most, (n_components, size), endpoint=True).astype(float)
        for size, box in zip(shape, boxes, strict=True)
    ]
    return factors, np.ones(n_components, dtype=np.int64)


def sample_patients(
    data: Unfolded, n_components: int, boxes: Sequence[Box], rng: np.random.Generator
) -> Start:
    """Draw the patients' scores, and take those of the other modes from patients drawn at random."""
    # A component takes a patient's counts; of a patient's slice of a tensor, the fibers with the largest sums. Counts
    # above the largest score are scaled down to it.
    # Perros 2018, section 4.1.4, "random & sampling"; as in the authors' program, one patient in R has a
    # score of a phenotype.
    patients = np.zeros((n_components, data.shape[0]))
    share = max(1, round(data.shape[0] / n_components))
    for column in patients:
        chosen = rng.permutation(data.shape[0])[:share]
        column[chosen] = rng.integers(boxes[0].least, boxes[0].most, share, endpoint=True)
    factors = [patients, *(np.zeros((n_components, size)) for size in data.shape[1:])]
    for r, patient in enumerate(_patients(data, n_components, rng)):
        for mode, fiber in enumerate(_fibers(data, patient), 1):
            scale = min(1.0, boxes[mode].most / np.abs(fiber).max())
            factors[mode][r] = boxes[mode].nearest(fiber * scale)
    return factors, np.ones(n_components, dtype=np.int64)


def _peak(factor: Array) -> Array:
    """Return the largest size of each column; 1 for a column that is zero."""
    peak = np.abs(factor).max(axis=1)
    return np.where(peak > 0, peak, 1.0)


def _stretch(factor: Array, most: int) -> Array:
    """Return what takes each column to the largest score."""
    return most / _peak(factor)


def _patients(data: Unfolded, n_components: int, rng: np.random.Generator) -> list[int]:
    """Draw patients that have counts, all different if there are enough."""
    by_rows = data.mode == 0
    filled = (
        np.diff(data.rows.indptr) if by_rows else np.bincount(data.places[0][data.rows.indices])
    )
    busy = np.flatnonzero(filled)
    return list(rng.choice(busy, n_components, replace=len(busy) < n_components))


def _fibers(data: Unfolded, patient: int) -> list[Any]:
    """Return, for each mode but the patients', the fiber of a patient's slice whose sum is largest."""
    coords, values = data.slice_of(patient)
    fibers = []
    for mode, size in enumerate(data.shape[1:]):
        others = np.delete(coords, mode, axis=0)
        _, group = np.unique(others, axis=1, return_inverse=True)
        largest = np.argmax(np.bincount(group.ravel(), weights=values))
        kept = group.ravel() == largest
        fibers.append(np.bincount(coords[mode, kept], weights=values[kept], minlength=size))
    return fibers


def _rounded_component(columns: list[Array], boxes: Sequence[Box]) -> tuple[list[Array], int]:
    """Return the whole columns and weight nearest to the product of real columns, of those tried."""
    # One peak for all columns but the longest is sought first, then one for each of them in turn.
    longest = int(np.argmax([len(column) for column in columns]))
    long, shorts = columns[longest], [n for n in range(len(columns)) if n != longest]
    step = -(-len(long) // PROBED)
    grids = [np.arange(0.6, boxes[n].most + 0.5, 0.2) for n in shorts]

    def ends(peaks: Sequence[float]) -> list[Array]:
        return [
            boxes[n].nearest(columns[n] * (peak / _peak(columns[n][None])[0]))
            for n, peak in zip(shorts, peaks, strict=True)
        ]

    def tried(peaks: Sequence[float]) -> tuple[float, tuple[float, ...], int]:
        part = long[::step]
        share, squared = _wanted([columns[n] for n in shorts], ends(peaks))
        peak = float(np.abs(part).max()) * share
        return min(
            (_loss(part, share, squared, weight, boxes[longest]), tuple(peaks), weight)
            for weight in _weights_to_try(peak / boxes[longest].most)
        )

    common = max(grids, key=len)
    best = min(tried([peak] * len(shorts)) for peak in common)
    for place, grid in enumerate(grids if len(shorts) > 1 else []):
        best = min(best, *(tried(_with(best[1], place, peak)) for peak in grid))
    whole = ends(best[1])
    share, _ = _wanted([columns[n] for n in shorts], whole)
    parts = dict(zip(shorts, whole, strict=True))
    parts[longest] = boxes[longest].nearest(long * (share / best[2]))
    return [parts[n] for n in range(len(columns))], best[2]


def _with(values: Sequence[float], place: int, value: float) -> list[float]:
    """Replace one of several values."""
    return [value if n == place else old for n, old in enumerate(values)]


def _wanted(real: list[Array], whole: list[Array]) -> tuple[float, float]:
    """Return what to multiply the long column by, given whole columns of the other modes; their squared length."""
    squared = float(np.prod([column @ column for column in whole]))
    along = float(np.prod([a @ b for a, b in zip(real, whole, strict=True)]))
    return (along / squared if squared else 0.0), squared


def _loss(long: Array, share: float, squared: float, weight: int, box: Box) -> float:
    """Return what rounding adds to the squared error, but for a constant."""
    # Both sums are exact where the real column lies on a grid, so that no choice hangs on their order.
    column = box.nearest(long * (share / weight))
    return squared * weight * (weight * float(column @ column) - 2 * share * float(long @ column))


def _weights_to_try(most: float) -> list[int]:
    """Return weights from 1 to somewhat above the one at which no score is clipped."""
    return sorted(
        {max(1, round(most * 2**power)) for power in (-4, -3, -2, -1, -0.5, 0, 0.5)} | {1}
    )
