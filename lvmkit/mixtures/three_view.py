"""Three-view starts: moments between three groups of features, free of coinciding indexes."""

from typing import Any, NamedTuple

import numpy as np

from lvmkit.core.linalg import fix_signs, mixing_weights, significant, whitener_of
from lvmkit.core.parallel import sum_blocks
from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.core.validation import warn
from lvmkit.decompose import Components, power
from lvmkit.moments import RAW, Moments
from lvmkit.moments.weightings import n_counted
from lvmkit.moments.whitened import Whitened, symmetrized


class Views(NamedTuple):
    """Three groups of features, and how often pairs of features occur together."""

    second: Array
    """(d, d); only blocks between different views are unbiased."""
    mean: Array
    """(d,)."""
    features: tuple[Labels, Labels, Labels]
    """Indexes of each view's features."""

    @classmethod
    def of(cls, X: Counts, sample_weight: Array | None = None) -> "Views":
        """Deal the features to the views by frequency, so that each view has frequent and rare ones."""
        moments = Moments.of(X, RAW, sample_weight=sample_weight)
        order = np.argsort(-moments.m1, kind="stable")
        return cls(moments.m2, moments.m1, (order[0::3], order[1::3], order[2::3]))

    def pair(self, a: int, b: int) -> Array:
        """Return E[x_a ⊗ x_b]."""
        block: Array = self.second[np.ix_(self.features[a], self.features[b])]
        return block

    def require_rank(self, k: int) -> None:
        """Warn if two views have fewer directions in common than there are states."""
        rank = int(significant(np.linalg.svd(self.pair(0, 1), compute_uv=False)).sum())
        if rank < k:
            warn(
                f"the views of the features have {rank} directions in common, n_components={k} needs as many; the "
                f"other components start from noise. Choose n_components <= {rank}."
            )


def three_view_tpm(
    X: Counts, k: int, generator: np.random.Generator, sample_weight: Array | None = None
) -> Components:
    """Learn one view by symmetrized moments and the tensor power method, the others from it. X (n, d)."""
    # Anandkumar 2014, Theorem 3.6: x̃₁ = E[x₃x₂ᵀ]E[x₁x₂ᵀ]⁺x₁ and x̃₂ have the conditional means of x₃.
    views = Views.of(X, sample_weight)
    views.require_rank(k)
    inverse = _pseudoinverse(views.pair(0, 1), k)
    A1 = views.pair(2, 1) @ inverse
    A2 = views.pair(2, 0) @ inverse.T
    M2 = A1 @ views.pair(0, 1) @ A2.T
    values, vectors = np.linalg.eigh((M2 + M2.T) / 2)
    values, vectors = values[::-1][:k], fix_signs(vectors[:, ::-1][:, :k])
    W = whitener_of(values, vectors)
    core = symmetrized(_cross(X, views, (A1.T @ W, A2.T @ W, W), sample_weight))
    core = (core + core.transpose(0, 2, 1)) / 2
    image = vectors * np.sqrt(np.maximum(values, 0.0))
    found = power(Whitened(views.mean[views.features[2]], W, image, core), random_state=generator)
    return _completed(views, found.centers)


def three_view_mom(
    X: Counts, k: int, generator: np.random.Generator, sample_weight: Array | None = None
) -> Components:
    """Learn one view by the eigenvectors of one contraction of the third moment, the others from it. X (n, d)."""
    # Anandkumar 2012b, Algorithm B: B(η) = (U₁ᵀM₃(η)U₂)(U₁ᵀM₂U₂)⁻¹ for η = U₃θ_i, θ a random rotation; all have
    # the eigenvectors of the first, and their eigenvalues are coordinates of the centers. What noise makes complex is
    # cut to its real part.
    views = Views.of(X, sample_weight)
    views.require_rank(k)
    left, _, right = np.linalg.svd(views.pair(0, 1), full_matrices=False)
    U1, U2 = left[:, :k], right[:k].T
    U3 = np.linalg.svd(views.pair(0, 2), full_matrices=False)[2][:k].T
    third = _cross(X, views, (U1, U2, U3), sample_weight)
    inverse = np.linalg.pinv(U1.T @ views.pair(0, 1) @ U2)
    theta = np.linalg.qr(generator.normal(size=(k, k)))[0]
    B = np.einsum("abc,ic,bd->iad", third, theta, inverse, optimize=True)
    R = np.linalg.eig(B[0])[1]
    turned = np.linalg.pinv(R) @ B @ R
    values = np.real(np.diagonal(turned, axis1=1, axis2=2))
    return _completed(views, (U3 @ theta.T @ values).T)


def _cross(
    X: Counts, views: Views, maps: tuple[Array, Array, Array], sample_weight: Array | None
) -> Array:
    """Return E[Q₁ᵀx₁ ⊗ Q₂ᵀx₂ ⊗ Q₃ᵀx₃], (k, k, k)."""
    wide = []
    for features, columns in zip(views.features, maps, strict=True):
        full = np.zeros((X.shape[1], columns.shape[1]), dtype=np.float32)
        full[features] = columns
        wide.append(full)

    def block_sums(block: Any, weight: Array | None = None) -> tuple[Array]:
        Z1, Z2, Z3 = (np.asarray(block @ columns) for columns in wide)
        if weight is not None:
            Z3 *= weight[:, None].astype(np.float32)
        k = Z1.shape[1]
        pairs = (Z1[:, :, None] * Z2[:, None, :]).reshape(len(Z1), k * k)
        return ((pairs.T @ Z3).reshape(k, k, k),)

    total: Array = sum_blocks(block_sums, X, 1_000, along=sample_weight)[0]
    return total / n_counted(X, sample_weight)


def _pseudoinverse(matrix: Array, k: int) -> Array:
    """Invert the best approximation of rank k."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values[:k] > values[0] * 1e-10
    scaled = np.where(kept, 1 / np.where(kept, values[:k], 1.0), 0.0)
    inverse: Array = (right[:k].T * scaled) @ left[:, :k].T
    return inverse


def _completed(views: Views, third: Array) -> Components:
    """Find the other views' centers from one view's: E[x_a x₃ᵀ] = M_a Ω M₃ᵀ, in the same order of states."""
    third = np.clip(np.nan_to_num(third), 0.0, 1.0)
    weights = mixing_weights(third, views.mean[views.features[2]])
    # A state without weight has no center to solve for; it starts like a rare one.
    omega = np.maximum(weights, 1e-3 / len(weights))
    inverse = np.linalg.pinv(third) / omega
    centers = np.empty((len(third), len(views.mean)))
    centers[:, views.features[2]] = third
    for view in (0, 1):
        centers[:, views.features[view]] = (views.pair(view, 2) @ inverse).T
    return Components(centers, weights)
