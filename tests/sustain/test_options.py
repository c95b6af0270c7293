"""Options that users ask for: what is refused, and in which words."""

import numpy as np
import pytest

from lvmkit.sustain.multi_start import BEST
from lvmkit.sustain.options import as_integers, boxes_of, require_possible, starts_of
from lvmkit.sustain.updates import Box

SHAPE, BOXES = (4, 3), [Box(0, 5), Box(0, 2)]


def test_one_bound_serves_all_modes_or_each_has_its_own():
    assert boxes_of(0, 5, 3) == [Box(0, 5)] * 3
    assert boxes_of([0, -2], np.array([1, 7]), 2) == [Box(0, 1), Box(-2, 7)]


@pytest.mark.parametrize(
    ("least", "most", "error", "told"),
    [
        (0, 0, ValueError, "max_score of mode 0 must be a whole number, at least 1; found 0"),
        (0, [5, -1], ValueError, "max_score of mode 1 .*found -1"),
        (
            0,
            10**11,
            ValueError,
            "max_score of mode 0 must be at most 1,000 in size; found 100,000,000,000",
        ),
        (-(10**11), 5, ValueError, "min_score of mode 0 must be at most 1,000 in size"),
        (0, 2.5, TypeError, r"max_score of mode 0 .*found 2.5"),
        (0, True, TypeError, "max_score of mode 0"),
        (0, None, TypeError, "max_score of mode 0"),
        (0, "5", TypeError, "max_score of mode 0"),
        (1, 5, ValueError, "min_score of mode 0 must be at most 0.*found 1"),
        ([0, 0.5], 5, TypeError, "min_score of mode 1"),
        (0, [5], ValueError, "max_score has 1 numbers, and X has 2 modes"),
        ([0, 0, 0], 5, ValueError, "min_score has 3 numbers, and X has 2 modes"),
    ],
)
def test_bounds_that_hold_no_scores_are_refused(least, most, error, told):
    with pytest.raises(error, match=told):
        boxes_of(least, most, 2)


def test_modes_of_size_one_and_too_many_components_are_refused():
    names = ["patient", "diagnosis", "drug"]
    require_possible((4, 3, 2), 6, names)
    with pytest.raises(
        ValueError, match=r"n_components=7 is more than 6.*\(4, 3, 2\).*ask for fewer"
    ):
        require_possible((4, 3, 2), 7, names)
    require_possible((9, 3), 3, names)
    with pytest.raises(ValueError, match="n_components=4 is more than 3"):
        require_possible((9, 3), 4, names)
    for mode in range(3):
        shape = [4, 3, 2]
        shape[mode] = 1
        with pytest.raises(ValueError, match=rf"mode {mode} \({names[mode]}\) has size 1"):
            require_possible(shape, 1, names)


def test_kinds_of_starts_are_known_by_name():
    assert starts_of("best", SHAPE, BOXES, n_components=2) == BEST
    for kind in ("balanced", "round", "scale_and_round", "random", "sampling"):
        assert starts_of(kind, SHAPE, BOXES, n_components=2) == (kind,)
    with pytest.raises(ValueError, match=r"init must be one of best, balanced, .*found 'nmf'"):
        starts_of("nmf", SHAPE, BOXES, n_components=2)


def test_given_factors_come_with_weights_or_without():
    U, V = np.arange(8).reshape(4, 2) % 6, np.array([[0, 1], [2, 0], [1, 1]])
    factors, weights = starts_of([U, V.tolist()], SHAPE, BOXES, n_components=2)
    np.testing.assert_array_equal(factors[0].T, U)
    np.testing.assert_array_equal(factors[1].T, V)
    assert weights.tolist() == [1, 1]
    _, weights = starts_of((U, V, [3, 4]), SHAPE, BOXES, n_components=2)
    assert weights.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("init", "told"),
    [
        ([np.ones((4, 2))], "init has 1 arrays; X has 2 modes"),
        ([np.ones((4, 2)), np.ones((3, 2)), [1, 1], 0], "init has 4 arrays; X has 2 modes"),
        ([np.ones((3, 2)), np.ones((4, 2))], r"init\[0\] has shape \(3, 2\); needed is \(4, 2\)"),
        ([np.ones((4, 2)), np.ones((3, 3))], r"init\[1\] has shape \(3, 3\); needed is \(3, 2\)"),
        ([np.ones((4, 2)), np.full((3, 2), 3)], r"init\[1\] .*from 0 to 2; found 3"),
        ([np.full((4, 2), -1), np.ones((3, 2))], r"init\[0\] .*from 0 to 5; found -1"),
        ([np.ones((4, 2)), np.full((3, 2), 0.5)], r"init\[1\] must hold whole numbers.*found 0.5"),
        (
            [np.full((4, 2), np.nan), np.ones((3, 2))],
            r"init\[0\] must hold whole numbers.*found nan",
        ),
        ([np.ones((4, 2)), np.ones((3, 2)), [1, 0]], "weights in init must hold .*from 1; found 0"),
        ([np.ones((4, 2)), np.ones((3, 2)), [1, 1, 1]], r"weights in init have shape \(3,\)"),
    ],
)
def test_given_factors_that_do_not_fit_are_refused(init, told):
    with pytest.raises(ValueError, match=told):
        starts_of(init, SHAPE, BOXES, n_components=2)


def test_whole_numbers_come_back_as_integers():
    found = as_integers([1.0, 2.0], "x")
    assert found.dtype == np.int64
    with pytest.raises(ValueError, match="x must hold whole numbers to 3; found 4"):
        as_integers([1, 4], "x", most=3)
