"""Decomposition of moments of 0/1 data, completing the entries with coinciding indexes."""

from collections.abc import Callable

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import joint_rotation, nearest_rotation
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import require_number
from lvmkit.decompose.components import Components, require_moments
from lvmkit.decompose.svtd import separating_rotation
from lvmkit.moments import WhitenedMoments
from lvmkit.moments.whitened import Whitened


@checked()
def completion(
    moments: WhitenedMoments | Whitened,
    *,
    rounds: int = 2,
    decompose: Callable[..., Components] | None = None,
    random_state: RandomState = None,
) -> Components:
    """Decompose factorial moments of 0/1 data, filling in the coinciding indexes from the estimate.

    The moments of 0/1 data are unbiased except where indexes coincide. Those entries are left out
    (weighting `POISSON`), all slices are diagonalized jointly, the left-out entries are computed from the
    centers found, put back, and the slices diagonalized again.

    Parameters
    ----------
    moments : WhitenedMoments or Whitened
        With slices: factorial moments under a whitener of the second moment with imputed diagonal
        (`lvmkit.core.linalg.impute_diagonal`).
    rounds : int, default=2
        How often the entries are put back.
    decompose : callable, optional
        Decomposition that decides the rotation, called as all of `lvmkit.decompose` are. If not given, all
        slices are diagonalized jointly, from where the round before ended.
    random_state : int, Generator or None
        Passed to `decompose`; joint diagonalization is deterministic.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,).

    Raises
    ------
    ValueError
        If the moments hold no slices.

    Notes
    -----
    Our own: removes the bias that Theorem 4.3.1 of the Ruffini thesis bounds. The slices, short
    of entries, only decide the rotation; centers and weights come from the first two moments, which are
    unbiased, so that few rounds suffice. The first round must start without the entries: started from the
    raw slices, the rounds diverge.
    """
    require_moments(moments)
    require_number(rounds, "rounds", least=0, whole=True)
    slices, mean, whitener = moments.slices, moments.m1, moments.whitener
    if slices is None:
        msg = "completion needs the slices of all features; these moments hold the core only"
        raise ValueError(msg)
    image = moments.image if isinstance(moments, Whitened) else np.linalg.pinv(whitener).T
    rotation = separating_rotation(slices)
    found = slices
    for done in range(rounds + 1):
        if decompose is None:
            # Far below the noise; the next round turns anyway.
            tol = 1e-3 if done == rounds else 1e-2
            rotation = rotation @ joint_rotation(
                rotation.T @ found @ rotation, tol=tol, max_iter=30
            )
        else:
            seen = Whitened.from_slices(mean, whitener, image, found)
            centers = decompose(seen, random_state=random_state).centers
            rotation = nearest_rotation(whitener.T @ centers.T)
        estimate = second_order_components(whitener, image, rotation, mean)
        if done < rounds:
            centers = np.clip(estimate.centers, 0.0, 1.0)
            found = slices + coinciding_slices(centers, estimate.weights, whitener)
    return estimate


def second_order_components(
    whitener: Array, image: Array, rotation: Array, mean: Array
) -> Components:
    """Read the parameters off the first two moments, given the rotation that the third decides."""
    roots = rotation.T @ (whitener.T @ mean)
    directions = rotation * np.where(roots < 0, -1.0, 1.0)
    roots = np.maximum(np.abs(roots), 1e-3)
    centers = image @ directions / roots
    return Components(centers.T, roots**2 / (roots**2).sum())


def coinciding_slices(centers: Array, weights: Array, whitener: Array) -> Array:
    """Return the part of H that entries (r, h, l) of Σ ω μ⊗μ⊗μ with coinciding indexes contribute, (d, k, k)."""
    # h = l: one k×k matrix per state; h = r and l = r: an outer product each; r = h = l was counted thrice.
    squares = np.einsum("jh,ha,hb->jab", centers**2, whitener, whitener, optimize=True)
    same_pair = np.einsum("j,jr,jab->rab", weights, centers, squares, optimize=True)
    linear = (centers**2 * weights[:, None]).T @ (centers @ whitener)
    outer = whitener[:, :, None] * linear[:, None, :]
    cubes = weights @ centers**3
    both = whitener[:, :, None] * whitener[:, None, :]
    total: Array = same_pair + outer + outer.transpose(0, 2, 1) - 2 * cubes[:, None, None] * both
    return total
