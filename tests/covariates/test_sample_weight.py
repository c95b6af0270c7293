"""Samples that count more than once: equal to repeated ones."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.covariates.marginal_likelihood import prior_variance
from lvmkit.covariates.similarities import class_covariance
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import (
    CovariateClusteringClassifier,
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_baseline_path,
    covariate_path,
    select_covariates,
)

DATA = make_covariate_clusters(240, 20, similarity_agrees=True)
WEIGHT = np.random.default_rng(0).integers(0, 4, 240)
ROWS = np.repeat(np.arange(240), WEIGHT)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("y", [DATA.y, DATA.y > DATA.y.min()], ids=["several", "two"])
@pytest.mark.parametrize(
    "model",
    [
        CovariateClusteringClassifier(nu=0.5, tol=1e-7),
        CovariateClusteringClassifier(nu=0.1, refit=True, tol=1e-7),
        CovariateClusteringClassifier(nu=0.02, selection=2.0, tol=1e-7),
        CovariateKMeans(n_clusters=4),
        CovariateConvexClustering(gamma=0.5),
    ],
    ids=["fused", "refit", "selected", "k-means", "convex"],
)
def test_a_weight_is_the_same_as_repeated_samples(model, y, form):
    X = form(DATA.X)
    weighted = model.fit(X, y, sample_weight=WEIGHT)
    coef, labels = weighted.coef_, weighted.covariate_labels_
    accuracy = weighted.score(X, y, sample_weight=WEIGHT)
    repeated = model.fit(X[ROWS], y[ROWS])
    np.testing.assert_array_equal(labels, repeated.covariate_labels_)
    np.testing.assert_allclose(coef, repeated.coef_, atol=2e-4)
    assert accuracy == pytest.approx(repeated.score(X[ROWS], y[ROWS]))


@pytest.mark.parametrize("hessian", ["diagonal", "full"])
def test_paths_and_their_evidence_count_samples(hessian):
    options = {"nus": [0.01, 0.3, 3.0], "prior_variance": 0.1, "hessian": hessian}
    weighted = covariate_path(DATA.X, DATA.y, sample_weight=WEIGHT, **options)
    repeated = covariate_path(DATA.X[ROWS], DATA.y[ROWS], **options)
    np.testing.assert_array_equal(weighted.n_clusters, repeated.n_clusters)
    np.testing.assert_allclose(
        weighted.log_marginal_likelihoods, repeated.log_marginal_likelihoods, rtol=1e-6
    )
    np.testing.assert_allclose(weighted.accuracies, repeated.accuracies)
    assert weighted.n_samples == np.count_nonzero(WEIGHT)  # of people, whatever they stand for
    np.testing.assert_allclose(
        weighted.score(DATA.X, DATA.y, WEIGHT), repeated.score(DATA.X[ROWS], DATA.y[ROWS])
    )


def test_default_strengths_and_selection_count_samples():
    weighted = select_covariates(DATA.X, DATA.y, prior_variance=0.1, sample_weight=WEIGHT)
    repeated = select_covariates(DATA.X[ROWS], DATA.y[ROWS], prior_variance=0.1)
    np.testing.assert_allclose(weighted.strengths, repeated.strengths)
    np.testing.assert_array_equal(weighted.masks, repeated.masks)
    np.testing.assert_allclose(
        weighted.log_marginal_likelihoods, repeated.log_marginal_likelihoods, rtol=1e-6
    )


def test_the_prior_is_cross_validated_with_weights():
    codes = np.unique(DATA.y, return_inverse=True)[1]
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    places = [np.flatnonzero(np.isin(ROWS, fold)) for fold, _ in folds]
    found = prior_variance(DATA.X, codes, codes.max() + 1, folds, WEIGHT.astype(float))
    repeated = [(places[0], places[1]), (places[1], places[0])]
    assert found == prior_variance(DATA.X[ROWS], codes[ROWS], codes.max() + 1, repeated)


@pytest.mark.parametrize("nu", ["marginal_likelihood", "cross_validation"])
def test_nu_is_chosen_with_weights(nu):
    model = CovariateClusteringClassifier(nu=nu).fit(DATA.X, DATA.y, sample_weight=WEIGHT)
    assert model.score(DATA.X, DATA.y, sample_weight=WEIGHT) > 0.6
    assert len(model.path_) == 300


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_covariances_count_samples(form):
    found = class_covariance(form(DATA.X), DATA.y, sample_weight=WEIGHT)
    repeated = class_covariance(form(DATA.X[ROWS]), DATA.y[ROWS])
    np.testing.assert_allclose(found, repeated, atol=1e-12)


def test_weights_may_be_named_and_a_path_of_baselines_takes_them():
    obs = pd.DataFrame({"weight": WEIGHT}, index=[f"p{i}" for i in range(240)])
    cohort = anndata.AnnData(DATA.X, obs=obs)
    named = CovariateKMeans(n_clusters=4).fit(cohort, DATA.y, sample_weight="weight")
    [first] = covariate_baseline_path(
        CovariateKMeans(), DATA.X, DATA.y, values=[4], sample_weight=WEIGHT
    )
    np.testing.assert_array_equal(named.coef_, first.coef_)


def test_weights_that_leave_one_class_are_refused():
    with pytest.raises(ValueError, match="y holds 1 class"):
        CovariateKMeans(n_clusters=2).fit(
            DATA.X, DATA.y, sample_weight=(DATA.y == DATA.y[0]).astype(float)
        )
