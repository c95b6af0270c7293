"""Files of clustered covariates and of their paths: equal after loading, and no more believed than data."""

import json

import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import (
    CovariateClusteringClassifier,
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_path,
)

DATA = make_covariate_clusters(200, 20, similarity_agrees=True)
X = pd.DataFrame(DATA.X, columns=[f"c{i}" for i in range(20)])
MODELS = [
    CovariateClusteringClassifier(nu=0.1),
    CovariateClusteringClassifier(nu=np.inf),
    CovariateClusteringClassifier(nu=0.02, selection=3.0),
    CovariateClusteringClassifier(n_clusters=4, refit=True),
    CovariateKMeans(4),
    CovariateConvexClustering(0.5),
]


def labels(kind):
    """Classes of a kind."""
    named = np.array(["blue", "green", "red", "x"])[DATA.y % 4]
    return {"text": named, "object": named.astype(object), "bool": DATA.y > 1}.get(kind, DATA.y)


@pytest.mark.parametrize("kind", ["text", "object", "bool", "numbers"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_classifier_comes_back_the_same(model, kind, tmp_path):
    fitted = model.fit(X, labels(kind))
    again = lvmkit.load(lvmkit.save(fitted, tmp_path / "model"))
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X[X.columns[::-1]]), fitted.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    for name in ("n_iter_", "gap_", "converged_", "objective_", "nu_", "n_clusters_"):
        assert getattr(again, name, None) == getattr(fitted, name, None)


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("named", [True, False])
def test_a_path_comes_back_the_same(cv, named, tmp_path):
    rows = X if named else DATA.X
    path = covariate_path(rows, DATA.y, nus=[0.01, 0.1, 1.0, np.inf], cv=cv, selection=0.0)
    again = lvmkit.load(lvmkit.save(path, tmp_path / "path"))
    assert (again.nus == path.nus).all()
    assert (again.n_samples, again.best, again.ridge) == (200, path.best, path.ridge)
    np.testing.assert_array_equal(again.score(rows, DATA.y), path.score(rows, DATA.y))
    for one, other in zip(again, path, strict=True):
        for name, value in vars(other).items():
            np.testing.assert_array_equal(getattr(one, name), value)
    if cv:
        np.testing.assert_array_equal(again.cross_validation.mean, path.cross_validation.mean)
        assert again.cross_validation.chosen == path.cross_validation.chosen
    assert (again.feature_names is None) is not named


def changed(path, key, change):
    """Write the file anew with one array, or one part of the header, changed."""
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(str(arrays["header"]))
    if key in arrays:
        arrays[key] = change(arrays[key])
    else:
        header[key] = change(header[key])
    arrays["header"] = np.array(json.dumps(header))
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return path


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("coef_", lambda v: v[:1], "shape"),
        ("coef_", lambda v: v + np.arange(20), "'coef_' is not what such a model has"),
        ("coef_", lambda v: v * np.nan, "holds nan"),
        ("intercept_", lambda v: v[:1], "shape"),
        ("covariate_labels_", lambda v: v[:3], "shape"),
        ("covariate_labels_", lambda v: v + 1, "with gaps or below -1"),
        ("covariate_labels_", lambda v: v - 2, "with gaps or below -1"),
        ("covariate_labels_", lambda v: v * 1.0, "an array of float64"),
        ("nu_", lambda v: -v, "'nu_' is -0.1"),
        ("nu_", lambda v: v * np.nan, "'nu_' is nan"),
        ("classes", lambda v: v[::-1], "not two or more, ascending"),
        ("classes", lambda v: v[:1], "not two or more"),
        ("classes", lambda v: [1, "a"], "no list of numbers, or of texts"),
        ("classes", lambda v: {"a": 1}, "no list of numbers"),
        ("classes", lambda v: [[1], [2]], "no list of numbers"),
        ("feature_names", lambda v: v[:3], "has 3 names"),
        ("params", lambda v: v | {"nu": "highest"}, "nu='highest' is not known"),
        ("params", lambda v: v | {"tol": -1}, "tol must be a number"),
        ("params", lambda v: v | {"max_iter": "infinity"}, "the parameter max_iter is 'infinity'"),
    ],
)
def test_files_that_no_classifier_wrote_are_refused(key, change, message, tmp_path):
    path = lvmkit.save(CovariateClusteringClassifier(nu=0.1).fit(X, DATA.y), tmp_path / "model")
    with pytest.raises(ValueError, match=message):
        lvmkit.load(changed(path, key, change))


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("path_coefs", lambda v: v[:2], "shape"),
        ("path_coefs", lambda v: v[:, :1], "of 1 classes"),
        ("path_labels", lambda v: v + 1, "with gaps"),
        ("path_cluster_coefs", lambda v: v[:, 1:], "shape"),
        ("path_nus", lambda v: -v, "nus of the path"),
        ("path_nus", lambda v: v * np.nan, "nus of the path"),
        ("path_accuracies", lambda v: v + 2, "accuracies of the path"),
        ("path_class_counts", lambda v: -v, "class_counts of the path"),
        ("path_cross_chosen", lambda v: v + 99, "cross_chosen of the path"),
        ("path_converged", lambda v: v * 1.0, "an array of float64"),
        ("feature_names", lambda v: v[:3], "covariates"),
    ],
)
def test_files_that_no_path_wrote_are_refused(key, change, message, tmp_path):
    path = covariate_path(X, DATA.y, nus=[0.01, 0.1, 1.0], cv=3)
    with pytest.raises(ValueError, match=message):
        lvmkit.load(changed(lvmkit.save(path, tmp_path / "path"), key, change))


def test_what_is_not_fitted_or_cannot_be_kept_is_told(tmp_path):
    with pytest.raises(ValueError, match="this CovariateKMeans is not fitted yet"):
        lvmkit.save(CovariateKMeans(), tmp_path / "model")
    fitted = CovariateKMeans(4).fit(X, DATA.y)
    with pytest.raises(ValueError, match="annotations cannot be kept with a CovariateKMeans"):
        lvmkit.save(fitted, tmp_path / "model", annotations={"a": 1})
