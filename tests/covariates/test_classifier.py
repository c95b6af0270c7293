import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.base import clone

from lvmkit import CovariateClusteringClassifier
from lvmkit.core.validation import DataWarning
from lvmkit.covariates.similarities import class_covariance
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import covariate_path


@pytest.fixture(scope="module")
def data():
    return make_covariate_clusters(200, 20, n_clusters=5, n_classes=3)


@pytest.fixture(scope="module")
def similarity(data):
    return class_covariance(data.X, data.y)


@pytest.fixture(scope="module")
def model(data, similarity):
    return CovariateClusteringClassifier(1.0, similarity=similarity).fit(data.X, data.y)


def together(labels):
    return labels[:, None] == labels[None]


def equation_one(X, y, S, model, selection=0.0):
    """The problem's objective, with each unordered pair once."""
    coef = model.coef_
    scores = X @ coef.T + model.intercept_
    total = (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).sum()
    total += model.ridge * (coef**2).sum() + selection * np.linalg.norm(coef, axis=0).sum()
    pairs = [(i, j) for j in range(coef.shape[1]) for i in range(j)]
    return total + model.nu_ * sum(
        S[i, j] * np.linalg.norm(coef[:, i] - coef[:, j]) for i, j in pairs
    )


def test_what_is_fitted(data, similarity, model):
    assert model.coef_.shape == (3, 20)
    assert model.intercept_.shape == (3,)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.covariate_labels_.shape == (20,)
    assert model.n_clusters_ == len(set(model.covariate_labels_))
    assert model.converged_
    assert 0 <= model.gap_ <= 1e-5
    assert model.nu_ == 1.0
    assert model.objective_ == pytest.approx(equation_one(data.X, data.y, similarity, model))
    assert not hasattr(model, "path_")


def test_predictions_are_those_of_the_weights(data, model):
    expected = softmax(data.X @ model.coef_.T + model.intercept_, axis=1)
    np.testing.assert_allclose(model.predict_proba(data.X), expected)
    np.testing.assert_array_equal(model.predict(data.X), expected.argmax(axis=1))
    totals = model.transform(data.X)
    for k in range(model.n_clusters_):
        members = model.covariate_labels_ == k
        np.testing.assert_allclose(totals[:, k], data.X[:, members].sum(axis=1))
        assert (np.ptp(model.coef_[:, members], axis=1) == 0).all()


def test_clusters_that_similarity_hides_are_found(data):
    """What Andrade 2021 is about: covariates of different classes, although as similar as those of the same one."""
    found = CovariateClusteringClassifier(n_clusters=5).fit(data.X, data.y)
    assert found.n_clusters_ == 5
    np.testing.assert_array_equal(found.covariate_labels_, data.labels)


@pytest.fixture
def small(data, similarity):
    """Few samples and covariates: a path has 300 values of nu, and folds have as many."""
    return data.X[:60, ::3], data.y[:60], similarity[::3, ::3]


@pytest.mark.parametrize("name", ["marginal_likelihood", "cross_validation"])
def test_nu_is_chosen_along_the_path(small, name):
    X, y, similarity = small
    found = CovariateClusteringClassifier(name, similarity=similarity).fit(X, y)
    path = covariate_path(X, y, similarity=similarity, cv=5 if name == "cross_validation" else None)
    best = path[path.best if path.cross_validation is None else path.cross_validation.chosen]
    assert found.nu_ == best.nu
    np.testing.assert_array_equal(found.coef_, best.coef)
    np.testing.assert_array_equal(found.covariate_labels_, best.labels)
    assert found.objective_ == best.objective
    assert len(found.path_) == 300


def test_cross_validation_does_not_show_held_out_samples_to_the_similarity(small):
    seen = []

    def similarity(X, y):
        seen.append(len(y))
        return np.ones((3, 3))

    CovariateClusteringClassifier("cross_validation", similarity=similarity).fit(
        small[0][:, :3], small[1]
    )
    assert len([n for n in seen if n < 60]) == 5


def test_clusters_asked_for(data, similarity):
    for wanted in (2, 10):
        found = CovariateClusteringClassifier(n_clusters=wanted, similarity=similarity).fit(
            data.X, data.y
        )
        path = found.path_
        assert abs(found.n_clusters_ - wanted) == np.abs(path.n_clusters - wanted).min()


