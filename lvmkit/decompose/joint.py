"""Joint diagonalization: all slices decide the rotation, not one."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import joint_rotation
from lvmkit.core.typing import Array, RandomState
from lvmkit.decompose.components import (
    AnyMoments,
    Components,
    applied,
    projected_components,
    seen,
)
from lvmkit.decompose.svtd import separating_rotation

MANY_STATES = 20
"""From so many states on a Jacobi sweep costs more than the power iterations that save half of them."""


@checked()
def joint_diagonalization(
    moments: AnyMoments, n_components: int | None = None, *, random_state: RandomState = 0
) -> Components:
    """Decompose by the rotation that makes all slices as diagonal as possible together.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions; of those that hold no slices, the k slices of the core are diagonalized.
    n_components : int, optional
        Number of states, at most k; all k if not given.
    random_state : int, Generator or None
        Not used: the method is deterministic. Accepted so that all decompositions are called alike.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments, and the least noisy on samples.

    Notes
    -----
    Jacobi rotations (Ruffini thesis, section 5.3) from the eigenvectors of the best separated slice of the
    core; if there are many states, these are first turned by orthogonal power iterations. For k = 2 the angle
    is in closed form. Centers are read as `projected_components` says.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.moments import population
    >>> joint_diagonalization(population(np.eye(3), [0.2, 0.3, 0.5])).weights.round(6)
    array([0.5, 0.3, 0.2])
    """
    del random_state
    whitened = seen(moments, n_components)
    slices = whitened.core if whitened.slices is None else whitened.slices
    start = separating_rotation(whitened.core)
    if len(start) >= MANY_STATES:
        start = _powered(whitened.core, start)
    # Without noise the angles fall to rounding; with it, they need not fall far below the noise.
    turned = start.T @ slices @ start
    rotation = start @ joint_rotation(turned, noise_tol=0.03)
    return projected_components(whitened, rotation)


def _powered(core: Array, rotation: Array) -> Array:
    """Turn all columns by power iterations at once, kept orthogonal: it saves half of the Jacobi sweeps."""
    for _ in range(30):
        left, _, right = np.linalg.svd(applied(core, rotation))
        nearer = left @ right
        if np.abs(nearer - rotation).max() < 1e-4:
            return nearer
        rotation = nearer
    return rotation
