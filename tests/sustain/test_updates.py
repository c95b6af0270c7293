"""One factor's update against all whole numbers there are, tried one by one."""

import itertools
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lvmkit.sustain import updates
from lvmkit.sustain.updates import Box, gram, round_half_away, update_factor


def halves_away(value):
    return float(Decimal(float(value)).quantize(Decimal(1), rounding=ROUND_HALF_UP))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_halves_are_rounded_away_from_zero(kind):
    values = np.concatenate(
        [np.arange(-20, 20.25, 0.25), [0.499999, 2.500001, 1e6 + 0.5, -1e6 - 0.5]]
    )
    values = values.astype(kind)
    expected = [halves_away(value) for value in values]
    given_array = values.copy()
    assert round_half_away(given_array) is given_array
    assert given_array.tolist() == expected
    positive = values[values >= 0]
    found = round_half_away(positive.copy(), signed=False)
    assert found.tolist() == [halves_away(value) for value in positive]


@pytest.mark.parametrize("box", [Box(0, 1), Box(0, 5), Box(-1, 1), Box(-3, 2), Box(0, 10)])
def test_the_nearest_whole_number_of_a_box_is_taken(box):
    values = np.arange(-15, 15, 0.125)
    allowed = np.arange(box.least, box.most + 1)
    gaps = np.abs(values[:, None] - allowed)
    nearest = gaps.min(axis=1)
    found = box.nearest(values.copy())
    assert np.isin(found, allowed).all()
    np.testing.assert_array_equal(np.abs(values - found), nearest)
    tied = (gaps == nearest[:, None]).sum(axis=1) == 2
    assert (np.abs(found[tied]) > np.abs(values[tied])).all()


@pytest.mark.parametrize("largest", [1, 5, 3_000, 100_000])
@pytest.mark.parametrize("rows", [updates.BLOCK_ROWS, 7])
def test_inner_products_are_exact(largest, rows, monkeypatch):
    monkeypatch.setattr(updates, "BLOCK_ROWS", rows)
    factor = np.random.default_rng(0).integers(-largest, largest + 1, (3, 50))
    found = gram(factor.astype(np.float32))
    np.testing.assert_array_equal(found, factor @ factor.T)
    assert found.dtype == np.float64


def test_inner_products_of_long_columns_are_exact():
    factor = np.full(
        (2, 60_001), 24, dtype=np.float32
    )  # a block's sum, 17,280,000, is beyond 2**24
    factor[0, 0] = 1
    assert gram(factor)[0].tolist() == [60_000 * 576 + 1, 60_000 * 576 + 24]


class Problem:
    """A factor of one mode, the product of the others, and counts, all explicit."""

    def __init__(self, seed, *, box, n_components=None, scale=1, mean=2.0):
        rng = np.random.default_rng(seed)
        n_components = n_components or int(rng.integers(1, 5))
        size, width = int(rng.integers(2, 5)), int(rng.integers(2, 6))
        self.box = box
        self.factor = rng.integers(box.least, box.most + 1, (size, n_components))
        self.others = rng.integers(-(box.least < 0), 3, (width, n_components))
        for part in (self.factor, self.others):
            part[rng.integers(len(part)), ~part.any(axis=0)] = 1
        self.X = scale * (rng.poisson(mean, (size, width)) - (box.least < 0))
        self.weights = rng.integers(1, 4, n_components)
        self.seed = seed

    def loss(self, factor, weights):
        return ((self.X - (factor * weights) @ self.others.T) ** 2).sum()

    def updated(self, **options):
        """Factor, weights and inner products after the update that is tested."""
        factor = np.ascontiguousarray(self.factor.T, dtype=np.float32)
        weights = self.weights.astype(np.int64)
        inner = update_factor(
            factor,
            (self.X @ self.others).T.astype(np.float64),
            (self.others.T @ self.others).astype(np.float64),
            weights,
            box=self.box,
            rng=np.random.default_rng(self.seed),
            **options,
        )
        return factor.T, weights, inner

    def searched(self):
        """The same by trial of all weights, then of all scores of each row; of equals the one farther from 0."""
        factor, weights = self.factor.copy(), self.weights.copy()
        rng, losses = np.random.default_rng(self.seed), [self.loss(factor, weights)]
        for k in range(len(weights)):
            fits = []
            for weight in range(1, 80):
                weights[k] = weight
                fits.append((self.loss(factor, weights), -weight))
            weights[k] = -min(fits)[1]
            losses.append(self.loss(factor, weights))
            for row in range(len(factor)):
                fits = []
                for score in range(self.box.least, self.box.most + 1):
                    factor[row, k] = score
                    fits.append((self.loss(factor, weights), -abs(score), score))
                factor[row, k] = min(fits)[2]
            losses.append(self.loss(factor, weights))
            if not factor[:, k].any():
                factor[rng.integers(len(factor)), k] = 1
                losses.append(np.inf)
        return factor, weights, losses


BOXES = [Box(0, 5), Box(0, 1), Box(0, 2), Box(-2, 3), Box(-1, 1)]


@pytest.mark.parametrize("box", BOXES)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1, 1, 2, 7]))
@settings(max_examples=40)
def test_each_weight_and_each_column_is_the_best_given_all_else(box, seed, scale):
    problem = Problem(seed, box=box, scale=scale)
    factor, weights, inner = problem.updated()
    wanted, lambdas, losses = problem.searched()
    np.testing.assert_array_equal(factor, wanted)
    np.testing.assert_array_equal(weights, lambdas)
    np.testing.assert_array_equal(inner, factor.T @ factor)
    for before, after in itertools.pairwise(losses):
        assert after <= before or np.isinf(after)


