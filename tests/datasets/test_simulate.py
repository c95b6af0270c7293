import numpy as np
import pytest
from scipy import sparse

from lvmkit.datasets import make_appendix_e, make_bernoulli_mixture

MAKERS = [
    lambda n, d, k, seed: make_bernoulli_mixture(n, d, k, codes_per_row=6, random_state=seed),
    lambda n, d, k, seed: make_appendix_e(n, d, k, random_state=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_data_are_canonical_binary_rows_with_their_truth(make):
    data = make(300, 40, 5, 0)
    assert isinstance(data.X, sparse.csr_array)
    assert (data.X.shape, data.X.dtype, set(data.X.data)) == ((300, 40), np.float32, {1.0})
    assert data.X.has_canonical_format
    assert (data.labels.shape, data.weights.shape, data.centers.shape) == ((300,), (5,), (5, 40))
    assert data.weights.sum() == pytest.approx(1)
    assert len(set(data.feature_names)) == 40


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_the_same_data_and_another_seed_others(make):
    first, again, other = (make(200, 30, 3, seed) for seed in (1, 1, 2))
    assert (first.X != again.X).nnz == 0
    assert (first.X != other.X).nnz > 0
    legacy = [make(200, 30, 3, np.random.RandomState(1)).labels.tolist() for _ in range(2)]
    assert legacy[0] == legacy[1]


@pytest.mark.parametrize("make", MAKERS)
def test_rows_follow_the_centers_of_their_labels(make):
    data = make(60_000, 20, 3, 3)
    for h in range(3):
        seen = data.X[np.flatnonzero(data.labels == h)].mean(axis=0)
        np.testing.assert_allclose(seen, data.centers[h], atol=0.03)


def test_the_default_mixture_has_eight_codes_a_row_and_lifted_codes():
    data = make_bernoulli_mixture(100, 700, 16, random_state=1)
    np.testing.assert_allclose(data.centers.sum(axis=1), 8, rtol=1e-4)
    assert data.centers.max() <= 0.851
    base = 1 / (np.arange(700) + 10)
    lifted = (data.centers / base) > 3 * np.median(data.centers / base, axis=1, keepdims=True)
    assert lifted.sum(axis=1).tolist() == [25] * 16
    assert not lifted[:, 300:].any()


def test_appendix_e_centers_reach_one():
    data = make_appendix_e(50, random_state=0)
    assert (data.X.shape, data.centers.shape, data.centers.max()) == ((50, 99), (12, 99), 1)


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="n_components=0; expected at least 1"):
        make_appendix_e(n_components=0)
    with pytest.raises(ValueError, match=r"codes_per_row=8\.0 must be above 0 and at most 4.25"):
        make_bernoulli_mixture(10, 10, 2)
