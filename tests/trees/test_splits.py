"""What splits are made of, against sums of squares and splits by hand."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.trees.splits import Split, Sums, between


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_split_lowers_the_squared_distances_by_what_lies_between_its_sides(form):
    generator = np.random.default_rng(0)
    X, side = generator.normal(size=(30, 4)), np.repeat([0, 1], [23, 7])

    def squares(rows):
        return ((rows - rows.mean(axis=0)) ** 2).sum()

    lowered = squares(X) - squares(X[side == 0]) - squares(X[side == 1])
    assert between(form(X), X.sum(axis=0), side) == pytest.approx(lowered)
    assert between(form(X), X.sum(axis=0), np.zeros(30, dtype=int)) == 0


def test_exchanged_sides_take_everything_with_them():
    X = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 4.0], [1.0, 1.0]])
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]])
    split = Split(
        vectors, np.array([0.0, 0.5]), "linear", np.array([0, 1, 1, 1]), 0.7, vectors * [[3], [5]]
    )
    swapped = split.swapped(X)
    assert swapped.side.tolist() == [1, 0, 0, 0]
    assert swapped.discriminators.tolist() == [[0, 1], [1, 0]]
    assert swapped.offsets.tolist() == [0.5, 0]
    assert swapped.centers.tolist() == [[0, 5], [3, 0]]
    assert swapped.strength == 0.7


def test_sums_may_be_of_the_first_order_alone():
    sums = Sums(np.array([2.0]), None)
    assert sums.second is None
    np.testing.assert_array_equal(sums.first, [2.0])
