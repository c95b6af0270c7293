"""A model file holds all a model knows, and nothing that runs."""

import os
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import lvmkit
from lvmkit import (
    BernoulliMixture,
    LatentDirichlet,
    PoissonMixture,
    SingleTopic,
    SpectralTree,
    SUSTain,
    TensorNormalMixture,
)
from lvmkit.cohorts import CountTensor
from lvmkit.models import Model
from lvmkit.storage import is_model_file


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 6)) < np.where(rng.random((300, 1)) < 0.5, 0.8, 0.1)).astype(float)
    return BernoulliMixture(2, weights_tol=0.01).fit(pd.DataFrame(X, columns=[*"abcd", "é", "f.1"]))


def test_everything_comes_back(model, tmp_path):
    notes = {"names": {"0": "Heart"}, "notes": ["ünïcode"], "groups": [[0, 1]]}
    path = lvmkit.save(model, tmp_path / "model.lvmkit", annotations=notes)
    again = lvmkit.load(path)
    for name in ("weights_", "centers_", "objective_trace_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("n_iter_", "stopped_by_", "clipped_", "data_fingerprint_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.annotations_ == notes
    assert again.get_params() == model.get_params()
    rows = pd.DataFrame(np.eye(6), columns=model.feature_names_in_)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert [p.name for p in tmp_path.iterdir()] == ["model.lvmkit"]


OF_ROWS = [kind for kind in get_args(Model) if hasattr(kind, "fit") and not is_classifier(kind(2))]


@pytest.mark.parametrize("kind", OF_ROWS)
def test_a_model_of_a_file_says_why_it_has_no_labels(kind, tmp_path):
    rows = np.kron(np.eye(2, dtype=int), np.ones((20, 3), dtype=int))
    if kind is TensorNormalMixture:
        rows = rows + np.random.default_rng(0).normal(scale=0.1, size=rows.shape)
    model = kind() if kind is SpectralTree else kind(2)
    with pytest.raises(AttributeError, match=r"not fitted yet: call fit|no attribute"):
        _ = model.labels_
    again = lvmkit.load(lvmkit.save(model.fit(rows), tmp_path / "model.lvmkit"))
    assert not hasattr(again, "labels_")
    for name, method in (("labels_", "predict"), ("posteriors_", "predict_proba")):
        if not hasattr(model, name):  # shares or scores instead of labels
            continue
        reason = rf"this {kind.__name__} has no {name}: model files, .* {method}\(X\) gives them"
        with pytest.raises(AttributeError, match=reason):
            getattr(again, name)
        np.testing.assert_allclose(getattr(again, method)(rows), getattr(model, name), atol=1e-12)
    assert hasattr(model, "labels_") == hasattr(model, "predict")


def test_a_failed_save_keeps_the_old_file(model, tmp_path):
    path = lvmkit.save(model, tmp_path / "model.lvmkit")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        lvmkit.save(model, path, annotations={"x": object()})
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_damaged_or_foreign_files_are_refused_in_plain_words(model, tmp_path):
    path = lvmkit.save(model, tmp_path / "model.lvmkit")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"model\.lvmkit is not a complete lvmkit model file"):
        lvmkit.load(path)
    pickled = tmp_path / "evil.npz"
    np.savez(pickled, header=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a complete lvmkit model file"):
        lvmkit.load(pickled)
    later = tmp_path / "later.npz"
    np.savez(later, header=np.array('{"format": "lvmkit-model-9"}'))
    with pytest.raises(ValueError, match="its format is 'lvmkit-model-9'"):
        lvmkit.load(later)
    with pytest.raises(FileNotFoundError):
        lvmkit.load(tmp_path / "absent.npz")


def test_whether_a_file_is_a_model_is_told_by_its_header(model, counts, tmp_path):
    path = lvmkit.save(model, tmp_path / "model.npz")
    assert is_model_file(path)
    assert is_model_file(str(path))
    np.savez(tmp_path / "later.npz", header=np.array('{"format": "lvmkit-model-9"}'))
    assert is_model_file(tmp_path / "later.npz")
    counts.save(tmp_path / "tensor.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "list.npz", header=np.array("[]"))
    np.savez(tmp_path / "deep.npz", header=np.array("[" * 100_000))
    np.savez(tmp_path / "object.npz", header=np.array([{"format": 1}], dtype=object))
    (tmp_path / "notes.npz").write_text("notes")
    (tmp_path / "empty.npz").touch()
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:-1])
    os.mkfifo(tmp_path / "pipe.npz")
    others = {
        "tensor",
        "other",
        "list",
        "deep",
        "object",
        "notes",
        "empty",
        "cut",
        "pipe",
        "absent",
    }
    assert not [name for name in others if is_model_file(tmp_path / f"{name}.npz")]
    assert not is_model_file(tmp_path)


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        lvmkit.save(BernoulliMixture(), tmp_path / "m")


def test_any_damage_is_told_in_plain_words(model, tmp_path):
    path = lvmkit.save(model, tmp_path / "model.lvmkit")
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(content)
        for place in rng.integers(len(content), size=rng.integers(1, 30)):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged[: rng.integers(1, len(content) + 1)])
        try:
            lvmkit.load(path)
        except ValueError as error:
            assert "model.lvmkit is not a complete lvmkit model file" in str(error)  # noqa: PT017


