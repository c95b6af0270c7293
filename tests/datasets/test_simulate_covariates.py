import numpy as np
import pytest

from lvmkit.datasets import make_covariate_clusters


def test_weights_and_groups_are_those_of_figure_1():
    data = make_covariate_clusters(8, 40)
    assert data.labels.tolist() == [k for k in range(10) for _ in range(4)]
    assert data.similarity_groups.tolist() == [k for k in range(5) for _ in range(8)]
    for i, k in enumerate(data.labels):
        expected = np.zeros(4)
        expected[k % 4] = 0.5 * (k + 1)
        np.testing.assert_array_equal(data.coef[:, i], expected)
    assert (np.diag(data.similarity) == 0).all()
    np.testing.assert_array_equal(data.similarity[0], [0.9 * (0 < j < 8) for j in range(40)])


def test_similarity_groups_that_agree_are_the_clusters():
    data = make_covariate_clusters(8, 23, n_clusters=5, similarity_agrees=True)
    np.testing.assert_array_equal(data.similarity_groups, data.labels)
    assert np.bincount(data.labels).min() >= 4
    assert np.bincount(data.labels).max() <= 5
    assert not np.shares_memory(data.similarity_groups, data.labels)


@pytest.mark.parametrize("similarity_agrees", [True, False])
def test_samples_have_the_means_and_covariances_promised(similarity_agrees):
    data = make_covariate_clusters(40_000, 10, n_clusters=5, similarity_agrees=similarity_agrees)
    assert (np.bincount(data.y) == 10_000).all()
    for k in range(4):
        rows = data.X[data.y == k]
        np.testing.assert_allclose(rows.mean(axis=0), data.coef[k], atol=0.05)
        np.testing.assert_allclose(np.cov(rows.T), data.similarity + np.eye(10), atol=0.06)


def test_the_same_seed_gives_the_same_data():
    one, same, other = (make_covariate_clusters(20, 10, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.X, same.X)
    assert (one.X != other.X).any()
    np.testing.assert_array_equal(one.X, make_covariate_clusters(20, 10).X)


def test_a_last_cluster_without_neighbor_is_a_group_of_its_own():
    data = make_covariate_clusters(6, 9, n_clusters=3, n_classes=2)
    assert data.similarity_groups.tolist() == [0] * 6 + [1] * 3


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_features": 5}, "n_clusters=10 is more than n_features=5"),
        ({"n_samples": 0}, "n_samples"),
        ({"n_classes": 0}, "n_classes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        make_covariate_clusters(**sizes)
