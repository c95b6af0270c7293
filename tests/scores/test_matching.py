from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lvmkit.scores import adjusted_rand, error_rate, match

LABELS = st.lists(st.integers(0, 3), min_size=12, max_size=12)


@given(LABELS, LABELS)
def test_the_error_is_the_least_over_all_permutations(a: list[int], b: list[int]) -> None:
    first, second = np.array(a), np.array(b)
    brute = min(np.mean(first != np.array(p)[second]) for p in permutations(range(4)))
    np.testing.assert_allclose(error_rate(a, b), brute, atol=1e-12)


@given(LABELS, LABELS, st.permutations(range(4)))
def test_relabelling_does_not_change_scores(a: list[int], b: list[int], order: list[int]) -> None:
    renamed = np.array(order)[b]
    assert error_rate(a, b) == error_rate(a, renamed)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand(a, renamed), abs=1e-12)


def test_partners_are_found_under_any_numbers() -> None:
    a = np.repeat([0, 1, 2], [5, 4, 3])
    found = match(a, np.array([20, 7, 3])[a])
    assert found.permutation.tolist() == [20, 7, 3]
    assert found.jaccard.tolist() == [1, 1, 1]
    assert found.overlap.loc[1, 7] == 4
    assert found.relabel(np.array([20, 7, 3])[a]).tolist() == a.tolist()


def test_jaccard_is_shared_over_either() -> None:
    found = match([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    assert found.jaccard.tolist() == [2 / 3, 2 / 3]


def test_a_cluster_too_many_has_no_partner() -> None:
    found = match([0, 0, 1, 1, 2], [0, 0, 1, 1, 1])
    assert found.permutation.tolist() == [0, 1, -1]
    assert found.jaccard[2] == 0
    back = match([0, 0, 1, 1, 1], [0, 0, 1, 1, 2])
    assert back.relabel([0, 0, 1, 1, 2]).tolist() == [0, 0, 1, 1, 2]


def test_unequal_or_negative_labels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found 2 and 1 labels"):
        match([0, 1], [0])
    with pytest.raises(ValueError, match=r"found -1"):
        error_rate([0, -1], [0, 1])
