import numpy as np
import pytest
from scipy import sparse

from lvmkit.covariates.similarities import nearest_neighbors


def kept_by_hand(S, k):
    keep = np.zeros(S.shape, dtype=bool)
    for i in range(len(S)):
        others = [j for j in np.argsort(-S[i], kind="stable") if j != i and S[i, j] > 0]
        keep[i, others[:k]] = True
    return np.where(keep | keep.T, S, 0.0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("k", [1, 2, 5, 30])
@pytest.mark.parametrize("steps", [3, 1_000])
def test_a_pair_stays_when_one_chose_the_other(form, k, steps):
    """Few steps make ties, many none."""
    rng = np.random.default_rng(0)
    half = np.triu(rng.integers(0, steps, (15, 15)) / steps, 1)
    S = half + half.T
    thin = nearest_neighbors(form(S + 3 * np.eye(15)), k)
    np.testing.assert_array_equal(thin.toarray(), kept_by_hand(S, k))
    assert isinstance(thin, sparse.csr_array)


def test_nothing_in_common_stays_so():
    thin = nearest_neighbors(np.eye(4), 2)
    assert (thin.shape, thin.nnz) == ((4, 4), 0)


def test_a_wrong_number_or_similarity_is_refused():
    with pytest.raises(ValueError, match="n_neighbors"):
        nearest_neighbors(np.eye(4), 0)
    with pytest.raises(TypeError, match="n_neighbors"):
        nearest_neighbors(np.eye(4), 1.5)
    with pytest.raises(ValueError, match="negative"):
        nearest_neighbors(-np.ones((4, 4)))
    with pytest.raises(ValueError, match="shape"):
        nearest_neighbors(5.0)
