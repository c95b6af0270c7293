"""Fit of a factorization to counts: one minus the relative error in the Frobenius norm."""

from collections.abc import Sequence
from typing import Any

from lvmkit.core.arguments import checked
from lvmkit.core.validation import as_numbers, finite_array, refuse_entries, require_range
from lvmkit.sustain import validation
from lvmkit.sustain.coordinate_descent import fit_to


@checked()
def fit(X: Any, factors: Sequence[Any], weights: Any) -> float:
    """Return the fit of a factorization, integer or real, without forming what it approximates X by.

    Parameters
    ----------
    X : array, sparse matrix (n, d); array or coo_array (I_1, ..., I_d); CountTensor
        Counts.
    factors : sequence of array (I_n, R)
        One per mode, in their order.
    weights : array (R,)
        Lambda.

    Returns
    -------
    float
        1 - |X - X_hat| / |X| in the Frobenius norm: 1 if X is met exactly, 0 if nothing is explained, below 0 if the
        approximation is worse than none.

    Raises
    ------
    ValueError
        If shapes disagree, or X is all 0.

    Notes
    -----
    Perros 2018, section 4.1.3.

    Examples
    --------
    >>> fit([[2, 0], [0, 3]], [[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [2, 3])
    1.0
    """
    tensor = validation.split_names(X)
    counts = tensor.counts if tensor else validation.matrix_of(X)
    validation.require_finite(counts)
    out = "squares of others leave the range of double precision"
    require_range(counts, 1e100, out, least=1e-100)
    data = validation.unfold(counts)
    parts = [as_numbers(factor, "each of factors").T for factor in factors]
    for part in parts:
        refuse_entries(part.T, "each of factors")
    lambdas = finite_array(weights, "weights", (None,))
    wanted = [(len(lambdas), size) for size in data.shape]
    if [part.shape for part in parts] != wanted:
        found, needed = (
            [shape[::-1] for shape in shapes] for shapes in ([p.shape for p in parts], wanted)
        )
        msg = f"factors have shapes {found}; with {len(lambdas)} weights and X of shape {data.shape} they need {needed}"
        raise ValueError(msg)
    return fit_to(data, parts, lambdas)
