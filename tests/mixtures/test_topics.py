"""Topics as dashboards read them off a model, and the words that a page holds of them."""

from types import SimpleNamespace

import numpy as np

import lvmkit
from lvmkit.mixtures.topics import Topics, page_words


def test_poisson_rates_are_read_as_shares_of_words():
    rates = np.repeat(np.eye(3) * 6 + 0.5, 3, axis=1)
    X = np.random.default_rng(4).poisson(np.repeat(rates, 20, axis=0))
    model = lvmkit.PoissonMixture(n_components=3).fit(X)
    topics = Topics.of(model, None)
    np.testing.assert_allclose(topics.centers.sum(axis=1), 1)
    joint = topics.mass[:, None] * topics.centers
    rates = model.weights_[:, None] * model.centers_
    np.testing.assert_allclose(joint, rates / rates.sum())


def test_a_page_that_cannot_hold_all_words_holds_every_word_a_slider_step_shows():
    random = np.random.default_rng(1)
    centers = random.dirichlet(np.full(2000, 0.05), 5)
    model = SimpleNamespace(centers_=centers, weights_=np.full(5, 0.2))
    topics = Topics.of(model, [f"w{i}" for i in range(2000)])
    kept = set(page_words([topics], 5 * 600))
    assert len(kept) == 600
    for balance in np.linspace(0, 1, 101):
        score = topics.relevance(balance)
        for row in score:
            best = np.sort(row)[::-1][29]
            assert set(np.flatnonzero(row > best)) <= kept
