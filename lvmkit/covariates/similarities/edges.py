"""Similarities as weighted edges, validated."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_source, require_number, require_range, widened

ROUNDING = 1e-8
"""Differences between both halves, relative to the largest entry, that count as rounding."""


class Edges(NamedTuple):
    """Pairs of covariates with a similarity above 0, each once.

    Attributes
    ----------
    first : array of int (l,)
        The covariate with the smaller number, in ascending order.
    second : array of int (l,)
        The other one.
    similarity : array (l,)
        Their similarity.
    """

    first: Labels
    second: Labels
    similarity: Array


def check_similarity(S: Any, n_features: int) -> Edges:
    """Return the pairs of similar covariates, or refuse what is no similarity.

    Parameters
    ----------
    S : array, sparse array or DataFrame (d, d)
        Similarities: symmetric, finite, at least 0. The diagonal is ignored. Covariates may have no similar ones at
        all: what the graph does not connect is only joined where something else does it.
    n_features : int
        Covariates, d.

    Returns
    -------
    Edges
        first, second (smaller number first) and similarity, ordered by first and second.

    Raises
    ------
    ValueError
        If the shape is not (d, d), or entries are not symmetric, negative, not finite, or no numbers.

    Examples
    --------
    >>> first, second, similarity = check_similarity([[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]], 3)
    >>> first.tolist(), second.tolist(), similarity.tolist()
    ([0, 1], [1, 2], [0.5, 0.2])
    """
    require_number(n_features, "n_features", least=0, whole=True)
    S = check_source(S, "similarity")
    if not sparse.issparse(S):
        S = _numbers(S)
    if S.shape != (n_features, n_features):
        msg = (
            f"similarity has the shape {S.shape}; expected ({n_features}, {n_features}), one row and one column "
            "for each covariate (n_features)"
        )
        raise ValueError(msg)
    if sparse.issparse(S):
        S = widened(S)
        if S.dtype.kind not in "biuf":
            msg = f"similarity holds {S.dtype}; expected real numbers"
            raise ValueError(msg)
        return _of_sparse(S)
    # In the order of rows, so that neighbors lie side by side.
    first, second = np.triu_indices(n_features, 1)
    upper, lower = S[first, second], S.T[first, second]
    _require_similarities(first, second, upper, lower)
    kept = upper > 0
    return Edges(first[kept], second[kept], upper[kept])


def _numbers(S: Any) -> Array:
    """Return a dense array of float64."""
    values = np.asarray(S)
    if values.dtype.kind not in "biufO":
        msg = f"similarity holds {values.dtype}; expected real numbers"
        raise ValueError(msg)
    try:
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        msg = "similarity holds something other than numbers; expected real numbers of at least 0"
        raise ValueError(msg) from None


def _of_sparse(S: Any) -> Edges:
    """Return the edges of a sparse similarity; both halves may store different zeros."""
    coo = sparse.coo_array(S, dtype=np.float64, copy=True)
    coo.sum_duplicates()
    row, column = coo.coords
    upper = sparse.csr_array(sparse.triu(coo, 1))
    lower = sparse.csr_array(sparse.tril(coo, -1).T)
    # A NaN in one half must not vanish in the comparison: what is stored in either half is looked at in both.
    low, high = np.minimum(row, column), np.maximum(row, column)
    pairs = np.unique(low.astype(np.int64) * S.shape[0] + high)
    first, second = np.divmod(pairs, S.shape[0])
    first, second = first[first != second], second[first != second]
    one, other = (_values(half, first, second) for half in (upper, lower))
    _require_similarities(first, second, one, other)
    kept = one > 0
    return Edges(first[kept], second[kept], one[kept])


def _values(half: sparse.csr_array, first: Labels, second: Labels) -> Array:
    """Return the entries of a sparse half at the pairs."""
    if not len(first):
        return np.empty(0)
    return np.asarray(half[first, second], dtype=np.float64).ravel()


def _require_similarities(first: Labels, second: Labels, upper: Array, lower: Array) -> None:
    """Refuse pairs that are not finite, not symmetric or negative, naming the first one."""
    both = np.isfinite(upper) & np.isfinite(lower)
    if not both.all():
        at = _shown(~both, first, second)
        msg = f"similarity is not finite at {at}; a similarity of 0 says that two covariates have nothing in common"
        raise ValueError(msg)
    slack = ROUNDING * float(np.abs(upper).max(initial=0))
    uneven = np.abs(upper - lower) > slack
    if uneven.any():
        where = int(np.argmax(uneven))
        msg = (
            f"similarity is not symmetric at {_shown(uneven, first, second)}: {upper[where]:g} and {lower[where]:g}. "
            "Pass (S + S.T) / 2, or S + S.T if S holds each pair once"
        )
        raise ValueError(msg)
    require_range(
        upper, 1e100, "sums of more cannot be solved for. Divide by the largest", name="similarity"
    )
    negative = upper < 0
    if negative.any():
        msg = (
            f"similarity is negative for {negative.sum()} pairs, first at {_shown(negative, first, second)}: "
            f"{upper[negative][0]:g}. Set what is negative to 0"
        )
        raise ValueError(msg)


def _shown(wrong: npt.NDArray[np.bool_], first: Labels, second: Labels) -> str:
    """Name the first pair that is wrong."""
    where = int(np.argmax(wrong))
    return f"({first[where]}, {second[where]})"
