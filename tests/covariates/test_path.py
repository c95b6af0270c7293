from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from lvmkit.core.validation import DataWarning
from lvmkit.covariates.path import _one_standard_error
from lvmkit.covariates.similarities import class_covariance
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import covariate_path

NUS = [0.01, 0.3, 1.0, 3.0, 10.0, 100.0]


@pytest.fixture(scope="module")
def data():
    return make_covariate_clusters(200, 20, n_clusters=5, n_classes=3)


@pytest.fixture(scope="module")
def similarity(data):
    return class_covariance(data.X, data.y)


@pytest.fixture(scope="module")
def path(data, similarity):
    return covariate_path(data.X, data.y, NUS, similarity=similarity)


def test_a_path_is_a_sequence_of_solutions(data, path):
    assert len(path) == 6
    assert [each.nu for each in path] == NUS == path.nus.tolist()
    assert path[-1] is path.solutions[5]
    assert path[1:3] == path.solutions[1:3]
    assert path.n_samples == 200
    assert path.class_counts.tolist() == np.bincount(data.y).tolist()
    assert path.classes.tolist() == [0, 1, 2]
    assert path.feature_names is None
    assert path.ridge == 0.1
    for each in path:
        assert each.converged
        assert each.gap <= 1e-5
        assert each.coef.shape == (3, 20)
        assert each.cluster_coef.shape == (3, each.n_clusters)
        assert each.n_clusters == len(set(each.labels))
    assert path.n_clusters.tolist() == [each.n_clusters for each in path]
    assert path.n_clusters[0] > path.n_clusters[-1]


def test_each_solution_is_that_of_its_nu_alone(data, similarity, path):
    for nu, each in zip(NUS, path, strict=True):
        (alone,) = covariate_path(data.X, data.y, nu, similarity=similarity, prior_variance=1.0)
        assert each.objective == pytest.approx(alone.objective, rel=1e-5)
        np.testing.assert_allclose(each.coef, alone.coef, atol=1e-2)


def test_the_order_of_the_values_is_kept(data, similarity, path):
    order = [3, 0, 5, 1, 4, 2]
    mixed = covariate_path(data.X, data.y, np.array(NUS)[order], similarity=similarity)
    for place, k in enumerate(order):
        assert mixed[place].nu == NUS[k]
        assert mixed[place].objective == path[k].objective
        np.testing.assert_array_equal(mixed[place].labels, path[k].labels)
    ascending = mixed.ascending()
    assert ascending.nus.tolist() == NUS
    assert NUS[path.best] == mixed.nus[mixed.best] == ascending.nus[ascending.best]


def test_default_values_of_nu_are_those_of_the_document(data):
    X, y = data.X[:30, :3], data.y[:30]
    path = covariate_path(X, y, similarity=np.ones((3, 3)), prior_variance=1.0)
    np.testing.assert_allclose(np.sort(path.nus)[::-1], 30 * 2.0 ** (-0.1 * np.arange(300)))
    assert path[-1].n_clusters == 1
    assert path[0].n_clusters == 3
    assert all(each.converged for each in path)


def test_cluster_weights_are_those_of_a_regression_on_sums(data, path):
    for each in path:
        total = np.stack(
            [data.X[:, each.labels == k].sum(axis=1) for k in range(each.n_clusters)], axis=1
        )
        model = LogisticRegression(C=path.prior_variance, tol=1e-8, max_iter=5000)
        model.fit(total, data.y)
        np.testing.assert_allclose(each.cluster_coef, model.coef_, atol=5e-3)
        assert each.accuracy == pytest.approx(model.score(total, data.y), abs=0.011)
        assert each.cluster_intercept.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("hessian", ["diagonal", "full"])
def test_the_marginal_likelihood_by_hand(data, similarity, hessian):
    variance = 0.5
    (each,) = covariate_path(
        data.X, data.y, 3.0, similarity=similarity, prior_variance=variance, hessian=hessian
    )
    m = each.n_clusters
    total = data.X @ np.eye(m)[each.labels]
    scores = total @ each.cluster_coef.T + each.cluster_intercept
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    top = np.log(p[np.arange(200), data.y]).sum()
    top -= (each.cluster_coef**2).sum() / (2 * variance) + 3 * m / 2 * np.log(2 * np.pi * variance)
    hessian_of = np.zeros((3 * m, 3 * m))
    for a in range(3):
        for b in range(3):
            certain = p[:, a] * ((a == b) - p[:, b])
            hessian_of[a * m : (a + 1) * m, b * m : (b + 1) * m] = total.T @ (
                certain[:, None] * total
            )
    hessian_of += np.eye(3 * m) / variance
    if hessian == "diagonal":
        hessian_of = np.diag(np.diag(hessian_of))
    expected = top + 3 * m / 2 * np.log(2 * np.pi) - np.linalg.slogdet(hessian_of)[1] / 2
    assert each.log_marginal_likelihood == pytest.approx(expected, abs=1e-3)


