"""Error bounds of moments estimated from documents."""

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, listed, require_number


def sample_accuracy(
    lengths: npt.ArrayLike, *, order: int = 2, delta: float = 0.05, norm: float = 0.0
) -> float:
    """Bound the error of a single-topic model's moments, estimated from documents of given lengths.

    Parameters
    ----------
    lengths : array (n,)
        Number of words of each document; ``np.full(n, t)`` for n documents of t words.
    order : {2, 3}, default=2
        Which moment.
    delta : float, default=0.05
        Probability that the error is larger.
    norm : float, default=0.0
        Frobenius norm of the true moment, at most 1; 0, the worst case, where it is not known.

    Returns
    -------
    float
        ε such that ‖M_r − M̃_r‖_F < ε with probability above 1 − delta.

    Raises
    ------
    ValueError
        If lengths are negative or broken, no document has `order` words, or an option is out of range.

    Notes
    -----
    ε = √(W_r (1 − ‖M_r‖²)) + √(2 W_r log(1/δ)), W_r = Σ T_r(i)² / (Σ T_r(i))², where T_2(i) = t_i (t_i − 1) and
    T_3(i) = t_i (t_i − 1)(t_i − 2) (Ruffini thesis, Theorem 3.2.2), for the estimators of Theorem 3.2.1, which
    `lvmkit.moments.POOLED` gives. A document shorter than `order` adds nothing. With equal lengths W_r = 1/n,
    whatever the length.

    Examples
    --------
    >>> import numpy as np
    >>> [round(sample_accuracy(np.full(n, 80)), 3) for n in (100, 10_000)]
    [0.345, 0.034]
    """
    require_number(delta, "delta", least=0, above=True)
    require_number(norm, "norm", least=0)
    require_number(order, "order", least=2, whole=True)
    if order > 3 or delta >= 1 or norm > 1:
        msg = (
            "order is 2 or 3, delta below 1 and norm at most 1; "
            f"found {order!r}, {delta!r} and {norm!r}"
        )
        raise ValueError(msg)
    tuples = _tuples(lengths, order)
    concentration = float((tuples**2).sum() / tuples.sum() ** 2)
    mean = np.sqrt(concentration * (1 - norm**2))
    return float(mean + np.sqrt(2 * concentration * np.log(1 / delta)))


def _tuples(lengths: npt.ArrayLike, order: int) -> Array:
    """Return how many ordered pairs or triples of words each document has, relative to the most."""
    words: Array = as_numbers(lengths, "lengths")
    wrong = words[~((words >= 0) & (words == np.floor(words)) & np.isfinite(words))]
    if words.ndim != 1 or wrong.size:
        found = listed(wrong) if wrong.size else f"shape {words.shape}"
        msg = f"lengths are whole numbers of words, one for each document; found {found}"
        raise ValueError(msg)
    if words.max(initial=0) < order:
        msg = (
            f"lengths must suffice: moments of order {order} need a document of {order} words; the longest of "
            f"{len(words)} has {words.max(initial=0):g}"
        )
        raise ValueError(msg)
    steps = words[:, None] - np.arange(order)
    tuples: Array = np.maximum(steps, 0).prod(axis=1)
    return tuples / tuples.max()
