"""Coordinate descent over integer factors (Perros 2018, Algorithms 1 and 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.sustain.initialization import unlock_zero_columns
from lvmkit.sustain.mttkrp import Pool, mttkrp_by_mode, mttkrp_rows
from lvmkit.sustain.nonnegative import fit_of
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box, Weights, gram, update_factor


@dataclass(frozen=True)
class IntegerFactors:
    """An integer factorization, and how it came about."""

    factors: list[Array]  # (R, I_n): Whole numbers, a component per row; one array per mode
    weights: Weights  # (R,): Lambda
    trace: list[float]  # Fit after each iteration
    stopped_by: str  # Which rule ended it; "start" if no iteration was made

    @property
    def fit(self) -> float:
        """Fit reached."""
        return self.trace[-1]


def refine(
    data: Unfolded,
    factors: Sequence[Array],
    weights: Weights,
    *,
    boxes: Sequence[Box],
    rng: np.random.Generator,
    tol: float = 1e-4,
    max_iter: int = 200,
    n_passes: int = 1,
    pool: Pool = None,
    tell: Callable[[int, float], None] = lambda step, fit: None,
) -> IntegerFactors:
    """Improve integer factors until the fit changes by less than `tol` from one iteration to the next."""
    # Perros 2018, Algorithms 1 and 3.
    factors = unlock_zero_columns(factors, rng)
    weights, trace = np.array(weights, dtype=np.int64), list[float]()
    products_of = mttkrp_by_mode(data, factors, pool=pool)
    inner = [gram(factor) for factor in factors]
    for step in range(1, max_iter + 1):
        for mode, factor in enumerate(factors):
            products = products_of(mode)
            others = hadamard(inner, mode)
            for _ in range(n_passes):
                inner[mode] = update_factor(
                    factor, products, others, weights, box=boxes[mode], rng=rng, inner=inner[mode]
                )
        trace.append(fit_of(data, factors[-1], products, weights, inner))
        tell(step, trace[-1])
        if step > 1 and abs(trace[-1] - trace[-2]) < tol:
            return IntegerFactors(factors, weights, trace, "tol")
    return IntegerFactors(factors, weights, trace, "max_iter")


def hadamard(inner: Sequence[Array], mode: int) -> Array:
    """Multiply the inner products of all modes but one: C of equation (15), (R, R)."""
    return np.prod([g for n, g in enumerate(inner) if n != mode], axis=0)


def fit_to(data: Unfolded, factors: Sequence[Array], weights: Array) -> float:
    """Return the fit of any factors to counts, without forming the approximation. factors (R, I_n), weights (R,)."""
    products = mttkrp_rows(data, list(factors))
    inner = [gram(factor) for factor in factors]
    return fit_of(data, factors[data.mode], products, np.asarray(weights), inner)
