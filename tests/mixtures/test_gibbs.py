from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from lvmkit.mixtures import gibbs
from lvmkit.mixtures.gibbs import topic_mixtures

TOPICS = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.1, 0.6, 0.2], [0.0, 0.5, 0.0, 0.5]])
ALPHA = np.array([0.2, 0.5, 1.0])


def exact_mixture(row: np.ndarray, topics: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Posterior mean of the mixture, over all topics that the tokens can have."""
    words = np.repeat(np.arange(len(row)), row)
    mean, total = np.zeros(len(alpha)), 0.0
    for states in product(range(len(alpha)), repeat=len(words)):
        counts, weight = np.zeros(len(alpha)), 1.0
        for word, state in zip(words, states, strict=True):
            weight *= topics[state, word] * (counts[state] + alpha[state])
            counts[state] += 1
        mean += weight * (counts + alpha) / (len(words) + alpha.sum())
        total += weight
    return mean / total


def corpus(n: int, d: int, k: int, length: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Documents of latent Dirichlet allocation, of uneven lengths, and their true mixtures."""
    random = np.random.default_rng(n)
    topics = random.dirichlet(np.full(d, 0.1), k)
    mixtures = random.dirichlet(np.full(k, 0.3), n)
    lengths = random.poisson(length * random.gamma(4, 0.25, n))
    rows = [
        random.multinomial(t, mixture @ topics)
        for t, mixture in zip(lengths, mixtures, strict=True)
    ]
    return sparse.csr_array(np.array(rows)), topics, mixtures


@pytest.mark.parametrize("long", [1, 1_000])
@pytest.mark.parametrize(
    ("row", "k"),
    [([1, 1, 0, 0], 2), ([0, 3, 1, 0], 2), ([1, 0, 1, 1], 3), ([2, 0, 2, 0], 3), ([0, 1, 0, 1], 3)],
)
def test_the_mean_over_seeds_is_the_posterior_mean(
    row: list[int], k: int, long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gibbs, "_LONG", long)
    topics, alpha = TOPICS[:k], ALPHA[:k]
    found = np.array(
        [
            topic_mixtures([row], topics, alpha, n_sweeps=20, n_burn=10, random_state=seed)[0]
            for seed in range(80)
        ]
    )
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    expected = exact_mixture(np.array(row), topics, alpha)
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4 * error + 1e-6)


@pytest.mark.parametrize("k", [1, 5, 8, 11, 70])
def test_documents_of_a_known_model_get_about_their_mixture(k: int) -> None:
    X, topics, truth = corpus(60, 400, k, 150)
    found = topic_mixtures(X, topics, np.full(k, 0.3), n_sweeps=30)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() > 0
    assert np.abs(found - truth).sum(axis=1).mean() < 0.3 * (k > 1) * (1 + k / 35) + 1e-9


def test_a_document_is_judged_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs, "_LONG", 60)
    X, topics, _ = corpus(90, 50, 11, 50)
    options: dict[str, Any] = {"n_sweeps": 12, "n_burn": 2, "random_state": 3}
    whole = topic_mixtures(X, topics, np.full(11, 0.2), **options)
    order = np.random.default_rng(0).permutation(90)[:40]
    part = topic_mixtures(X[order], topics, np.full(11, 0.2), **options)
    np.testing.assert_array_equal(part, whole[order])
    dense = topic_mixtures(X[[5]].toarray(), topics, np.full(11, 0.2), **options)
    np.testing.assert_array_equal(dense[0], whole[5])


@pytest.mark.parametrize("threads", ["1", "3"])
def test_blocks_and_threads_make_no_difference(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, topics, _ = corpus(40, 50, 5, 20)
    whole = topic_mixtures(X, topics, np.full(5, 0.2), n_sweeps=12)
    monkeypatch.setenv("LVMKIT_THREADS", threads)
    monkeypatch.setattr(gibbs, "_DOCUMENTS", 7)
    again = topic_mixtures(X, topics, np.full(5, 0.2), n_sweeps=12)
    np.testing.assert_array_equal(again, whole)


def test_the_seed_matters_and_nothing_else_does() -> None:
    X, topics, _ = corpus(20, 50, 5, 20)
    runs = [topic_mixtures(X, topics, np.full(5, 0.2), random_state=s) for s in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_two_documents_of_the_same_words_get_the_same_mixture() -> None:
    X, topics, _ = corpus(20, 50, 5, 20)
    twice = sparse.vstack([X, X])
    found = topic_mixtures(twice, topics, np.full(5, 0.2))
    np.testing.assert_array_equal(found[:20], found[20:])


def test_documents_without_a_known_word_get_the_prior() -> None:
    topics = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]])
    found = topic_mixtures([[0, 0, 0], [0, 0, 7]], topics, [1.0, 3.0])
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.25, 0.75]])