def test_a_refit_is_the_regression_on_the_sums(data, similarity, model):
    found = CovariateClusteringClassifier(1.0, similarity=similarity, refit=True).fit(
        data.X, data.y
    )
    np.testing.assert_array_equal(found.covariate_labels_, model.covariate_labels_)
    m = found.n_clusters_
    first = np.array([np.argmax(found.covariate_labels_ == k) for k in range(m)])
    weights, totals = found.coef_[:, first], found.transform(data.X)
    np.testing.assert_array_equal(weights[:, found.covariate_labels_], found.coef_)

    def cost(weights, intercept):
        scores = totals @ weights.T + intercept
        fit = (logsumexp(scores, axis=1) - scores[np.arange(200), data.y]).sum()
        return fit + found.ridge * (weights**2).sum()

    least = cost(weights, found.intercept_)
    rng = np.random.default_rng(0)
    for _ in range(20):
        beside = weights + 1e-3 * rng.normal(size=weights.shape)
        assert cost(beside, found.intercept_ + 1e-3 * rng.normal(size=3)) > least


def test_joint_selection(data, similarity):
    found = CovariateClusteringClassifier(0.1, similarity=similarity, selection=20.0).fit(
        data.X, data.y
    )
    out = found.covariate_labels_ == -1
    assert 0 < out.sum() < 20
    assert (found.coef_[:, out] == 0).all()
    assert found.objective_ == pytest.approx(
        equation_one(data.X, data.y, similarity, found, selection=20.0)
    )
    assert found.transform(data.X).shape == (200, found.n_clusters_)
    again = clone(found).set_params(refit=True).fit(data.X, data.y)
    assert (again.coef_[:, out] == 0).all()
    nothing = clone(found).set_params(selection=1e6).fit(data.X, data.y)
    assert nothing.n_clusters_ == 0
    assert nothing.transform(data.X).shape == (200, 0)
    assert set(nothing.predict(data.X)) == {np.bincount(data.y).argmax()}


def test_selection_before(data):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(200, 6)), data.X[:, ::4]])
    for nu in (1.0, "marginal_likelihood"):
        found = CovariateClusteringClassifier(
            nu, similarity=np.ones((11, 11)), selection="before"
        ).fit(X, data.y)
        out = found.covariate_labels_ == -1
        assert out[:6].sum() >= 5
        assert not out[6:].all()
        assert (found.coef_[:, out] == 0).all()
        assert found.transform(X).shape == (200, found.n_clusters_)
        assert found.score(X, data.y) > 0.5


def test_covariates_without_any_meaning_are_all_left_out():
    X, y = np.ones((40, 2)), np.arange(40) % 2
    with pytest.warns(DataWarning) as caught:
        found = CovariateClusteringClassifier(similarity=np.ones((2, 2)), selection="before").fit(
            X, y
        )
    assert any("left no covariate" in str(each.message) for each in caught)
    assert found.covariate_labels_.tolist() == [-1, -1]
    np.testing.assert_allclose(found.predict_proba(X), 0.5)


@pytest.mark.parametrize("nu", [0.0, np.inf])
def test_the_ends_of_nu(data, nu):
    similarity = np.kron(np.eye(4), np.ones((5, 5)))
    found = CovariateClusteringClassifier(nu, similarity=similarity).fit(data.X, data.y)
    assert found.converged_
    expected = np.arange(20) if nu == 0 else np.repeat(np.arange(4), 5)
    np.testing.assert_array_equal(found.covariate_labels_, expected)
    assert np.isfinite(found.objective_)


def test_classes_of_text_and_names_in_another_order(data, similarity, model):
    frame = pd.DataFrame(data.X, columns=[f"c{k}" for k in range(20)])
    classes = np.array(["b", "a", "c"])[data.y]
    found = CovariateClusteringClassifier(1.0, similarity=similarity).fit(frame, classes)
    assert found.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(
        together(found.covariate_labels_), together(model.covariate_labels_)
    )
    np.testing.assert_allclose(found.coef_[[1, 0, 2]], model.coef_, atol=1e-3)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(found.predict_proba(turned), found.predict_proba(frame))
    np.testing.assert_array_equal(found.transform(turned), found.transform(frame))


