"""The real factorization that integer ones start from, and cannot surpass: non-negative, by HALS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lvmkit._typing import Array
from lvmkit.factorization.counts import Unfolded
from lvmkit.factorization.products import Pool, inward, outward, toward_rows
from lvmkit.factorization.updates import gram

TINY = 1e-12
"""What a real score may not fall below, so that no column dies."""


@dataclass(frozen=True)
class RealFactors:
    """A non-negative factorization; its weights are absorbed, columns are balanced between the modes.

    Attributes
    ----------
    factors : list of array (R, I_n)
        One per mode, a component per row.
    fit : float
        1 - |X - X_hat| / |X|.
    n_iter : int
        Passes over all modes.
    """

    factors: list[Array]
    fit: float
    n_iter: int


def nonnegative(
    data: Unfolded,
    n_components: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-4,
    max_iter: int = 100,
    pool: Pool = None,
    tell: Callable[[int, float], None] = lambda step, fit: None,
) -> RealFactors:
    """Factorize counts into real non-negative factors by hierarchical alternating least squares.

    Parameters
    ----------
    data : Unfolded
        The counts.
    n_components : int
        Number of components R.
    rng : Generator
        Draws the start.
    tol : float, default=1e-4
        Stops when the fit changes by less.
    max_iter : int, default=100
        At most so many passes.
    pool : ThreadPoolExecutor, optional
        Threads; the calling one only if not given.
    tell : callable, optional
        Called with the number of passes made and the fit; an error it raises ends the work.

    Returns
    -------
    RealFactors
        NMF for a matrix, non-negative CP for a tensor.

    Notes
    -----
    Cichocki and Phan (2009). The same two products per pass as the integer factorization.
    """
    factors = [
        rng.random((n_components, size), dtype=np.float32) + np.float32(0.1) for size in data.shape
    ]
    inner: list[Any] = [gram(factor) for factor in factors]
    trace = [-np.inf]
    sums: Any = None
    for _ in range(max_iter):
        for mode in range(len(factors)):
            if mode == data.mode:
                products = toward_rows(data, factors, exact=False, pool=pool)
            else:
                if sums is None:
                    sums = inward(data, factors[data.mode], exact=False, pool=pool)
                products = outward(data, sums, factors, mode)
            others = np.prod([g for n, g in enumerate(inner) if n != mode], axis=0)
            _update(factors[mode], products, others)
            inner[mode] = gram(factors[mode])
            if mode == data.mode:
                sums = None
            else:
                products = products * _move_scale(factors, inner, sums, mode, data.mode)[:, None]
        trace.append(fit_of(data, factors[-1], products, np.ones(n_components), inner))
        tell(len(trace) - 1, trace[-1])
        if abs(trace[-1] - trace[-2]) < tol:
            break
    return RealFactors(_balanced(factors), trace[-1], len(trace) - 1)


def fit_of(
    data: Unfolded, factor: Array, products: Array, weights: Any, inner: list[Array]
) -> float:
    """Return the fit 1 - |X - X_hat| / |X| from the last mode's products, without forming X_hat.

    Parameters
    ----------
    data : Unfolded
        The counts.
    factor, products : array (R, I)
        Factor and MTTKRP of one mode, the one updated last.
    weights : array (R,)
        Lambda.
    inner : list of array (R, R)
        Inner products of every mode's columns.

    Returns
    -------
    float
        1 for an exact factorization, 0 for none at all, below 0 for a harmful one.
    """
    along = np.einsum("ri,ri->r", factor, products, dtype=np.float64)
    squared = weights @ np.prod(inner, axis=0) @ weights
    missed = data.squared_norm - 2 * weights @ along + squared
    return float(1 - np.sqrt(max(missed, 0) / data.squared_norm))


def _update(factor: Array, products: Array, others: Array) -> None:
    """Set each column to its best non-negative values given all others, in place.

    A column whose component has died out in another mode stays: nothing is known of it.
    """
    alive = np.diag(others) > TINY * np.diag(others).max()
    for k in np.flatnonzero(alive):
        rest = others[:, k].copy()
        rest[k] = 0
        best = (products[k] - rest.astype(np.float32) @ factor) / others[k, k]
        np.maximum(best, TINY, out=best)
        factor[k] = best


def _move_scale(
    factors: list[Array], inner: list[Array], sums: Array, mode: int, rows: int
) -> Array:
    """Give the columns of a mode length 1 and move their scale to the rows, or it would drift beyond float32."""
    scale = np.sqrt(np.diag(inner[mode]))
    factors[mode] /= scale[:, None].astype(np.float32)
    factors[rows] *= scale[:, None].astype(np.float32)
    inner[mode] /= np.outer(scale, scale)
    inner[rows] *= np.outer(scale, scale)
    sums *= scale
    return scale


def _balanced(factors: list[Array]) -> list[Array]:
    """Give the columns of a component the same length in every mode."""
    lengths = np.sqrt([np.einsum("ri,ri->r", f, f, dtype=np.float64) for f in factors])
    common = np.exp(np.log(lengths).mean(axis=0))
    return [
        (factor * (common / length)[:, None]).astype(np.float32)
        for factor, length in zip(factors, lengths, strict=True)
    ]
