"""Integer least squares against all whole numbers of the box, and AILS against its own steps found that way."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from lvmkit.sustain.ails import ails
from lvmkit.sustain.integer_least_squares import box_least_squares
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box


def missed(A, x, Y):
    return ((Y - A @ x) ** 2).sum(axis=0)


def best_of_all(A, Y, least, most):
    values = [
        np.array(x)[:, None] for x in itertools.product(range(least, most + 1), repeat=A.shape[1])
    ]
    return np.min([missed(A, x, Y) for x in values], axis=0)


@pytest.mark.parametrize("seed", range(40))
def test_no_whole_numbers_in_the_box_are_better(seed):
    rng = np.random.default_rng(seed)
    size, least, most = rng.integers(1, 6), int(rng.integers(-2, 1)), int(rng.integers(1, 5))
    A = rng.integers(-1, 4, (rng.integers(1, 8), size))
    if seed % 4 == 0:
        A[:, 0] = A[:, -1]  # two columns that are the same
    if seed % 5 == 0:
        A[:, size // 2] = 0
    Y = rng.integers(-2, 25, (len(A), 7))
    start = rng.integers(least, most + 1, (size, 7)).astype(float)
    found = box_least_squares(
        (A.T @ A).astype(float), (A.T @ Y).astype(float), start, least=least, most=most
    )
    assert found.min() >= least
    assert found.max() <= most
    assert np.array_equal(found, np.rint(found))
    assert missed(A, found, Y).tolist() == best_of_all(A, Y, least, most).tolist()


def test_wide_boxes_and_large_numbers_are_searched_to_the_end():
    rng = np.random.default_rng(0)
    A, Y = rng.integers(0, 4, (10, 2)), rng.integers(0, 900, (10, 20))
    inner, along = (A.T @ A).astype(float), (A.T @ Y).astype(float)
    found = box_least_squares(inner, along, np.ones((2, 20)), least=1, most=300)
    assert missed(A, found, Y).tolist() == best_of_all(A, Y, 1, 300).tolist()


def test_what_makes_no_difference_stays_as_it_was():
    inner, along = np.diag([4.0, 0.0]), np.array([[8.0, 2.0], [0.0, 0.0]])
    start = np.array([[0.0, 0.0], [3.0, 5.0]])
    found = box_least_squares(inner, along, start, least=0, most=5)
    assert found.tolist() == [
        [2.0, 1.0],
        [3.0, 5.0],
    ]  # 0 and 1 are equally good for 2 / 4: away from zero
    assert box_least_squares(inner, along[:, :0], start[:, :0], least=0, most=5).shape == (2, 0)


def test_more_problems_than_a_block_are_solved_as_each_alone():
    rng = np.random.default_rng(1)
    A, Y = rng.integers(0, 3, (6, 3)), rng.integers(0, 9, (6, 25_000))
    inner, along = (A.T @ A).astype(float), (A.T @ Y).astype(float)
    found = box_least_squares(inner, along, np.zeros((3, 25_000)), least=0, most=5)
    some = rng.choice(25_000, 50, replace=False)
    assert (
        missed(A, found[:, some], Y[:, some]).tolist() == best_of_all(A, Y[:, some], 0, 5).tolist()
    )


def test_a_search_can_be_ended():
    def stop():
        raise InterruptedError

    inner, along = np.eye(2), np.full((2, 1), 2.0)
    with pytest.raises(InterruptedError):
        box_least_squares(inner, along, np.zeros((2, 1)), least=0, most=5, look=stop)


def one_iteration(X, factors, weights, most):
    """Take one iteration of AILS, each step the best of all whole numbers, by forming everything."""
    d, R = len(factors), len(weights)
    letters = "abcd"[:d]
    product = np.einsum(",".join(f"{c}r" for c in letters) + f"->{letters}r", *factors).reshape(
        -1, R
    )
    boxes = itertools.product(range(1, int(X.max()) + 1), repeat=R)
    losses = {x: float(((X.ravel() - product @ x) ** 2).sum()) for x in boxes}
    weights = np.array(min(losses, key=losses.__getitem__))
    totals = [min(losses.values())]
    for mode in range(d):
        others = [factors[n] for n in range(d) if n != mode]
        names = [c for n, c in enumerate(letters) if n != mode]
        A = (
            np.einsum(",".join(f"{c}r" for c in names) + f"->{''.join(names)}r", *others).reshape(
                -1, R
            )
            * weights
        )
        rows = np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1)
        values = np.array(list(itertools.product(range(most + 1), repeat=R)))
        loss = ((rows[:, None, :] - (values @ A.T)[None]) ** 2).sum(axis=2)
        factors = [values[loss.argmin(axis=1)] if n == mode else f for n, f in enumerate(factors)]
        totals.append(float(loss.min(axis=1).sum()))
    return totals


@pytest.mark.parametrize("shape", [(7, 6), (4, 9), (5, 4, 3)])
def test_one_iteration_finds_the_best_of_each_step(shape):
    rng = np.random.default_rng(sum(shape))
    X = rng.poisson(2.0, shape)
    start = [rng.integers(0, 4, (size, 2)) for size in shape]
    for factor in start:
        factor[0] = 1  # no column is zero
    totals = one_iteration(X, start, np.ones(2, dtype=int), 3)
    data = Unfolded.of(sparse.coo_array(X))
    end = ails(
        data,
        [factor.T for factor in start],
        np.ones(2, dtype=np.int64),
        boxes=[Box(0, 3)] * len(shape),
        rng=np.random.default_rng(0),
        max_iter=1,
    )
    # ties may be broken in another way, after which steps differ; the first step has none
    assert end.fit >= 1 - np.sqrt(totals[1] / (X**2).sum()) - 1e-12
    if len(shape) == 2:
        product = (end.factors[0].T * end.weights) @ end.factors[1]
    else:
        product = np.einsum("ri,rj,rk,r->ijk", *end.factors, end.weights)
    assert end.fit == pytest.approx(1 - np.linalg.norm(X - product) / np.linalg.norm(X), abs=1e-9)


def planted(rng, n=60, d=20, R=3):
    U, V = rng.integers(0, 6, (n, R)), rng.integers(0, 6, (d, R))
    return U, V, np.array([1, 3, 2])


def test_what_was_planted_is_not_left_and_is_reached_from_nearby():
    rng = np.random.default_rng(3)
    U, V, weights = planted(rng)
    data = Unfolded.of(sparse.csr_array((U * weights) @ V.T))
    boxes = [Box(0, 5)] * 2
    near = [np.clip(F + rng.integers(-1, 2, F.shape), 0, 5).T for F in (U, V)]
    for start in ([U.T, V.T], near):
        end = ails(data, start, np.ones(3, dtype=np.int64), boxes=boxes, rng=rng)
        assert end.fit == 1.0
        assert end.stopped_by == "tol"
        assert np.array_equal(
            (end.factors[0].T * end.weights) @ end.factors[1], (U * weights) @ V.T
        )


def test_the_fit_never_falls_and_what_was_given_stays():
    rng = np.random.default_rng(4)
    X = rng.poisson(1.5, (80, 15))
    start = [rng.integers(0, 6, (4, size)).astype(np.float32) for size in X.shape]
    before = [factor.copy() for factor in start]
    told = []
    end = ails(
        Unfolded.of(X),
        start,
        np.ones(4, dtype=np.int64),
        boxes=[Box(0, 5)] * 2,
        rng=rng,
        tol=0,
        max_iter=6,
        tell=lambda step, fit: told.append((step, fit)),
    )
    assert (np.diff(end.trace) >= -1e-12).all()
    assert all(np.array_equal(a, b) for a, b in zip(start, before, strict=True))
    assert all(factor.min() >= 0 and factor.max() <= 5 for factor in end.factors)
    assert end.weights.min() >= 1
    assert [fit for step, fit in told if step][-1] == end.fit
    assert told[0][0] == 0


def test_dead_components_come_back():
    X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 2))
    start = [np.zeros((2, 10)), np.zeros((2, 8))]
    end = ails(
        Unfolded.of(X),
        start,
        np.ones(2, dtype=np.int64),
        boxes=[Box(0, 5)] * 2,
        rng=np.random.default_rng(0),
    )
    assert end.fit > 0.29  # one block of two at least
    assert all(factor.any(axis=1).all() for factor in end.factors)


def test_rounding_the_real_solution_would_be_worse():
    inner, along = np.array([[5.0, 4.0], [4.0, 5.0]]), np.array([[9.0], [0.0]])
    found = box_least_squares(inner, along, np.zeros((2, 1)), least=0, most=5)
    assert found.tolist() == [[2], [0]]
