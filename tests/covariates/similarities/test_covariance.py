import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.covariance import ledoit_wolf

from lvmkit.covariates.similarities import class_covariance
from lvmkit.covariates.similarities.covariance import pooled_covariance
from lvmkit.datasets import make_covariate_clusters


def centered(X, y):
    return X - pd.DataFrame(X).groupby(np.asarray(y)).transform("mean").to_numpy()


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
)
@pytest.mark.parametrize(("n", "d"), [(300, 40), (20, 60), (7, 3)])
def test_the_covariance_is_scikit_learns_of_centered_classes(form, n, d):
    rng = np.random.default_rng(n)
    X = rng.poisson(0.3, (n, d)) * rng.normal(size=(n, d))
    y = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    expected, _ = ledoit_wolf(centered(X, y), assume_centered=True)
    np.testing.assert_allclose(pooled_covariance(form(X), y), expected, atol=1e-12)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(class_covariance(form(X), y), np.maximum(expected, 0), atol=1e-12)


def test_labelled_data_give_the_same():
    data = make_covariate_clusters(60, 12)
    S = class_covariance(data.X, data.y)
    names = [f"word {i}" for i in range(12)]
    np.testing.assert_array_equal(class_covariance(pd.DataFrame(data.X, columns=names), data.y), S)
    np.testing.assert_array_equal(class_covariance(anndata.AnnData(data.X), data.y), S)


def test_many_samples_show_the_similarity_behind_them():
    data = make_covariate_clusters(20_000, 20)
    np.testing.assert_allclose(class_covariance(data.X, data.y), data.similarity, atol=0.05)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_samples_that_say_nothing_have_no_similar_covariates(form):
    y = np.arange(4) // 2
    same = np.repeat([[1.0, 2.0, 0.0], [0.0, 5.0, 1.0]], 2, axis=0)
    assert not class_covariance(form(same), y).any()
    assert not class_covariance(form(same[::2]), [0, 1]).any()
    assert not class_covariance(form(np.zeros((4, 3))), y).any()


def test_a_constant_covariate_is_similar_to_none():
    data = make_covariate_clusters(100, 10)
    data.X[:, 3] = 4.0
    S = class_covariance(data.X, data.y)
    assert not S[3].any()
    assert not S[:, 3].any()
    assert S[4].any()


def test_missing_values_and_other_lengths_are_refused():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        class_covariance(X, [0, 1])
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        class_covariance(X, [0, 1, 0, 1])