@pytest.mark.parametrize("box", BOXES)
def test_no_other_column_is_better_than_the_best_entry_by_entry(box):
    for seed in range(8):
        problem = Problem(seed, box=box, n_components=1)
        factor, weights, _ = problem.updated()
        columns = itertools.product(range(box.least, box.most + 1), repeat=len(factor))
        least = min(problem.loss(np.array(c)[:, None], weights) for c in columns if any(c))
        found = problem.loss(factor, weights)
        assert found == least or found >= problem.loss(0 * factor, weights)  # or zero-lock


def test_inner_products_known_before_change_nothing_and_stay_as_they_are():
    problem = Problem(3, box=Box(0, 5), n_components=4)
    known = (problem.factor.T @ problem.factor).astype(float)
    before = known.copy()
    for plain, told in zip(problem.updated(), problem.updated(inner=known), strict=True):
        np.testing.assert_array_equal(plain, told)
    np.testing.assert_array_equal(known, before)


@pytest.mark.parametrize("seed", range(5))
def test_a_column_that_would_be_zero_gets_one_score_drawn_by_the_seed(seed):
    problem = Problem(seed, box=Box(0, 5), n_components=2)
    problem.X = np.zeros_like(problem.X)
    factor, weights, inner = problem.updated()
    rng = np.random.default_rng(seed)
    expected = np.zeros_like(factor)
    for k in range(2):
        expected[rng.integers(len(factor)), k] = 1
    np.testing.assert_array_equal(factor, expected)
    np.testing.assert_array_equal(inner, expected.T @ expected)
    assert weights.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("kind", "weight"),
    [(np.float32, 2**n) for n in (0, 10, 17, 18)]
    + [(np.float64, n) for n in (1, 2**18, 2**23, 2**24 + 1, 10**9 + 7)],
)
def test_what_misses_a_half_by_one_is_told_from_a_half(weight, kind):
    """For counts of any size; in single precision the three quotients are the same for large ones."""
    half = 16 * weight
    wanted = {half - 1: 0, half: 1, half + 1: 1, 3 * half + 1: 2, 3 * half: 2, 3 * half - 1: 1}
    products = np.array([list(wanted)], dtype=kind)
    factor, weights = np.ones((1, 6), dtype=np.float32), np.array([1])
    update_factor(
        factor,
        products,
        np.array([[32.0]]),
        weights,
        box=Box(0, 5),
        rng=np.random.default_rng(0),
    )
    assert weights.tolist() == [weight]
    assert factor[0].tolist() == list(wanted.values())


def updated(factor, products, others, weights):
    """First column and weight after an update."""
    factor, weights = np.array(factor, dtype=np.float32), np.array(weights)
    rng = np.random.default_rng(0)
    update_factor(factor, products, np.array(others, float), weights, box=Box(0, 5), rng=rng)
    return factor[0].tolist(), int(weights[0])


def test_a_divisor_that_single_precision_does_not_hold():
    """2**23 / (2**24 + 1) is less than a half; with the 1 lost it would be one."""
    products = np.array([[2**23, 2**24 - 1]], dtype=np.float32)
    assert updated([[1, 1]], products, [[2**24 + 1]], [1]) == ([0, 1], 1)


def test_other_components_that_single_precision_does_not_hold():
    """What is left of large products when another component is taken off: 0 and 2, divided by 2."""
    other = 10**8 + 1
    products = np.array([[other, other + 2], [other, other]], dtype=float)
    assert updated([[1, 1], [1, 1]], products, [[2, 1], [1, 2]], [1, other])[0] == [0, 1]


def test_long_columns_are_updated_in_every_block():
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 6, (3, 70_001)).astype(np.float32)
    products = rng.integers(0, 40, (3, 70_001)).astype(np.float32)
    others = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
    weights = np.array([1, 2, 1])
    expected, lambdas = factor.astype(np.int64).T.copy(), weights.tolist()
    for k in range(3):
        rest = [lambdas[r] * int(others[r, k]) * (r != k) for r in range(3)]
        wanted = products[k].astype(np.int64) - expected @ rest
        top, bottom = (
            int(expected[:, k] @ wanted),
            int(others[k, k]) * int((expected[:, k] ** 2).sum()),
        )
        lambdas[k] = max(1, (2 * top + bottom) // (2 * bottom))
        divisor = int(others[k, k]) * lambdas[k]
        expected[:, k] = np.clip((2 * wanted + divisor) // (2 * divisor), 0, 5)
    inner = update_factor(factor, products, others, weights, box=Box(0, 5), rng=rng)
    np.testing.assert_array_equal(factor.T, expected)
    np.testing.assert_array_equal(inner, expected.T @ expected)
    assert weights.tolist() == lambdas


@pytest.mark.parametrize("n_rows", [4, 5, 6])
def test_what_lies_on_the_stack_raises_no_warning(n_rows, littered):
    """OpenBLAS's kernel for AVX-512 computes with it, and leaves it out, if a vector has five numbers."""

    class Littering(Box):
        nearest = littered(Box.nearest)

    factor, ones = np.ones((2, n_rows), dtype=np.float32), np.ones((2, n_rows))
    weights, rng = np.ones(2, dtype=np.int64), np.random.default_rng(0)
    inner = update_factor(factor, 2 * ones, ones[:, :2], weights, box=Littering(0, 5), rng=rng)
    np.testing.assert_array_equal(inner, factor.astype(float) @ factor.astype(float).T)
