"""Eigenvectors, joint diagonalization and weights against what is known exactly."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from lvmkit.core.linalg import (
    fix_signs,
    impute_diagonal,
    joint_rotation,
    mixing_weights,
    top_eigenpairs,
)


def commuting(k, m, seed):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(k, k)))
    return basis, np.einsum("ik,rk,jk->rij", basis, rng.normal(size=(m, k)), basis)


@pytest.mark.parametrize("k", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("m", [2, 200])
def test_matrices_that_commute_are_diagonalized_exactly(k, m):
    basis, slices = commuting(k, m, seed=k)
    rotation = joint_rotation(slices)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(k), atol=1e-12)
    aligned = np.abs(basis.T @ rotation)
    np.testing.assert_allclose(np.sort(aligned, axis=0)[-1], 1.0, atol=1e-10)


def test_two_by_two_angle_beats_a_grid():
    noisy = np.random.default_rng(0).normal(size=(30, 2, 2))
    noisy = noisy + noisy.transpose(0, 2, 1)

    def cost(rotation):
        return ((rotation.T @ noisy @ rotation)[:, 0, 1] ** 2).sum()

    t = np.linspace(0, np.pi / 2, 20_001)
    h, f = noisy[:, 0, 1], noisy[:, 0, 0] - noisy[:, 1, 1]
    grid = ((h[:, None] * np.cos(2 * t) + f[:, None] / 2 * np.sin(2 * t)) ** 2).sum(axis=0)
    assert cost(joint_rotation(noisy)) <= grid.min() + 1e-9


def test_compressing_many_slices_keeps_the_cost_of_every_rotation():
    noisy = np.random.default_rng(1).normal(size=(400, 4, 4))
    noisy = noisy + noisy.transpose(0, 2, 1)
    rotation = joint_rotation(noisy)
    mask = ~np.eye(4, dtype=bool)

    def cost(r):
        return ((r.T @ noisy @ r)[:, mask] ** 2).sum()

    rng = np.random.default_rng(2)
    for _ in range(20):  # a local minimum: small turns only cost more
        skew = rng.normal(size=(4, 4)) * 1e-3
        turn, _ = np.linalg.qr(np.eye(4) + skew - skew.T)
        assert cost(rotation @ turn) >= cost(rotation)


@pytest.mark.parametrize("held", [np.asarray, aslinearoperator], ids=["matrix", "operator"])
def test_imputed_diagonal_recovers_a_low_rank_matrix(held):
    rng = np.random.default_rng(3)
    factors = rng.random((40, 4))
    full = factors @ np.diag([0.4, 0.3, 0.2, 0.1]) @ factors.T
    imputed = impute_diagonal(held(full - np.diag(np.diag(full))), 4, tol=1e-12, max_iter=5000)
    np.testing.assert_allclose(imputed.diagonal, np.diag(full), rtol=1e-8)
    np.testing.assert_allclose(
        (imputed.vectors * imputed.values) @ imputed.vectors.T, full, atol=1e-8
    )


def test_eigenpairs_of_operator_and_matrix_agree_with_fixed_signs():
    A = np.random.default_rng(4).normal(size=(60, 60))
    A = A @ A.T
    values, vectors = top_eigenpairs(A, 5)
    again, same = top_eigenpairs(aslinearoperator(A), 5)
    np.testing.assert_allclose(values, again, rtol=1e-9)
    np.testing.assert_allclose(vectors, same, atol=1e-7)
    assert (vectors[np.abs(vectors).argmax(axis=0), range(5)] > 0).all()
    np.testing.assert_array_equal(fix_signs(-vectors), vectors)


def test_all_eigenpairs_of_a_tiny_operator_are_found():
    values, _ = top_eigenpairs(aslinearoperator(np.diag([3.0, 1.0, 2.0])), 3)
    np.testing.assert_allclose(values, [3, 2, 1])


def test_weights_mix_the_centers_to_the_mean():
    rng = np.random.default_rng(5)
    centers, weights = rng.random((3, 20)), np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(mixing_weights(centers, weights @ centers), weights, atol=1e-10)
    np.testing.assert_allclose(mixing_weights(np.zeros((2, 4)), np.zeros(4)), [0.5, 0.5])


def test_the_largest_entry_of_each_column_becomes_positive():
    assert fix_signs(np.array([[-2.0, 1.0], [1.0, 3.0]])).tolist() == [[2, 1], [-1, 3]]
