"""Weightings of rows in moments: raw, factorial, pooled, equal rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lvmkit.core.typing import Array


@dataclass(frozen=True)
class Weighting:
    """How a row with total t enters the sums of order 1, 2 and 3, and what divides them.

    The weight of a row and the divisor are kept apart: the divisor is itself a sum over rows, so both add.

    Attributes
    ----------
    name : str
        Name shown in messages; two weightings with the same name are the same.
    row_weight : callable (order, totals) -> array (n,)
        Weight of each row.
    divisor : callable (order, totals) -> array (n,)
        What each row adds to the divisor.
    factorial : bool
        Whether products of an entry with itself are left out (factorial moments), which makes the moments
        of counts unbiased; without, the moments are the raw ones of the documents.
    """

    name: str
    row_weight: Callable[[int, Array], Array]
    divisor: Callable[[int, Array], Array]
    factorial: bool = True

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same name."""
        return isinstance(other, Weighting) and self.name == other.name

    def __hash__(self) -> int:
        """Hash by name."""
        return hash(self.name)


def _ones(_: int, totals: Array) -> Array:
    """Weigh every row 1."""
    return np.ones_like(totals)


def _falling(order: int, totals: Array) -> Array:
    """Return t(t−1)…(t−order+1), the number of ordered draws from a row."""
    steps = np.maximum(totals[:, None] - np.arange(order), 0)
    product: Array = steps.prod(axis=1)
    return product


def _inverse_falling(order: int, totals: Array) -> Array:
    """Return 1/(t(t−1)…), 0 for rows too short to have a product of that order."""
    draws = _falling(order, totals)
    return np.divide(1.0, draws, out=np.zeros_like(draws), where=draws > 0)


def _long_enough(order: int, totals: Array) -> Array:
    """Count the rows that carry information of that order."""
    counted: Array = (_falling(order, totals) > 0).astype(np.float64)
    return counted


RAW = Weighting("RAW", _ones, _ones, factorial=False)
"""Plain averages of xxᵀ and x⊗x⊗x (Ruffini 2017, section 3.2): biased on coinciding indexes."""
POISSON = Weighting("POISSON", _ones, _ones)
"""Averages without coinciding indexes (Ruffini thesis, Proposition 1.2.1)."""
POOLED = Weighting("POOLED", _ones, _falling)
"""Every pair and triple of draws counts the same (Ruffini thesis, Theorem 3.2.1)."""
EQUAL_ROWS = Weighting("EQUAL_ROWS", _inverse_falling, _long_enough)
"""Every row long enough counts the same (Zou 2013)."""


def row_totals(X: Any) -> Array:
    """Return the sum of every row, (n,). X (n, d)."""
    return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


def row_divisors(weighting: Weighting, totals: Array, sample_weight: Array | None = None) -> Array:
    """Return what rows of these totals add to the divisors, (3,). totals (n,), sample_weight (n,)."""
    return np.array(
        [counted(weighting.divisor(order, totals), sample_weight).sum() for order in (1, 2, 3)]
    )


def counted(values: Array, sample_weight: Array | None) -> Array:
    """Count each row's value as often as the row. values (n,), sample_weight (n,)."""
    return values if sample_weight is None else values * sample_weight


def n_counted(X: Any, sample_weight: Array | None) -> float:
    """Return the number of rows, or the sum of their weights. X (n, d), sample_weight (n,)."""
    if sample_weight is None:
        return int(X.shape[0])
    return whole_if(float(sample_weight.sum()))


def whole_if(total: float) -> float:
    """Return a sum as an int if it is a whole number."""
    return int(total) if total.is_integer() else total
