from typing import Any

import numpy as np
import pytest
from scipy import sparse

from lvmkit.scores import coherence


def plain(topic: np.ndarray, X: np.ndarray, n_top: int) -> float:
    """The sum of the paper, pair by pair."""
    words = sorted(range(len(topic)), key=lambda w: (-topic[w], w))[:n_top]
    present = X > 0
    return float(
        sum(
            np.log(
                ((present[:, words[j]] & present[:, words[i]]).sum() + 1)
                / present[:, words[i]].sum()
            )
            for j in range(1, len(words))
            for i in range(j)
        )
    )


def test_it_is_the_sum_over_pairs() -> None:
    random = np.random.default_rng(0)
    X = random.poisson(0.6, (60, 30))
    X[0] = 1
    topics = random.dirichlet(np.full(30, 0.3), 4)
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        found = coherence(topics, kind(X), n_top=7)
        np.testing.assert_allclose(found, [plain(topic, X, 7) for topic in topics])


def test_words_that_occur_together_are_coherent() -> None:
    X = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 50, axis=0)
    mixed = [0.4, 0.0, 0.0, 0.3, 0.3, 0.0]
    found = coherence([[0.4, 0.3, 0.3, 0.0, 0.0, 0.0], mixed], X, n_top=3)
    assert found[0] > 0 > found[1]


def test_equal_probabilities_are_taken_in_order() -> None:
    X = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(coherence([[0.2, 0.2, 0.2]], X, n_top=2), np.log(3 / 2))


def test_a_word_in_no_document_is_as_bad_as_can_be() -> None:
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0]])
    found = coherence([[0.2, 0.1, 0.7]], X, n_top=3)
    np.testing.assert_allclose(found[0], np.log(1 / 3) + np.log(1 / 3) + np.log(4 / 3))
    assert found[0] < coherence([[0.5, 0.5, 0.0]], X, n_top=2)
    assert np.isfinite(coherence([[0.5, 0.5, 0.0]], np.zeros((4, 3)), n_top=3)).all()


def test_fewer_words_than_asked_for_are_all_taken() -> None:
    X = np.array([[1, 1], [1, 0]])
    assert coherence([[0.5, 0.5]], X) == coherence([[0.5, 0.5]], X, n_top=2)


@pytest.mark.parametrize(
    ("centers", "X", "options", "message"),
    [
        ([[0.5, 0.5]], np.ones((2, 3)), {}, r"found shapes \(1, 2\) and \(2, 3\)"),
        ([0.5, 0.5], np.ones((2, 2)), {}, r"found shapes \(2,\) and \(2, 2\)"),
        ([[0.5, np.nan]], np.ones((2, 2)), {}, r"centers must be finite; found nan"),
        ([[0.5, 0.5]], np.ones((2, 2)), {"n_top": 1}, r"n_top must be a whole number, at least 2"),
        ([[0.5, 0.5]], np.ones((0, 2)), {}, r"X has 0 sample\(s\) \(shape=\(0, 2\)\)"),
        ([[0.5, 0.5]], np.array([[1, np.nan]]), {}, r"X holds NaN .*in row 0, column 1"),
        ([[0.5, 0.5]], sparse.csr_array([[0, -2], [1, 1]]), {}, r"0 or more; found -2"),
        ([[0.5, 0.5]], [[1, np.inf]], {}, r"X holds infinity .*in row 0, column 1"),
    ],
)
def test_bad_input_is_refused(centers: Any, X: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coherence(centers, X, n_top=options.get("n_top", 20))