def test_a_named_similarity_is_matched_by_name(data, similarity, model):
    names = [f"c{k}" for k in range(20)]
    frame = pd.DataFrame(data.X, columns=names)
    turned = pd.DataFrame(similarity, index=names, columns=names).iloc[::-1, ::-1]
    found = CovariateClusteringClassifier(1.0, similarity=turned).fit(frame, data.y)
    np.testing.assert_array_equal(found.coef_, model.coef_)


def test_sparse_samples_and_similarities(data, similarity, model):
    found = CovariateClusteringClassifier(1.0, similarity=sparse.csr_matrix(similarity)).fit(
        sparse.csc_matrix(data.X), data.y
    )
    np.testing.assert_array_equal(found.covariate_labels_, model.covariate_labels_)
    np.testing.assert_allclose(
        found.predict_proba(sparse.coo_array(data.X)), model.predict_proba(data.X), atol=1e-5
    )
    np.testing.assert_allclose(found.transform(sparse.csr_array(data.X)), model.transform(data.X))


def test_similarity_may_be_a_function_of_samples_and_classes(data, similarity, model):
    found = CovariateClusteringClassifier(1.0, similarity=class_covariance).fit(data.X, data.y)
    default = CovariateClusteringClassifier(1.0).fit(data.X, data.y)
    for each in (found, default):
        np.testing.assert_array_equal(each.coef_, model.coef_)


def test_fewer_samples_than_covariates(data, similarity):
    few = np.r_[0:12]
    found = CovariateClusteringClassifier(1.0, similarity=similarity).fit(data.X[few], data.y[few])
    assert found.converged_
    assert np.linalg.matrix_rank(data.X[few]) < 20


@pytest.mark.parametrize("nu", [1.0, "marginal_likelihood", "cross_validation"])
def test_a_class_with_one_sample(small, nu):
    X, _, similarity = small
    y = np.where(np.arange(60) == 7, "rare", "common")
    found = CovariateClusteringClassifier(nu, similarity=similarity).fit(X, y)
    assert found.converged_
    assert np.isfinite(found.coef_).all()


def test_an_open_gap_is_warned_of(data, similarity):
    with pytest.warns(DataWarning, match="was not solved to tol"):
        found = CovariateClusteringClassifier(1.0, similarity=similarity, max_iter=1).fit(
            data.X, data.y
        )
    assert not found.converged_
    assert found.gap_ > 1e-5
    assert found.n_iter_ <= 1


def test_constant_covariates_are_warned_of(data):
    X = data.X.copy()
    X[:, 4] = 1.0
    with pytest.warns(
        DataWarning, match=r"1 covariates? (is|are) constant \(columns? 4\)"
    ) as caught:
        CovariateClusteringClassifier(1.0).fit(X, data.y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": -1.0}, "nu must be"),
        ({"nu": np.nan}, "nu must be"),
        ({"nu": "best"}, "nu='best' is not known"),
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"ridge": 0.0}, "ridge must be"),
        ({"selection": -1.0}, "selection must be"),
        ({"selection": "after"}, "selection='after' is not known"),
        ({"nu": np.inf, "selection": 1.0}, "infinity"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"similarity": "cosine"}, "similarity='cosine' is not known"),
        ({"similarity": np.ones((2, 2))}, "shape"),
        ({"similarity": np.triu(np.ones((20, 20)))}, "not symmetric"),
    ],
    ids=str,
)
def test_what_is_not_as_described_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        CovariateClusteringClassifier(**options).fit(data.X, data.y)


def test_bad_data_are_refused(data):
    model = CovariateClusteringClassifier()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(data.X > 2, np.nan, data.X), data.y)
    with pytest.raises(ValueError, match="1 class"):
        model.fit(data.X, np.zeros(200))
    with pytest.raises((TypeError, ValueError), match="nu must be"):
        CovariateClusteringClassifier(None).fit(data.X, data.y)


def test_sums_of_clusters_have_names(data, model):
    names = [f"covariateclusteringclassifier{i}" for i in range(model.n_clusters_)]
    assert model.get_feature_names_out().tolist() == names
    table = clone(model).set_output(transform="pandas").fit(data.X, data.y).transform(data.X)
    assert table.columns.tolist() == names
