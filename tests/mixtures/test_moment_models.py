"""What models of moments keep, drop and say when rows are added, and what parameters they refuse."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit import BernoulliMixture, LatentDirichlet, PoissonMixture, SingleTopic
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_topics
from lvmkit.moments import POISSON, SubspaceMoments

MODELS = [SingleTopic, LatentDirichlet, PoissonMixture]
SUMS = ("basis", "divisors", "first", "second", "third", "singles", "cubes")
BINARY_SUMS = ("whitener", "divisors", "first", "third", "pairs", "singles")


@pytest.fixture(scope="module", name="X")
def rows():
    return make_topics(900, 60, 4, single=True, random_state=0).X


@pytest.mark.parametrize("model", [*MODELS, BernoulliMixture])
def test_a_saved_model_goes_on_where_it_stopped(model, X, tmp_path):
    binary = model is BernoulliMixture
    X = X.sign() if binary else X
    fitted = model(4).partial_fit(X[:600])
    again = lvmkit.load(lvmkit.save(fitted, tmp_path / "model"))
    assert again.moments_.weighting == fitted.moments_.weighting
    fitted.partial_fit(X[600:])
    again.partial_fit(X[600:])
    assert again.moments_.n_samples == 900
    assert binary or again.moments_.n_short == fitted.moments_.n_short
    for name in BINARY_SUMS if binary else SUMS:
        np.testing.assert_array_equal(getattr(again.moments_, name), getattr(fitted.moments_, name))
    np.testing.assert_array_equal(again.centers_, fitted.centers_)


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_not_added_to_parameters_without_sums(model, X, tmp_path):
    fitted = model(3).fit(X)
    given = model.from_parameters(getattr(fitted, "alpha_", fitted.weights_), fitted.centers_)
    path = lvmkit.save(fitted, tmp_path / "model")
    with np.load(path) as stored:
        kept = {key: stored[key] for key in stored.files if not key.startswith("moments_")}
    header = json.loads(str(kept["header"]))
    del header["moments"]
    with path.open("wb") as file:  # as files were before they held sums
        np.savez(file, **(kept | {"header": np.array(json.dumps(header))}))
    for lone in (given, lvmkit.load(path)):
        centers = lone.centers_
        with pytest.raises(ValueError, match=r"has parameters but no moments_ .* fit"):
            lone.partial_fit(X)
        assert lone.centers_ is centers


@pytest.mark.parametrize("model", [SingleTopic, PoissonMixture])
def test_nothing_stays_of_an_earlier_fit(model, X):
    fitted = model(4, em=True).fit(X[:600])
    sums, first = fitted.moments_, fitted.centers_
    fresh = model(4).fit_moments(sums + SubspaceMoments.of(X[600:], sums.basis, sums.weighting))
    for again in (fitted.partial_fit(X[600:]), model(4, em=True).fit(X).fit_moments(sums), fresh):
        assert not hasattr(again, "labels_")
        assert not hasattr(again, "data_fingerprint_")
        assert (again.n_iter_, again.stopped_by_, len(again.objective_trace_)) == (0, "moments", 0)
        assert not np.array_equal(again.centers_, first)
    order = np.argsort(-fitted.weights_, kind="stable")
    np.testing.assert_array_equal(fitted.centers_[order], fresh.centers_)
    # Zeros that noise put into a center exclude no state: smoothed, as after a fit without EM.
    proba = fitted.predict_proba(X)[:, order]
    np.testing.assert_allclose(proba, fresh.predict_proba(X), atol=1e-9)
    assert not hasattr(LatentDirichlet(4).fit(X).partial_fit(X), "data_fingerprint_")


def test_sums_of_other_features_take_the_names_with_them(X):
    named = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(60)])
    model = SingleTopic(3).fit(named)
    model.fit_moments(model.moments_)
    assert model.feature_names_in_[5] == "w5"
    model.fit_moments(SingleTopic(3).fit(X[:, :40]).moments_)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 40


@pytest.mark.parametrize("model", MODELS)
def test_names_stay_with_their_states_whatever_they_weigh_now(model):
    data = make_topics(1_200, 60, 2, single=True, random_state=3)
    rare, common = (data.X[data.labels == label] for label in (0, 1))
    stream = model(2).partial_fit(stacked(rare[:100], common[:300]))
    names = {"topic_names": {"0": "common", "1": "rare"}, "clusters": [{"id": 0}]}
    stream.annotations_, before = names, stream.centers_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream.partial_fit(rare[100:])
    assert stream.weights_[1] > stream.weights_[0]
    assert stream.annotations_ == names
    for state in (0, 1):
        change = np.abs(before[state] - stream.centers_).sum(axis=1)
        assert change.argmin() == state
    if model is LatentDirichlet:
        np.testing.assert_allclose(stream.alpha_, stream.weights_ * stream.alpha0)


def stacked(*parts):
    return np.vstack([part.toarray() for part in parts])


def test_names_whose_states_changed_or_vanished_are_told(X):
    other = np.zeros((60, 60))
    other[:, ::7] = 9
    model = SingleTopic(2).partial_fit(X[:100])
    model.annotations_ = {"topic_names": {"0": "War"}}
    with pytest.warns(DataWarning, match=r"of 2 states changed by more than 50% .* names still"):
        model.partial_fit(np.vstack([other] * 80))
    assert model.annotations_ == {"topic_names": {"0": "War"}}
    model.set_params(n_components=3)
    with pytest.warns(DataWarning, match=r"annotations_ spoke of 2 states and were dropped"):
        model.partial_fit(X)
    assert model.annotations_ == {}


@pytest.mark.parametrize("moments", ["pooled", "equal_rows", "three_words"])
def test_a_first_block_is_checked_as_fit_checks(moments, X):
    model = SingleTopic(2, moments=moments)
    with pytest.raises(ValueError, match=r"all 10 rows.* have fewer than 3 words"):
        model.partial_fit(np.eye(10))
    with pytest.raises(ValueError, match="all its entries are 0"):
        model.partial_fit(np.zeros((3, 60)))
    with pytest.raises(ValueError, match=r"first block fixes the directions .* found 1 row"):
        model.partial_fit(X[:1])
    gaps = X[:300].toarray()
    gaps[:, 3] = gaps[:5] = 0
    with pytest.warns(DataWarning) as told:
        model.partial_fit(gaps)
    text = " ".join(str(w.message) for w in told)
    assert "1 of 60 features occur in no row (3)" in text
    assert "5 of 300 rows have fewer than 3 words" in text
    with pytest.warns(DataWarning, match="5 of 300 rows have fewer than 3 words"):
        model.partial_fit(gaps)
    with pytest.warns(DataWarning, match="3 of 3 rows have fewer than 3 words"):
        model.partial_fit(np.eye(60)[:3])
    assert model.partial_fit(X[:1]).moments_.n_samples == 604


@pytest.mark.parametrize("model", MODELS)
def test_a_later_block_may_be_empty(model, X):
    stream = model(2).partial_fit(X)
    before = stream.centers_
    with pytest.warns(DataWarning, match="all entries of these 3 rows are 0") as told:
        stream.partial_fit(np.zeros((3, 60)))
    assert len(told) == 1
    assert stream.moments_.n_samples == 903
    if model is PoissonMixture:  # that nothing was counted is news to it
        np.testing.assert_allclose(stream.centers_.sum(), before.sum(), rtol=0.05)
    else:
        np.testing.assert_allclose(stream.centers_, before, atol=1e-9)


def test_the_limit_named_is_that_of_the_data_or_that_of_the_basis(X):
    with pytest.warns(DataWarning) as told:
        SingleTopic(60).fit(X[:400])
    text = str(told[0].message)
    assert "second moment is positive along only" in text
    assert "usually much smaller" in text
    assert "lvmkit.scores.select_n_components" in text
    stream = SingleTopic(3).partial_fit(X)
    narrow = SingleTopic(3).fit(X).moments_
    for q, add in (
        (13, lambda: stream.set_params(n_components=30).partial_fit(X)),
        (3, lambda: SingleTopic(30).fit_moments(narrow)),
    ):
        with pytest.warns(DataWarning) as told:
            add()
        text = str(told[0].message)
        assert f"summed along {q} directions" in text
        assert "sum all rows again" in text
        assert "groups" not in text
    with pytest.raises(ValueError, match=r"n_components=100, and the data have 60 feature\(s\)"):
        SingleTopic(100).fit_moments(stream.moments_)


def test_the_warning_about_states_without_support_holds_after_em():
    rows = np.repeat([[4.0, 0, 0, 1, 0], [0, 3, 1, 0, 2]], 30, axis=0)
    with pytest.warns(DataWarning, match=r"moments give the other states weight 0"):
        alone = PoissonMixture(4, em=False).fit(rows)
    np.testing.assert_array_equal(alone.weights_[2:], 0)
    np.testing.assert_allclose(alone.centers_[2:], np.tile(rows.mean(axis=0), (2, 1)))
    with pytest.warns(DataWarning, match=r"moments give the other states weight 0") as told:
        refined = PoissonMixture(4).fit(rows)
    assert len(told) == 1
    assert (refined.weights_[2:] < 0.01).all()


@pytest.mark.parametrize("alpha0", [np.inf, np.nan, 0, -1.0])
def test_an_alpha0_without_meaning_is_refused(alpha0, X):
    with pytest.raises(ValueError, match=r"alpha0 must be .* number, greater than 0; found"):
        LatentDirichlet(4, alpha0=alpha0).fit(X)


@pytest.mark.parametrize("model", [SingleTopic, LatentDirichlet])
def test_a_topic_without_words_is_refused(model):
    with pytest.raises(ValueError, match=r"topic\(s\) 0 have no word"):
        model.from_parameters([0.5, 0.5], [[0, 0, 0], [0, 1, 0]])


def test_only_sums_of_the_right_kind_are_read(X):
    with pytest.raises(TypeError, match=r"SubspaceMoments, .* found 5 \(int\)"):
        SingleTopic(2).fit_moments(5)
    sums = SubspaceMoments.of(X, np.eye(60)[:, :5], POISSON)
    with pytest.raises(ValueError, match=r"SingleTopic needs sums weighted POOLED; found POISSON"):
        SingleTopic(2).fit_moments(sums)
    with pytest.raises(ValueError, match=r"all 3 rows.* have fewer than 3 words"):
        SingleTopic(2).fit_moments(
            SingleTopic(2).fit(X).moments_.of(np.eye(60)[:3], sums.basis, lvmkit.moments.POOLED)
        )


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (2, 0)])
def test_a_population_has_states_and_features(shape):
    with pytest.raises(ValueError, match=r"at least one state and one feature; found shape"):
        lvmkit.moments.population(np.zeros(shape), np.ones(shape[0]))


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("moments_whitener", lambda v: v[:3], "shape"),
        ("moments_third", lambda v: v[:, 1:], "shape"),
        ("moments_pairs", lambda v: v[:, 1:], "shape"),
        ("moments_first", lambda v: v * np.nan, "holds nan"),
        ("moments_divisors", lambda v: -v, "negative"),
    ],
)
def test_stored_sums_of_0_1_rows_are_believed_no_more_than_data(key, change, message, X, tmp_path):
    path = lvmkit.save(BernoulliMixture(3).partial_fit(X.sign()), tmp_path / "model")
    with np.load(path) as stored:
        arrays = dict(stored)
    with path.open("wb") as file:
        np.savez(file, **(arrays | {key: change(arrays[key])}))
    with pytest.raises(ValueError, match=message):
        lvmkit.load(path)


@pytest.mark.parametrize("model", [SingleTopic, BernoulliMixture])
def test_a_decomposition_that_is_not_known_is_told_as_such_of_a_file(model, X, tmp_path):
    fitted = model(3).partial_fit(X.sign())
    with pytest.raises(ValueError, match="decomposition='svt' is not known"):
        lvmkit.save(fitted.set_params(decomposition="svt"), tmp_path / "model")
