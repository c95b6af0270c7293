"""Fits equal those of Perros 2018, written out densely: every factor, weight and fit, to the last bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lvmkit.sustain import mttkrp
from lvmkit.sustain.coordinate_descent import IntegerFactors, fit_to, hadamard, refine
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box


def case(shape, n_components, *, seed=0, most=5, least=0, scale=1, mean=1.0):
    """Counts, factors (I_n, R) and weights."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(mean, shape) * scale
    if np.min(least) < 0:
        X -= rng.poisson(mean, shape) * scale
    X[(0,) * len(shape)] += not X.any()
    bounds = zip(np.broadcast_to(least, len(shape)), np.broadcast_to(most, len(shape)), strict=True)
    factors = [
        rng.integers(low, high, (size, n_components), endpoint=True)
        for size, (low, high) in zip(shape, bounds, strict=True)
    ]
    return X, factors, rng.integers(1, 4, n_components)


def refined(X, factors, weights, *, most=5, least=0, seed=0, **options):
    order = len(factors)
    boxes = [
        Box(int(low), int(high))
        for low, high in zip(
            np.broadcast_to(least, order), np.broadcast_to(most, order), strict=True
        )
    ]
    data = X if isinstance(X, Unfolded) else Unfolded.of(X)
    rng = np.random.default_rng(seed)
    return refine(data, [f.T for f in factors], weights, boxes=boxes, rng=rng, **options)


def assert_same(found, wanted):
    for mode, (one, other) in enumerate(zip(found.factors, wanted.factors, strict=True)):
        np.testing.assert_array_equal(one.T, other, err_msg=f"mode {mode}")
    np.testing.assert_array_equal(found.weights, wanted.weights)
    assert len(found.trace) == len(wanted.trace)
    assert found.stopped_by == wanted.stopped_by
    if (wanted.X**2).sum() < 2**40:
        assert found.trace == wanted.trace
    else:  # sums of squares are rounded themselves
        np.testing.assert_allclose(found.trace, wanted.trace, rtol=0, atol=1e-12)


SHAPES = [
    *[(12, 5), (5, 12), (6, 6), (2, 2)],
    *[(9, 4, 3), (4, 9, 3), (4, 3, 9), (2, 2, 2)],
    *[(6, 3, 2, 4), (2, 6, 3, 4), (3, 2, 6, 4), (3, 2, 4, 6)],
    *[(5, 2, 3, 2, 2), (2, 3, 5, 2, 2), (2, 3, 2, 2, 5)],
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"most": 1},
        {"least": -2},
        {"n_passes": 3},
        {"tol": 0.05, "max_iter": 3},
    ],
    ids=str,
)
def test_fits_equal_the_literal_algorithm(shape, options, literal):
    boxes = {name: options[name] for name in ("most", "least") if name in options}
    X, factors, weights = case(shape, 3 if min(shape) > 2 else 2, seed=sum(shape), **boxes)
    wanted = literal(X, factors, weights, **{"most": 5, "least": 0, "seed": 7} | options)
    for form in (X, sparse.coo_array(X)):
        assert_same(refined(form, factors, weights, seed=7, **options), wanted)


@given(
    seed=st.integers(0, 10**6), scale=st.sampled_from([1, 1, 1, 3, 1_999, 10**5 + 3, 3 * 10**7 + 1])
)
@settings(max_examples=40)
def test_any_counts_any_boxes_any_precision(seed, scale, literal):
    rng = np.random.default_rng(seed)
    order = int(rng.integers(2, 6))
    shape = tuple(int(size) for size in rng.integers(2, [14, 8, 5, 4][order - 2], order))
    bounds = {
        "most": rng.integers(1, 6, order),
        "least": -rng.integers(0, 3, order) * (seed % 3 == 0),
    }
    options = {"n_passes": 1 + seed % 2, "max_iter": 8}
    X, factors, weights = case(shape, int(rng.integers(1, 5)), seed=seed, scale=scale, **bounds)
    found = refined(X, factors, weights, seed=seed, **bounds, **options)
    assert_same(found, literal(X, factors, weights, seed=seed, **bounds, **options))


