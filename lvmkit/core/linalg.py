"""Eigenvectors with fixed signs, joint diagonalization, non-negative weights, and random generators."""

from collections.abc import Callable
from functools import cache
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import check_random_state

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import check_matrix, finite_array, require_number, require_seed

DENSE_EIGH = 1_500
"""Up to this many features a full symmetric eigensolver beats Lanczos iterations."""

SMALL_EIGH = 150
"""Up to this many features decomposing anew is as cheap as a Rayleigh-Ritz step."""


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest size is positive: same signs on every run, (d, k)."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


@single_threaded_blas()
def top_eigenpairs(matrix: Array | LinearOperator, k: int) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenpairs of a symmetric matrix or operator. matrix (d, d)."""
    d = matrix.shape[0]
    if isinstance(matrix, np.ndarray) and (d <= DENSE_EIGH or k > d // 4):
        values, vectors = linalg.eigh(matrix, subset_by_index=(d - k, d - 1))
    elif k >= d - 1:
        values, vectors = linalg.eigh(matrix @ np.eye(d), subset_by_index=(d - k, d - 1))
    else:
        # A fixed start makes Lanczos deterministic; a constant vector serves any order of the features.
        values, vectors = eigsh(matrix, k, which="LA", v0=np.ones(d))
    order = np.argsort(values)[::-1]
    return values[order], fix_signs(vectors[:, order])


def whitener_of(values: Array, vectors: Array) -> Array:
    """Return W = U S^(-1/2) from eigenpairs; directions without variance get zeros.

    Parameters
    ----------
    values : array (k,)
        Eigenvalues, largest first.
    vectors : array (d, k)
        Eigenvectors in columns.

    Returns
    -------
    array (d, k)
        The whitener.
    """
    values = finite_array(values, "values", (None,))
    vectors = finite_array(vectors, "vectors", (None, len(values)), like="values")
    usable = significant(values)
    scale = np.where(usable, values, 1.0) ** -0.5
    return vectors * np.where(usable, scale, 0.0)


def significant(values: Array) -> npt.NDArray[np.bool_]:
    """Tell which eigenvalues are positive beyond rounding.

    Parameters
    ----------
    values : array (k,)
        Eigenvalues, largest first.

    Returns
    -------
    array of bool (k,)
        True where larger than 1e-10 of the largest.
    """
    values = finite_array(values, "values", (None,))
    mask: npt.NDArray[np.bool_] = values > max(float(values.max()), 0.0) * 1e-10
    return mask


def whiten(m2: Array | LinearOperator, k: int) -> tuple[Array, Array]:
    """Whiten with the k leading eigenpairs of the second moment.

    Parameters
    ----------
    m2 : array (d, d) or LinearOperator
        Second moment.
    k : int
        Number of latent states.

    Returns
    -------
    whitener : array (d, k)
        W, WᵀM2W = identity.
    values : array (k,)
        The eigenvalues, largest first.
    """
    if not isinstance(m2, LinearOperator):
        m2 = check_matrix(m2, "m2", dtype=np.float64)
        if m2.shape[0] != m2.shape[1]:
            msg = f"m2 must be a second moment, features by features; found shape {m2.shape}"
            raise ValueError(msg)
    require_number(k, "k", least=1, whole=True)
    if k > m2.shape[0]:
        msg = f"k={k} latent states need as many features; m2 has {m2.shape[0]}"
        raise ValueError(msg)
    values, vectors = top_eigenpairs(m2, k)
    return whitener_of(values, vectors), values


class Imputed(NamedTuple):
    """A symmetric matrix of rank k recovered from its off-diagonal entries."""

    values: Array
    """Eigenvalues (k,), largest first."""
    vectors: Array
    """Eigenvectors (d, k), with fixed signs."""
    diagonal: Array
    """The diagonal (d,) that fits the rank-k matrix."""


def impute_diagonal(
    off_diagonal: Array | LinearOperator, k: int, *, tol: float = 1e-6, max_iter: int = 200
) -> Imputed:
    """Recover the top eigenpairs of a rank-k matrix of which the diagonal is not known. off_diagonal (d, d)."""
    # Starts from a zero diagonal and replaces it by the diagonal of the best rank-k approximation. Small matrices are
    # decomposed anew every round; for large ones and operators a round costs one product with k vectors.
    # Zhang 2022, Algorithm 1 (HeteroPCA). The eigenvalues must be the
    # algebraically largest: with a zero diagonal, as much of the spectrum is negative as is positive.
    d = off_diagonal.shape[0]
    small = d <= max(SMALL_EIGH, 2 * k)
    if small and not isinstance(off_diagonal, np.ndarray):
        off_diagonal = off_diagonal @ np.eye(d)
    diagonal = np.zeros(d)
    values, vectors = top_eigenpairs(off_diagonal, k)
    image = off_diagonal @ vectors
    for _ in range(max_iter):
        updated = ((vectors * values) * vectors).sum(axis=1)
        change = float(np.linalg.norm(updated - diagonal))
        diagonal = updated
        if change <= tol * np.linalg.norm(diagonal):
            break
        if small:
            values, vectors = top_eigenpairs(off_diagonal + np.diag(diagonal), k)
        else:
            values, vectors, image = _improved(off_diagonal, diagonal, vectors, image)
    order = np.argsort(values)[::-1]
    return Imputed(values[order], fix_signs(vectors[:, order]), diagonal)


def _improved(
    off_diagonal: Array | LinearOperator, diagonal: Array, vectors: Array, image: Array
) -> tuple[Array, Array, Array]:
    """Find the top eigenpairs within the span of the vectors and of their residuals (Rayleigh-Ritz)."""
    k = vectors.shape[1]
    residual = image + diagonal[:, None] * vectors
    for _ in range(2):  # twice, since what is left after the first projection is small
        residual = residual - vectors @ (vectors.T @ residual)
        residual = np.linalg.qr(residual).Q
    basis = np.hstack([vectors, residual])
    images = np.hstack([image, off_diagonal @ residual])
    values, mix = np.linalg.eigh(basis.T @ (images + diagonal[:, None] * basis))
    return values[-k:], basis @ mix[:, -k:], images @ mix[:, -k:]


def joint_rotation(
    slices: Array, *, tol: float = 1e-8, max_iter: int = 100, noise_tol: float = 0.0
) -> Array:
    """Find the rotation (k, k) that makes symmetric slices (d, k, k) as diagonal as possible together."""
    # Minimizes the sum of the squares of all off-diagonal entries of OᵀH_rO by Jacobi rotations. The disjoint pairs of
    # a round are rotated at once, which is the same as one after the other.
    # For k = 2 the angle is exact: with h the off-diagonal entries and f the differences of the diagonal ones, the cost
    # is C + A cos 4t + B sin 4t, A = ½Σ(h² − f²/4), B = ½Σhf, least at t = (atan2(B, A) + π)/4. Cardoso 1996;
    # Ruffini thesis, section 5.3.
    k = slices.shape[1]
    rotation = np.eye(k)
    if k == 1:
        return rotation
    work = _compressed(slices)
    for _ in range(max_iter):
        largest = 0.0
        for p, q in _rounds(k):
            angles = _best_angles(work, p, q)
            largest = max(largest, float(np.abs(angles).max()))
            step, sines = np.eye(k), np.sin(angles)
            step[p, p] = step[q, q] = np.cos(angles)
            step[p, q], step[q, p] = sines, -sines
            work = _rotated(work, step)
            rotation = rotation @ step
        if largest < max(tol, noise_tol * _left_over(work) if noise_tol else 0.0):
            break
    return rotation


def _left_over(work: Array) -> float:
    """Return the norm off the diagonals relative to that on them."""
    on = float((np.einsum("iim->im", work) ** 2).sum())
    return float(np.sqrt(max(float((work**2).sum()) - on, 0.0) / on)) if on else 0.0


def _compressed(slices: Array) -> Array:
    """Replace d slices by at most k(k+1)/2 with the same Gram matrix, hence the same cost; (k, k, m)."""
    d, k, _ = slices.shape
    rows, columns = np.triu_indices(k)
    packed = slices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    if d > packed.shape[1]:
        packed = np.asarray(np.linalg.qr(packed, mode="r"))
    packed = packed / np.where(rows == columns, 1.0, np.sqrt(2.0))
    full = np.empty((k, k, len(packed)))
    full[rows, columns] = full[columns, rows] = packed.T
    return full


@cache
def _rounds(k: int) -> list[tuple[Array, Array]]:
    """Schedule all pairs of 0..k-1 as a round-robin tournament: rounds of disjoint pairs."""
    players = list(range(k)) + ([-1] if k % 2 else [])
    half = len(players) // 2
    rounds = []
    for _ in range(len(players) - 1):
        pairs = [
            (min(a, b), max(a, b))
            for a, b in zip(players[:half], players[::-1][:half], strict=True)
            if min(a, b) >= 0
        ]
        rounds.append((np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])))
        players = [players[0], players[-1], *players[1:-1]]
    return rounds


def _best_angles(work: Array, p: Array, q: Array) -> Array:
    """Return for every pair the smallest angle that minimizes its squared off-diagonal entries."""
    h, f = work[p, q], work[p, p] - work[q, q]
    # (atan2(B, A) + π)/4 within a quarter turn; 0 where the cost is flat, as nothing is off the diagonal.
    angles: Array = np.arctan2(0.0 - (h * f).sum(axis=1), (f * f / 4 - h * h).sum(axis=1)) / 4
    return angles


def _rotated(work: Array, step: Array) -> Array:
    """Return stepᵀ · H · step for the slices H stored as (k, k, m)."""
    k = len(work)
    left = (step.T @ work.reshape(k, -1)).reshape(work.shape)
    swapped = np.ascontiguousarray(left.transpose(1, 0, 2))
    both: Array = (step.T @ swapped.reshape(k, -1)).reshape(work.shape)
    return both


def nearest_rotation(directions: Array) -> Array:
    """Return the orthogonal matrix nearest to given directions, (k, k)."""
    lengths = np.linalg.norm(directions, axis=0)
    left, _, right = np.linalg.svd(directions / np.where(lengths > 0, lengths, 1.0))
    return np.asarray(left @ right)


def mixing_weights(centers: Array, mean: Array) -> Array:
    """Solve mean = Σ_j weights_j · centers_j for weights (k,) on the simplex. centers (k, d), mean (d,)."""
    from scipy.optimize import nnls  # imported here: it doubles the time of importing this module

    solve: Callable[..., Any] = nnls
    weights, _ = solve(np.ascontiguousarray(centers.T), mean)
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(centers), 1 / len(centers))


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return a generator from any accepted seed."""
    require_seed(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def known_seed(random_state: RandomState) -> RandomState:
    """Return any accepted seed, of None a number drawn afresh: for what draws from one seed several times."""
    require_seed(random_state)
    return int(np.random.default_rng().integers(2**31)) if random_state is None else random_state


def random_state_of(random_state: RandomState) -> np.random.RandomState:
    """Return what scikit-learn draws from, of any accepted seed."""
    require_seed(random_state)
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(2**31)))
    if isinstance(random_state, Integral) and random_state >= 2**32:
        msg = f"random_state must be below 2**32; found {random_state:,}"
        raise ValueError(msg)
    state: np.random.RandomState = check_random_state(random_state)
    return state
