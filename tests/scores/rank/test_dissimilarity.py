"""The criterion of the staNMF toolbox, written out in loops."""

import itertools

import numpy as np
import pytest

from lvmkit.scores.rank.dissimilarity import dissimilarity, instability, pairwise_dissimilarity


def pearson(a, b):
    if a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def by_loops(one, other):
    R = one.shape[1]
    C = [[pearson(one[:, j], other[:, k]) for k in range(R)] for j in range(R)]
    rows = sum(max(C[j][k] for k in range(R)) for j in range(R))
    columns = sum(max(C[j][k] for j in range(R)) for k in range(R))
    return (2 * R - rows - columns) / (2 * R)


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_documents_formula(seed):
    rng = np.random.default_rng(seed)
    one, other = (rng.choice(4, (9, 3), p=[0.6, 0.2, 0.1, 0.1]) for _ in range(2))
    if seed % 3 == 0:
        one[:, 1] = 2  # does not vary
    assert dissimilarity(one, other) == pytest.approx(by_loops(one, other), abs=1e-12)
    assert dissimilarity(other, one) == pytest.approx(by_loops(one, other), abs=1e-12)


def test_order_and_size_of_the_columns_do_not_matter():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 6, (20, 4))
    assert dissimilarity(one, one[:, [2, 0, 3, 1]] * [1, 2, 3, 4]) == 0
    assert dissimilarity(one, one * [1, 1, 1, 0]) > 0.1


def test_opposite_columns_are_as_unlike_as_can_be():
    assert dissimilarity([[0], [1], [2]], [[2], [1], [0]]) == pytest.approx(2)  # no absolute value
    assert dissimilarity([[1], [1], [1]], [[1], [1], [1]]) == 1  # constant: no correlation


def test_the_mean_is_over_pairs_and_the_error_is_that_of_leaving_out_one():
    rng = np.random.default_rng(1)
    factors = [rng.integers(0, 4, (12, 3)) for _ in range(5)]
    unlike = pairwise_dissimilarity(factors)
    pairs = {
        pair: by_loops(factors[pair[0]], factors[pair[1]])
        for pair in itertools.combinations(range(5), 2)
    }
    for (i, j), value in pairs.items():
        assert unlike[i, j] == unlike[j, i] == pytest.approx(value, abs=1e-12)
    mean, error = instability(unlike)
    assert mean == pytest.approx(np.mean(list(pairs.values())))
    without = [np.mean([v for pair, v in pairs.items() if out not in pair]) for out in range(5)]
    assert error == pytest.approx(np.sqrt(4 / 5 * np.sum((without - np.mean(without)) ** 2)))


def test_two_factors_have_no_error_and_one_has_nothing():
    mean, error = instability(pairwise_dissimilarity([np.eye(3), np.eye(3)[::-1]]))
    assert mean == 0
    assert np.isnan(error)
    assert np.isnan(instability(np.zeros((1, 1)))).all()


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"one shape \(I, R\); found \(3, 1\), \(3, 2\)"):
        dissimilarity(np.ones((3, 1)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="one shape"):
        dissimilarity(np.ones((3, 0)), np.ones((3, 0)))


def test_a_column_that_varies_by_rounding_alone_does_not_vary():
    shares = np.full((7, 1), 0.1)
    assert (shares - shares.mean(axis=0)).any()
    other = np.arange(7.0)[:, None]
    assert dissimilarity(shares, other) == 1.0
    assert dissimilarity(shares, shares * 3) == 1.0
