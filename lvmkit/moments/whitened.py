"""The input of a decomposition: mean, whitener, and whitened third moment."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import fix_signs, significant
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, finite_array, require_range


@dataclass(frozen=True, eq=False)
class Whitened:
    """Moments of Σ ω_j μ_j, Σ ω_j μ_j⊗μ_j and Σ ω_j μ_j⊗μ_j⊗μ_j, exact or estimated, seen through a whitener.

    Attributes
    ----------
    m1 : array (d,)
        First moment.
    whitener : array (d, k)
        W, with WᵀM₂W = identity.
    image : array (d, k)
        E = M₂W, from whitened coordinates back to features: M₂ = EEᵀ.
    core : array (k, k, k)
        Third moment whitened along all three directions, symmetric.
    slices : array (d, k, k) or None
        H_r = WᵀM₃,ᵣW. None where only the core was summed, as for many features.

    Examples
    --------
    >>> population(np.eye(2), [0.5, 0.5]).core.shape
    (2, 2, 2)
    """

    m1: Array
    whitener: Array
    image: Array
    core: Array
    slices: Array | None = None

    @classmethod
    def from_slices(cls, m1: Array, whitener: Array, image: Array, slices: Array) -> Self:
        """Return the moments whose slices are known; the core follows from them.

        Parameters
        ----------
        m1 : array (d,)
            First moment.
        whitener : array (d, k)
            W.
        image : array (d, k)
            E.
        slices : array (d, k, k)
            H.

        Returns
        -------
        Whitened
            With its core, made symmetric in all directions.
        """
        whitener = finite_array(whitener, "whitener", (None, None))
        d, k = whitener.shape
        m1, image = (
            finite_array(m1, "m1", (d,), like="whitener"),
            finite_array(image, "image", (d, k), like="whitener"),
        )
        slices = finite_array(slices, "slices", (d, k, k), like="whitener")
        return cls(m1, whitener, image, symmetrized(np.tensordot(whitener, slices, (0, 0))), slices)

    @checked(k=0)
    def truncated(self, k: int) -> Self:
        """Return what the leading k directions show of the moments.

        Parameters
        ----------
        k : int
            How many directions, at most as many as there are.

        Returns
        -------
        Whitened
            Of k directions.
        """
        slices = None if self.slices is None else self.slices[:, :k, :k]
        core = self.core[:k, :k, :k]
        return type(self)(self.m1, self.whitener[:, :k], self.image[:, :k], core, slices)


def population(centers: Any, weights: Any) -> Whitened:
    """Return the exact whitened moments of a known mixture: for teaching and tests.

    Parameters
    ----------
    centers : array (k, d)
        Means of the states, linearly independent, so that k is at most d.
    weights : array (k,)
        Probability of each state: positive; normalized to sum 1.

    Returns
    -------
    Whitened
        Every decomposition returns `centers` and `weights` from it, in some order.

    Raises
    ------
    ValueError
        If shapes disagree or hold nothing, a number is not finite, a weight is not positive, or the centers are
        linearly dependent.

    Notes
    -----
    Ruffini thesis, equations 1.12-1.14. Costs d·k² numbers; no d×d matrix and no tensor is formed.

    Examples
    --------
    >>> from lvmkit.decompose import svtd
    >>> found = svtd(population([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]], [0.25, 0.75]))
    >>> found.weights.round(6)
    array([0.25, 0.75])
    """
    C, w = np.atleast_2d(as_numbers(centers, "centers")), as_numbers(weights, "weights")
    if C.ndim != 2 or w.shape != C.shape[:1]:
        msg = f"centers (k, d) and weights (k,) must agree; found shapes {C.shape} and {w.shape}"
        raise ValueError(msg)
    if not C.size:
        msg = f"a population has at least one state and one feature; found shape {C.shape}"
        raise ValueError(msg)
    if not (np.isfinite(C).all() and np.isfinite(w).all() and (w > 0).all()):
        msg = f"centers must be finite and weights positive; found weights {w.tolist()}"
        raise ValueError(msg)
    require_range(C, 1e90, "products of three leave the range of double precision", name="centers")
    w = w / w.sum()
    _, roots, vectors = np.linalg.svd(np.sqrt(w)[:, None] * C, full_matrices=False)
    rank = int(significant(roots**2).sum())
    if rank < len(w):
        msg = (
            f"the {len(w)} centers, with these weights, span only {rank} dimensions, and moments up to the third "
            f"cannot tell linearly dependent centers apart; leave out {len(w) - rank} of them"
        )
        raise ValueError(msg)
    U = fix_signs(vectors.T)
    seen = C @ (U / roots)
    slices = np.einsum("j,jr,ja,jb->rab", w, C, seen, seen, optimize=True)
    return Whitened.from_slices(w @ C, U / roots, U * roots, slices)


def symmetrized(core: Array) -> Array:
    """Average a tensor that is symmetric in its last two directions over all three, (k, k, k)."""
    mean: Array = (core + core.transpose(1, 0, 2) + core.transpose(1, 2, 0)) / 3
    return mean


def with_slices(whitened: Whitened, plain: Array, image: Array, alpha0: float) -> Whitened:
    """Add the slices of all features to moments that hold the core. plain (d, k, k), image (d, k)."""
    # Ruffini thesis, Theorem 3.3.1, times (α₀+1)(α₀+2)/2.
    if not alpha0:
        return replace(whitened, slices=plain)
    m1, W = whitened.m1, whitened.whitener
    b = W.T @ m1
    outer = image[:, :, None] * b
    cross = m1[:, None, None] * (W.T @ image) + outer + outer.transpose(0, 2, 1)
    slices = (alpha0 + 1) * ((alpha0 + 2) * plain - alpha0 * cross) / 2
    slices = slices + alpha0**2 * m1[:, None, None] * np.outer(b, b)
    return replace(whitened, slices=slices)
