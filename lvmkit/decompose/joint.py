"""Joint diagonalization: all slices decide the rotation, not one."""

from lvmkit._typing import RandomState
from lvmkit.decompose.components import Components, rotated_components
from lvmkit.decompose.svtd import separating_rotation
from lvmkit.linalg import joint_rotation
from lvmkit.moments import WhitenedMoments


def joint_diagonalization(
    moments: WhitenedMoments, *, random_state: RandomState = None
) -> Components:
    """Decompose by the rotation that makes all slices as diagonal as possible together.

    Parameters
    ----------
    moments : WhitenedMoments
        Slices H (d, k, k) and first moment.
    random_state : int, Generator or None
        Not used: the method is deterministic. Accepted so that all decompositions are called alike.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments, and less noisy than `svtd` on samples.

    Notes
    -----
    Jacobi rotations from the eigenvectors of the best separated slice (Ruffini thesis, section 5.3).
    For k = 2 the angle is in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.moments import RAW, Moments, WhitenedMoments, whiten
    >>> X = np.array([[1.0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]] * 5)
    >>> W, _ = whiten(Moments.of(X, RAW).m2, 2)
    >>> joint_diagonalization(WhitenedMoments.of(X, W, RAW)).weights.round(2)
    array([0.5, 0.5])
    """
    del random_state
    slices = moments.slices
    start = separating_rotation(slices)
    turned = start.T @ slices @ start
    return rotated_components(slices, start @ joint_rotation(turned), moments.m1)
