"""Dissimilarity of two factor matrices, whatever the order of their components."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, listed, refuse_entries

_CONSTANT = 1e-12  # a column whose spread is less than this part of its size does not vary


def dissimilarity(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return how unlike two factors are: 0 if one is the other with its columns in another order.

    Parameters
    ----------
    one, other : array (I, R)
        Factors of the same mode from two runs.

    Returns
    -------
    float
        Between 0 and 2; 1 if no column is correlated with any of the other factor.

    Raises
    ------
    ValueError
        If the factors are not of one shape.

    Notes
    -----
    Perros 2018, section 4.4, after Wu 2016: with C(j, k) the Pearson correlation of column j of
    one and column k of the other, (2R − Σ_j max_k C(j, k) − Σ_k max_j C(j, k)) / 2R. Signs count, unlike in the
    staNMF toolbox; a column that does not vary is correlated with none (0).

    Examples
    --------
    >>> dissimilarity([[1, 0], [0, 5], [0, 0]], [[0, 1], [3, 0], [0, 0]])
    0.0
    >>> dissimilarity([[1, 0], [0, 1], [0, 0]], [[1, 1], [0, 0], [0, 0]])
    0.375
    """
    for factor, name in ((one, "one"), (other, "other")):
        refuse_entries(as_numbers(factor, name), name)
    return float(pairwise_dissimilarity([as_numbers(one, "one"), as_numbers(other, "other")])[0, 1])


def pairwise_dissimilarity(factors: Sequence[npt.ArrayLike]) -> Array:
    """Return the dissimilarity of each pair of factors, (B, B). factors (I, R)."""
    parts = [as_numbers(factor, "a factor") for factor in factors]
    if not all(np.isfinite(part).all() for part in parts):
        msg = "factors that are compared must be finite; found NaN or infinity. Leave out the run that ended so"
        raise ValueError(msg)
    shapes = sorted({part.shape for part in parts})
    if len(shapes) > 1 or any(len(shape) != 2 or 0 in shape for shape in shapes):
        msg = f"factors that are compared are of one shape (I, R); found {listed(shapes)}"
        raise ValueError(msg)
    n = len(parts)
    columns = np.hstack([_standardized(part) for part in parts])
    like = np.clip(columns.T @ columns, -1, 1).reshape(n, -1, n, parts[0].shape[1])
    unlike = 1 - (like.max(axis=3).mean(axis=1) + like.max(axis=1).mean(axis=2)) / 2
    np.fill_diagonal(unlike, 0)
    return np.where(unlike < _CONSTANT, 0, unlike)


def instability(unlike: Array) -> tuple[float, float]:
    """Return the mean dissimilarity over all pairs, Υ, and its standard error. unlike (B, B)."""
    n = len(unlike)
    if n < 2:
        return np.nan, np.nan
    total = unlike.sum()
    mean = float(total / (n * (n - 1)))
    if n == 2:
        return mean, np.nan
    without = (total - 2 * unlike.sum(axis=1)) / ((n - 1) * (n - 2))
    return mean, float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def _standardized(factor: Array) -> Array:
    """Center columns and give them length 1; those that do not vary become 0."""
    centered = factor - factor.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    size = np.sqrt((factor**2).sum(axis=0))
    varies = length > _CONSTANT * size
    return centered / np.where(varies, length, 1) * varies
