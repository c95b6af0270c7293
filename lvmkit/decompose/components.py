"""What a decomposition returns, and how a rotation of the whitened slices becomes it."""

from typing import NamedTuple

import numpy as np

from lvmkit._typing import Array
from lvmkit.linalg import mixing_weights


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
