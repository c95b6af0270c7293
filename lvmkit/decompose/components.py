"""What a decomposition returns, and how it is read off once the directions of the states are known."""

from typing import Any, NamedTuple

import numpy as np

from lvmkit._checks import require_number
from lvmkit._typing import Array
from lvmkit.linalg import mixing_weights
from lvmkit.moments import WhitenedMoments
from lvmkit.whitened import Whitened

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
    """Return what a decomposition into so many states sees of the moments.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int or None
        How many states; None for k.

    Returns
    -------
    Whitened
        Cut to the leading directions.

    Raises
    ------
    ValueError
        If more states are asked for than the moments have directions.
    """
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
    """Read centers off the diagonals of OᵀH_rO and weights off the mean.

    Parameters
    ----------
    slices : array (d, k, k)
        Whitened slices H_r.
    rotation : array (k, k)
        O, orthogonal.
    mean : array (d,)
        First moment.

    Returns
    -------
    Components
        Centers as they come, not yet projected onto any valid set.

    Notes
    -----
    Ruffini et al. 2017, Algorithm 2, lines 12-15; weights by non-negative least squares.
    """
    centers = np.einsum("ki,rkl,li->ir", rotation, slices, rotation, optimize=True)
    return Components(centers, mixing_weights(centers, mean))


def projected_components(moments: Whitened, directions: Array) -> Components:
    """Read centers off the core along given directions, and weights off the mean.

    Parameters
    ----------
    moments : Whitened
        Moments.
    directions : array (k, k)
        Unit vectors v_j in columns, near the whitened centers.

    Returns
    -------
    Components
        Centers E·T(·, v_j, v_j), not yet projected onto any valid set.

    Notes
    -----
    What the slices show along v_j, projected on the space that the second moment spans. The projection
    removes the part of the noise that lies outside: on the Poisson data of Ruffini's thesis, section 2.3,
    a seventh to a fifth of the error of the centers that are read off the slices alone.
    """
    along = applied(moments.core, directions)
    return Components((moments.image @ along).T, reduced_weights(moments, along))


def reduced_weights(moments: Whitened, along: Array) -> Array:
    """Return the weights with which the centers give the mean, as the whitener sees both.

    Parameters
    ----------
    moments : Whitened
        Moments.
    along : array (k, k)
        The centers' coordinates in the columns of E: μ_j = E a_j, hence Wᵀμ_j = a_j.

    Returns
    -------
    array (k,)
        Non-negative, sum 1: a system of k equations instead of d.
    """
    return mixing_weights(along.T, moments.whitener.T @ moments.m1)


def applied(tensor: Array, vectors: Array) -> Array:
    """Return T(·, v, v) for every column v.

    Parameters
    ----------
    tensor : array (k, k, k)
        T.
    vectors : array (k, m)
        Vectors in columns.

    Returns
    -------
    array (k, m)
        Images in columns.
    """
    k, m = vectors.shape
    once = (tensor.reshape(k * k, k) @ vectors).reshape(k, k, m)
    image: Array = (once * vectors).sum(axis=1)
    return image
