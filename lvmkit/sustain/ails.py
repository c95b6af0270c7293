"""AILS: alternating integer least squares, the exact counterpart of coordinate descent."""

from collections.abc import Callable, Sequence

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.sustain.coordinate_descent import IntegerFactors, hadamard
from lvmkit.sustain.initialization import unlock_zero_columns
from lvmkit.sustain.integer_least_squares import box_least_squares
from lvmkit.sustain.mttkrp import mttkrp_by_mode
from lvmkit.sustain.nonnegative import fit_of
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box, Weights, gram


def ails(
    data: Unfolded,
    factors: Sequence[Array],
    weights: Weights,
    *,
    boxes: Sequence[Box],
    rng: np.random.Generator,
    tol: float = 1e-4,
    max_iter: int = 200,
    solve: Callable[..., Array] = box_least_squares,
    tell: Callable[[int, float], None] = lambda step, fit: None,
) -> IntegerFactors:
    """Improve integer factors by alternating integer least squares until the fit changes by less than `tol`."""
    # Perros 2018, section 4.1.2, "AILS": first all weights together, then the rows of each factor, each an
    # integer least squares problem with box constraints that is solved to optimality. Perros 2018 forms the Khatri-Rao
    # product of all factors, so that it has no such baseline for tensors; all that the problems need of it are its
    # inner products with itself and with the counts, as in Algorithm 3. A column that would be zero gets a 1 at a
    # coordinate drawn at random; but for that the fit never falls. Time grows exponentially with R in the worst case.
    factors = unlock_zero_columns(factors, rng)
    weights, trace = np.array(weights, dtype=np.int64), list[float]()
    inner, most = [gram(factor) for factor in factors], max(int(data.totals[2]), 1)
    products_of = mttkrp_by_mode(data, factors)
    products = products_of(len(factors) - 1)

    def look() -> None:
        tell(len(trace), trace[-1] if trace else np.nan)

    for step in range(1, max_iter + 1):
        start = np.clip(weights, 1, most).astype(float)[:, None]
        along = np.einsum("ri,ri->r", factors[-1], products, dtype=np.float64)[:, None]
        found = solve(np.prod(inner, axis=0), along, start, least=1, most=most, look=look)
        weights = found[:, 0].astype(np.int64)
        for mode, factor in enumerate(factors):
            products = products_of(mode)
            found = solve(
                hadamard(inner, mode) * np.outer(weights, weights),
                products.astype(np.float64) * weights[:, None],
                factor,
                least=boxes[mode].least,
                most=boxes[mode].most,
                look=look,
            )
            [factor[:]] = unlock_zero_columns([found], rng)
            inner[mode] = gram(factor)
        trace.append(fit_of(data, factors[-1], products, weights.astype(float), inner))
        look()
        if step > 1 and abs(trace[-1] - trace[-2]) < tol:
            return IntegerFactors(factors, weights, trace, "tol")
    return IntegerFactors(factors, weights, trace, "max_iter")