def test_the_best_has_the_highest_marginal_likelihood(path):
    assert path.log_marginal_likelihoods[path.best] == max(
        each.log_marginal_likelihood for each in path
    )


def test_numbers_of_clusters_are_found(path):
    for wanted in (1, 3, 7, 100):
        found = path.with_n_clusters(wanted)
        away = np.abs(path.n_clusters - wanted)
        assert away[found] == away.min()
        assert path.nus[found] == path.nus[away == away.min()].min()
    with pytest.raises(ValueError, match="n_clusters must be a whole number"):
        path.with_n_clusters(0)


def test_cross_validation_by_hand(data, similarity):
    """Folds of scikit-learn; a fold's values of nu are as much smaller as its samples are fewer."""
    path = covariate_path(data.X, data.y, NUS, similarity=similarity, cv=4, prior_variance=0.5)
    shares = np.empty((4, len(NUS)))
    folds = StratifiedKFold(4).split(np.zeros(200), data.y)
    for k, (train, test) in enumerate(folds):
        smaller = np.array(NUS) * len(train) / 200
        fold = covariate_path(
            data.X[train], data.y[train], smaller, similarity=similarity, prior_variance=0.5
        )
        for at, each in enumerate(fold):
            sums = np.stack(
                [data.X[test][:, each.labels == c].sum(axis=1) for c in range(each.n_clusters)],
                axis=1,
            )
            scores = sums @ each.cluster_coef.T + each.cluster_intercept
            shares[k, at] = (scores.argmax(axis=1) == data.y[test]).mean()
    found = path.cross_validation
    np.testing.assert_allclose(found.mean, shares.mean(axis=0))
    np.testing.assert_allclose(found.std_error, shares.std(axis=0, ddof=1) / 2)
    best = found.mean.argmax()
    within = [
        k for k in range(len(NUS)) if found.mean[k] >= found.mean[best] - found.std_error[best]
    ]
    fewest = min(path[k].n_clusters for k in within)
    assert path[found.chosen].n_clusters == fewest
    assert found.chosen == min(k for k in within if path[k].n_clusters == fewest)
    mixed = covariate_path(
        data.X, data.y, NUS[::-1], similarity=similarity, cv=4, prior_variance=0.5
    )
    assert mixed.cross_validation.chosen == len(NUS) - 1 - found.chosen
    again = mixed.ascending().cross_validation
    assert again.chosen == found.chosen
    np.testing.assert_array_equal(again.mean, found.mean)


def test_a_similarity_that_is_estimated_does_not_see_held_out_samples(data):
    seen = []

    def measured(X, y):
        seen.append((X.shape[0], len(y)))
        return np.ones((20, 20))

    covariate_path(data.X, data.y, [1.0], similarity=measured, cv=4, prior_variance=1.0)
    sizes = [len(train) for train, _ in StratifiedKFold(4).split(data.X, data.y)]
    assert seen == [(n, n) for n in (200, *sizes)]


def test_folds_that_cannot_be_had_are_refused():
    X = np.random.default_rng(0).normal(size=(4, 3))
    with pytest.raises(ValueError, match="cv=5"):
        covariate_path(X, range(4), [1.0], similarity=np.ones((3, 3)), cv=5)
    path = covariate_path(X, range(4), [1.0], similarity=np.ones((3, 3)))
    assert path.cross_validation is None
    assert path.prior_variance == 1.0


def test_scores_on_other_samples(data, path):
    other = make_covariate_clusters(100, 20, n_clusters=5, n_classes=3, random_state=1)
    scores = path.score(other.X, other.y)
    for share, each in zip(scores, path, strict=True):
        total = other.X @ np.eye(each.n_clusters)[each.labels]
        predicted = (total @ each.cluster_coef.T + each.cluster_intercept).argmax(axis=1)
        assert share == pytest.approx((predicted == other.y).mean())
    np.testing.assert_allclose(path.score(data.X, data.y), path.accuracies)
    unknown = np.where(np.arange(100) < 50, other.y, 77)
    assert (path.score(other.X, unknown) <= 0.5).all()


