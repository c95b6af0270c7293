import numpy as np
import pytest

from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.group_lasso import group_lasso


@pytest.mark.parametrize("reference", [0, 1, 3])
def test_with_a_reference_differences_are_those_of_the_document(reference):
    means = np.random.default_rng(0).standard_normal((4, 5))
    compared = contrasts(4, reference)
    others = [k for k in range(4) if k != reference]
    np.testing.assert_allclose(compared.differences @ means, (means - means[reference])[others])
    np.testing.assert_allclose(compared.middle @ means, means[reference])
    B = np.random.default_rng(1).standard_normal((3, 5))
    spread = compared.spread @ B
    assert (spread[reference] == 0).all()
    assert (spread[others] == B).all()
    assert compared.factor == 1


@pytest.mark.parametrize("n_components", [2, 3, 6])
def test_without_one_means_are_compared_with_their_mean(n_components):
    means = np.random.default_rng(2).standard_normal((n_components, 4))
    compared = contrasts(n_components)
    differences = compared.differences @ means
    np.testing.assert_allclose(compared.differences @ np.ones(n_components), 0, atol=1e-12)
    np.testing.assert_allclose(
        compared.differences @ compared.differences.T, np.eye(n_components - 1), atol=1e-12
    )
    np.testing.assert_allclose(compared.spread @ differences, means - means.mean(axis=0))
    np.testing.assert_allclose(compared.middle @ means, means.mean(axis=0))


@pytest.mark.parametrize("n_components", [2, 3, 5])
def test_lengths_are_those_of_the_document_averaged_over_the_reference(n_components):
    """As the docstring says: |c_J|², doubled, is the mean over references r of sum_k (b_k - b_r)²."""
    means = np.random.default_rng(3).standard_normal((n_components, 4))
    found = 2 * ((contrasts(n_components).differences @ means) ** 2).sum(axis=0)
    each = [
        ((contrasts(n_components, r).differences @ means) ** 2).sum(axis=0)
        for r in range(n_components)
    ]
    np.testing.assert_allclose(found, np.mean(each, axis=0))


def test_for_two_clusters_the_penalty_means_the_same_either_way():
    """½ b'b - b'd + t|b| of b = mu_1 - mu_0 against the same of the contrast with factor t: half of it, everywhere."""
    compared = contrasts(2)
    rng = np.random.default_rng(4)
    delta, b, t = rng.standard_normal(3), rng.standard_normal(3), 0.7
    S = np.cov(rng.standard_normal((3, 9)))
    means = np.vstack([np.zeros(3), delta])
    c = (compared.differences @ np.vstack([np.zeros(3), b]))[0]
    d = (compared.differences @ means)[0]
    np.testing.assert_allclose(np.ptp(compared.spread @ c[None], axis=0), np.abs(b))
    document = b @ S @ b / 2 - b @ delta + t * np.abs(b).sum()
    ours = c @ S @ c / 2 - c @ d + t * compared.factor * np.abs(c).sum()
    assert 2 * ours == pytest.approx(document)


def test_the_cost_does_not_depend_on_what_clusters_are_compared_with():
    B = np.random.default_rng(5).standard_normal((3, 6))
    compared = contrasts(3)
    assert compared.cost(B) == pytest.approx(compared.cost(B + 5))
    assert compared.cost(B) == pytest.approx(compared.cost(B[[2, 0, 1]]))
    two = contrasts(2)
    b = np.array([[0.0, 0.0], [3.0, -1.0]])
    assert two.cost(b) == pytest.approx(contrasts(2, 0).cost(b))
    # Two clusters of weight 1/2: the expected log-likelihood of the means is -½·¼·δ'S⁻¹δ each, so the group lasso is
    # its M step at a quarter of the penalty.
    assert two.cost(b) == pytest.approx((3 + 1) / 4)


def test_one_cluster_has_nothing_to_compare():
    for reference in (None, 0):
        compared = contrasts(1, reference)
        assert compared.differences.shape == (0, 1)
        assert compared.spread.shape == (1, 0)
        np.testing.assert_allclose(compared.middle, [1.0])


@pytest.mark.parametrize("n_components", [2, 3, 5])
def test_with_the_cost_the_group_lasso_is_the_m_step_of_clusters_of_equal_weight(n_components):
    """Drawing all discriminants a little farther or nearer only lowers the penalized likelihood."""
    rng = np.random.default_rng(6)
    S = np.cov(rng.standard_normal((4, 30)))
    means = rng.standard_normal((n_components, 4))
    means -= means.mean(axis=0)
    compared = contrasts(n_components)
    C = group_lasso(compared.differences @ means, [S], 0.3 * compared.factor, tol=1e-12).coef
    B = compared.spread @ C
    assert B.any()

    def penalized(B):
        left = means - B @ S
        squares = np.einsum("kp,pq,kq->k", left, np.linalg.inv(S), left)
        return -squares.mean() / 2 - 0.3 * compared.cost(B)

    best = penalized(B)
    for share in (0.9, 0.99, 1.01, 1.1):
        assert penalized(share * B) < best


def test_with_the_first_as_reference_it_is_subtracted_from_each_other():
    np.testing.assert_array_equal(contrasts(3, reference=0).differences, [[-1, 1, 0], [-1, 0, 1]])
