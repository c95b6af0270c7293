import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.metrics import log_loss

from lvmkit.covariates.logistic import Design, one_hot, sums


@pytest.fixture(params=["dense", "sparse"])
def design(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)) * (rng.random((12, 4)) < 0.6)
    targets = one_hot(np.arange(12) % 3, 3)
    return Design(sparse.csr_array(X) if request.param == "sparse" else X, targets), X, targets


@pytest.fixture
def theta():
    return np.random.default_rng(1).normal(size=(5, 3))


def slopes(function, theta, step=1e-6):
    """Central differences, number by number."""
    found = np.zeros((*theta.shape, *np.shape(function(theta))))
    for place in np.ndindex(theta.shape):
        moved = np.zeros_like(theta)
        moved[place] = step
        found[place] = (function(theta + moved) - function(theta - moved)) / (2 * step)
    return found


def test_the_loss_is_the_negative_log_likelihood(design, theta):
    made, X, targets = design
    probabilities, loss = made.probabilities(theta)
    np.testing.assert_allclose(probabilities, softmax(X @ theta[:-1] + theta[-1], axis=1))
    assert loss == pytest.approx(log_loss(targets.argmax(axis=1), probabilities, normalize=False))
    assert made.n_columns == 5


def test_the_gradient_is_the_slope_of_the_loss(design, theta):
    made, _, _ = design
    gradient = made.gradient(made.probabilities(theta)[0])
    expected = slopes(lambda at: made.probabilities(at)[1], theta)
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_the_curvature_is_the_slope_of_the_gradient(design, theta):
    made, _, _ = design
    direction = np.random.default_rng(2).normal(size=theta.shape)
    hessian = slopes(lambda at: made.gradient(made.probabilities(at)[0]), theta)
    expected = np.einsum("abcd,ab->cd", hessian, direction)
    probabilities = made.probabilities(theta)[0]
    np.testing.assert_allclose(made.curvature(probabilities, direction), expected, atol=1e-6)
    blocks, root = made.square_root(probabilities)
    whole = -(root.T @ root).reshape(3, 5, 3, 5)
    for k, block in enumerate(blocks):
        whole[k, :, k] += block
    np.testing.assert_allclose(whole, hessian.transpose(1, 0, 3, 2), atol=1e-6)


def test_weighted_squares_of_the_columns(design):
    made, X, _ = design
    weights = np.random.default_rng(3).random(12)
    columns = np.column_stack([X, np.ones(12)])
    expected = columns.T @ np.diag(weights) @ columns
    np.testing.assert_allclose(made.gram(weights), expected)
    np.testing.assert_allclose(made.squares(weights), np.diag(expected))


def test_scores_of_any_size_do_not_overflow(design, theta):
    made, _, _ = design
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        probabilities, loss = made.probabilities(1e6 * theta)
    assert np.isfinite(loss)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    # A number added to all scores of a sample changes nothing.
    moved = theta.copy()
    moved[-1] += 1e5
    assert made.probabilities(moved)[1] == pytest.approx(made.probabilities(theta)[1], rel=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_sums_add_up_the_covariates_of_each_group(kind):
    X = np.arange(12.0).reshape(2, 6) * np.array([1, 0, 1, 1, 0, 1])
    found = sums(kind(X), np.array([0, 1, 0, -1, 2, 5]), 3)
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, np.column_stack([X[:, 0] + X[:, 2], X[:, 1], X[:, 4]]))
    assert sums(kind(X), np.full(6, -1), 0).shape == (2, 0)


def test_sums_of_few_entries_stay_sparse():
    X = sparse.random_array((50, 40), density=0.02, rng=np.random.default_rng(0), format="csr")
    assert sparse.issparse(sums(X, np.arange(40), 40))
    assert not sparse.issparse(sums(X, np.zeros(40, int), 1))


def test_targets_have_a_one_in_the_column_of_the_class():
    assert one_hot(np.array([1, 0, 1]), 3).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