@pytest.mark.parametrize("shape", [(30, 6), (6, 30), (14, 5, 4), (5, 14, 4)])
def test_updates_on_exact_halves_go_as_in_the_literal_algorithm(shape, literal):
    """0/1 counts and 0/1 factors: a great share of the updates ends on .5."""
    n_halves = 0
    for seed in range(10):
        X, factors, weights = case(shape, 2, seed=seed, most=1, mean=0.7)
        X = np.minimum(X, 1)
        wanted = literal(X, factors, 0 * weights + 1, most=5, least=0, seed=seed)
        n_halves += wanted.n_halves
        assert_same(refined(X, factors, 0 * weights + 1, seed=seed), wanted)
    assert n_halves > 100


@pytest.mark.parametrize("shape", [(8, 5), (5, 4, 6)])
def test_columns_that_die_come_back_at_the_same_places(shape, literal):
    n_locks = 0
    for seed in range(10):
        X, factors, weights = case(shape, 4, seed=seed, mean=0.15)
        factors[1][:, 0] = 0
        wanted = literal(X, factors, weights, most=5, least=0, seed=seed)
        n_locks += wanted.n_locks
        assert_same(refined(X, factors, weights, seed=seed), wanted)
    assert n_locks > 20


@pytest.mark.parametrize("shape", [(60, 5), (5, 60), (40, 4, 3), (4, 40, 3)])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_blocks_and_threads_change_nothing(shape, workers, monkeypatch):
    X, factors, weights = case(shape, 3)
    plain = refined(X, factors, weights)
    monkeypatch.setattr(mttkrp, "BLOCK_ROWS", 7)
    monkeypatch.setitem(mttkrp.over_blocks.__kwdefaults__, "size", 7)
    with ThreadPoolExecutor(workers) as pool:
        shared = refined(X, factors, weights, pool=pool)
    assert shared.trace == plain.trace
    for one, other in zip(shared.factors, plain.factors, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_was_given_stays_and_what_comes_back_is_whole():
    X, factors, weights = case((9, 4, 3), 2)
    before = [factor.copy() for factor in factors], weights.copy()
    found = refined(X, factors, weights)
    for one, other in zip(factors, before[0], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(weights, before[1])
    assert found.weights.dtype == np.int64
    assert all(
        np.array_equal(f, np.rint(f)) and f.min() >= 0 and f.max() <= 5 for f in found.factors
    )
    assert isinstance(found, IntegerFactors)
    assert found.fit == found.trace[-1]


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_iterations_end_at_the_first_change_below_tol_but_not_at_the_first(tol):
    X, factors, weights = case((40, 9), 4, seed=1)
    full = refined(X, factors, weights, tol=0, max_iter=30)
    assert full.stopped_by == "max_iter"
    assert len(full.trace) == 30
    changes = np.abs(np.diff(full.trace))
    found = refined(X, factors, weights, tol=tol, max_iter=30)
    assert found.stopped_by == "tol"
    assert len(found.trace) == np.flatnonzero(changes < tol)[0] + 2
    assert found.trace == full.trace[: len(found.trace)]
    assert len(refined(X, factors, weights, tol=10.0).trace) == 2


def test_progress_is_told_and_can_end_the_fit():
    X, factors, weights = case((12, 5), 3)
    told = []
    found = refined(X, factors, weights, tell=lambda step, fit: told.append((step, fit)))
    assert told == list(enumerate(found.trace, 1))

    def stop(step, fit):
        del fit
        if step == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        refined(X, factors, weights, tell=stop)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_fit_of_any_factors_is_that_of_the_dense_difference(shape, explicit):
    X, factors, weights = case(shape, 2, seed=3)
    for parts, lambdas in ((factors, weights), ([f / 7 for f in factors], weights / 3)):
        missed = np.linalg.norm(X - explicit["dense_of"](parts, lambdas))
        found = fit_to(Unfolded.of(X), [np.asarray(f, dtype=float).T for f in parts], lambdas)
        assert found == pytest.approx(1 - missed / np.linalg.norm(X), abs=1e-6)


def test_all_modes_but_one_are_multiplied():
    inner = [
        np.array([[2.0, 1], [1, 3]]),
        np.array([[5.0, 7], [7, 1]]),
        np.array([[1.0, 2], [2, 4]]),
    ]
    np.testing.assert_array_equal(hadamard(inner, 1), inner[0] * inner[2])
    np.testing.assert_array_equal(hadamard(inner[:2], 0), inner[1])
