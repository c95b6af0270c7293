"""SVTD: the slice with the best separated eigenvalues diagonalizes all others."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array, RandomState
from lvmkit.decompose.components import AnyMoments, Components, rotated_components, seen

SLICES_AT_ONCE = 32
"""Slices decomposed in one call while searching for the best separated one."""


@checked()
def svtd(
    moments: AnyMoments, n_components: int | None = None, *, random_state: RandomState = 0
) -> Components:
    """Decompose by singular vectors of one slice (SVTD; on raw moments of 0/1 data, ASVTD).

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions, with their slices H (d, k, k).
    n_components : int, optional
        Number of states, at most k; all k if not given.
    random_state : int, Generator or None
        Not used: the method is deterministic. Accepted so that all decompositions are called alike.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); exact on exact moments.

    Raises
    ------
    ValueError
        If the moments hold only their core: SVTD searches the slices of all features.

    Notes
    -----
    Ruffini thesis, Algorithm 2; Ruffini 2017, Algorithm 2. Signed eigenvalues replace singular
    values, which would lose the sign of negative ones; on raw moments both are the same.

    Examples
    --------
    >>> from lvmkit.moments import RAW, Moments, WhitenedMoments, whiten
    >>> X = np.array([[1.0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]] * 5)
    >>> W, _ = whiten(Moments.of(X, RAW).m2, 2)
    >>> svtd(WhitenedMoments.of(X, W, RAW)).weights.round(2)
    array([0.5, 0.5])
    """
    del random_state
    whitened = seen(moments, n_components)
    if whitened.slices is None:
        msg = (
            "svtd searches the slices of all features, and these moments hold only their core; "
            "sum the slices too (WhitenedMoments), or choose another decomposition"
        )
        raise ValueError(msg)
    rotation = separating_rotation(whitened.slices)
    return rotated_components(whitened.slices, rotation, whitened.m1)


def separating_rotation(slices: Array) -> Array:
    """Return the eigenvectors of the slice whose eigenvalues lie farthest apart, (k, k). slices (d, k, k)."""
    k = slices.shape[1]
    if k == 1:
        return np.eye(1)
    # Among k numbers with a given variance the smallest gap is largest when they are equally spaced, so that
    # gap² <= 12 (k‖H‖² − tr²) / (k²(k²−1)): slices that cannot win are never decomposed.
    spread = k * (slices**2).sum(axis=(1, 2)) - np.trace(slices, axis1=1, axis2=2) ** 2
    bounds = np.sqrt(np.maximum(spread, 0.0) * 12 / (k**2 * (k**2 - 1)))
    order, best, widest = np.argsort(-bounds, kind="stable"), 0, -1.0
    for start in range(0, len(order), SLICES_AT_ONCE):
        some = order[start : start + SLICES_AT_ONCE]
        if bounds[some[0]] <= widest:
            break
        gaps = np.diff(np.linalg.eigvalsh(slices[some]), axis=1).min(axis=1)
        if gaps.max() > widest:
            best, widest = int(some[gaps.argmax()]), float(gaps.max())
    rotation: Array = np.linalg.eigh(slices[best])[1]
    return rotation
