"""Scores of new patients: coordinate descent over whole numbers, features and weights fixed."""

from collections.abc import Sequence

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.sustain.coordinate_descent import hadamard
from lvmkit.sustain.mttkrp import BLOCK_ROWS, Pool, mttkrp_by_mode
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box, Weights, gram

MOST_PASSES = 100
"""Bound on the passes; whole numbers settle after a few."""

FLAT = 1e-10
"""Share of the largest eigenvalue below which whole inner products are singular."""

GRID = 20
"""Binary places of a real score before it is rounded."""


def score_rows(
    data: Unfolded, factors: Sequence[Array], weights: Weights, *, box: Box, pool: Pool = None
) -> Array:
    """Score the indexes of the first mode against fixed factors of the others, (R, I_1)."""
    # Each index descends, score by score, from zero and from its rounded real solution; the better end is taken.
    # Perros 2018, equations (20) and (21) with the weights held.
    every = [np.zeros((len(weights), data.shape[0]), dtype=np.float32), *factors]
    inner = [gram(factor) for factor in every[1:]]
    cross = hadamard([np.ones_like(inner[0]), *inner], 0) * np.outer(weights, weights)
    products = weights[:, None] * mttkrp_by_mode(data, every, pool=pool)(0)
    scores = np.empty(products.shape, dtype=np.float32)
    for start in range(0, data.shape[0], BLOCK_ROWS):
        block = products[:, start : start + BLOCK_ROWS].astype(np.float64)
        scores[:, start : start + BLOCK_ROWS] = _better(block, cross, box)
    return scores


def _better(products: Array, cross: Array, box: Box) -> Array:
    """Descend from two starts, and take the better end of each column."""
    # Term by term: other sums round in an order that depends on how many samples there are. What is left of
    # rounding, in the inverse too, goes with the digits below the grid, so that halves are halves.
    inverse, real = np.linalg.pinv(cross, rcond=FLAT, hermitian=True), np.zeros_like(products)
    for column, product in zip(inverse.T, products, strict=True):
        real += column[:, None] * product
    np.ldexp(np.rint(np.ldexp(real, GRID)), -GRID, out=real)
    ends = [
        _descended(start, products, cross, box)
        for start in (np.zeros_like(products), box.nearest(real))
    ]
    losses = [np.einsum("rn,rn->n", u, cross @ u - 2 * products) for u in ends]
    return np.where(losses[1] < losses[0], ends[1], ends[0])


def _descended(scores: Array, products: Array, cross: Array, box: Box) -> Array:
    """Set each score to its best given the others, until none changes."""
    for _ in range(MOST_PASSES):
        changed = False
        for k, rest in enumerate(cross):
            others = rest.copy()
            others[k] = 0
            best = box.nearest((products[k] - others @ scores) / rest[k])
            changed |= not np.array_equal(best, scores[k])
            scores[k] = best
        if not changed:
            break
    return scores
