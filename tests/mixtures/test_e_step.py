"""The E step in single precision keeps the likelihood of double precision."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from lvmkit.mixtures.e_step import (
    MixtureParams,
    em_step,
    expected_sums,
    log_joint,
    posteriors,
    smoothed,
)
from lvmkit.mixtures.families import BERNOULLI, Prior


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_expected_sums_equal_double_precision(as_rows):
    rng = np.random.default_rng(0)
    X = (rng.random((9_000, 200)) < 0.05).astype(np.float32)
    params = MixtureParams(rng.dirichlet(np.ones(5)), rng.beta(0.3, 5, size=(5, 200)).clip(1e-6, 1))
    counts, sums, log_likelihood = expected_sums(as_rows(X), params, BERNOULLI)
    joint = log_joint(as_rows(X.astype(float)), params, BERNOULLI)
    total = logsumexp(joint, axis=1)
    R = np.exp(joint - total[:, None])
    np.testing.assert_allclose(counts, R.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(sums, R.T @ X, rtol=1e-4, atol=1e-3)
    assert log_likelihood / len(X) == pytest.approx(total.mean(), abs=1e-6)


def test_smoothing_pulls_borders_inside_and_keeps_states_without_weight_apart():
    prior = Prior.around(np.array([0.0, 10.0, 4.0]), 10, strength=1.0)
    params = smoothed(
        MixtureParams(np.array([1.0, 0.0]), np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]])),
        10,
        prior,
        BERNOULLI,
    )
    assert ((params.centers > 0) & (params.centers < 1)).all()
    assert (params.weights > 0).all()
    assert params.centers[0, 2] > 0.8
    assert params.centers[1, 2] < 0.2


def test_parameters_are_weights_and_centers_of_each_state():
    params = MixtureParams(np.array([1.0]), np.array([[0.5, 0.5]]))
    assert (params.weights.shape, params.centers.shape) == ((1,), (1, 2))


def test_posteriors_are_shares_of_the_joint_density():
    np.testing.assert_allclose(posteriors(np.log([[0.1, 0.3]])), [[0.25, 0.75]], rtol=1e-12)


def test_what_rounding_the_parameters_cost_is_given_back():
    """Rows without codes, whose likelihoods are the constants alone: single precision would be off by 1e-6."""
    rng = np.random.default_rng(0)
    params = MixtureParams(rng.dirichlet(np.ones(3)), rng.beta(2, 5, size=(3, 200)))
    nothing = sparse.csr_array((50, 200), dtype=np.float32)
    _, _, found = expected_sums(nothing, params, BERNOULLI)
    expected = logsumexp(log_joint(nothing.astype(float), params, BERNOULLI), axis=1).sum()
    assert found == pytest.approx(expected, rel=1e-10)


def test_the_objective_of_a_step_is_the_log_posterior_per_row():
    rng = np.random.default_rng(1)
    X = (rng.random((30, 4)) < 0.4).astype(np.float32)
    w, mu = np.array([0.7, 0.2, 0.1]), rng.uniform(0.1, 0.9, (3, 4))
    prior = Prior.around(X.sum(axis=0), 30, strength=6.0)
    _, objective = em_step(X, BERNOULLI, prior)(MixtureParams(w, mu))
    rows = sum(np.log(w @ np.prod(np.where(x, mu, 1 - mu), axis=1)) for x in X)
    of_centers = 6 * (prior.mean * np.log(mu) + (1 - prior.mean) * np.log(1 - mu)).sum()
    assert objective == pytest.approx((rows + of_centers + 2 * np.log(w).sum()) / 30, abs=1e-6)
