from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from lvmkit.scores import predictive_power

RANDOM = np.random.default_rng(0)


def test_a_cluster_that_is_the_outcome_predicts_it() -> None:
    labels = RANDOM.integers(0, 2, 200)
    found = predictive_power(labels, labels == 1)
    assert list(found.columns) == ["accuracy", "balanced_accuracy", "auc", "majority"]
    assert len(found) == 5
    assert (found[["accuracy", "balanced_accuracy", "auc"]] == 1).all(axis=None)


def test_numbers_are_those_counted_by_hand() -> None:
    # 2 clusters of 1000; 90 % and 20 % have the outcome: say "yes" in 0 and "no" in 1
    labels = np.repeat([0, 1], 1_000)
    outcome = np.concatenate([np.arange(1_000) < 900, np.arange(1_000) < 200])
    found = predictive_power(labels, outcome, n_repeats=20).mean()
    assert found["accuracy"] == pytest.approx(0.85, abs=0.01)
    sensitivity, specificity = 900 / 1_100, 800 / 900
    assert found["balanced_accuracy"] == pytest.approx((sensitivity + specificity) / 2, abs=0.01)
    ties = (900 / 1_100) * (100 / 900) + (200 / 1_100) * (800 / 900)
    area = sensitivity * specificity + ties / 2
    assert found["auc"] == pytest.approx(area, abs=0.01)
    assert found["majority"] == pytest.approx(0.55, abs=0.001)


def test_clusters_without_power_have_that_of_the_majority() -> None:
    outcome = np.arange(500) % 10 == 0
    found = predictive_power(RANDOM.integers(0, 6, 500), outcome).mean()
    assert found["accuracy"] == found["majority"] == 0.9
    assert found["balanced_accuracy"] == 0.5
    assert 0.3 < found["auc"] < 0.7


def test_a_cluster_of_each_row_tells_nothing_of_other_rows() -> None:
    # learned by heart it is right of every row that it was learned from, and of no other
    found = predictive_power(np.arange(200), np.arange(200) % 2 == 0, n_repeats=10)
    assert (found["accuracy"] == 0.5).all()
    assert (found["balanced_accuracy"] == 0.5).all()
    assert (found["auc"] == 0.5).all()


@pytest.mark.parametrize("n_test", [11, 30, 47])
def test_scores_are_of_as_many_rows_as_asked_for(n_test: int) -> None:
    outcome = np.arange(100) % 5 < 2
    labels = np.where(np.arange(100) % 7 == 0, ~outcome, outcome)
    options = {} if n_test == 30 else {"test_size": n_test / 100}
    found = predictive_power(labels, outcome, **options)  # type: ignore[arg-type]
    for share in [*found["accuracy"], *found["majority"]]:
        assert n_test % Fraction(share).limit_denominator(100).denominator == 0
    assert found["majority"].to_numpy() == pytest.approx(0.6, abs=1 / n_test)


def test_noise_is_a_cluster_more_and_texts_are_outcomes() -> None:
    labels = np.repeat([-1, 4], 50)
    outcome = pd.Series(["long", "short"]).repeat(50)
    assert (predictive_power(labels, outcome)["accuracy"] == 1).all()


def test_the_seed_decides() -> None:
    labels, outcome = RANDOM.integers(0, 3, 90), RANDOM.random(90) < 0.4
    runs = [predictive_power(labels, outcome, random_state=seed) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(runs[0], runs[1])
    assert not runs[0].equals(runs[2])


@pytest.mark.parametrize(
    ("labels", "outcome", "options", "message"),
    [
        ([0, 1], [True], {}, "found 2 and 1"),
        ([0, 1, 1], [1.0, np.nan, 0.0], {}, r"missing in 1 of 3 rows \(first in row 1\)"),
        ([0, 1, 1], [3, 4, 5], {}, "two different values.*found 3.*stay > 7"),
        ([0, 1], [True, True], {}, "two different values"),
        ([0, 1, 1], [True, False, False], {}, "True has 1"),
        ([0] * 9, [True] * 4 + [False] * 5, {"test_size": 1.0}, "below 1; found 1.0"),
        ([0] * 9, [True] * 4 + [False] * 5, {"test_size": 0.01}, "leaves no 2 rows"),
        ([0] * 9, [True] * 4 + [False] * 5, {"n_repeats": 0}, "n_repeats must be"),
        ([0.5, 1], [True, False], {}, "labels are whole numbers"),
    ],
)
def test_wrong_input_is_refused(
    labels: list[float], outcome: list[object], options: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        predictive_power(labels, outcome, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("test_size", [0.1, 0.9])
def test_a_value_that_one_side_lacks_is_named(test_size):
    with pytest.raises(ValueError, match="all 2 rows of the rarer value"):
        predictive_power([0, 1] * 10, [True] * 2 + [False] * 18, test_size=test_size)
