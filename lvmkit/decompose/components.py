"""The result of a decomposition, and how it follows from the directions of the components."""

from typing import Any, NamedTuple

import numpy as np

from lvmkit.core.linalg import mixing_weights
from lvmkit.core.typing import Array
from lvmkit.core.validation import require_number
from lvmkit.moments import WhitenedMoments
from lvmkit.moments.whitened import Whitened

AnyMoments = Whitened | WhitenedMoments


class Components(NamedTuple):
    """Centers and weights of the latent states.

    Examples
    --------
    >>> Components(np.eye(2), np.array([0.5, 0.5])).clipped
    0.0
    """

    centers: Array
    """(k, d), in the units of the data."""
    weights: Array
    """(k,), non-negative, sum 1."""
    clipped: float = 0.0
    """Mean absolute change per entry made by projecting the centers onto the model's valid set."""


def require_moments(moments: Any) -> None:
    """Refuse what are no whitened moments."""
    if not isinstance(moments, Whitened | WhitenedMoments):
        msg = (
            "a decomposition takes whitened moments (Whitened or WhitenedMoments of lvmkit.moments); found "
            f"{type(moments).__name__}"
        )
        raise TypeError(msg)


def seen(moments: AnyMoments, n_components: int | None) -> Whitened:
    """Return what a decomposition into so many states sees of the moments."""
    require_moments(moments)
    whitened = moments if isinstance(moments, Whitened) else moments.whitened()
    directions = whitened.whitener.shape[1]
    if n_components is None:
        return whitened
    require_number(n_components, "n_components", least=1, whole=True)
    if n_components > directions:
        msg = (
            f"n_components={n_components}, but the moments were whitened with {directions} directions; "
            "whiten them with as many as there are states"
        )
        raise ValueError(msg)
    return whitened.truncated(n_components)


def rotated_components(slices: Array, rotation: Array, mean: Array) -> Components:
    """Read centers off the diagonals of OᵀH_rO, weights off the mean. slices (d, k, k), rotation (k, k), mean (d,)."""
    # Ruffini 2017, Algorithm 2, lines 12-15; weights by non-negative least squares.
    centers = np.einsum("ki,rkl,li->ir", rotation, slices, rotation, optimize=True)
    return Components(centers, mixing_weights(centers, mean))


def projected_components(moments: Whitened, directions: Array) -> Components:
    """Read centers off the core along given directions, and weights off the mean. directions (k, k)."""
    # What the slices show along v_j, projected on the space that the second moment spans. The projection removes the
    # part of the noise that lies outside: on the Poisson data (Ruffini thesis, section 2.3) a seventh to a fifth of
    # the error of the centers that are read off the slices alone.
    along = applied(moments.core, directions)
    return Components((moments.image @ along).T, reduced_weights(moments, along))


def reduced_weights(moments: Whitened, along: Array) -> Array:
    """Return the weights with which the centers give the mean, as the whitener sees both, (k,). along (k, k)."""
    return mixing_weights(along.T, moments.whitener.T @ moments.m1)


def applied(tensor: Array, vectors: Array) -> Array:
    """Return T(·, v, v) for every column v, (k, m). tensor (k, k, k)."""
    k, m = vectors.shape
    once = (tensor.reshape(k * k, k) @ vectors).reshape(k, k, m)
    image: Array = (once * vectors).sum(axis=1)
    return image
