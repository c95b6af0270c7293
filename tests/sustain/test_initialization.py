"""Initialization: the formulas of Perros 2018, what chance may draw, and how little the balanced rounding loses."""

import itertools
from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from lvmkit.sustain.coordinate_descent import fit_to
from lvmkit.sustain.initialization import (
    balance_and_round,
    draw_scores,
    round_factors,
    sample_patients,
    scale_and_round,
    unlock_zero_columns,
)
from lvmkit.sustain.nonnegative import nonnegative
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

BOXES = [Box(0, 5), Box(0, 3), Box(0, 1)]


def real_factors(sizes, n_components=4, seed=0, spread=3.0):
    rng = np.random.default_rng(seed)
    return [rng.gamma(0.5, spread, (n_components, size)).astype(np.float32) for size in sizes]


@pytest.mark.parametrize("sizes", [(9, 5), (7, 4, 3)])
def test_round_rounds_and_clips_and_weighs_by_one(sizes, explicit):
    real = real_factors(sizes)
    kept = [factor.copy() for factor in real]
    factors, weights = round_factors(real, BOXES[: len(sizes)])
    for factor, columns, box in zip(factors, real, BOXES, strict=False):
        np.testing.assert_array_equal(factor, np.clip(explicit["round"](columns), 0, box.most))
    assert weights.tolist() == [1] * 4
    for factor, before in zip(real, kept, strict=True):
        np.testing.assert_array_equal(factor, before)


@pytest.mark.parametrize("sizes", [(9, 5), (7, 4, 3)])
@pytest.mark.parametrize("spread", [0.3, 40.0])
def test_scale_and_round_is_the_documents_formula(sizes, spread, explicit):
    real = real_factors(sizes, spread=spread)
    real[1][2] = 0  # a column of nothing stays nothing
    factors, weights = scale_and_round(real, BOXES[: len(sizes)])
    gammas = []
    for factor, columns, box in zip(factors, real, BOXES, strict=False):
        peaks = np.array([column.max() if column.any() else 1.0 for column in columns], dtype=float)
        gammas.append(box.most / peaks)
        np.testing.assert_array_equal(factor, explicit["round"](gammas[-1][:, None] * columns))
        assert (factor.max(axis=1)[columns.any(axis=1)] == box.most).all()
    expected = np.maximum(explicit["round"](1 / np.prod(gammas, axis=0)), 1)
    np.testing.assert_array_equal(weights, expected)
    assert (weights.max() > 1) == (spread > 1)


def test_weights_on_a_half_are_rounded_up():
    """Peaks of 5 and 12.5 are stretched by 1 and 0.4: the weight is 2.5."""
    real = [np.array([[5.0, 1]]), np.array([[12.5, 0.0, 6]])]
    factors, weights = scale_and_round(real, [Box(0, 5)] * 2)
    assert weights.tolist() == [3]
    assert factors[1].tolist() == [[5, 0, 2]]


def test_only_zero_columns_are_unlocked_at_drawn_places():
    parts = [np.array([[1, 0, 2], [0, 0, 0]]), np.array([[0, 0, 0, 0], [3, 0, 0, 1]])]
    copies = unlock_zero_columns(parts, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    expected = [part.copy() for part in parts]
    expected[0][1, rng.integers(3)] = 1
    expected[1][0, rng.integers(4)] = 1
    for copy, wanted, given in zip(copies, expected, parts, strict=True):
        np.testing.assert_array_equal(copy, wanted)
        assert copy.dtype == np.float32
        assert not np.shares_memory(copy, given)
    places = {
        unlock_zero_columns([np.zeros((1, 4))], np.random.default_rng(s))[0][0].argmax()
        for s in range(40)
    }
    assert places == {0, 1, 2, 3}


@pytest.mark.parametrize("boxes", [[Box(0, 5), Box(0, 1)], [Box(-2, 3), Box(-1, 1)]])
def test_chance_draws_every_score_of_the_box(boxes):
    factors, weights = draw_scores((400, 300), 3, boxes, np.random.default_rng(0))
    for factor, box, size in zip(factors, boxes, (400, 300), strict=True):
        scores, counts = np.unique(factor, return_counts=True)
        assert scores.tolist() == list(range(box.least, box.most + 1))
        assert counts.min() > 0.8 * counts.mean()
        assert factor.shape == (3, size)
    assert weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "shape", [(60, 8), (8, 60), (60, 6, 5), (6, 60, 5), (6, 5, 60), (9, 4, 3, 3)]
)
@pytest.mark.parametrize("seed", range(3))
def test_sampling_takes_scores_of_features_from_a_patient(shape, seed, explicit):
    X = np.random.default_rng(seed).poisson(0.5, shape)
    X[0] *= 10  # more than the box allows
    X[1] = 0
    boxes = [Box(0, 5), *(Box(0, 3) for _ in shape[1:])]
    factors, weights = sample_patients(Unfolded.of(X), 3, boxes, np.random.default_rng(seed))
    assert weights.tolist() == [1, 1, 1]
    for r in range(3):
        assert np.count_nonzero(factors[0][r]) <= round(shape[0] / 3)
        candidates = [
            patient
            for patient in range(shape[0])
            if X[patient].any()
            and all(
                any(
                    np.array_equal(factors[n + 1][r], fiber)
                    for fiber in fibers(X[patient], n, explicit)
                )
                for n in range(len(shape) - 1)
            )
        ]
        assert candidates
        assert candidates != [1]


