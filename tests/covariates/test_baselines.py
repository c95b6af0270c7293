import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone

from lvmkit.core.validation import DataWarning
from lvmkit.covariates.similarities import class_covariance
from lvmkit.covariates.similarities.covariance import pooled_covariance
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import (
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_baseline_path,
)

BOTH = [CovariateKMeans(10), CovariateConvexClustering(0.5)]


@pytest.fixture(scope="module")
def data():
    return make_covariate_clusters(400, 40, similarity_agrees=True)


@pytest.mark.parametrize("model", BOTH)
def test_clusters_that_similarity_shows_are_found(model, data):
    fitted = clone(model).fit(data.X, data.y)
    np.testing.assert_array_equal(fitted.covariate_labels_, data.labels)
    assert fitted.n_clusters_ == 10
    assert fitted.score(data.X, data.y) > 0.9
    for k in range(10):
        assert (np.ptp(fitted.coef_[:, data.labels == k], axis=1) == 0).all()


@pytest.mark.parametrize("model", BOTH)
def test_clusters_that_similarity_hides_are_not_found(model):
    """What the method of Andrade 2021 is for."""
    data = make_covariate_clusters(400, 40)
    fitted = clone(model).set_params(**{"n_clusters": 5} if model is BOTH[0] else {})
    fitted.fit(data.X, data.y)
    np.testing.assert_array_equal(fitted.covariate_labels_, data.similarity_groups)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_weights_minimize_the_objective_on_the_sums(data, classes, ridge):
    X, y = data.X[data.y < classes], data.y[data.y < classes]
    model = CovariateKMeans(3, ridge=ridge).fit(X, y)
    sums = model.transform(X)
    np.testing.assert_allclose(sums[:, 1], X[:, model.covariate_labels_ == 1].sum(axis=1))

    def objective(parameters):
        B, intercept = np.split(parameters.reshape(classes, 4), [3], axis=1)
        scores = sums @ B.T + intercept.T
        likelihood = scores[np.arange(len(y)), y] - logsumexp(scores, axis=1)
        return -likelihood.sum() + ridge * (B**2).sum()

    best = minimize(objective, np.zeros(classes * 4), method="BFGS").fun
    first = [int(np.argmax(model.covariate_labels_ == k)) for k in range(3)]
    found = np.column_stack([model.coef_[:, first], model.intercept_])
    assert objective(found.ravel()) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("model", BOTH)
def test_probabilities_are_those_of_the_weights(model, data):
    fitted = clone(model).fit(data.X, data.y)
    scores = data.X @ fitted.coef_.T + fitted.intercept_
    expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(fitted.predict_proba(data.X), expected)
    np.testing.assert_array_equal(fitted.predict(data.X), expected.argmax(axis=1))


@pytest.mark.parametrize("model", BOTH)
def test_forms_of_the_same_data_give_the_same(model, data):
    X = np.where(data.X > 2, data.X, 0.0)
    names = [f"word {i}" for i in range(40)]
    frame = pd.DataFrame(X, columns=names)
    cohort = anndata.AnnData(sparse.csr_matrix(X), var=pd.DataFrame(index=names))
    text = np.array(["d", "c", "b", "a"])[data.y]
    plain = clone(model).fit(X, text)
    for form in (sparse.csr_array(X), frame, cohort):
        fitted = clone(model).fit(form, text)
        np.testing.assert_array_equal(fitted.covariate_labels_, plain.covariate_labels_)
        np.testing.assert_allclose(fitted.coef_, plain.coef_, atol=1e-3)
        np.testing.assert_allclose(fitted.transform(form), plain.transform(X), atol=1e-9)
    assert fitted.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(fitted.predict(frame[names[::-1]]), fitted.predict(frame))
    assert fitted.classes_.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("model", BOTH)
def test_similarity_can_be_given(model, data):
    S = class_covariance(data.X, data.y)
    given = clone(model).set_params(similarity=data.similarity).fit(data.X, data.y)
    np.testing.assert_array_equal(given.covariate_labels_, data.labels)
    by_name = clone(model).fit(data.X, data.y)
    full = np.maximum(pooled_covariance(data.X, data.y), 0)
    for form in (full, sparse.csr_array(full), lambda X, y: full):
        fitted = clone(model).set_params(similarity=form).fit(data.X, data.y)
        np.testing.assert_array_equal(fitted.coef_, by_name.coef_)
    function = clone(model).set_params(similarity=class_covariance).fit(data.X, data.y)
    numbers = clone(model).set_params(similarity=S).fit(data.X, data.y)
    np.testing.assert_array_equal(function.coef_, numbers.coef_)


@pytest.mark.parametrize(
    ("model", "values"),
    [(CovariateKMeans(), [1, 5, 10, 40]), (CovariateConvexClustering(), [0, 0.3, 0.6, 5])],
)
def test_a_path_holds_what_single_fits_find(model, values, data):
    path = covariate_baseline_path(model, data.X, data.y, values=values)
    assert not hasattr(model, "coef_")
    for value, each in zip(values, path, strict=True):
        option = next(iter(each.get_params().keys() & {"n_clusters", "gamma"}))
        alone = clone(model).set_params(**{option: value}).fit(data.X, data.y)
        assert each.get_params() == alone.get_params()
        np.testing.assert_array_equal(each.covariate_labels_, alone.covariate_labels_)
        np.testing.assert_allclose(each.coef_, alone.coef_)
        assert each._before is None


def test_equal_rows_are_one_cluster(data):
    S = np.kron(np.eye(2), np.ones((20, 20)))
    model = CovariateKMeans(10, similarity=S).fit(data.X, data.y)
    assert model.covariate_labels_.tolist() == [0] * 20 + [1] * 20


def test_steps_that_did_not_do_are_told(data):
    with pytest.warns(
        DataWarning, match="max_iter=2 steps with a relative gap of .*raise max_iter"
    ):
        CovariateConvexClustering(1.0, max_iter=2).fit(data.X, data.y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CovariateKMeans(41), "n_clusters=41, but X has n_features=40; choose at most"),
        (CovariateKMeans(0), "n_clusters"),
        (CovariateKMeans(2, n_init=0), "n_init"),
        (CovariateKMeans(2, ridge=0), "ridge must be a number, greater than 0"),
        (CovariateKMeans(2, similarity="cosine"), "similarity='cosine' is not known"),
        (CovariateKMeans(2, similarity=np.eye(3)), r"shape \(3, 3\); expected \(40, 40\)"),
        (CovariateConvexClustering(-1), "gamma"),
        (CovariateConvexClustering(phi=-1), "phi"),
        (CovariateConvexClustering(n_neighbors=0), "n_neighbors"),
        (CovariateConvexClustering(max_iter=0), "max_iter"),
    ],
)
def test_wrong_options_are_refused(model, message, data):
    with pytest.raises(ValueError, match=message):
        model.fit(data.X, data.y)


def test_one_class_and_real_classes_are_refused(data):
    with pytest.raises(ValueError, match="y holds 1 class"):
        CovariateKMeans(2).fit(data.X, np.zeros(400))
    with pytest.raises(ValueError, match="continuous"):
        CovariateKMeans(2).fit(data.X, data.X[:, 0])