def test_names_classes_and_sparse_samples(data, similarity, path):
    names = [f"lab {k}" for k in range(20)]
    frame = pd.DataFrame(data.X, columns=names)
    classes = np.array(["low", "middle", "tall"])[data.y]
    named = covariate_path(frame, classes, NUS, similarity=similarity)
    assert named.feature_names.tolist() == names
    assert named.classes.tolist() == ["low", "middle", "tall"]
    np.testing.assert_array_equal(named.n_clusters, path.n_clusters)
    turned = frame[names[::-1]]
    np.testing.assert_array_equal(named.score(turned, classes), path.accuracies)
    other = covariate_path(
        sparse.csr_matrix(data.X), data.y, NUS, similarity=sparse.csr_array(similarity)
    )
    np.testing.assert_array_equal(other.n_clusters, path.n_clusters)
    np.testing.assert_allclose(
        other.log_marginal_likelihoods, path.log_marginal_likelihoods, rtol=1e-4
    )


def test_the_same_bits_twice(data, similarity, path):
    again = covariate_path(data.X, data.y, NUS, similarity=similarity)
    np.testing.assert_array_equal(again.log_marginal_likelihoods, path.log_marginal_likelihoods)
    for one, two in zip(again, path, strict=True):
        np.testing.assert_array_equal(one.coef, two.coef)


def test_selection_leaves_covariates_out(data, similarity):
    path = covariate_path(data.X, data.y, [0.01, 0.1, 1.0], similarity=similarity, selection=20.0)
    for each in path:
        out = each.labels == -1
        assert out.any()
        assert (each.coef[:, out] == 0).all()
        assert each.cluster_coef.shape == (3, each.labels.max() + 1)
    nothing = covariate_path(
        data.X, data.y, [0.1], similarity=similarity, selection=1e6, hessian="full"
    )
    shares = path.class_counts / 200
    assert nothing[0].n_clusters == 0
    assert nothing.log_marginal_likelihoods[0] == pytest.approx(200 * shares @ np.log(shares))
    assert nothing.score(data.X, data.y)[0] == pytest.approx(shares.max())


def test_progress_is_told_and_may_stop(data, similarity):
    told = []
    covariate_path(
        data.X, data.y, NUS, similarity=similarity, cv=2, prior_variance=1.0,
        progress=lambda text, done: told.append(done),
    )  # fmt: skip
    assert len(told) >= 18
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)

    def stop(text, done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        covariate_path(
            data.X, data.y, NUS, similarity=similarity, prior_variance=1.0, progress=stop
        )


def test_open_gaps_are_warned_of(data, similarity):
    with pytest.warns(DataWarning, match="2 of 2 values of ν were not solved"):
        path = covariate_path(
            data.X, data.y, [0.1, 1.0], similarity=similarity, max_iter=1, prior_variance=1.0
        )
    assert not any(each.converged for each in path)


def test_constant_covariates_are_warned_of_once(data):
    X = data.X.copy()
    X[:, [3, 5]] = 2.0
    with pytest.warns(DataWarning, match="2 covariates are constant") as caught:
        covariate_path(X, data.y, [1.0], similarity=np.ones((20, 20)), prior_variance=1.0)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nus": []}, "nus must be numbers"),
        ({"nus": [1, -1]}, "nus must be numbers"),
        ({"nus": [np.nan]}, "nus must be numbers"),
        ({"nus": "many"}, "nus must be numbers"),
        ({"nus": [[1, 2]]}, "nus must be numbers"),
        ({"nus": [np.inf], "selection": 1.0}, "infinity"),
        ({"ridge": 0}, "ridge must be"),
        ({"selection": -1}, "selection must be"),
        ({"selection": np.nan}, "selection must be"),
        ({"prior_variance": 0}, "prior_variance must be"),
        ({"hessian": "some"}, "hessian='some' is not known"),
        ({"cv": 1}, "cv must be"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"similarity": "cosine"}, "similarity='cosine' is not known"),
        ({"similarity": np.ones((3, 3))}, "shape"),
        ({"similarity": np.triu(np.ones((20, 20)))}, "not symmetric"),
        ({"similarity": -np.ones((20, 20))}, "negative"),
        ({"similarity": np.full((20, 20), np.nan)}, "not finite"),
    ],
    ids=str,
)
def test_what_is_not_as_described_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        covariate_path(data.X, data.y, **{"nus": [1.0], "similarity": np.ones((20, 20)), **options})


def test_the_rule_of_one_standard_error():
    held_out = np.array([[0.95, 0.9, 0.86, 0.81], [0.85, 0.9, 0.86, 0.81]])
    held_out[:, 1] = [0.97, 0.83]
    # Means .90, .90, .86, .81; the first best one has a standard error of .05: within it are the first three.
    solutions = [SimpleNamespace(n_clusters=k, nu=nu) for k, nu in ((9, 1), (7, 2), (4, 3), (2, 4))]
    assert _one_standard_error(held_out, solutions).chosen == 2
    # Among as many clusters, the smallest nu.
    solutions[1].n_clusters = 4
    assert _one_standard_error(held_out, solutions).chosen == 1
    np.testing.assert_allclose(_one_standard_error(held_out, solutions).std_error[0], 0.05)