def fibers(piece, mode, explicit):
    """Fibers of a patient's slice along a mode whose sum is largest, scaled down to 3 if larger."""
    table = explicit["unfolding"](piece, mode)
    for column in np.flatnonzero(table.sum(axis=0) == table.sum(axis=0).max()):
        fiber = table[:, column].astype(float)
        yield explicit["round"](fiber * min(1.0, 3 / fiber.max()))


def test_sampling_draws_different_patients_while_there_are_enough():
    X = np.diag([3, 2, 1, 4, 2, 1])
    X[5] = 0
    boxes = [Box(0, 5)] * 2
    for seed in range(10):
        factors, _ = sample_patients(Unfolded.of(X), 5, boxes, np.random.default_rng(seed))
        assert sorted(factors[1].argmax(axis=1)) == [0, 1, 2, 3, 4]
        factors, _ = sample_patients(Unfolded.of(X), 6, boxes, np.random.default_rng(seed))
        assert factors[1].any(axis=1).all()


def test_sampling_gives_one_patient_in_so_many_a_score():
    data, boxes = Unfolded.of(np.ones((60, 7), dtype=int)), [Box(0, 5)] * 2
    for n_components in (1, 2, 3, 6):
        factors, _ = sample_patients(data, n_components, boxes, np.random.default_rng(0))
        scored = np.count_nonzero(factors[0], axis=1)
        assert (scored <= 60 / n_components).all()
        assert scored.sum() > 0.6 * 60  # one in six draws is a 0
        assert set(np.unique(factors[0])) == set(range(6))


def lost(real, factors, weights):
    """Squared error that rounding one component makes, and the squared length of that component."""
    dense = reduce(np.multiply.outer, [f[0].astype(float) for f in real])
    whole = weights[0] * reduce(np.multiply.outer, [f[0] for f in factors])
    return ((dense - whole) ** 2).sum(), (dense**2).sum()


def every_component(sizes, most):
    """All outer products of columns of scores up to `most`, flat, one per row."""
    columns = [np.array(list(itertools.product(range(most + 1), repeat=n)), float) for n in sizes]
    return reduce(lambda a, b: np.einsum("ix,jy->ijxy", a, b).reshape(len(a) * len(b), -1), columns)


@pytest.mark.parametrize("sizes", [(4, 3), (3, 4), (3, 2, 2), (2, 3, 2)])
@pytest.mark.parametrize("spread", [0.5, 2.0, 10.0])
def test_one_component_is_rounded_nearly_as_well_as_can_be(sizes, spread):
    """Against all columns of scores 0..2 and, for each choice, the weight that is best for it."""
    parts = every_component(sizes, 2)
    squares = np.maximum((parts**2).sum(axis=1), 1)
    excess = []
    for seed in range(12):
        real = real_factors(sizes, 1, seed=seed, spread=spread)
        loss, length = lost(real, *balance_and_round(real, [Box(0, 2)] * len(sizes)))
        along = parts @ reduce(np.multiply.outer, [f[0].astype(float) for f in real]).ravel()
        weights = np.maximum(1, np.floor(along / squares + 0.5))
        least = length + (weights**2 * squares * parts.any(axis=1) - 2 * weights * along).min()
        assert loss >= least - 1e-6 * length
        excess.append((loss - least) / length)
    assert np.mean(excess) < 0.012
    assert max(excess) < 0.06


@pytest.mark.parametrize("sizes", [(30, 9), (9, 30), (12, 6, 5)])
@pytest.mark.parametrize("spread", [0.05, 0.5, 2.0, 10.0])
def test_balanced_rounding_loses_no_more_than_those_of_the_document(sizes, spread):
    boxes = [Box(0, 5)] * len(sizes)
    for seed in range(10):
        real = real_factors(sizes, 1, seed=seed, spread=spread)
        loss, length = lost(real, *balance_and_round(real, boxes))
        assert loss <= length * (1 + 1e-9) or spread < 0.1
        for other in (round_factors, scale_and_round):
            assert loss <= lost(real, *other(real, boxes))[0] + 1e-6 * length


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (80, 12, 9), (12, 80, 9)])
def test_on_planted_counts_the_balanced_start_is_best_by_far(shape):
    rng = np.random.default_rng(0)
    factors = [rng.integers(0, 3, (size, 4)) * (rng.random((size, 4)) < 0.3) for size in shape]
    letters = "abc"[: len(shape)]
    rates = np.einsum(",".join(letter + "r" for letter in letters) + "->" + letters, *factors)
    data = Unfolded.of(sparse.coo_array(rng.poisson(0.05 + rates)))
    real = nonnegative(data, 4, rng=np.random.default_rng(0)).factors
    boxes = [Box(0, 5)] * len(shape)
    fits = [
        fit_to(data, *start(real, boxes))
        for start in (balance_and_round, round_factors, scale_and_round)
    ]
    assert fits[0] > max(fits[1:]) + 0.02


def test_scores_and_weights_stay_in_their_boxes():
    boxes = [Box(-1, 2), Box(0, 4), Box(0, 1)]
    real = real_factors((9, 5, 4), spread=8.0)
    for start in (balance_and_round, round_factors, scale_and_round):
        factors, weights = start(real, boxes)
        for factor, box in zip(factors, boxes, strict=True):
            assert factor.min() >= box.least
            assert factor.max() <= box.most
            np.testing.assert_array_equal(factor, np.rint(factor))
        assert weights.min() >= 1
        assert weights.dtype == np.int64
