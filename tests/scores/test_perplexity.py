from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit import LatentDirichlet
from lvmkit.scores import perplexity
from lvmkit.scores.perplexity import completion, halves

RANDOM = np.random.default_rng(0)
TOPICS = RANDOM.dirichlet(np.full(60, 0.1), 4)
MIXTURES = RANDOM.dirichlet(np.full(4, 0.2), 150)
X = sparse.csr_array(np.array([RANDOM.multinomial(40, m @ TOPICS) for m in MIXTURES]))


def plain(known: np.ndarray, predicted: np.ndarray, topics: np.ndarray) -> float:
    """Document completion, one document after the other."""
    total = 0.0
    for one, other in zip(known, predicted, strict=True):
        shares = np.full(len(topics), 1 / len(topics))
        for _ in range(50):
            shares = shares * (topics @ (one / (shares @ topics))) / one.sum()
        total += other @ np.log(shares @ topics)
    return float(np.exp(-total / predicted.sum()))


def test_it_is_document_completion() -> None:
    known, predicted = halves(X, 0)
    smooth = 0.999 * TOPICS + 0.001 / 60
    expected = plain(known.toarray(), predicted.toarray(), smooth)
    np.testing.assert_allclose(perplexity(TOPICS, X), expected)


def test_halves_add_up_and_are_as_even_as_can_be() -> None:
    counts = sparse.csr_array(RANDOM.poisson(0.3, (200, 12)).astype(np.float32))
    kept = counts[np.flatnonzero(counts.sum(axis=1) >= 2)]
    one, other = halves(counts, 3)
    np.testing.assert_array_equal((one + other).toarray(), kept.toarray())
    difference = one.sum(axis=1) - other.sum(axis=1)
    assert set(difference.tolist()) == {-1.0, 0.0, 1.0}
    assert abs(difference.sum()) < 30
    np.testing.assert_array_equal(halves(counts, 3)[0].toarray(), one.toarray())
    assert (halves(counts, 4)[0] - one).nnz


def test_the_true_topics_are_better_than_others() -> None:
    own = perplexity(TOPICS, X)
    assert own < perplexity(TOPICS[:3], X)
    assert own < perplexity(np.roll(TOPICS, 7, axis=1), X)
    assert own < 60
    assert perplexity(np.full((1, 60), 1 / 60), X) == pytest.approx(60)


def test_the_mixtures_may_come_from_a_callable() -> None:
    seen: list[Any] = []

    def infer(rows: Any) -> np.ndarray:
        seen.append(rows)
        return MIXTURES

    assert perplexity(TOPICS, X, infer=infer) < perplexity(TOPICS, X)
    np.testing.assert_array_equal(seen[0].toarray(), halves(X, 0)[0].toarray())


def test_a_model_that_was_fitted_with_names_gets_names() -> None:
    words = [f"w{i}" for i in range(60)]
    alpha = np.full(4, 0.2)
    named = LatentDirichlet.from_parameters(alpha, TOPICS, feature_names=words)
    bare = LatentDirichlet.from_parameters(alpha, TOPICS)
    expected = perplexity(TOPICS, X, infer=bare.transform)
    table = pd.DataFrame(X.toarray(), columns=words)
    cohort = anndata.AnnData(X.astype(np.float32), var=pd.DataFrame(index=words))
    for rows in (table, cohort):  # a warning would be an error
        assert perplexity(TOPICS, rows, infer=named.transform) == pytest.approx(expected)
        assert perplexity(TOPICS, rows, infer=bare.transform) == pytest.approx(expected)
    seen: list[Any] = []
    perplexity(TOPICS, cohort, infer=lambda rows: (seen.append(rows), MIXTURES)[1])
    assert sparse.issparse(seen[0])


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    whole = perplexity(TOPICS, X)
    monkeypatch.setattr(sys.modules["lvmkit.scores.perplexity"], "_NUMBERS", 2_000)
    assert perplexity(TOPICS, X) == pytest.approx(whole, rel=1e-12)


def test_documents_of_one_token_are_left_out() -> None:
    single = sparse.csr_array(np.eye(60)[:5])
    both = sparse.vstack([X, single, 0 * single])
    assert perplexity(TOPICS, both) == perplexity(TOPICS, X)


def test_impossible_words_are_infinitely_surprising_without_smoothing() -> None:
    topics, row = [[0.5, 0.5, 0.0]], [[2, 2, 2]]
    assert perplexity(topics, row, smoothing=0) == np.inf
    assert np.isfinite(perplexity(topics, row))


def test_completion_predicts_every_token_once() -> None:
    total, n_tokens = completion(TOPICS, X)
    assert n_tokens == X.sum()
    assert np.exp(-total / n_tokens) == pytest.approx(perplexity(TOPICS, X), rel=0.05)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"X": [[0.5, 2.0]]}, r"whole numbers, 0 or more; found 0.5"),
        ({"X": [[1, 0], [0, 1]]}, r"no document has two tokens"),
        ({"centers": [[0.5, 0.6]]}, r"topics 0 sum to 1.1"),
        ({"smoothing": 2}, r"smoothing is a share, at most 1; found 2"),
        ({"n_steps": 0}, r"n_steps must be a whole number, at least 1"),
        ({"infer": lambda rows: np.ones((1, 3))}, r"topic mixtures \(1, 1\).*found shape \(1, 3\)"),
        ({"infer": lambda rows: np.full((1, 1), 0.5)}, r"\(1, 1\) with other sums or signs"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"centers": [[0.5, 0.5]], "X": [[2, 2]]} | changed
    with pytest.raises(ValueError, match=message):
        perplexity(given.pop("centers"), given.pop("X"), **given)
