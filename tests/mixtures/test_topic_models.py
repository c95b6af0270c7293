"""Topic models and Poisson mixtures: recovery of what was planted, streams, and what bad input is told."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.stats import multinomial, poisson

from lvmkit import LatentDirichlet, PoissonMixture, SingleTopic
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_poisson_mixture, make_topics
from lvmkit.decompose import BY_NAME
from lvmkit.mixtures.single_topic import three_words
from lvmkit.scores import adjusted_rand

MODELS = [SingleTopic, LatentDirichlet, PoissonMixture]


def topic_error(truth, found):
    """Mean L1 distance of topics matched by assignment."""
    distance = np.abs(truth[:, None] - found[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(distance)
    return distance[rows, columns].mean()


@pytest.fixture(scope="module")
def single():
    return make_topics(4_000, 300, 5, single=True, random_state=0)


@pytest.fixture(scope="module")
def mixed():
    return make_topics(6_000, 300, 5, random_state=1)


@pytest.mark.parametrize("decomposition", BY_NAME)
def test_every_decomposition_serves_every_model(decomposition, single, mixed):
    options = {"n_components": 5, "decomposition": decomposition}
    topics = SingleTopic(**options).fit(single.X)
    assert topic_error(single.centers, topics.centers_) < 0.2
    allocation = LatentDirichlet(**options).fit(mixed.X)
    assert topic_error(mixed.centers, allocation.centers_) < (
        1.0 if decomposition == "svd" else 0.5
    )
    rates = PoissonMixture(**options, em=False).fit(single.X)
    assert rates.centers_.min() >= 0
    for model in (topics, allocation):
        assert model.centers_.min() >= 0
        np.testing.assert_allclose(model.centers_.sum(axis=1), 1)
        assert model.weights_.sum() == pytest.approx(1)
        assert (np.diff(model.weights_) <= 0).all()


def test_single_topics_find_the_planted_documents(single):
    model = SingleTopic(5).fit(single.X)
    assert adjusted_rand(model.labels_, single.labels) > 0.97
    np.testing.assert_array_equal(model.predict(single.X), model.labels_)
    np.testing.assert_array_equal(model.transform(single.X), model.predict_proba(single.X))
    refined = SingleTopic(5, em=True).fit(single.X)
    assert refined.score(single.X) > model.score(single.X)
    assert np.diff(refined.objective_trace_).min() > -1e-4
    assert refined.stopped_by_ == "tol"


def test_a_dirichlet_allocation_finds_topics_parameters_and_mixtures(mixed):
    model = LatentDirichlet(5).fit(mixed.X)
    assert topic_error(mixed.centers, model.centers_) < 0.25
    np.testing.assert_allclose(np.sort(model.alpha_), np.sort(mixed.alpha), atol=0.05)
    order = linear_sum_assignment(
        np.abs(mixed.centers[:, None] - model.centers_[None]).sum(axis=2)
    )[1]
    mixtures = model.transform(mixed.X[:300])[:, order]
    assert np.abs(mixtures - mixed.mixtures[:300]).sum(axis=1).mean() < 0.35


def test_a_poisson_mixture_finds_the_planted_rates():
    data = make_poisson_mixture(8_000, 60, 4, total=20.0, random_state=2)
    model = PoissonMixture(4).fit(data.X)
    order = linear_sum_assignment(
        ((data.centers[:, None] - model.centers_[None]) ** 2).sum(axis=2)
    )[1]
    np.testing.assert_allclose(model.centers_[order], data.centers, atol=0.1)
    X, labels = model.sample(5_000, random_state=3)
    assert abs(X.mean() - data.X.mean()) < 0.02
    assert adjusted_rand(model.predict(X), labels) > 0.5


def test_objective_trace_are_those_of_scipy():
    X = np.array([[3, 0, 1], [0, 2, 2]], dtype=float)
    weights, topics = [0.3, 0.7], np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]])
    model = SingleTopic.from_parameters(weights, topics)
    expected = [
        np.log(
            sum(
                w * multinomial.pmf(x, x.sum(), mu)
                for w, mu in zip(weights, model.centers_, strict=True)
            )
        )
        for x in X
    ]
    np.testing.assert_allclose(model.score_samples(X), expected)
    rates = PoissonMixture.from_parameters(weights, 5 * topics)
    expected = [
        np.log(
            sum(w * poisson.pmf(x, 5 * mu).prod() for w, mu in zip(weights, topics, strict=True))
        )
        for x in X
    ]
    np.testing.assert_allclose(rates.score_samples(X), expected)
    assert model.bic(X) == pytest.approx(-2 * model.score_samples(X).sum() + 5 * np.log(2))
    drawn, _ = model.sample(50, length=7)
    assert set(drawn.sum(axis=1)) == {7.0}


@pytest.mark.parametrize("model", MODELS)
def test_sparse_dense_and_permuted_rows_give_the_same(model, single):
    X = single.X[:1_500]
    first = model(4).fit(X)
    np.testing.assert_allclose(model(4).fit(X.toarray()).centers_, first.centers_, atol=1e-5)
    np.testing.assert_array_equal(model(4).fit(X).centers_, first.centers_)
    order = np.random.default_rng(0).permutation(1_500)
    again = model(4).fit(X[order])
    np.testing.assert_allclose(again.centers_, first.centers_, atol=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_of_blocks_ends_near_one_fit_of_all(model, mixed):
    whole = model(5, **({"em": False} if model is PoissonMixture else {})).fit(mixed.X)
    stream = model(5)
    for start in range(0, 6_000, 2_000):
        stream.partial_fit(mixed.X[start : start + 2_000])
    assert stream.moments_.n_samples == 6_000
    scale = np.abs(whole.centers_).sum(axis=1).mean()
    assert topic_error(whole.centers_, stream.centers_) < 0.15 * scale
    there = model(5).fit_moments(stream.moments_)
    np.testing.assert_array_equal(there.centers_, stream.centers_)


def test_rows_alone_decide_their_mixture(mixed):
    model = LatentDirichlet(5).fit(mixed.X)
    together = model.transform(mixed.X[:40])
    np.testing.assert_array_equal(model.transform(mixed.X[7:9]), together[7:9])


def test_three_words_are_drawn_without_replacement():
    rng = np.random.default_rng(0)
    X = np.tile([2.0, 1.0, 0.0, 1.0], (8_000, 1))
    drawn = three_words(X, rng)
    assert (drawn.sum(axis=1) == 3).all()
    assert (drawn.toarray() <= X).all()
    np.testing.assert_allclose(drawn.toarray().mean(axis=0), X[0] * 3 / 4, atol=0.03)


def test_pooled_moments_beat_equal_rows_and_three_words():
    errors = dict.fromkeys(("pooled", "equal_rows", "three_words"), 0.0)
    for seed in range(3):
        data = make_topics(2_000, 100, 3, single=True, length=(3, 100), random_state=seed)
        for moments in errors:
            model = SingleTopic(3, moments=moments).fit(data.X)
            errors[moments] += topic_error(data.centers, model.centers_)
    assert errors["pooled"] < errors["equal_rows"] < errors["three_words"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: np.where(X == 2, np.nan, X), "NaN"),
        (lambda X: np.where(X == 2, -1, X), "Negative values .* -1.0 .first in row"),
        (lambda X: X + 0.5, "Fractions .* round_counts=True"),
        (lambda X: X * 0, "all its entries are 0"),
        (lambda X: X[:, :3], r"n_components=4, and the data have 3 feature\(s\)"),
    ],
)
def test_bad_counts_are_refused_by_name_and_place(model, change, message, single):
    with pytest.raises(ValueError, match=message):
        model(4).fit(change(single.X[:60].toarray()))


@pytest.mark.parametrize("model", MODELS)
def test_more_states_than_the_data_support_are_named_and_left_empty(model):
    X = np.repeat([[4.0, 0, 0, 1, 0], [0, 3, 1, 0, 2]], 30, axis=0)
    with pytest.warns(DataWarning, match=r"n_components=4, but .* only [12] of its 4"):
        fitted = model(4).fit(X)
    assert np.isfinite(fitted.centers_).all()
    assert fitted.centers_.shape == (4, 5)


@pytest.mark.parametrize("model", MODELS)
def test_rows_that_are_all_alike_have_one_state(model):
    row = np.random.default_rng(0).poisson(0.1, 500)
    with pytest.warns(DataWarning, match="features occur in no row"):
        fitted = model(1).fit(np.tile(row, (50, 1)))
    expected = row if model is PoissonMixture else row / row.sum()
    np.testing.assert_allclose(fitted.centers_[0], expected, atol=1e-3)


def test_short_documents_are_counted(single):
    X = sparse.vstack([single.X[:500], sparse.csr_array(np.eye(300, dtype=np.float32)[:20])])
    with pytest.warns(DataWarning, match="20 of 520 rows have fewer than 3 words"):
        SingleTopic(3).fit(X.tocsr())
    with pytest.raises(ValueError, match="fewer than 3 words"):
        SingleTopic(1).fit(np.eye(4))


def test_empty_documents_and_unknown_words_are_told_when_judged(single):
    words = [f"w{j}" for j in range(300)]
    model = SingleTopic(3).fit(pd.DataFrame(single.X[:800].toarray(), columns=words))
    allocation = LatentDirichlet(3).fit(pd.DataFrame(single.X[:800].toarray(), columns=words))
    new = pd.DataFrame(np.zeros((2, 2)), columns=["w5", "zebra"])
    new.iloc[0] = [2, 1]
    for judge in (model, allocation):
        with pytest.warns(DataWarning) as told:
            found = judge.transform(new)
        text = " ".join(str(w.message) for w in told)
        assert "unknown to the model and were ignored: 'zebra'" in text
        assert "1 of 2 rows hold none of the model's features" in text
        np.testing.assert_allclose(found[1], judge.weights_, atol=1e-2)
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_nothing_counted_tells_a_poisson_mixture_about_the_cluster():
    model = PoissonMixture.from_parameters([0.7, 0.3], [[5.0, 2.0], [2.0, 6.0]])
    odds = 0.7 * np.exp(-7) / (0.3 * np.exp(-8))
    np.testing.assert_allclose(model.predict_proba([[0, 0]])[0, 0], odds / (1 + odds))


def test_words_that_never_occur_are_told_and_stay_zero(single):
    X = single.X[:500].toarray()
    X[:, 7] = 0
    with pytest.warns(DataWarning, match="features occur in no row"):
        model = SingleTopic(3).fit(X)
    assert (model.centers_[:, 7] == 0).all()
    assert np.isfinite(model.score(single.X[:500].toarray()))


def test_unknown_options_are_refused():
    X = np.ones((10, 4))
    with pytest.raises(ValueError, match="decomposition='svt' is not known"):
        SingleTopic(2, decomposition="svt").fit(X)
    with pytest.raises(ValueError, match="moments='zou' is not known"):
        SingleTopic(2, moments="zou").fit(X)
    with pytest.raises(ValueError, match="alpha0"):
        LatentDirichlet(2, alpha0=0.0).fit(X)
    with pytest.raises(ValueError, match="partial_fit cannot use decomposition='svtd'"):
        SingleTopic(2, decomposition="svtd").partial_fit(X)


def test_documents_of_fewer_than_three_words_are_left_empty():
    drawn = three_words(np.array([[4.0, 0.0], [1.0, 1.0]]), np.random.default_rng(0))
    assert drawn.dtype == np.float32
    np.testing.assert_array_equal(drawn.toarray(), [[3, 0], [0, 0]])
