"""The E step in single precision keeps the likelihood of double precision."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from lvmkit.mixtures.e_step import MixtureParams, expected_sums, log_joint, posteriors, smoothed
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
