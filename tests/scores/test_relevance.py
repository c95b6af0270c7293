import numpy as np
import pytest

from lvmkit.scores import lift, relevance

CENTERS = np.array([[0.9, 0.1, 0.0], [0.1, 0.1, 0.5]])
WEIGHTS = np.array([0.25, 0.75])


@pytest.mark.parametrize("balance", [0.3, 0.6, 1.0])
def test_relevance_is_the_formula(balance: float) -> None:
    overall = WEIGHTS @ CENTERS
    for j, i in [(0, 0), (0, 1), (1, 0), (1, 2)]:
        share = CENTERS[j, i]
        expected = balance * np.log(share) + (1 - balance) * np.log(share / overall[i])
        found = relevance(CENTERS, WEIGHTS, balance=balance)[j, i]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_balance_0_is_the_logarithm_of_the_lift() -> None:
    with np.errstate(divide="ignore"):
        expected = np.log(lift(CENTERS, WEIGHTS))
    np.testing.assert_allclose(relevance(CENTERS, WEIGHTS, balance=0.0), expected, atol=1e-12)


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_an_absent_code_is_last_whatever_the_balance(balance: float) -> None:
    never = np.array([[0.5, 0.0], [0.2, 0.0]])
    found = relevance(never, WEIGHTS, balance=balance)
    assert np.all(found[:, 1] == -np.inf)
    assert np.all(lift(never, WEIGHTS)[:, 1] == 0)


def test_a_state_without_weight_may_hold_a_code_no_other_has() -> None:
    found = lift(np.array([[0.5], [0.0]]), np.array([0.0, 1.0]))
    assert found[0, 0] == np.inf
    assert found[1, 0] == 0


def test_the_weighted_lift_is_one() -> None:
    found = WEIGHTS @ lift(CENTERS, WEIGHTS)
    np.testing.assert_allclose(found, 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("centers", "weights", "balance", "message"),
    [
        (CENTERS, WEIGHTS, 1.5, r"balance .* found 1.5"),
        (CENTERS, WEIGHTS[:1], 0.6, r"shapes \(2, 3\) and \(1,\)"),
        (CENTERS + 0.2, WEIGHTS, 0.6, r"\[0, 1\]; found 1.1"),
        (CENTERS, WEIGHTS * 2, 0.6, r"found 0.5, 1.5 with sum 2"),
    ],
)
def test_bad_probabilities_are_named(
    centers: np.ndarray, weights: np.ndarray, balance: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        relevance(centers, weights, balance=balance)
