"""Relevance and lift of features in a component."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, listed, require_number


@checked()
def relevance(centers: Array, weights: Array, *, balance: float = 0.6) -> Array:
    """Rank features by relevance to each state.

    Parameters
    ----------
    centers : array (k, d)
        Probability of each feature in each state, in [0, 1].
    weights : array (k,)
        Probability of each state; sums to 1.
    balance : float, default=0.6
        1 ranks by probability, 0 by lift (ratio to the overall probability).

    Returns
    -------
    array (k, d)
        Relevance, in nats; larger is more relevant. -inf where the probability is 0.

    Raises
    ------
    ValueError
        If `centers` are no probabilities, `weights` do not sum to 1, or `balance` is outside [0,
        1].

    Notes
    -----
    r_ji = balance · log μ_ji + (1 − balance) · log(μ_ji / Σ_h ω_h μ_hi)   (Sievert 2014,
    eq. 1; Ruffini 2017, section 5.2)

    Examples
    --------
    >>> import numpy as np
    >>> relevance(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), balance=1.0).round(2)
    array([[-0.11, -2.3 ],
           [-2.3 , -0.11]])
    """
    require_balance(balance)
    centers, weights = _probabilities(centers, weights)
    return relevance_to(centers, weights @ centers, balance=balance)


def require_balance(balance: float) -> None:
    """Refuse a balance that weighs neither probability nor lift."""
    require_number(balance, "balance", least=-np.inf)
    if not 0 <= balance <= 1:
        msg = (
            f"balance weighs probability (1) against lift (0) and lies in [0, 1]; found {balance!r}"
        )
        raise ValueError(msg)


def lift(centers: Array, weights: Array) -> Array:
    """Return the ratio of each state's probability of a feature to the overall one.

    Parameters
    ----------
    centers : array (k, d)
        Probability of each feature in each state, in [0, 1].
    weights : array (k,)
        Probability of each state; sums to 1.

    Returns
    -------
    array (k, d)
        Ratio; 1 where a state is like the whole, 0 where the probability is 0.

    Raises
    ------
    ValueError
        If `centers` are no probabilities or `weights` do not sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> lift(np.array([[0.9, 0.1], [0.1, 0.1]]), np.array([0.5, 0.5]))
    array([[1.8, 1. ],
           [0.2, 1. ]])
    """
    centers, weights = _probabilities(centers, weights)
    return lift_over(centers, weights @ centers)


def lift_over(shares: Array, overall: Array) -> Array:
    """Divide shares by the overall ones; 0 where the share is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shares / overall
    return np.where(shares == 0, 0.0, ratio)


def relevance_to(shares: Array, overall: Array, *, balance: float) -> Array:
    """Relevance of checked shares; the logarithm of 0 is -inf whatever the balance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log(shares) - (1 - balance) * np.log(overall)
    return np.where(shares == 0, -np.inf, score)


def known_relevance(shares: Array, overall: Array, *, balance: float) -> Array:
    """Relevance of shares of which some are hidden (NaN), -inf there and wherever it is not finite."""
    score = relevance_to(shares, overall, balance=balance)
    return np.where(np.isfinite(score), score, -np.inf)


def _probabilities(centers: Array, weights: Array) -> tuple[Array, Array]:
    """Check that these are the probabilities of a mixture."""
    centers, weights = as_numbers(centers, "centers"), as_numbers(weights, "weights")
    if centers.ndim != 2 or weights.shape != centers.shape[:1]:
        msg = (
            "centers (k, d) and weights (k,) must agree; "
            f"found shapes {centers.shape} and {weights.shape}. "
            "Pass model.centers_ and model.weights_."
        )
        raise ValueError(msg)
    outside = centers[~((centers >= 0) & (centers <= 1))]
    if outside.size:
        msg = f"centers are probabilities in [0, 1]; found {listed(outside.tolist())}"
        raise ValueError(msg)
    if not (np.all(weights >= 0) and np.isclose(weights.sum(), 1, rtol=0, atol=1e-6)):
        found = f"{listed(weights.tolist())} with sum {weights.sum():.6g}"
        msg = f"weights are probabilities that sum to 1; found {found}"
        raise ValueError(msg)
    return centers, weights
