import numpy as np
import pytest

from lvmkit.tensors.covariances import (
    moment_covariances,
    scaled,
    shrunken,
)
from lvmkit.tensors.modes import scatter, unfold

SIZES = [(4,), (3, 4), (1, 5), (3, 2, 4), (2, 1, 3, 2, 2)]


@pytest.fixture(params=SIZES, ids=str)
def case(request):
    """Centered samples, posteriors, and means of the clusters."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, *request.param)) * rng.uniform(0.5, 3, request.param)
    X -= X.mean(axis=0)
    responsibilities = rng.dirichlet(np.ones(3), 12)
    means = np.einsum("nk,n...->k...", responsibilities, X) / responsibilities.sum(axis=0).reshape(
        -1, *[1] * (X.ndim - 1)
    )
    return X, responsibilities, means


def printed(X, responsibilities, means, mode):
    """The intermediate covariance of Mutoh 2023, section 2.2, as it is printed."""
    n, others = len(X), X[0].size // X.shape[mode + 1]
    total = 0
    for i in range(n):
        for k in range(len(means)):
            residual = unfold(X[i] - means[k], mode)
            total = total + responsibilities[i, k] * residual @ residual.T
    return total / (n * others)


def test_moments_are_those_of_the_document_up_to_the_scale(case):
    X, responsibilities, means = case
    order = X.ndim - 1
    found = moment_covariances(scatter(X, order), responsibilities.sum(axis=0), means)
    for mode, part in enumerate(found):
        expected = printed(X, responsibilities, means, mode)
        np.testing.assert_allclose(part / np.trace(part), expected / np.trace(expected), atol=1e-12)
    diagonals = [np.trace(part) / len(part) for part in found]
    np.testing.assert_allclose(diagonals, diagonals[0])
    residuals = sum(
        responsibilities[:, k] @ (X - means[k]).reshape(len(X), -1) ** 2 for k in range(3)
    )
    assert np.prod(diagonals) == pytest.approx(residuals.mean() / len(X))


def test_the_scale_by_the_first_entry_is_as_printed(case):
    X, responsibilities, means = case
    order = X.ndim - 1
    corner = (0,) * order
    first = sum(
        responsibilities[:, k] @ (X[:, *corner] - means[k][corner]) ** 2 for k in range(3)
    ) / len(X)
    found = moment_covariances(
        scatter(X, order), responsibilities.sum(axis=0), means, first_variance=first
    )
    for mode, part in enumerate(found):
        expected = printed(X, responsibilities, means, mode)
        expected *= (first if mode == 0 else 1) / expected[0, 0]
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", ["trace", "first_entry"])
def test_scaling_leaves_the_kronecker_product(covariance, kronecker, scale):
    parts = [4 * covariance(3, 0), covariance(2, 1) / 7, covariance(4, 2)]
    found = scaled(parts, scale)
    np.testing.assert_allclose(kronecker(found), kronecker(parts))
    if scale == "trace":
        np.testing.assert_allclose([np.trace(p) / len(p) for p in found], np.trace(found[0]) / 3)
    else:
        np.testing.assert_allclose([p[0, 0] for p in found[1:]], 1)


def test_shrinking_keeps_the_trace(covariance):
    S = covariance(4, 0)
    (found,) = shrunken([S], 0.25)
    np.testing.assert_allclose(found, 0.75 * S + 0.25 * np.trace(S) / 4 * np.eye(4))
    assert np.trace(found) == pytest.approx(np.trace(S))
    (same,) = shrunken([S], 0.0)
    assert (same == S).all()


def test_by_the_trace_every_mode_has_the_same_mean_variance():
    found = scaled([np.eye(2), 4 * np.eye(3)], "trace")
    np.testing.assert_allclose([part[0, 0] for part in found], [2, 2], rtol=1e-12)
