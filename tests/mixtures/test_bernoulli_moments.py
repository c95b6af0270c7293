"""Bernoulli mixtures by moments alone: without EM, by any decomposition, and from blocks of rows."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from lvmkit import BernoulliMixture, decompose
from lvmkit.core.distinct import distinct_rows
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_appendix_e
from lvmkit.mixtures import initialization
from lvmkit.mixtures.families import Prior
from lvmkit.mixtures.initialization import bernoulli_start, silent
from lvmkit.moments import POISSON, RAW, WhitenedMoments
from lvmkit.scores import adjusted_rand

DATA = make_appendix_e(12_000, 60, 4, random_state=2)


@pytest.mark.parametrize("init", ["corrected", "asvtd", "3v-mom", "3v-tpm"])
def test_without_em_the_parameters_are_those_of_the_start(init):
    model = BernoulliMixture(4, init=init, em=False).fit(DATA.X)
    prior = Prior.around(np.asarray(DATA.X.sum(axis=0)).ravel(), 12_000, 1.0)
    data = distinct_rows(DATA.X)
    prior = replace(prior, mean=prior.mean[data.features])
    start, clipped = bernoulli_start(data.rows, 4, init, prior, silent, sample_weight=data.weight)
    order = np.argsort(-start.weights, kind="stable")
    np.testing.assert_allclose(model.centers_, data.unsorted(start.centers[order]), atol=1e-3)
    np.testing.assert_allclose(model.weights_, start.weights[order])
    assert (model.n_iter_, model.stopped_by_, len(model.objective_trace_)) == (0, "moments", 0)
    assert model.clipped_ == clipped
    assert ((model.centers_ > 0) & (model.centers_ < 1)).all()


@pytest.mark.parametrize("decomposition", decompose.BY_NAME)
@pytest.mark.parametrize("init", ["corrected", "asvtd"])
@pytest.mark.filterwarnings("ignore:the centers found")  # the SVD method is noisy: one random slice
def test_every_decomposition_leads_to_the_planted_clusters(init, decomposition):
    model = BernoulliMixture(4, init=init, decomposition=decomposition).fit(DATA.X)
    assert adjusted_rand(model.labels_, DATA.labels) > 0.95


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("init", "own"), [("corrected", "joint_diagonalization"), ("asvtd", "svtd")]
)
@pytest.mark.filterwarnings("ignore:the centers found")
def test_the_decomposition_asked_for_is_the_one_used(init, own, learn):
    def centers(decomposition, random_state=0):
        options = {"decomposition": decomposition, "random_state": random_state}
        model = BernoulliMixture(4, init=init, em=False, **options)
        return getattr(model, learn)(DATA.X).centers_

    np.testing.assert_allclose(centers(own), centers(None), atol=1e-3)
    assert np.abs(centers("svd") - centers(None)).max() > 0.004
    assert np.abs(centers("svd", 0) - centers("svd", 1)).max() > 0.001


@pytest.mark.parametrize("init", ["corrected", "asvtd"])
def test_blocks_of_rows_give_what_all_rows_give(init):
    whole = BernoulliMixture(4, init=init, em=False).fit(DATA.X)
    stream = BernoulliMixture(4, init=init)
    for begin in range(0, 12_000, 4_000):
        stream.partial_fit(DATA.X[begin : begin + 4_000])
    assert stream.moments_.n_samples == 12_000
    assert np.abs(stream.centers_ - whole.centers_).max() < 0.01
    assert adjusted_rand(stream.predict(DATA.X), whole.labels_) > 0.999
    assert not hasattr(stream, "labels_")


@pytest.mark.parametrize("init", ["corrected", "asvtd"])
def test_one_block_is_a_fit_without_em(init):
    whole = BernoulliMixture(4, init=init, em=False).fit(DATA.X)
    block = BernoulliMixture(4, init=init).partial_fit(DATA.X)
    np.testing.assert_allclose(block.centers_, whole.centers_, atol=1e-4)
    np.testing.assert_allclose(block.weights_, whole.weights_, atol=1e-4)


def test_one_cluster_is_the_prevalence():
    model = BernoulliMixture(1).partial_fit(DATA.X[:500]).partial_fit(DATA.X[500:900])
    np.testing.assert_allclose(model.centers_[0], DATA.X[:900].mean(axis=0), atol=5e-3)


def test_more_clusters_than_directions_are_told_and_empty():
    twice = np.repeat([[1] * 6 + [0] * 6, [0] * 6 + [1] * 6], 30, axis=0)
    with pytest.warns(DataWarning, match="show 2 directions, n_components=3"):
        model = BernoulliMixture(3, init="asvtd").partial_fit(twice)
    assert model.weights_[2] == 0
    assert set(model.predict(twice)) == {0, 1}


def test_more_clusters_than_the_first_block_looked_for_are_told():
    model = BernoulliMixture(2).partial_fit(DATA.X[:4_000]).set_params(n_components=20)
    with pytest.warns(DataWarning, match="show 12 directions, n_components=20"):
        model.partial_fit(DATA.X[4_000:])
    assert len(model.weights_) == 20


def test_rows_of_one_feature_each_cannot_be_corrected():
    with pytest.raises(ValueError, match="no features occur together"):
        BernoulliMixture(2).partial_fit(np.eye(6)[[0, 1, 2, 3] * 5])


@pytest.mark.parametrize("init", ["3v-tpm", "random", ([0.5, 0.5], np.full((2, 60), 0.5))])
def test_only_moments_that_add_are_streamed(init):
    with pytest.raises(AttributeError, match="partial_fit"):
        BernoulliMixture(2, init=init).partial_fit(DATA.X)


def test_a_stream_that_forgets_a_fit_says_so():
    model = BernoulliMixture(4).fit(DATA.X)
    with pytest.warns(DataWarning, match="a stream begins"):
        model.partial_fit(DATA.X[:4_000])
    assert model.moments_.n_samples == 4_000


def test_given_parameters_cannot_go_on():
    model = BernoulliMixture.from_parameters(DATA.weights, DATA.centers)
    with pytest.raises(ValueError, match="no moments_ to add rows to"):
        model.partial_fit(DATA.X)


def test_clusters_keep_their_numbers_and_names_when_their_weights_change_places():
    rare = DATA.labels == np.argmax(DATA.weights)
    first, later = DATA.X[~rare | (np.arange(12_000) % 8 == 0)], DATA.X[rare]
    model = BernoulliMixture(4).partial_fit(first)
    number = int(
        np.abs(model.centers_ - DATA.centers[np.argmax(DATA.weights)]).mean(axis=1).argmin()
    )
    assert number > 0
    model.annotations_ = {"clusters": {str(number): {"name": "Heart"}}}
    model.partial_fit(later)
    assert int(model.weights_.argmax()) == number
    assert model.annotations_["clusters"][str(number)]["name"] == "Heart"


def test_a_fit_after_a_stream_begins_anew():
    model = BernoulliMixture(4).partial_fit(DATA.X[:4_000]).fit(DATA.X)
    assert not hasattr(model, "moments_")
    assert len(model.labels_) == 12_000


def test_empty_first_blocks_are_refused():
    with pytest.raises(ValueError, match="all entries are 0"):
        BernoulliMixture(2).partial_fit(np.zeros((20, 5)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"em": False, "init": "random"}, "init='random' uses none"),
        ({"decomposition": "svdt"}, "decomposition='svdt' is not known"),
        ({"decomposition": "power", "init": "3v-tpm"}, "leave it out"),
        ({"decomposition": "power", "init": ([1.0], [[0.5] * 60])}, "leave it out"),
    ],
)
def test_options_that_do_nothing_are_refused(options, message):
    k = 1 if isinstance(options.get("init"), tuple) else 4
    with pytest.raises(ValueError, match=message):
        BernoulliMixture(k, **options).fit(DATA.X)


@pytest.mark.parametrize("init", ["corrected", "asvtd"])
def test_sums_of_two_sites_give_what_a_stream_gives(init):
    here = BernoulliMixture(4, init=init).partial_fit(DATA.X[:6_000])
    there = WhitenedMoments.of(DATA.X[6_000:], here.moments_.whitener, POISSON, dtype=np.float32)
    both = BernoulliMixture(4, init=init).fit_moments(here.moments_ + there)
    stream = here.partial_fit(DATA.X[6_000:])
    order = np.argsort(-stream.weights_, kind="stable")
    np.testing.assert_allclose(both.centers_, stream.centers_[order], atol=1e-5)
    assert (both.n_features_in_, both.n_iter_, both.stopped_by_) == (60, 0, "moments")


def test_sums_that_a_stream_could_not_have_are_refused():
    with pytest.raises(TypeError, match=r"needs WhitenedMoments, .* found 5 \(int\)"):
        BernoulliMixture(2).fit_moments(5)
    raw = WhitenedMoments.of(DATA.X, np.eye(60)[:, :5], RAW)
    with pytest.raises(ValueError, match="BernoulliMixture needs sums weighted POISSON; found RAW"):
        BernoulliMixture(2).fit_moments(raw)


@pytest.mark.parametrize("init", ["corrected", "asvtd"])
def test_more_features_than_a_matrix_of_pairs_holds_give_the_same(init, monkeypatch):
    held = BernoulliMixture(4, init=init).partial_fit(DATA.X[:6_000]).partial_fit(DATA.X[6_000:])
    monkeypatch.setattr(initialization, "DENSE_MOMENTS", 50)  # DATA has 60 features
    streamed = BernoulliMixture(4, init=init).partial_fit(DATA.X[:6_000])
    streamed.partial_fit(DATA.X[6_000:])
    np.testing.assert_allclose(streamed.centers_, held.centers_, atol=1e-3)


def test_thousands_of_features_are_streamed_without_a_matrix_of_their_pairs():
    generator = np.random.default_rng(0)
    rare = sparse.random_array(
        (12_000, 9_000), density=2e-4, rng=generator, dtype=np.float32
    ).sign()
    X = sparse.csr_array(sparse.hstack([DATA.X, rare]), dtype=np.float32)
    tracemalloc.start()
    stream = BernoulliMixture(4).partial_fit(X[:6_000]).partial_fit(X[6_000:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 9_060**2 * 8 / 2
    assert adjusted_rand(stream.predict(X), DATA.labels) > 0.9


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_warnings_point_to_the_line_that_caused_them(learn):
    twice = np.repeat([[1] * 6 + [0] * 6, [0] * 6 + [1] * 6], 30, axis=0)
    with pytest.warns(DataWarning) as told:
        getattr(BernoulliMixture(3, init="asvtd"), learn)(twice)
    assert {warning.filename for warning in told} == {__file__}
