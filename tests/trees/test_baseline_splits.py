"""The splits that D-SIDIWO is compared with, against numpy's SVD, sums of squares, and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, _kmeans

from lvmkit.trees.baseline_splits import principal_split, two_means
from lvmkit.trees.splits import Sums


def cloud(n, d):
    """Rows far from the origin, longest across the way to their mean: uncentered, the mean would lead."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, d))
    X[:, 1] += 3 * generator.exponential(size=n)
    X[:, 2] += X[:, 1]
    return X + np.where(np.arange(d) == 0, 20.0, 1.0)


def explained(X, side):
    total = ((X - X.mean(axis=0)) ** 2).sum()
    within = sum(((X[side == j] - X[side == j].mean(axis=0)) ** 2).sum() for j in (0, 1))
    return 1 - within / total


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("d", "counted"),
    # Σ xxᵀ, decomposed fully and by iterations; without it few features, and many.
    [(12, True), (130, True), (12, False), (130, False)],
)
def test_rows_go_by_the_first_right_singular_vector_of_the_centered_rows(form, d, counted):
    X = cloud(400, d)
    mean = X.mean(axis=0)
    split = principal_split(form(X), Sums(X.sum(axis=0), X.T @ X if counted else None))
    direction = np.linalg.svd(X - mean)[2][0]
    slope = split.discriminators[1]
    assert abs(slope @ direction) == pytest.approx(1, abs=1e-7)
    assert np.linalg.norm(slope) == pytest.approx(1)
    assert (split.side == ((X - mean) @ slope > 0)).all()
    assert (split.of(form(X)) == split.side).all()
    assert split.strength == pytest.approx(explained(X, split.side))


def test_two_means_are_those_of_scikit_learn_from_the_same_seed():
    corners = np.array([[0, 0], [0, 3], [3, 0], [3, 3]])
    X = np.repeat(corners, 25, axis=0) + np.random.default_rng(0).normal(size=(100, 2))
    found = set()
    for seed in range(6):
        split = two_means(X, Sums(X.sum(axis=0), None), random_state=seed)
        assert (split.side == KMeans(2, n_init=1, random_state=seed).fit(X).labels_).all()
        assert split.strength == pytest.approx(explained(X, split.side))
        found.add(tuple(split.side))
    assert len(found) > 1


def test_what_lies_on_the_stack_raises_no_warning(littered, monkeypatch):
    """Five rows in single precision: OpenBLAS's kernel for AVX-512 computes with it, and leaves it out."""
    X = cloud(5, 3).astype(np.float32)
    wanted = two_means(X.astype(float), Sums(X.sum(axis=0), None), random_state=0)
    distances = littered(_kmeans._euclidean_distances)
    monkeypatch.setattr(_kmeans, "_euclidean_distances", distances)
    found = two_means(X, Sums(X.sum(axis=0), None), random_state=0)
    assert found.side.tolist() == wanted.side.tolist()
