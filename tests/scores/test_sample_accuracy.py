from typing import Any

import numpy as np
import pytest

from lvmkit.scores import sample_accuracy


def test_with_equal_lengths_only_their_number_counts() -> None:
    expected = np.sqrt(1 / 50) + np.sqrt(2 / 50 * np.log(1 / 0.1))
    for length in (3, 80, 100_000):
        for order in (2, 3):
            found = sample_accuracy(np.full(50, length), order=order, delta=0.1)
            np.testing.assert_allclose(found, expected)


def test_it_is_the_formula_of_the_theorem() -> None:
    t = np.array([1.0, 2, 5, 9])
    for order, tuples in ((2, t * (t - 1)), (3, t * (t - 1) * (t - 2))):
        weight = (tuples**2).sum() / tuples.sum() ** 2
        expected = np.sqrt(weight * (1 - 0.3**2)) + np.sqrt(2 * weight * np.log(1 / 0.02))
        found = sample_accuracy(t, order=order, delta=0.02, norm=0.3)
        np.testing.assert_allclose(found, expected)


def test_documents_too_short_carry_nothing() -> None:
    assert sample_accuracy([5, 9, 0, 1]) == sample_accuracy([5, 9])
    assert sample_accuracy([5, 9, 2, 2], order=3) == sample_accuracy([5, 9], order=3)


def test_the_bound_holds_on_simulated_documents() -> None:
    random = np.random.default_rng(0)
    topics, weights = random.dirichlet(np.ones(6), 3), np.array([0.5, 0.3, 0.2])
    moment = topics.T @ (weights[:, None] * topics)
    lengths = random.integers(2, 30, 200)
    errors = []
    for _ in range(40):
        states = random.choice(3, 200, p=weights)
        X = np.array(
            [random.multinomial(t, topics[s]) for t, s in zip(lengths, states, strict=True)]
        )
        pairs = X.T @ X - np.diag(X.sum(axis=0))
        errors.append(np.linalg.norm(pairs / (lengths * (lengths - 1)).sum() - moment))
    assert max(errors) < sample_accuracy(lengths, norm=float(np.linalg.norm(moment)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lengths": [3, -1]}, r"whole numbers of words.*found -1.0"),
        ({"lengths": [3, 1.5]}, r"found 1.5"),
        ({"lengths": 100}, r"found shape \(\)"),
        ({"lengths": [1, 1]}, r"need a document of 2 words; the longest of 2 has 1"),
        ({"lengths": []}, r"the longest of 0 has 0"),
        ({"order": 4}, r"order is 2 or 3.*found 4"),
        ({"delta": 1.0}, r"delta below 1"),
        ({"delta": 0.0}, r"delta must be a number, greater than 0"),
        ({"norm": 1.5}, r"norm at most 1; found 2, 0.05 and 1.5"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"lengths": [3, 4]} | changed
    with pytest.raises(ValueError, match=message):
        sample_accuracy(given.pop("lengths"), **given)
