"""Alternating least squares: the CP decomposition of the whitened tensor."""

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import require_number
from lvmkit.decompose.components import AnyMoments, Components, reduced_weights, seen

ORTHOGONAL_ROUNDS = 20
"""First rounds, in which the factors are kept orthogonal."""


@checked()
def als(
    moments: AnyMoments,
    n_components: int | None = None,
    *,
    n_restarts: int = 3,
    max_iter: int = 250,
    tol: float = 1e-12,
    random_state: RandomState = 0,
) -> Components:
    """Decompose by alternating least squares from random starts.

    Parameters
    ----------
    moments : Whitened or WhitenedMoments
        Moments of k directions.
    n_components : int, optional
        Number of states, at most k; all k if not given.
    n_restarts : int, default=3
        Random starts, of which the one that fits best is kept.
    max_iter : int, default=250
        At most so many rounds over the three factors.
    tol : float, default=1e-12
        Stop when the squared error falls by less, relative to the squared norm of the tensor.
    random_state : int, Generator or None, default=0
        Seed of the starts.

    Returns
    -------
    Components
        Centers (k, d) and weights (k,); on exact moments exact to about the square root of `tol`.

    Notes
    -----
    Kolda 2009, Figure 3.3; Ruffini thesis, section 1.2.1. As there, the factors are not held equal; their signed
    mean is returned. Both decompose the d×d×d tensor, of which the whitened one holds all that the model can show.
    The first rounds keep the factors orthogonal (Sharan 2017): from random factors alone, two of them usually end
    at the same state, even on exact moments.

    Examples
    --------
    >>> from lvmkit.moments import population
    >>> als(population(np.eye(2), [0.25, 0.75])).weights.round(4)
    array([0.25, 0.75])
    """
    require_number(n_restarts, "n_restarts", least=1, whole=True)
    require_number(max_iter, "max_iter", least=1, whole=True)
    require_number(tol, "tol", least=0)
    whitened = seen(moments, n_components)
    generator = generator_of(random_state)
    ends = [
        _fitted(whitened.core, _separated(whitened.core, generator), max_iter, tol)
        for _ in range(n_restarts)
    ]
    along = min(ends, key=lambda end: end[1])[0]
    along = along[:, np.argsort(np.linalg.norm(along, axis=0), kind="stable")[::-1]]
    return Components((whitened.image @ along).T, reduced_weights(whitened, along))


def _separated(tensor: Array, generator: np.random.Generator) -> list[Array]:
    """Return three factors after rounds in which each was made orthogonal, from a random rotation."""
    k = len(tensor)
    unfolded = tensor.reshape(k, k * k)
    factors = [np.linalg.qr(generator.normal(size=(k, k)))[0]] * 3
    for step in range(3 * ORTHOGONAL_ROUNDS):
        others = _pairs(factors[step % 3 - 2], factors[step % 3 - 1])
        factors[step % 3] = np.linalg.qr(unfolded @ others)[0]
    return factors


def _fitted(tensor: Array, factors: list[Array], max_iter: int, tol: float) -> tuple[Array, float]:
    """Return λ_j·a_j from one start, and the squared error."""
    k = len(tensor)
    unfolded, total = tensor.reshape(k, k * k), float((tensor**2).sum())
    A, B, C = factors
    error = np.inf
    scale: Array = np.ones(k)
    for _ in range(max_iter):
        A, _ = _solved(unfolded, B, C)
        B, _ = _solved(unfolded, A, C)
        C, scale = _solved(unfolded, A, B)
        gram = (A.T @ A) * (B.T @ B) * (C.T @ C)
        inner = scale @ (C * (unfolded @ _pairs(A, B))).sum(axis=0)
        previous, error = error, total - 2 * inner + scale @ gram @ scale
        if previous - error <= tol * total:
            break
    signs_b, signs_c = np.sign((A * B).sum(axis=0)), np.sign((A * C).sum(axis=0))
    mean = (A + B * signs_b + C * signs_c) / 3
    # λ a⊗b⊗c with a, b, c = ±v is ±λ v⊗v⊗v; an odd power keeps the sign, so that it moves into v.
    return mean * (scale * signs_b * signs_c), float(error)


def _solved(unfolded: Array, P: Array, Q: Array) -> tuple[Array, Array]:
    """Solve for one factor, the others given; return its columns at unit length, and their lengths."""
    gram = (P.T @ P) * (Q.T @ Q)
    solved = unfolded @ _pairs(P, Q) @ np.linalg.pinv(gram, hermitian=True)
    lengths = np.linalg.norm(solved, axis=0)
    return solved / np.where(lengths > 0, lengths, 1.0), lengths


def _pairs(P: Array, Q: Array) -> Array:
    """Return the column-wise Kronecker products."""
    k, m = P.shape
    return (P[:, None, :] * Q[None, :, :]).reshape(k * k, m)
