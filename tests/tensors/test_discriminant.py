import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import matrix_normal, multivariate_normal

from lvmkit.tensors import discriminant as module
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.discriminant import Rule, implied_means, log_densities, posteriors, scores
from lvmkit.tensors.modes import multiply

SIZES = [(3,), (1,), (3, 4), (2, 3, 2), (2, 1, 2, 2, 2)]


@pytest.fixture(params=SIZES, ids=str)
def mixture(request, covariance):
    """Samples, weights, means and covariances of three clusters."""
    sizes = request.param
    rng = np.random.default_rng(0)
    X = 3 + 2 * rng.standard_normal((9, *sizes))
    means = 3 + rng.standard_normal((3, int(np.prod(sizes))))
    return X, np.array([0.2, 0.5, 0.3]), means, [covariance(p, p) for p in sizes]


def joint(X, weights, means, covariances, kronecker):
    """Log of weight times density of each cluster, by the covariance of all entries."""
    S = kronecker(covariances)
    rows = X.reshape(len(X), -1)
    densities = [multivariate_normal(mean, S).logpdf(rows) for mean in means]
    return np.log(weights) + np.column_stack(densities)


def exact_rule(weights, means, covariances, kronecker, reference):
    """The discriminants that the parameters ask for."""
    B = np.linalg.solve(kronecker(covariances), means.T).T
    middle = contrasts(3, reference).middle
    return Rule(weights, means, B - middle @ B, middle @ means)


@pytest.mark.parametrize("reference", [None, 0, 2])
def test_with_exact_discriminants_posteriors_are_those_of_the_densities(
    mixture, kronecker, reference
):
    X, weights, means, covariances = mixture
    found = posteriors(
        X.reshape(9, -1), exact_rule(weights, means, covariances, kronecker, reference)
    )
    np.testing.assert_allclose(
        found, softmax(joint(*mixture, kronecker), axis=1), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_any_discriminants_follow_equations_four_and_five(share, monkeypatch):
    """Whether few entries are read or all."""
    monkeypatch.setattr(module, "SPARSE", 0.3)
    rng = np.random.default_rng(1)
    X, means = rng.standard_normal((8, 20)), rng.standard_normal((3, 20))
    weights = np.array([0.5, 0.1, 0.4])
    B = np.vstack([np.zeros(20), rng.standard_normal((2, 20)) * (rng.random(20) < share)])
    found = posteriors(X, Rule(weights, means, B, means[0]))
    for i, x in enumerate(X):
        terms = [weights[k] * np.exp((x - (means[k] + means[0]) / 2) @ B[k]) for k in (1, 2)]
        below = weights[0] + sum(terms)
        np.testing.assert_allclose(found[i], [weights[0] / below, *np.divide(terms, below)])


def test_far_samples_do_not_overflow():
    means = np.array([[-1.0, 0.0], [1.0, 0.0]])
    X = np.array([[1e6, 0.0], [-1e6, 0.0], [0.0, 3.0]])
    found = posteriors(X, Rule(np.array([0.5, 0.5]), means, means * 100, np.zeros(2)))
    np.testing.assert_allclose(found, [[0, 1], [1, 0], [0.5, 0.5]])


def test_a_cluster_without_weight_gets_no_sample():
    means = np.array([[0.0], [1.0]])
    X = np.array([[0.0], [5.0]])
    found = posteriors(X, Rule(np.array([1.0, 0.0]), means, means, np.zeros(1)))
    assert found.tolist() == [[1, 0], [1, 0]]


def test_without_discriminants_only_weights_are_left():
    rule = Rule(np.array([0.3, 0.7]), np.ones((2, 4)), np.zeros((2, 4)), np.ones(4))
    np.testing.assert_allclose(posteriors(np.ones((3, 4)), rule), [[0.3, 0.7]] * 3)
    assert scores(np.ones((3, 4)), rule).shape == (3, 2)


def test_densities_are_those_of_the_covariance_of_all_entries(mixture, kronecker):
    expected = logsumexp(joint(*mixture, kronecker), axis=1)
    X, weights, means, covariances = mixture
    np.testing.assert_allclose(log_densities(X, weights, means, covariances), expected, rtol=1e-9)


def test_densities_of_matrices_are_those_of_the_matrix_normal(covariance):
    X = np.random.default_rng(2).standard_normal((5, 3, 4))
    rows, columns = covariance(3, 0), covariance(4, 1)
    mean = np.arange(12.0).reshape(3, 4) / 12
    expected = matrix_normal(mean, rows, columns).logpdf(X)
    found = log_densities(X, np.ones(1), mean.reshape(1, -1), [rows, columns])
    np.testing.assert_allclose(found, expected)


def test_densities_far_from_zero():
    """Samples a million standard deviations away from 0, as years or weights in grams are."""
    X = 1e6 + np.random.default_rng(3).standard_normal((5, 2, 2))
    means = np.full((2, 4), 1e6) + np.array([[0.0], [1.0]])
    found = log_densities(X, np.array([0.5, 0.5]), means, [np.eye(2)] * 2)
    near = log_densities(X - 1e6, np.array([0.5, 0.5]), means - 1e6, [np.eye(2)] * 2)
    np.testing.assert_allclose(found, near, rtol=1e-8)


def test_a_cluster_of_weight_zero_adds_no_density():
    X = np.random.default_rng(4).standard_normal((5, 3))
    means = np.array([[0.0, 0, 0], [1, 1, 1]])
    found = log_densities(X, np.array([1.0, 0.0]), means, [np.eye(3)])
    np.testing.assert_allclose(found, multivariate_normal(np.zeros(3)).logpdf(X))


@pytest.mark.parametrize("reference", [None, 0, 1])
def test_exact_discriminants_imply_the_means(mixture, kronecker, reference):
    X, weights, means, covariances = mixture
    rule = exact_rule(weights, means, covariances, kronecker, reference)
    np.testing.assert_allclose(implied_means(rule, covariances, X.shape[1:]), means, atol=1e-9)


def test_sparse_discriminants_imply_means_around_that_of_all(mixture, kronecker):
    X, weights, means, covariances = mixture
    rng = np.random.default_rng(5)
    B = rng.standard_normal(means.shape) * (rng.random(means.shape[1]) < 0.5)
    found = implied_means(Rule(weights, means, B, means[0]), covariances, X.shape[1:])
    np.testing.assert_allclose(weights @ found, weights @ means, atol=1e-9)
    moved = multiply((B[1:] - B[0]).reshape(2, *X.shape[1:]), covariances).reshape(2, -1)
    np.testing.assert_allclose(found[1:] - found[0], moved, atol=1e-9)
