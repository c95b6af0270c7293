import anndata
import numpy as np
import pytest
from scipy import sparse

from lvmkit.covariates.similarities import from_embeddings, nearest_neighbors, word_embeddings
from lvmkit.covariates.similarities.embeddings import _positive_information


@pytest.fixture(name="W")
def _places():
    return np.random.default_rng(0).normal(size=(20, 3))


def test_similarity_is_the_formula_of_section_5(W):
    S = from_embeddings(W)
    for i in range(20):
        for j in range(20):
            expected = np.exp(-0.5 * sum((W[i] - W[j]) ** 2)) if i != j else 0
            assert S[i, j] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("k", [1, 4, 19, 50])
def test_near_pairs_are_those_of_the_whole_similarity(W, k):
    thin = from_embeddings(W, n_neighbors=k)
    expected = nearest_neighbors(from_embeddings(W), k)
    np.testing.assert_allclose(thin.toarray(), expected.toarray(), atol=1e-12)
    assert (thin != thin.T).nnz == 0


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_without_a_place_there_is_no_similarity(W, n_neighbors):
    W[[2, 7]] = np.nan
    S = sparse.csr_array(from_embeddings(W, n_neighbors=n_neighbors)).toarray()
    assert not S[[2, 7]].any()
    rest = np.setdiff1d(np.arange(20), [2, 7])
    alone = sparse.csr_array(from_embeddings(W[rest], n_neighbors=n_neighbors)).toarray()
    np.testing.assert_allclose(S[np.ix_(rest, rest)], alone, atol=1e-14)


def test_one_place_is_similar_to_nothing():
    assert from_embeddings([[1.0, 2.0]], n_neighbors=3).nnz == 0
    assert from_embeddings([[1.0, 2.0]]).tolist() == [[0.0]]


def test_equal_places_are_neighbors_with_similarity_1():
    S = from_embeddings(np.zeros((4, 2)), n_neighbors=2).toarray()
    assert set(np.unique(S)) == {0.0, 1.0}
    assert (np.diag(S) == 0).all()
    assert (S.sum(axis=1) >= 2).all()


def test_no_place_at_all_and_infinite_ones_are_refused(W):
    with pytest.raises(ValueError, match="no row without NaN"):
        from_embeddings(np.full((3, 2), np.nan))
    W[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        from_embeddings(W)
    with pytest.raises(ValueError, match="n_neighbors"):
        from_embeddings(np.eye(3), n_neighbors=0)


@pytest.fixture
def texts():
    """Words 0 to 9 keep company, as do 10 to 19; 20 never occurs."""
    rng = np.random.default_rng(0)
    topic = np.arange(300) % 2
    rates = np.where((np.arange(20) // 10) == topic[:, np.newaxis], 0.6, 0.05)
    return np.column_stack([rng.poisson(rates), np.zeros(300)])


def test_information_is_the_formula(texts):
    occurs = texts[:, :20] > 0
    found = _positive_information(sparse.csr_array(occurs.astype(float)))
    for i in range(20):
        for j in range(20):
            both, one, other = (occurs[:, i] & occurs[:, j]), occurs[:, i], occurs[:, j]
            lift = both.mean() / (one.mean() * other.mean())
            assert found[i, j] == pytest.approx(max(np.log(max(lift, 1e-9)), 0))


def test_words_of_one_company_are_near_and_similarities_spread(texts):
    W = word_embeddings(texts, 3)
    assert np.isnan(W[20]).all()
    S = from_embeddings(W)
    within, between = S[:10, :10][np.triu_indices(10, 1)], S[:10, 10:20]
    assert within.mean() > between.mean() + 0.3
    np.testing.assert_allclose(np.ptp(np.linalg.norm(W[:20], axis=1)), 0, atol=1e-12)


def test_half_the_words_have_a_neighbor_with_a_similarity_of_a_half(texts):
    S = from_embeddings(word_embeddings(texts, 18))
    assert np.median(S[:20].max(axis=1)) == pytest.approx(0.5, abs=1e-6)
    assert np.ptp(S[S > 0]) > 0.3


def test_places_do_not_depend_on_form_or_run(texts):
    W = word_embeddings(texts, 4)
    for form in (sparse.csr_array(texts), anndata.AnnData(texts), 3 * texts):
        np.testing.assert_array_equal(word_embeddings(form, 4), W)


def test_large_vocabularies_are_decomposed_sparse_alike(texts, monkeypatch):
    dense = from_embeddings(word_embeddings(texts, 2))
    monkeypatch.setattr(
        "lvmkit.covariates.similarities.embeddings._positive_information",
        lambda occurs: sparse.csr_array(_positive_information(occurs)),
    )
    np.testing.assert_allclose(from_embeddings(word_embeddings(texts, 2)), dense, atol=1e-8)


def test_words_that_are_everywhere_have_no_place():
    assert np.isnan(word_embeddings(np.ones((5, 3)), 2)).all()


def test_wrong_requests_are_refused(texts):
    with pytest.raises(ValueError, match="has 21 words"):
        word_embeddings(texts, 22)
    with pytest.raises(ValueError, match="0 everywhere"):
        word_embeddings(np.zeros((3, 4)), 2)
    with pytest.raises(TypeError, match="n_components"):
        word_embeddings(texts, 2.5)