def test_what_would_come_back_changed_is_refused_or_kept(model, tmp_path):
    with pytest.raises(ValueError, match="need text as keys; found 0"):
        lvmkit.save(model, tmp_path / "m", annotations={"names": {0: "x"}})
    start = (np.array([0.5, 0.5]), np.full((2, 6), 0.3) + np.eye(2, 6) * 0.1)
    X = (np.random.default_rng(1).random((50, 6)) < 0.5).astype(float)
    given = BernoulliMixture(np.int64(2), init=start).fit(X)
    again = lvmkit.load(lvmkit.save(given, tmp_path / "m"))
    assert again.n_components == 2
    np.testing.assert_array_equal(again.init[1], start[1])


@pytest.mark.parametrize("model", [SingleTopic, LatentDirichlet, PoissonMixture])
def test_models_of_counts_come_back_and_judge_the_same(model, tmp_path):
    X = np.random.default_rng(0).poisson(1.0, size=(300, 12))
    fitted = model(2).fit(X)
    again = lvmkit.load(lvmkit.save(fitted, tmp_path / "model.npz"))
    assert type(again) is model
    judge = "transform" if hasattr(fitted, "transform") else "predict_proba"
    np.testing.assert_array_equal(getattr(again, judge)(X), getattr(fitted, judge)(X))
    assert again.get_params() == fitted.get_params()


def test_sums_of_a_kind_that_files_do_not_hold_are_left_out(model, tmp_path):
    model.moments_ = object()
    again = lvmkit.load(lvmkit.save(model, tmp_path / "model"))
    assert not hasattr(again, "moments_")


def test_sums_are_left_out_on_request(tmp_path):
    X = np.random.default_rng(0).poisson(1.0, size=(300, 12))
    fitted = SingleTopic(2).fit(X)
    proba = fitted.predict_proba(X)
    del fitted.moments_
    again = lvmkit.load(lvmkit.save(fitted, tmp_path / "model"))
    assert not hasattr(again, "moments_")
    np.testing.assert_array_equal(again.predict_proba(X), proba)


@pytest.fixture
def counts():
    X = 1 + np.random.default_rng(0).poisson(1.0, size=(40, 5, 3))
    codes = [list("abcdé"), ["B01", "C07", "x.1"]]
    patients = [f"secret-{i}" for i in range(40)]
    return CountTensor(X, ("patient", "diagnosis", "drug"), [patients, *codes])


def test_scores_of_features_come_back_and_judge_the_same(counts, tmp_path):
    options = {"max_score": [5, 3, np.int64(2)], "min_score": [0, 0, 0], "tol": 1e-3, "n_init": 2}
    model = SUSTain(3, **options).fit(counts)
    notes = {"names": {"0": "Herz"}, "meaningful": [True, False, True]}
    again = lvmkit.load(lvmkit.save(model, tmp_path / "model.lvmkit", annotations=notes))
    assert type(again) is SUSTain
    np.testing.assert_array_equal(again.weights_, model.weights_)
    for mode in (1, 2):
        np.testing.assert_array_equal(again.factors_[mode], model.factors_[mode])
        assert list(again.mode_labels_[mode]) == list(model.mode_labels_[mode])
    assert again.mode_names_ == model.mode_names_
    np.testing.assert_array_equal(again.objective_trace_, model.objective_trace_)
    for name in ("fit_", "n_iter_", "stopped_by_", "init_", "data_fingerprint_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.annotations_ == notes
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.transform(counts[::-1]), model.transform(counts[::-1]))
    assert again.score(counts) == model.score(counts)


def test_patients_are_not_in_the_file(counts, tmp_path):
    model = SUSTain(3).fit(counts)
    path = lvmkit.save(model, tmp_path / "model.lvmkit")
    assert lvmkit.load(path).factors_[0].shape == (0, 3)
    with np.load(path) as stored:
        assert all(len(stored[name]) != 40 for name in stored.files if stored[name].ndim)
        assert "secret" not in str(stored["header"])
    started = SUSTain(3, init=[*model.factors_, model.weights_]).fit(counts)
    with np.load(lvmkit.save(started, path)) as stored:
        assert all(len(stored[name]) != 40 for name in stored.files if stored[name].ndim)


def test_scores_of_a_matrix_keep_the_names_of_its_features(counts, tmp_path):
    frame = pd.DataFrame(np.asarray(counts.counts.todense()).sum(axis=2), columns=list("abcdé"))
    model = SUSTain(2, random_state=np.random.default_rng(0)).fit(frame)
    again = lvmkit.load(lvmkit.save(model, tmp_path / "model"))
    assert list(again.feature_names_in_) == list("abcdé")
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(again.transform(turned), model.transform(frame))


def test_a_model_whose_number_of_components_was_changed_says_what_to_do(tmp_path):
    model = BernoulliMixture.from_parameters([0.5, 0.5], [[0.1, 0.9], [0.8, 0.2]])
    model.set_params(n_components=3)
    with pytest.raises(ValueError, match="is 3, and there are 2 weights: set it back, or fit"):
        lvmkit.save(model, tmp_path / "model.npz")


@pytest.mark.parametrize(
    ("old", "make"),
    [
        ("log_likelihoods_", lambda: lvmkit.BernoulliMixture(2).fit(np.eye(6).repeat(9, axis=0))),
        ("fit_trace_", lambda: lvmkit.SUSTain(2, n_jobs=1).fit(np.eye(6).repeat(9, axis=0))),
    ],
)
def test_the_trace_of_the_objective_has_one_name_and_files_keep_it(old, make, tmp_path):
    model = make()
    assert model.converged_ is (model.stopped_by_ != "max_iter")
    with pytest.warns(FutureWarning, match=f"{old} is now objective_trace_"):
        assert getattr(model, old) is model.objective_trace_
    again = lvmkit.load(lvmkit.save(model, tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.objective_trace_, model.objective_trace_)
    assert again.converged_ == model.converged_
