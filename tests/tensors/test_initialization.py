import numpy as np
import pytest

from lvmkit.tensors.em import CenteredSamples
from lvmkit.tensors.initialization import KINDS, one_hot, starts, whitened


def drawn(X, n_components, seed=0, **options):
    return starts(
        CenteredSamples(X), n_components, generator=np.random.default_rng(seed), **options
    )


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).standard_normal((30, 3, 4)) * np.linspace(1, 5, 4)


@pytest.mark.parametrize("n_components", [1, 2, 4, 30])
def test_starts_are_labels_of_all_clusters(X, n_components):
    found = drawn(X, n_components, n_random=3)
    assert [name for name, _ in found] == [*KINDS[:2], "random 0", "random 1", "random 2"]
    for _, guess in found:
        assert guess.shape == (30, n_components)
        assert (guess.sum(axis=1) == 1).all()
        assert set(np.unique(guess)) <= {0, 1}
        assert guess.sum(axis=0).min() >= 1


def test_duplicated_samples_leave_no_cluster_empty():
    X = np.repeat(np.random.default_rng(0).standard_normal((4, 3, 2)), 10, axis=0)
    for seed in range(5):
        for name, guess in drawn(X, 3, seed, n_random=5):
            assert guess.sum(axis=0).min() >= 1, (seed, name)


def test_the_same_seed_draws_the_same(X):
    for one, other in zip(drawn(X, 3, 1), drawn(X, 3, 1), strict=True):
        assert (one[1] == other[1]).all()
    random = [drawn(X, 3, seed, kinds=["random"], n_random=1)[0][1] for seed in range(4)]
    assert any((random[0] != guess).any() for guess in random[1:])


def test_which_kinds(X):
    assert [name for name, _ in drawn(X, 2, kinds=["kmeans"])] == ["kmeans"]
    assert [name for name, _ in drawn(X, 2, kinds=["random"], n_random=1)] == ["random 0"]


def test_whitened_samples_have_the_identity(X):
    rows = whitened(CenteredSamples(X)).reshape(30, 3, 4)
    first = np.einsum("nij,nkj->ik", rows, rows)
    second = np.einsum("nij,nik->jk", rows, rows)
    np.testing.assert_allclose(first / np.trace(first) * 3, np.eye(3), atol=1e-2)
    np.testing.assert_allclose(second / np.trace(second) * 4, np.eye(4), atol=1e-2)


def test_whitening_does_not_depend_on_the_order_of_entries(X):
    rows = whitened(CenteredSamples(X))
    other = whitened(CenteredSamples(np.ascontiguousarray(X[:, ::-1, [2, 0, 3, 1]])))
    np.testing.assert_allclose(other @ other.T, rows @ rows.T, atol=1e-8)
    turned = whitened(CenteredSamples(np.ascontiguousarray(X.transpose(0, 2, 1))))
    np.testing.assert_allclose(turned @ turned.T, rows @ rows.T, atol=1e-8)


def test_k_means_finds_clear_clusters(X):
    labels = np.arange(30) % 2
    X[labels == 1] += 10
    for name, guess in drawn(X, 2):
        if name == "kmeans":
            found = guess.argmax(axis=1)
            assert len({(a, b) for a, b in zip(labels, found, strict=True)}) == 2


def test_labels_to_posteriors():
    assert one_hot(np.array([1, 0, 2]), 3).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
