"""SIDIWO: the rotation that fits best when there are more states than are asked for."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import joint_rotation
from lvmkit.core.typing import Array, RandomState
from lvmkit.decompose.completion import second_order_components
from lvmkit.decompose.components import AnyMoments, Components, seen
from lvmkit.decompose.svtd import separating_rotation

_ANGLES = np.linspace(-np.pi / 4, np.pi / 4, 33)
"""Angles tried for a pair of columns; rotations further apart only swap them, or change signs."""


@checked()
def sidiwo(
    moments: AnyMoments, n_components: int | None = None, *, random_state: RandomState = 0
) -> Components:
    """Decompose into pseudo-centers, each the representative of a group of states.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int, optional
        Number of pseudo-centers l, at most k; all k if not given. Fewer than there are states is what the method
        is for: every pseudo-center is nearly orthogonal to the states that the others stand for.
    random_state : int, Generator or None
        Not used: the method is deterministic. Accepted so that all decompositions are called alike.

    Returns
    -------
    Components
        Pseudo-centers (l, d) and weights (l,); the states themselves if there are l of them and the moments
        are exact.

    Raises
    ------
    ValueError
        If more components are asked for than the moments have directions.

    Notes
    -----
    Ruffini thesis, Algorithm 3 and problem 5.7: least Σ_{i≠j} (Σ_r (OᵀH_rO)²_ij)^(1/2) over rotations O. For two
    components it is reached in closed form instead of by a grid (Theorem 5.3.3): with h = (H_r)₁₂ and
    f = (H_r)₁₁ − (H_r)₂₂, the squared cost is C + A cos 4t + B sin 4t, A = ½Σ(h² − f²/4), B = ½Σhf. For more, Jacobi
    rotations minimize the sum of squares, and from there, pair by pair, the sum of norms. The weights are the
    squares of the solution of M̂Ω̂^(1/2) = D⁺, M̂ω̂ = M₁.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.moments import population
    >>> found = sidiwo(population(np.eye(3), [0.2, 0.3, 0.5]), 2)
    >>> found.centers.shape, found.weights.round(3)
    ((2, 3), array([0.625, 0.375]))
    """
    del random_state
    whitened = seen(moments, n_components)
    slices = whitened.core if whitened.slices is None else whitened.slices
    rotation = sidiwo_rotation(slices, whitened.core)
    return second_order_components(whitened.whitener, whitened.image, rotation, whitened.m1)


def sidiwo_rotation(slices: Array, core: Array) -> Array:
    """Return the rotation that minimizes the sum of the norms off the diagonal, (l, l)."""
    k = slices.shape[1]
    if k <= 2:
        return joint_rotation(slices)
    start = separating_rotation(core)
    rotation = start @ joint_rotation(start.T @ slices @ start)
    return _least_norms(slices, rotation)


def _least_norms(
    slices: Array, rotation: Array, *, tol: float = 1e-9, max_iter: int = 100
) -> Array:
    """Turn pairs of columns until no turn lowers the sum of norms."""
    k = rotation.shape[1]
    work = np.ascontiguousarray((rotation.T @ slices @ rotation).transpose(1, 2, 0))
    for _ in range(max_iter):
        largest = 0.0
        for p in range(k - 1):
            for q in range(p + 1, k):
                angle = _best_angle(work, p, q)
                step = np.eye(k)
                step[p, p] = step[q, q] = np.cos(angle)
                step[p, q], step[q, p] = np.sin(angle), -np.sin(angle)
                work = np.einsum("ai,abr,bj->ijr", step, work, step, optimize=True)
                rotation = rotation @ step
                largest = max(largest, abs(angle))
        if largest < tol:
            break
    return rotation


def _best_angle(work: Array, p: int, q: int) -> float:
    """Return the angle that lowers the cost most: the best of a grid, then refined around it."""
    grams = _grams(work, p, q)
    grid, width = _ANGLES, _ANGLES[1] - _ANGLES[0]
    costs = _costs(grams, grid)
    here = _costs(grams, np.zeros(1))[0]
    center = float(grid[np.argmin(costs)]) if costs.min() < here * (1 - 1e-14) else 0.0
    for _ in range(7):  # each time eight times finer: from 0.05 to rounding
        grid = center + np.linspace(-width, width, 17)
        center, width = float(grid[np.argmin(_costs(grams, grid))]), width / 8
    return center if _costs(grams, np.array([center]))[0] < here else 0.0


def _grams(work: Array, p: int, q: int) -> tuple[Array, Array]:
    """Return all the cost depends on: products of the slices of the pair, and of it with every other column."""
    others = np.delete(np.arange(len(work)), [p, q])
    pair = np.stack([work[p, q], work[p, p] - work[q, q]])
    both = np.stack([work[p, others], work[q, others]])
    return pair @ pair.T, np.einsum("amr,bmr->abm", both, both)


def _costs(grams: tuple[Array, Array], angles: Array) -> Array:
    """Return the cost at every angle, without the pairs that a turn of these two leaves as they are."""
    pair, others = grams
    c, s = np.cos(angles), np.sin(angles)
    c2, s2 = np.cos(2 * angles), np.sin(2 * angles)
    own = pair[0, 0] * c2**2 + pair[0, 1] * c2 * s2 + pair[1, 1] * s2**2 / 4
    aa, ab, bb = (others[i, j][:, None] for i, j in ((0, 0), (0, 1), (1, 1)))
    first = aa * c**2 - 2 * ab * c * s + bb * s**2
    second = aa * s**2 + 2 * ab * c * s + bb * c**2
    norms = [np.sqrt(np.maximum(part, 0.0)) for part in (own, first, second)]
    return np.asarray(norms[0] + norms[1].sum(axis=0) + norms[2].sum(axis=0))
