"""Decomposition of moments whose entries with coinciding indexes are not known."""

import numpy as np

from lvmkit._typing import Array, RandomState
from lvmkit.decompose.components import Components
from lvmkit.decompose.svtd import separating_rotation
from lvmkit.linalg import joint_rotation
from lvmkit.moments import WhitenedMoments


def completion(
    moments: WhitenedMoments, *, rounds: int = 2, random_state: RandomState = None
) -> Components:
    """Decompose factorial moments of 0/1 data, filling in the coinciding indexes from the estimate.

    The moments of 0/1 data are unbiased except where indexes coincide. Those entries are left out
    (weighting `POISSON`), all slices are diagonalized jointly, the left-out entries are computed from the
    centers found, put back, and the slices diagonalized again.

    Parameters
    ----------
    moments : WhitenedMoments
        Factorial moments under a whitener of the second moment with imputed diagonal
        (`lvmkit.linalg.impute_diagonal`).
    rounds : int, default=2
        How often the entries are put back.
    random_state : int, Generator or None
        Not used: the method is deterministic. Accepted so that all decompositions are called alike.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,).

    Notes
    -----
    Not in the documents: removes the bias that Theorem 4.3.1 of Ruffini's thesis bounds. The slices, short
    of entries, only decide the rotation; centers and weights come from the first two moments, which are
    unbiased, so that few rounds suffice. The first round must start without the entries: started from the
    raw slices, the rounds diverge.
    """
    del random_state
    slices, mean, whitener = moments.slices, moments.m1, moments.whitener
    rotation = separating_rotation(slices)
    found = slices
    for done in range(rounds + 1):
        tol = 1e-3 if done == rounds else 1e-2  # far below the noise; the next round turns anyway
        rotation = rotation @ joint_rotation(rotation.T @ found @ rotation, tol=tol, max_iter=30)
        estimate = second_order_components(whitener, rotation, mean)
        if done < rounds:
            centers = np.clip(estimate.centers, 0.0, 1.0)
            found = slices + coinciding_slices(centers, estimate.weights, whitener)
    return estimate


def second_order_components(whitener: Array, rotation: Array, mean: Array) -> Components:
    """Read the parameters off the first two moments, given the rotation that the third decides.

    Parameters
    ----------
    whitener : array (d, k)
        W.
    rotation : array (k, k)
        O, orthogonal; its columns have the direction of √ω_j Wᵀμ_j.
    mean : array (d,)
        First moment.

    Returns
    -------
    Components
        √ω = OᵀWᵀm₁ and μ_j = (W⁺)ᵀo_j/√ω_j; a state that the mean does not show gets a small weight.
    """
    roots = rotation.T @ (whitener.T @ mean)
    directions = rotation * np.where(roots < 0, -1.0, 1.0)
    roots = np.maximum(np.abs(roots), 1e-3)
    centers = np.linalg.pinv(whitener).T @ directions / roots
    return Components(centers.T, roots**2 / (roots**2).sum())


def coinciding_slices(centers: Array, weights: Array, whitener: Array) -> Array:
    """Return the part of H that entries (r, h, l) of Σ ω μ⊗μ⊗μ with coinciding indexes contribute.

    Parameters
    ----------
    centers : array (k, d)
        μ.
    weights : array (k,)
        ω.
    whitener : array (d, k)
        W.

    Returns
    -------
    array (d, k, k)
        Slices of the terms h = l, h = r or l = r, each counted once.
    """
    # h = l: one k×k matrix per state; h = r and l = r: an outer product each; r = h = l was counted thrice.
    squares = np.einsum("jh,ha,hb->jab", centers**2, whitener, whitener, optimize=True)
    same_pair = np.einsum("j,jr,jab->rab", weights, centers, squares, optimize=True)
    linear = (centers**2 * weights[:, None]).T @ (centers @ whitener)
    outer = whitener[:, :, None] * linear[:, None, :]
    cubes = weights @ centers**3
    both = whitener[:, :, None] * whitener[:, None, :]
    total: Array = same_pair + outer + outer.transpose(0, 2, 1) - 2 * cubes[:, None, None] * both
    return total
