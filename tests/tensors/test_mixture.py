import warnings
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import lvmkit
from lvmkit import TensorNormalMixture
from lvmkit.datasets import make_tensor_mixture, tensor_setting
from lvmkit.datasets.tensors import LabelledTensor
from lvmkit.models import select_penalty
from lvmkit.scores import error_rate


def clusters(sizes=(4, 3), n_components=2, n=80, seed=0):
    """Clusters that differ in the first two entries."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_components
    X = rng.standard_normal((n, *sizes))
    for mode, size in enumerate(sizes, 1):
        root = np.linalg.cholesky(0.4 ** np.abs(np.subtract.outer(range(size), range(size))))
        X = np.moveaxis(np.tensordot(root, X, (1, mode)), 0, mode)
    X = np.ascontiguousarray(X)
    flat = X.reshape(n, -1)  # a view
    flat[:, 0] += 2.5 * (labels == 1)
    flat[:, 1:2] += np.c_[3 * (labels == 2) - 1.5 * (labels == 1)]
    return X, labels


@pytest.fixture(scope="module")
def data():
    return clusters()


@pytest.fixture(scope="module")
def model(data):
    return TensorNormalMixture(2, penalty=0.4).fit(data[0])


def test_what_is_fitted(data, model):
    _, labels = data
    assert model.weights_.shape == (2,)
    assert model.weights_.sum() == pytest.approx(1)
    assert model.weights_[0] >= model.weights_[1]
    assert model.means_.shape == (2, 4, 3)
    assert [part.shape for part in model.covariances_] == [(4, 4), (3, 3)]
    assert model.discriminants_.shape == (1, 4, 3)
    assert (model.selected_ == (model.discriminants_ != 0).any(axis=0)).all()
    assert 0 < model.selected_.sum() < 12
    assert model.selected_[0, :2].all()
    assert model.labels_.shape == (80,)
    assert error_rate(labels, model.labels_) < 0.15
    assert (model.labels_ == model.posteriors_.argmax(axis=1)).all()
    assert model.penalty_ == 0.4
    assert 0 <= model.gap_ <= 1e-7
    assert (model.converged_, model.stopped_by_) == (True, "tol")
    assert model.n_iter_ >= 1
    assert not hasattr(model, "path_")
    assert model.n_features_in_ == 4


def test_the_start_that_is_kept_has_the_highest_objective(model):
    starts = model.starts_.set_index("start")
    assert {"kmeans", "whitened_kmeans", "random 0", "random 1"} <= set(starts.index)
    sound = starts[~starts["stopped_by"].isin(["empty", "penalty"])]
    assert sound["objective"].idxmax() == model.init_
    assert starts.loc[model.init_, "n_iter"] == model.n_iter_


def test_posteriors_are_those_of_equations_four_and_five(data):
    """Against cluster 0, with the public means and discriminants; for two clusters whatever the reference."""
    X, labels = data
    for reference in (None, 0, 1):
        model = TensorNormalMixture(2, penalty=0.4, reference=reference, init=labels).fit(X)
        B, middle = model.discriminants_[0], model.means_.mean(axis=0)
        odds = model.weights_[1] * np.exp([np.vdot(x - middle, B) for x in X])
        second = odds / (model.weights_[0] + odds)
        np.testing.assert_allclose(model.posteriors_[:, 1], second, atol=1e-9)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], second, atol=1e-9)
        assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("reference", [0, 1, 2])
@pytest.mark.parametrize("init", ["labels", "best", "random"])
def test_with_a_reference_three_clusters_follow_the_document(reference, init):
    X, labels = clusters(n_components=3, n=120)
    init = labels if init == "labels" else init
    model = TensorNormalMixture(3, penalty=0.2, reference=reference, init=init).fit(X)
    means, B = model.means_, np.concatenate([np.zeros((1, 4, 3)), model.discriminants_])
    B, r = B - B[reference], reference
    logits = np.log(model.weights_) + [
        [np.vdot(x - (means[k] + means[r]) / 2, B[k]) for k in range(3)] for x in X
    ]
    np.testing.assert_allclose(model.posteriors_, softmax(logits, axis=1), atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), model.posteriors_, atol=1e-7)


def conditions(model, reference=0):
    """How far the group lasso of the public attributes is from its optimum, as a share of the penalty."""
    K = len(model.weights_)
    S = reduce(np.kron, model.covariances_)
    means = model.means_.reshape(K, -1)
    B = np.vstack([np.zeros(means.shape[1]), model.discriminants_.reshape(K - 1, -1)])
    others = [k for k in range(K) if k != reference]
    C, D = (B - B[reference])[others], (means - means[reference])[others]
    rest, lengths = D - C @ S, np.linalg.norm(C, axis=0)
    on = lengths > 0
    assert 0 < on.sum() < len(on)
    at = np.abs(rest[:, on] - model.penalty_ * C[:, on] / lengths[on]).max()
    off = (np.linalg.norm(rest[:, ~on], axis=0) - model.penalty_).max()
    return max(at, off) / model.penalty_


@pytest.mark.parametrize("reference", [None, 0, 1])
@pytest.mark.parametrize("scale", ["trace", "first_entry"])
def test_discriminants_solve_the_group_lasso(data, reference, scale):
    model = TensorNormalMixture(2, penalty=0.4, reference=reference, scale=scale).fit(data[0])
    assert conditions(model) <= 1e-4
    assert objective_above_optimum(model) <= 1e-6


def objective_above_optimum(model, reference=0):
    """Relative excess of ½ <B, SB> - <B, delta> + penalty sum |b_J| over what long proximal steps reach."""
    K = len(model.weights_)
    S = reduce(np.kron, model.covariances_)
    means = model.means_.reshape(K, -1)
    B = np.vstack([np.zeros(means.shape[1]), model.discriminants_.reshape(K - 1, -1)])
    C = np.delete(B - B[reference], reference, axis=0)
    D = np.delete(means - means[reference], reference, axis=0)

    def value(C):
        lengths = np.linalg.norm(C, axis=0)
        return np.vdot(C, C @ S) / 2 - np.vdot(C, D) + model.penalty_ * lengths.sum()

    best, step = C.copy(), 1 / np.linalg.eigvalsh(S)[-1]
    for _ in range(5000):
        best = best - step * (best @ S - D)
        lengths = np.maximum(np.linalg.norm(best, axis=0), 1e-300)
        best = best * np.maximum(0, 1 - step * model.penalty_ / lengths)
    return (value(C) - value(best)) / abs(value(best))


@pytest.mark.parametrize("init", ["labels", "best", "random"])
@pytest.mark.parametrize("reference", [0, 2])
def test_discriminants_of_three_clusters_solve_the_group_lasso(init, reference):
    X, labels = clusters(n_components=3, n=120)
    init = labels if init == "labels" else init
    model = TensorNormalMixture(3, penalty=0.2, reference=reference, init=init).fit(X)
    assert model.stopped_by_ == "tol"
    assert conditions(model, reference) <= 1e-4
    assert objective_above_optimum(model, reference) <= 1e-6


def test_without_a_reference_three_clusters_are_compared_with_their_mean():
    """Each b_J, rotated by orthonormal contrasts; by what does not depend on which."""
    X, labels = clusters(n_components=3, n=120)
    model = TensorNormalMixture(3, penalty=0.2, init=labels).fit(X)
    S = reduce(np.kron, model.covariances_)
    B = np.vstack([np.zeros(12), model.discriminants_.reshape(2, -1)])
    B, means = B - B.mean(axis=0), model.means_.reshape(3, -1)
    rest = means - means.mean(axis=0) - B @ S
    lengths = np.linalg.norm(B, axis=0)
    on, weight = lengths > 0, 0.2 * np.sqrt(0.5)
    assert 0 < on.sum() < 12
    np.testing.assert_allclose(rest[:, on], weight * B[:, on] / lengths[on], atol=1e-5)
    assert np.linalg.norm(rest[:, ~on], axis=0).max() <= weight * (1 + 1e-5)


def test_maximum_likelihood_by_the_densities(data):
    X, labels = data
    model = TensorNormalMixture(2, method="em", init=labels, tol=1e-8, max_iter=1000).fit(X)
    S = reduce(np.kron, model.covariances_)
    rows = X.reshape(80, -1)
    logs = [multivariate_normal(mean.ravel(), S).logpdf(rows) for mean in model.means_]
    joint = np.log(model.weights_) + np.column_stack(logs)
    np.testing.assert_allclose(model.posteriors_, softmax(joint, axis=1), atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), softmax(joint, axis=1), atol=1e-6)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-7)
    assert model.log_likelihood_ == pytest.approx(logsumexp(joint, axis=1).sum(), rel=1e-8)
    difference = (model.means_[1] - model.means_[0]).ravel()
    np.testing.assert_allclose(
        model.discriminants_.ravel(), np.linalg.solve(S, difference), rtol=1e-6, atol=1e-9
    )
    assert model.selected_.all()
    assert (model.penalty_, model.gap_) == (0, 0)


def test_the_likelihood_of_em_never_falls(data):
    X, _ = data
    labels = np.random.default_rng(0).integers(0, 2, 80)
    options = {"method": "em", "init": labels, "tol": 0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [TensorNormalMixture(2, max_iter=n, **options).fit(X) for n in range(1, 20)]
    found = [model.log_likelihood_ for model in models]
    assert np.diff(found).min() >= -1e-7
    assert found[-1] - found[0] > 1


@pytest.mark.parametrize("method", ["deem", "em"])
def test_scores_of_the_samples_fitted(data, method):
    X, _ = data
    model = TensorNormalMixture(2, method=method, penalty=0.4).fit(X)
    logs = model.score_samples(X)
    assert logs.sum() == pytest.approx(model.log_likelihood_, rel=1e-9)
    assert model.score(X) == pytest.approx(logs.mean())
    assert model.bic(X) == pytest.approx(model.bic_, rel=1e-9)
    free = 1 + model.selected_.sum() + 12 + 10 + 6 - 1
    assert model.bic_ == pytest.approx(-2 * model.log_likelihood_ + np.log(80) * free)
    new, _ = clusters(n=30, seed=5)
    assert model.predict(new).shape == (30,)
    assert model.predict(new[:1]).tolist() == model.predict(new)[:1].tolist()


def test_densities_add_up_to_one():
    """Of a mixture of numbers, by a sum over a fine grid."""
    X, _ = clusters((1,), 2, 60)
    model = TensorNormalMixture(2, penalty=0.1).fit(X)
    grid = np.linspace(-15, 20, 20_001)[:, None]
    assert np.exp(model.score_samples(grid)).sum() * (grid[1, 0] - grid[0, 0]) == pytest.approx(1)


def test_samples_drawn_follow_the_model(model):
    X, labels = model.sample(40_000, random_state=1)
    assert X.shape == (40_000, 4, 3)
    np.testing.assert_allclose(np.bincount(labels) / 40_000, model.weights_, atol=0.01)
    for k in (0, 1):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), model.means_[k], atol=0.05)
    rows = (X - model.means_[labels]).reshape(40_000, -1)
    truth = reduce(np.kron, model.covariances_)
    np.testing.assert_allclose(rows.T @ rows / 40_000, truth, atol=0.05 * truth.max())
    again, _ = model.sample(40_000, random_state=1)
    assert (again == X).all()


@pytest.mark.parametrize("method", ["deem", "em"])
@pytest.mark.parametrize("sizes", [(12,), (1,), (12, 1), (1, 3, 1, 4), (2, 2, 3, 1, 2)], ids=str)
def test_any_order(sizes, method):
    X, labels = clusters(sizes, 2, 80)
    model = TensorNormalMixture(2, method=method, penalty=0.3).fit(X)
    assert model.means_.shape == (2, *sizes)
    assert [len(part) for part in model.covariances_] == list(sizes)
    assert error_rate(labels, model.labels_) < 0.2
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("method", ["deem", "em"])
def test_modes_of_size_one_change_nothing(data, method):
    X, labels = data
    options = {"method": method, "penalty": 0.4, "init": labels, "tol": 1e-9, "max_iter": 2000}
    model = TensorNormalMixture(2, **options).fit(X)
    other = TensorNormalMixture(2, **options).fit(X[:, None, :, None])
    np.testing.assert_allclose(other.posteriors_, model.posteriors_, atol=1e-5)
    np.testing.assert_allclose(
        other.discriminants_.ravel(), model.discriminants_.ravel(), atol=1e-4
    )
    whole = [reduce(np.kron, m.covariances_) for m in (model, other)]
    np.testing.assert_allclose(whole[1], whole[0], atol=1e-4)
    assert other.log_likelihood_ == pytest.approx(model.log_likelihood_, abs=1e-3)


def same(one, other, rtol=1e-9):
    np.testing.assert_allclose(one.posteriors_, other.posteriors_, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(one.means_, other.means_, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(one.discriminants_, other.discriminants_, rtol=rtol, atol=1e-9)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_)


def test_any_kind_of_numbers(data, model):
    X, _ = data
    for given in (np.asfortranarray(X), X.tolist(), X[::-1][::-1], X.astype(object)):
        same(clone(model).fit(given), model)
    single = clone(model).fit(X.astype(np.float32))
    assert single.means_.dtype == np.float64
    np.testing.assert_allclose(single.means_, model.means_, atol=1e-3)
    whole = np.round(10 * X).astype(int)
    for given in (whole.astype(np.int16), whole.astype(object)):
        same(
            clone(model).set_params(penalty=4.0).fit(given),
            clone(model).set_params(penalty=4.0).fit(whole),
        )
    kept = X.copy()
    clone(model).fit(X)
    assert (kept == X).all()


def test_a_labelled_tensor(data, model):
    X, _ = data
    names = (list("abcd"), list("xyz"))
    tensor = LabelledTensor(X, ("letter", "axis"), names)
    same(clone(model).fit(tensor), model)
    assert (model.predict(tensor) == model.labels_).all()
    X = X.copy()
    X[5, 1, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*\[5, 1, 2\]"):
        clone(model).fit(LabelledTensor(X, ("letter", "axis"), names))


def test_a_table(data):
    X, _ = data
    rows = X.reshape(80, -1)
    frame = pd.DataFrame(rows, columns=[f"entry {j}" for j in range(12)])
    model = TensorNormalMixture(2, penalty=0.4).fit(frame)
    same(TensorNormalMixture(2, penalty=0.4).fit(rows), model)
    assert model.feature_names_in_.tolist() == list(frame)
    assert (model.predict(frame) == model.labels_).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_the_same_seed_and_any_number_of_threads(data):
    X, _ = data
    first = TensorNormalMixture(2, n_jobs=1, random_state=3).fit(X)
    for n_jobs in (2, None):
        other = TensorNormalMixture(2, n_jobs=n_jobs, random_state=3).fit(X)
        assert (other.posteriors_ == first.posteriors_).all()
        assert (other.discriminants_ == first.discriminants_).all()
        assert other.penalty_ == first.penalty_
        pd.testing.assert_frame_equal(other.starts_, first.starts_)
    generator = np.random.default_rng(3)
    TensorNormalMixture(2, penalty=0.4, random_state=generator).fit(X)
    TensorNormalMixture(2, penalty=0.4, random_state=None).fit(X)


def test_fitting_again_forgets_what_was_fitted(data):
    X, _ = data
    model = TensorNormalMixture(2).fit(X)
    assert len(model.path_) >= 3
    assert set(model.path_) >= {"penalty", "bic", "log_likelihood", "n_selected"}
    model.set_params(penalty=0.4).fit(X)
    assert not hasattr(model, "path_")
    same(model, TensorNormalMixture(2, penalty=0.4).fit(X))
    assert model.fit_predict(X).tolist() == model.labels_.tolist()


def test_the_penalty_of_the_lowest_criterion(data):
    X, _ = data
    model = TensorNormalMixture(2).fit(X)
    path = model.path_
    assert (np.diff(path["penalty"]) < 0).all()
    chosen = path.loc[path.loc[path["n_selected"] > 0, "bic"].idxmin()]
    assert model.penalty_ == chosen["penalty"]
    assert model.bic_ == chosen["bic"]
    same(select_penalty(X, 2).best_model, model)


def test_given_labels_and_posteriors_keep_their_numbers(data):
    X, labels = data
    for init in (labels, np.eye(2)[labels], labels.tolist()):
        model = TensorNormalMixture(2, penalty=0.4, init=init).fit(X)
        assert (model.labels_ == labels).mean() > 0.85
        assert model.init_ == "given"
    other = TensorNormalMixture(2, penalty=0.4, init=1 - labels).fit(X)
    assert (other.labels_ == labels).mean() < 0.15


def test_progress_only_rises_and_can_cancel(data):
    X, _ = data
    told = []
    TensorNormalMixture(2).fit(X, progress=lambda text, done: told.append((text, done)))
    fractions = [done for _, done in told]
    assert len(told) >= 3
    assert fractions == sorted(fractions)
    assert min(fractions) >= 0
    assert max(fractions) <= 1
    assert all(isinstance(text, str) for text, _ in told)

    class StopError(Exception):
        pass

    def stop(_text, _done):
        raise StopError

    with pytest.raises(StopError):
        TensorNormalMixture(2).fit(X, progress=stop)
    model = TensorNormalMixture(2)
    with pytest.raises(StopError):
        model.fit(X, progress=stop)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_kept_in_a_file(data, model, tmp_path):
    X, _ = data
    for fitted in (
        model,
        TensorNormalMixture(2).fit(X),
        TensorNormalMixture(2, method="em").fit(X),
    ):
        lvmkit.save(fitted, tmp_path / "model.zip")
        again = lvmkit.load(tmp_path / "model.zip")
        assert (again.predict(X) == fitted.labels_).all()
        np.testing.assert_array_equal(again.discriminants_, fitted.discriminants_)
        assert again.score(X) == fitted.score(X)


@pytest.mark.parametrize(("name", "penalty"), [("M8", 0.5), ("M9", 0.3)])
def test_planted_clusters_and_entries_are_found(name, penalty):
    X, labels = make_tensor_mixture(name, n_samples=200)
    setting = tensor_setting(name)
    model = TensorNormalMixture(2, penalty=penalty).fit(X)
    best = error_rate(labels, setting.predict(X))
    assert error_rate(labels, model.labels_) <= best + 0.03
    planted = setting.discriminants.any(axis=0)
    assert model.selected_[planted].all()
    assert model.selected_[~planted].sum() <= 25
    sign = 1 if (model.labels_ == labels).mean() > 0.5 else -1
    assert (sign * model.discriminants_[0][planted] > 0).all()


def test_planted_clusters_are_found_with_the_penalty_chosen():
    X, labels = make_tensor_mixture("M8", n_samples=200)
    model = TensorNormalMixture(2).fit(X)
    assert error_rate(labels, model.labels_) <= 0.02
    planted = tensor_setting("M8").discriminants.any(axis=0)
    assert model.selected_[planted].sum() >= 5
    assert model.selected_[~planted].sum() <= 6
    new, truth = make_tensor_mixture("M8", n_samples=200, random_state=1)
    assert error_rate(truth, model.predict(new)) <= 0.03


def test_one_cluster(data):
    X, _ = data
    for options in (
        {},
        {"method": "em"},
        {"penalty": 0.3},
        {"reference": 0},
        {"init": np.zeros(80, int)},
    ):
        model = TensorNormalMixture(1, **options).fit(X)
        assert model.weights_.tolist() == [1]
        assert model.discriminants_.shape == (0, 4, 3)
        assert not model.selected_.any()
        assert (model.labels_ == 0).all()
        assert model.converged_
        np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
        assert model.score_samples(X).sum() == pytest.approx(model.log_likelihood_)
        assert (model.predict_proba(X) == 1).all()


def test_covariances_may_be_any_iterable():
    parts = [np.eye(2), np.eye(3)]
    for covariances in (parts, tuple(parts), (part for part in parts)):
        model = TensorNormalMixture.from_parameters([1.0], np.zeros((1, 2, 3)), covariances)
        assert [part.shape for part in model.covariances_] == [(2, 2), (3, 3)]
    for wrong in ("ab", {"a": parts}, 3, None):
        with pytest.raises(
            TypeError, match="covariances must be a list of arrays, one for each mode"
        ):
            TensorNormalMixture.from_parameters([1.0], np.zeros((1, 2, 3)), wrong)


def test_posteriors_are_named_columns_for_what_follows():
    X, _ = make_tensor_mixture("M8", n_samples=100)
    model = TensorNormalMixture(2).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.predict_proba(X))
    assert model.get_feature_names_out().tolist() == [f"tensornormalmixture{i}" for i in range(2)]
