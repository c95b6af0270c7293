import numpy as np
import pytest

from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.mixtures.explanation import explain, steps_in_words

CODES = tuple("abcdefgh")


@pytest.fixture
def clustering():
    rng = np.random.default_rng(3)
    weights = np.array([0.5, 0.3, 0.2])
    return Clustering.of(Mixture(weights, rng.uniform(0.05, 0.8, (3, 8)), CODES))


def posterior(clustering, present, known):
    mu = clustering.mixture.centers
    like = np.where(present, mu, 1 - mu)[:, known].prod(axis=1) * clustering.mixture.weights
    return like @ clustering.membership / like.sum()


@pytest.mark.parametrize("merge", [[], [0, 2]])
@pytest.mark.parametrize("absent_known", [True, False])
def test_the_factors_multiply_to_the_exact_posterior(clustering, merge, absent_known):
    if merge:
        clustering = clustering.merged(merge)
    present = np.array([True, False, True, False, False, False, False, False])
    found = explain(clustering, present, 1, absent_known=absent_known)
    expected = posterior(clustering, present, slice(None) if absent_known else present)
    np.testing.assert_allclose(found.posteriors, expected, rtol=1e-10)
    odds = found.prior / (1 - found.prior)
    for step in found.factors:
        odds *= step.factor
    odds *= found.rest
    np.testing.assert_allclose(odds / (1 + odds), found.posterior, rtol=1e-10)


def test_every_code_counts_once(clustering):
    present = np.zeros(8, dtype=bool)
    present[[1, 4]] = True
    found = explain(clustering, present, 0)
    assert {step.code for step in found.factors if step.present} == {"b", "e"}
    assert len(found.factors) + found.n_rest == 8


def test_a_single_cluster_is_certain(clustering):
    one = clustering.merged([0, 1, 2])
    found = explain(one, np.ones(8, dtype=bool), 3)
    assert found.posterior == pytest.approx(1.0)
    assert all(step.factor == 1.0 for step in found.factors)


def test_the_arithmetic_is_told_in_words(clustering):
    found = explain(clustering, np.array([True] + [False] * 7), 0)
    steps = steps_in_words(found, clustering, {"a": "Heart failure"})
    assert steps[0] == {"step": "Before any code is known", "factor": None, "probability": 0.5}
    assert steps[1]["step"] == "Has a Heart failure"
    assert steps[1]["inside"] == pytest.approx(clustering.centers[0, 0])
    expected = clustering.weights[1:] @ clustering.centers[1:, 0] / clustering.weights[1:].sum()
    assert steps[1]["outside"] == pytest.approx(expected)
    assert steps[-1]["step"] == "Has none of the other 4 codes"
    assert steps[-1]["probability"] == found.posterior
    odds = 1.0
    for step in steps[1:]:
        odds *= step["factor"]
        assert step["probability"] == pytest.approx(odds / (1 + odds))


def test_extreme_factors_are_told_in_words():
    centers = np.array([[0.999999, 0.5], [1e-9, 0.5]])
    sure = Clustering.of(Mixture(np.array([0.5, 0.5]), centers, ("a", "b")))
    for cluster, text in ((0, "over 10,000"), (1, "below 0.0001")):
        found = explain(sure, np.array([True, False]), cluster)
        assert steps_in_words(found, sure, {})[1]["factor"] == text
