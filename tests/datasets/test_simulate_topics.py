import numpy as np
import pytest
from scipy import sparse

from lvmkit.datasets import make_poisson_mixture, make_topics

MAKERS = [
    lambda n, seed: make_topics(n, 40, 4, length=20, random_state=seed),
    lambda n, seed: make_topics(n, 40, 4, single=True, random_state=seed),
    lambda n, seed: make_topics(n, 40, 4, topics="uniform", length=(3, 9), random_state=seed),
    lambda n, seed: make_poisson_mixture(n, 40, 4, random_state=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_counts_are_canonical_sparse_rows_with_their_truth(make):
    data = make(300, 0)
    assert isinstance(data.X, sparse.csr_array)
    assert (data.X.shape, data.X.dtype) == ((300, 40), np.float32)
    assert data.X.has_canonical_format
    assert (data.X.data >= 1).all()
    assert (data.X.data == np.round(data.X.data)).all()
    assert (data.labels.shape, data.weights.shape, data.centers.shape) == ((300,), (4,), (4, 40))
    assert data.weights.sum() == pytest.approx(1)
    assert len(set(data.feature_names)) == 40


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_the_same_counts_and_another_seed_others(make):
    first, again, other = (make(200, seed) for seed in (1, 1, 2))
    assert (first.X != again.X).nnz == 0
    assert (first.X != other.X).nnz > 0


def test_words_follow_the_topics_of_their_mixtures():
    data = make_topics(20_000, 30, 3, alpha0=2.0, length=50, random_state=0)
    np.testing.assert_allclose(data.centers.sum(axis=1), 1)
    np.testing.assert_allclose(data.mixtures.sum(axis=1), 1)
    np.testing.assert_allclose(data.alpha, 2 * data.weights)
    np.testing.assert_allclose(data.mixtures.mean(axis=0), data.weights, atol=0.01)
    np.testing.assert_array_equal(data.labels, data.mixtures.argmax(axis=1))
    expected = data.mixtures @ data.centers
    high = expected[:, 0] > np.median(expected[:, 0])
    for rows in (high, ~high):
        X = data.X[np.flatnonzero(rows)]
        np.testing.assert_allclose(X.sum(axis=0) / X.sum(), expected[rows].mean(axis=0), atol=0.004)
    assert data.X.sum(axis=1).mean() == pytest.approx(50, abs=0.3)


def test_a_document_of_the_single_topic_model_has_one_topic():
    data = make_topics(30_000, 20, 3, single=True, length=10, random_state=1)
    assert data.mixtures[np.arange(30_000), data.labels].min() == 1
    assert data.alpha.tolist() == [0, 0, 0]
    np.testing.assert_allclose(np.bincount(data.labels) / 30_000, data.weights, atol=0.01)
    for h in range(3):
        X = data.X[np.flatnonzero(data.labels == h)]
        np.testing.assert_allclose(X.sum(axis=0) / X.sum(), data.centers[h], atol=0.01)


def test_no_document_is_empty_and_bounds_of_lengths_hold():
    assert make_topics(2_000, 50, 2, length=0.5, random_state=0).X.sum(axis=1).min() == 1
    lengths = make_topics(2_000, 50, 2, length=(3, 7), random_state=0).X.sum(axis=1)
    assert sorted(set(lengths)) == [3, 4, 5, 6, 7]


def test_frequencies_of_zipf_topics_fall_with_the_rank():
    centers = make_topics(5, 2_000, 40, random_state=0).centers.mean(axis=0)
    assert 4 < centers[:100].mean() / centers[1_000:1_100].mean() < 30


@pytest.mark.parametrize("options", [{"n_topics": 1}, {"alpha0": 1e-3}, {"n_features": 1}])
def test_extremes_are_simulated(options):
    sizes = {"n_features": 30, "n_topics": 3} | options
    data = make_topics(100, **sizes, random_state=0)
    np.testing.assert_allclose(data.mixtures.sum(axis=1), 1)
    assert data.X.sum(axis=1).min() >= 1


def test_poisson_rates_sum_to_the_total_and_rows_follow_them():
    data = make_poisson_mixture(60_000, 20, 3, total=8, random_state=0)
    np.testing.assert_allclose(data.centers.sum(axis=1), 8)
    for h in range(3):
        X = data.X[np.flatnonzero(data.labels == h)].toarray()
        np.testing.assert_allclose(X.mean(axis=0), data.centers[h], atol=0.04)
        np.testing.assert_allclose(X.var(axis=0), data.centers[h], atol=0.06)
        assert np.abs(np.corrcoef(X.T) - np.eye(20)).max() < 0.05


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_topics": 0}, ValueError, "n_topics=0; expected at least 1"),
        ({"alpha0": 0}, ValueError, "alpha0 must be a number, greater than 0"),
        ({"topics": "flat"}, ValueError, "topics='flat'; expected 'zipf' or 'uniform'"),
        ({"length": 0}, ValueError, "length must be a number, greater than 0"),
        ({"length": (5, 3)}, ValueError, r"length=\(5, 3\); expected the least"),
        ({"length": (3,)}, ValueError, r"length=\(3,\); expected a mean, or the least and most"),
        ({"length": (0, 3)}, ValueError, "length must be a whole number, at least 1"),
        ({"length": (1.5, 3)}, TypeError, "length must be .*whole numbers"),
        ({"length": "long"}, TypeError, "length must be a number"),
    ],
)
def test_options_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        make_topics(10, **({"n_features": 20, "n_topics": 2} | options))


def test_sizes_of_a_poisson_mixture_are_checked():
    with pytest.raises(ValueError, match="total must be a number, greater than 0"):
        make_poisson_mixture(10, total=0)
    with pytest.raises(ValueError, match="n_components=0; expected at least 1"):
        make_poisson_mixture(10, n_components=0)