def test_a_word_that_no_topic_has_changes_nothing() -> None:
    topics = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]])
    found = topic_mixtures([[3, 1, 0], [3, 1, 9]], topics, [1.0, 3.0])
    np.testing.assert_array_equal(found[0], found[1])


def test_a_topic_with_alpha_0_is_in_no_document() -> None:
    with_it = topic_mixtures([[3, 1, 2, 1]], TOPICS, [0.2, 0.0, 1.0])
    without = topic_mixtures([[3, 1, 2, 1]], TOPICS[[0, 2]], [0.2, 1.0])
    assert with_it[0, 1] == 0
    np.testing.assert_array_equal(with_it[:, [0, 2]], without)


def test_topics_without_a_word_are_never_drawn_for_it() -> None:
    k, d = 19, 19
    found = topic_mixtures(np.eye(d) * 40, np.eye(k), np.full(k, 1e-3))
    np.testing.assert_allclose(np.diag(found), 1, atol=1e-3)


def test_probabilities_too_small_for_float32_still_count() -> None:
    topics = np.array([[1e-60, 1.0 - 1e-60], [2e-60, 1.0 - 2e-60]])
    found = topic_mixtures([[60, 0]], topics, [5.0, 5.0])
    plain = topic_mixtures([[60, 0]], [[0.1, 0.9], [0.2, 0.8]], [5.0, 5.0])
    np.testing.assert_allclose(found, plain, rtol=1e-6)
    assert found[0, 1] > 0.6


def test_counts_on_top_of_alpha_stay_exact() -> None:
    alpha = np.array([1e-6, 0.013, 0.4, 7.3])
    rounded = gibbs._rounded(alpha, np.array([80, 100_000]), 8)
    assert (rounded[0, :, :4] > 0).all()
    assert (rounded[0, :, 4:] == 0).all()
    for row, length in zip(rounded[0, :, :4], (80, 100_000), strict=True):
        assert ((row + np.float32(length)) - np.float32(length) == row).all()
    np.testing.assert_allclose(rounded[0, 0, 1:4], alpha[1:], rtol=1e-3)


def test_progress_is_told_and_can_cancel() -> None:
    told: list[float] = []
    topic_mixtures([[1, 0, 1, 0]], TOPICS, ALPHA, progress=lambda _, done: told.append(done))
    assert told == [1.0]

    def cancel(text: str, done: float) -> None:
        raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt, match="Topic mixtures"):
        topic_mixtures([[1, 0, 1, 0]], TOPICS, ALPHA, progress=cancel)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"X": [[1.5, 0, 0, 0]]},
            r"whole numbers, 0 or more; found 1.5 \(first in row 0, column 0",
        ),
        ({"X": [[0, 0, 0, 0], [0, -1, 0, 0]]}, r"found -1 \(first in row 1, column 1"),
        ({"X": [[0, np.nan, 0, 0]]}, r"X holds NaN .*in row 0, column 1"),
        ({"X": [[1, 2]]}, r"by the 4 words of the topics; found shape \(1, 2\)"),
        ({"X": np.zeros((0, 4))}, r"X has 0 sample\(s\) \(shape=\(0, 4\)\)"),
        ({"centers": TOPICS[0]}, r"topics by words; found shape \(4,\)"),
        ({"centers": TOPICS[[2, 2, 2]] * 2}, r"topics 0, 1, 2 sum to 2.0, 2.0, 2.0"),
        ({"centers": TOPICS - 0.1}, r"probabilities of words; found -0.1, -0.1, -0.1"),
        ({"alpha": [1.0, 1.0]}, r"one number for each of the 3 topics.*; found shape \(2,\)"),
        ({"alpha": [1.0, -1.0, 1.0]}, r"alpha must be 0 or more.*found 1.0, -1.0, 1.0"),
        ({"alpha": [0.0, 0.0, 0.0]}, r"above 0 for one topic at least"),
        ({"n_sweeps": 10, "n_burn": 10}, r"n_sweeps must be greater than n_burn; found 10 and 10"),
        ({"n_burn": -1}, r"n_burn must be a whole number"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"X": [[1, 0, 1, 0]], "centers": TOPICS, "alpha": ALPHA} | changed
    with pytest.raises(ValueError, match=message):
        topic_mixtures(given.pop("X"), given.pop("centers"), given.pop("alpha"), **given)


def test_each_sweep_after_those_left_out_counts() -> None:
    """Of words that one topic alone has, every sweep says the same."""
    row = np.array([3, 1, 0])
    expected = (row + ALPHA) / (row + ALPHA).sum()
    for n_burn in (0, 2):
        found = topic_mixtures([row], np.eye(3), ALPHA, n_sweeps=n_burn + 1, n_burn=n_burn)
        np.testing.assert_allclose(found[0], expected, rtol=1e-6)
