import warnings

import numpy as np
import pandas as pd
import pytest

from lvmkit import TensorNormalMixture
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_tensor_mixture
from lvmkit.datasets.simulate_tensors import TensorSetting, autoregressive
from lvmkit.models import select_penalty, select_tensor_components
from lvmkit.scores import error_rate
from lvmkit.tensors.mixture import TensorSearch


@pytest.fixture(scope="module")
def data():
    """Three clusters that differ in four entries of twenty."""
    parts = [autoregressive(5, 0.4), autoregressive(4, 0.4)]
    B = np.zeros((3, 5, 4))
    B[1, 0, :2], B[2, 3, 2:] = 3.0, -3.0
    means = np.einsum("kab,ax,by->kxy", B, *parts)
    X, labels = make_tensor_mixture(TensorSetting([0.4, 0.3, 0.3], means, parts), 150)
    return X, labels, B.any(axis=0)


@pytest.fixture(scope="module")
def path(data):
    return select_penalty(data[0], 3)


@pytest.fixture(scope="module")
def components(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return select_tensor_components(data[0], [4, 1, 2, 3])


def test_one_model_for_each_penalty(path):
    L = len(path.models)
    assert L == 15
    assert path.penalties.shape == path.bic.shape == path.log_likelihoods.shape == (L,)
    assert (np.diff(path.penalties) < 0).all()
    assert path.penalties[-1] > 0
    assert path.n_selected.shape == (L,)
    assert path.n_selected.dtype.kind == "i"
    assert path.entry_norms.shape == (L, 5, 4)
    assert path.labels.shape == (L, 150)
    assert path.weights.shape == (L, 3)
    for at, model in enumerate(path.models):
        assert isinstance(model, TensorNormalMixture)
        assert model.penalty_ == path.penalties[at]
        assert model.bic_ == path.bic[at]
        assert model.log_likelihood_ == path.log_likelihoods[at]
        assert model.selected_.sum() == path.n_selected[at] == (path.entry_norms[at] > 0).sum()
        assert (model.labels_ == path.labels[at]).all()
        assert (model.weights_ == path.weights[at]).all()


def test_fewer_entries_are_selected_by_larger_penalties(path):
    assert path.n_selected[0] <= 4
    assert path.n_selected[-1] >= 15
    assert (np.diff(path.n_selected) >= -2).all()


def test_the_best_penalty_finds_what_was_planted(data, path):
    X, labels, planted = data
    assert path.bic[path.best] == path.bic[path.n_selected > 0].min()
    best = path.best_model
    assert best is path.models[path.best]
    assert error_rate(labels, best.labels_) <= 0.1
    assert best.selected_[planted].all()
    assert best.selected_[~planted].sum() <= 6
    assert (best.predict(X) == best.labels_).all()
    assert best.n_features_in_ == 5


def test_a_table_of_penalties(path):
    table = path.table()
    assert {"penalty", "bic", "log_likelihood", "n_selected", "smallest_cluster"} <= set(table)
    assert len(table) == 15
    smallest = [np.bincount(labels, minlength=3).min() / 150 for labels in path.labels]
    np.testing.assert_allclose(table["smallest_cluster"], smallest)


def test_penalties_of_ones_own(data):
    X, labels, _ = data
    found = select_penalty(X, 3, penalties=[0.2, 1.0, 0.5, 0.2])
    assert found.penalties.tolist() == [1.0, 0.5, 0.2]
    single = select_penalty(X, 3, penalties=[0.5])
    direct = TensorNormalMixture(3, penalty=0.5).fit(X)
    np.testing.assert_array_equal(single.models[0].posteriors_, direct.posteriors_)
    again = select_penalty(X, 3, penalties=iter([0.2, 1.0, 0.5]))
    assert (again.bic == found.bic).all()
    given = TensorNormalMixture(init=labels, method="em", penalty=7.0)
    start = select_penalty(X, 3, penalties=[0.5, 0.2], estimator=given)
    assert (start.labels[0] == labels).mean() > 0.9  # numbered as given
    assert given.get_params()["penalty"] == 7.0  # what is given is not changed
    assert not hasattr(given, "weights_")


def test_a_model_of_the_path_can_be_fitted_again(data, path):
    """What it says of itself is how it was fitted."""
    model = path.models[5]
    assert model.n_components == 3
    assert model.method == "deem"
    assert not hasattr(model, "path_") or len(model.path_) == 15


def test_penalties_that_cannot_be(data):
    X = data[0]
    for penalties, match in (([], "empty"), ([0.0, 1.0], "penalties"), ([-1], "penalties")):
        with pytest.raises(ValueError, match=match):
            select_penalty(X, 2, penalties=penalties)
    with pytest.raises(ValueError, match="penalties"):
        select_penalty(X, 2, penalties=[np.nan])
    with pytest.raises(TypeError, match="penalties"):
        select_penalty(X, 2, penalties=["a"])
    for n_components in (1, 0, -1):
        with pytest.raises(ValueError, match="n_components"):
            select_penalty(X, n_components)
    with pytest.raises(TypeError, match="n_components"):
        select_penalty(X, 2.5)
    with pytest.raises(ValueError, match=r"NaN.*\[0, 0, 0\]"):
        select_penalty(np.where(np.arange(X.size).reshape(X.shape) == 0, np.nan, X), 2)


def test_the_number_of_clusters(data, components):
    assert sorted(components.paths) == [1, 2, 3, 4]
    assert components.best == 3
    assert components.best_model is components.paths[3].best_model
    assert error_rate(data[1], components.best_model.labels_) <= 0.1
    table = components.table()
    assert table["n_components"].tolist() == [1, 2, 3, 4]
    assert set(table) >= {"penalty", "bic", "log_likelihood", "n_selected", "smallest_cluster"}
    assert table["bic"].idxmin() == 2
    assert table.loc[0, "n_selected"] == 0
    assert "3 clusters" in components.reason
    for k, path in components.paths.items():
        assert path.best_model.weights_.shape == (k,)
        assert path.best_model.bic_ == table.set_index("n_components").loc[k, "bic"]


def test_one_cluster_is_recommended_for_noise():
    """Nearly always: a criterion can be misled."""
    estimator = TensorNormalMixture(init="kmeans")
    draws = [np.random.default_rng(seed).standard_normal((60, 4, 3)) for seed in range(6)]
    found = [select_tensor_components(X, [1, 2], estimator=estimator) for X in draws]
    alone = [one.best_model for one in found if one.best == 1]
    assert len(alone) >= 5
    assert alone[0].weights_.tolist() == [1]


@pytest.mark.parametrize("method", ["deem", "em"])
def test_other_options_are_those_of_the_estimator(data, method):
    estimator = TensorNormalMixture(method=method, penalty=0.3, init="kmeans", shrinkage=0.1)
    found = select_tensor_components(data[0], range(1, 4), estimator=estimator)
    for k, path in found.paths.items():
        assert len(path.models) == 1
        model = path.best_model
        assert (model.method, model.shrinkage, model.n_components) == (method, 0.1, k)
        assert model.penalty_ == (0.3 if method == "deem" and k > 1 else 0)
    assert estimator.n_components == 2


def test_a_small_cluster_is_not_recommended(data):
    """An outlier makes a cluster of its own, of less than a twentieth of the samples."""
    X = data[0].copy()
    X[:2] += 300
    found = select_tensor_components(X, [1, 2], estimator=TensorNormalMixture(penalty=0.3))
    table = found.table()
    assert table.loc[1, "smallest_cluster"] < 0.05
    assert table.loc[1, "bic"] < table.loc[0, "bic"]
    assert found.best == 1
    assert "2 clusters" in found.reason


def test_numbers_of_clusters_that_cannot_be(data):
    X = data[0]
    with pytest.raises(ValueError, match="n_components is empty"):
        select_tensor_components(X, [])
    with pytest.raises(ValueError, match="n_components"):
        select_tensor_components(X, [0, 2])
    with pytest.raises(TypeError, match="n_components"):
        select_tensor_components(X, [1, 2.5])
    with pytest.raises(ValueError, match=r"200.*150"):
        select_tensor_components(X, [1, 200])
    with pytest.raises(TypeError, match=r"n_components.*range"):
        select_tensor_components(X, 3)


def test_progress_only_rises_and_can_cancel(data):
    X, _, _ = data
    quick = TensorNormalMixture(init="kmeans")
    for run in (
        lambda tell: select_penalty(X, 2, estimator=quick, progress=tell),
        lambda tell: select_tensor_components(X, [1, 2], estimator=quick, progress=tell),
    ):
        told = []
        run(lambda text, done, told=told: told.append((text, done)))
        fractions = [done for _, done in told]
        assert fractions == sorted(fractions)
        assert fractions[0] > 0
        assert fractions[-1] <= 1
        assert len(told) >= 2

        def stop(_text, _done):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(stop)


def test_names_of_a_table_are_kept():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    rows.iloc[::2, 0] += 5
    found = select_penalty(rows, 2, penalties=[0.5])
    assert found.best_model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        found.best_model.predict(rows[["c", "b", "a"]])


def test_threads_do_not_change_the_path(data, path):
    other = select_penalty(data[0], 3, estimator=TensorNormalMixture(n_jobs=1))
    assert (other.bic == path.bic).all()
    assert (other.entry_norms == path.entry_norms).all()


def test_maximum_likelihood_starts_do_not_depend_on_the_penalty():
    """Nor does which of several is the likeliest."""
    ends = []
    X = np.random.default_rng(3).standard_normal((60, 5, 4))
    for penalty in (1e-6, 1e3):
        search = TensorSearch(TensorNormalMixture(3, penalty=penalty, n_init=6), X)
        assert search.names[-1] == "em"
        ends.append(search.posteriors[-1])
    np.testing.assert_array_equal(*ends)
