"""Scores of new samples: against all score vectors there are, in any order and company."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from lvmkit.sustain import transform
from lvmkit.sustain.mttkrp import mttkrp_by_mode
from lvmkit.sustain.transform import score_rows
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box


def parts_of(sizes, n_components, seed):
    """Factors (R, I_n) of all modes but the first, without zero columns, and weights."""
    rng = np.random.default_rng(seed)
    factors = [rng.integers(0, 3, (n_components, size)).astype(np.float32) for size in sizes]
    for factor in factors:
        factor[~factor.any(axis=1), 0] = 1
    return factors, rng.integers(1, 3, n_components)


def design(factors, weights):
    """What a score of 1 adds to a sample: (entries of a slice, R)."""
    letters = "abcde"[: len(factors)]
    product = np.einsum(",".join("r" + n for n in letters) + f"->{letters}r", *factors)
    return product.reshape(-1, len(weights)) * weights


def counts_for(D, box, n, seed, sizes):
    rng = np.random.default_rng(seed)
    scores = rng.integers(box.least, box.most + 1, (n, D.shape[1]))
    X = np.rint(scores @ D.T + rng.normal(0, 1.5, (n, len(D)))).astype(int)
    return np.maximum(X, 0 if box.least == 0 else -99).reshape(n, *sizes)


@pytest.mark.parametrize("sizes", [(6,), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("box", [Box(0, 1), Box(0, 4), Box(-1, 2)])
def test_scores_are_nearly_always_the_best_there_are(sizes, box):
    n_best = n_all = 0
    for seed in range(6):
        n_components = 1 + seed % 4
        factors, weights = parts_of(sizes, n_components, seed)
        D = design(factors, weights)
        X = counts_for(D, box, 50, seed, sizes)
        scores = score_rows(Unfolded.of(X), factors, weights, box=box).T
        assert scores.min() >= box.least
        assert scores.max() <= box.most
        choices = np.array(
            list(itertools.product(range(box.least, box.most + 1), repeat=n_components))
        )
        flat = X.reshape(50, -1)
        losses = ((flat[:, None] - (choices @ D.T)[None]) ** 2).sum(axis=2)
        own = ((flat - scores @ D.T) ** 2).sum(axis=1)
        assert (own >= losses.min(axis=1)).all()
        if n_components == 1:
            np.testing.assert_array_equal(own, losses.min(axis=1))
        n_best += (own == losses.min(axis=1)).sum()
        n_all += 50
        for k, step in itertools.product(
            range(n_components), (-1, 1)
        ):  # no single score could be better
            moved = scores.copy()
            moved[:, k] = np.clip(moved[:, k] + step, box.least, box.most)
            assert (((flat - moved @ D.T) ** 2).sum(axis=1) >= own).all()
    assert n_best >= 0.95 * n_all


@pytest.mark.parametrize(
    ("V", "sample", "expected"),
    [
        # Only from the real solution: from zero, the first component takes what two others explain.
        ([[2, 3, 0], [2, 0, 3], [2, 3, 0]], [3, 3, 3], [0, 1, 1]),
        # Only from zero: the real solution ends at 1, 3, 0 and loses 24 instead of 19.
        ([[1, 2, 2], [1, 3, 1], [2, 1, 1], [3, 0, 2]], [5, 8, 9, 3], [2, 2, 0]),
        # Four passes from either.
        ([[2, 0, 1], [0, 1, 3], [0, 0, 3], [1, 1, 3]], [6, 2, 11, 9], [2, 0, 2]),
    ],
)
def test_the_better_of_two_descents_is_taken(V, sample, expected):
    factors = [np.array(V, dtype=np.float32).T.copy()]
    found = score_rows(Unfolded.of(np.array([sample])), factors, np.ones(3, int), box=Box(0, 5))
    assert found[:, 0].tolist() == expected


@pytest.mark.parametrize("shape", [(30, 6), (3, 40), (30, 3, 4), (5, 40, 3), (4, 3, 30)])
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("rows", [transform.BLOCK_ROWS, 7])
def test_every_order_company_and_block_gives_the_same_scores(shape, workers, rows, monkeypatch):
    monkeypatch.setattr(transform, "BLOCK_ROWS", rows)
    factors, weights = parts_of(shape[1:], 3, 1)
    X = np.random.default_rng(0).poisson(2.0, shape)
    box = Box(0, 3)
    alone = [score_rows(Unfolded.of(x[None]), factors, weights, box=box)[:, 0] for x in X]
    with ThreadPoolExecutor(workers or 1) as pool:
        together = score_rows(
            Unfolded.of(X), factors, weights, box=box, pool=pool if workers else None
        )
    np.testing.assert_array_equal(together.T, alone)
    backward = score_rows(Unfolded.of(sparse.coo_array(X[::-1])), factors, weights, box=box)
    np.testing.assert_array_equal(backward.T[::-1], alone)


HALVES = [  # scores of features, weights, largest score, and a sample
    (
        [
            *([0, 0, 2, 2, 0, 0, 2, 0], [1, 0, 1, 1, 0, 2, 1, 2], [1, 2, 0, 2, 2, 0, 1, 2]),
            *([1, 1, 1, 2, 1, 1, 1, 1], [1, 2, 0, 2, 2, 1, 1, 2], [0, 0, 1, 1, 2, 0, 2, 0]),
            [1, 1, 0, 1, 0, 2, 2, 1],
        ],
        *([2, 2, 1, 2, 1, 1, 2, 2], 1, [3, 5, 6, 6, 8, 3, 2]),
    ),
    (
        [[2, 2, 1, 1, 1], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1], [0, 2, 1, 1, 1], [1, 0, 0, 2, 1]],
        *([2, 1, 1, 1, 2], 3, [6, 3, 1, 2, 2]),
    ),
    (
        [
            *([0, 1, 2, 2, 2, 0, 1], [1, 1, 0, 1, 2, 1, 2], [1, 1, 2, 1, 0, 1, 1]),
            *([1, 0, 2, 0, 1, 0, 1], [1, 1, 1, 1, 1, 1, 1]),
        ],
        *([2, 1, 2, 2, 2, 2, 2], 3, [5, 2, 5, 6, 3]),
    ),
    ([[1, 1, 0, 2], [0, 1, 1, 2], [2, 0, 1, 1], [0, 2, 2, 2]], [2, 2, 2, 2], 1, [0, 2, 1, 2]),
]


@pytest.mark.parametrize("case", range(len(HALVES)))
def test_company_decides_no_half(case):
    """Real solutions that are a half but for the last bit, which the number of samples must not decide."""
    V, weights, most, sample = HALVES[case]
    factors, weights = [np.array(V, dtype=np.float32).T.copy()], np.array(weights)
    rng = np.random.default_rng(0)
    alone = score_rows(Unfolded.of(np.array([sample])), factors, weights, box=Box(0, most))[:, 0]
    for n in (2, 3, 4, 7, 16, 64):
        for company in (np.tile(sample, (n, 1)), rng.poisson(3.0, (n, len(sample)))):
            X = np.vstack([sample, company])
            found = score_rows(Unfolded.of(X), factors, weights, box=Box(0, most))[:, 0]
            np.testing.assert_array_equal(found, alone)


def test_samples_without_counts_score_nothing():
    factors, weights = parts_of((6,), 3, 0)
    X = np.random.default_rng(0).poisson(1.0, (20, 6))
    X[[0, 7, 19]] = 0
    for box in (Box(0, 5), Box(-2, 2)):
        scores = score_rows(Unfolded.of(X), factors, weights, box=box)
        assert not scores[:, [0, 7, 19]].any()


def test_large_counts_are_scored_exactly():
    factors, weights = (
        [np.array([[1, 2, 0], [0, 1, 3]], dtype=np.float32)],
        np.array([10**7, 3 * 10**6]),
    )
    scores = np.array([[u, v] for u in range(6) for v in range(6)])
    X = (scores * weights) @ factors[0].astype(int)
    found = score_rows(Unfolded.of(X), factors, weights, box=Box(0, 5))
    np.testing.assert_array_equal(found.T, scores)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (9, 4, 3), (4, 9, 3), (3, 4, 9)])
def test_products_of_any_mode(shape, explicit):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, shape)
    factors = [rng.integers(0, 6, (2, size)).astype(np.float32) for size in shape]
    products_of = mttkrp_by_mode(Unfolded.of(X), factors)
    for mode in [*range(len(shape)), *range(len(shape))]:
        columns = [factor.T.astype(float) for factor in factors]
        expected = explicit["unfolding"](X, mode) @ explicit["kronecker"](columns, mode)
        np.testing.assert_array_equal(products_of(mode).T, expected)
        factors[mode][:] = rng.integers(0, 6, factors[mode].shape)  # as coordinate descent does
