"""Distinct rows do not depend on the order of rows and features, and stand for all."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.core.distinct import distinct_rows


def drawn(n=3_000, d=40, seed=0):
    """Counts with many equal rows, and features of which some are alike."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.2, 0.5, size=d)
    X = rng.poisson(rates, size=(n, d)).astype(np.float32)
    X[:, 3] = X[:, 7]
    return X


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_and_features_in_another_order_are_the_same_to_the_last_bit(as_rows):
    X, rng = drawn(), np.random.default_rng(1)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    one, other = distinct_rows(as_rows(X)), distinct_rows(as_rows(X[rows][:, columns]))
    dense = [d.rows.toarray() if sparse.issparse(d.rows) else d.rows for d in (one, other)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_array_equal(one.place[rows], other.place)
    np.testing.assert_array_equal(
        X[:, one.features].sum(axis=0), X[:, columns[other.features]].sum(axis=0)
    )


def test_rows_are_found_again_and_counted():
    X = drawn()
    found = distinct_rows(sparse.csr_array(X))
    np.testing.assert_array_equal(found.rows.toarray()[found.place], X[:, found.features])
    np.testing.assert_array_equal(found.weight, np.bincount(found.place))
    assert found.total == len(X)
    assert len(np.unique(X, axis=0)) == found.rows.shape[0]
    columns = np.arange(X.shape[1], dtype=float)[None, found.features]
    np.testing.assert_array_equal(found.unsorted(columns)[0], np.arange(X.shape[1]))


def test_weights_are_repeated_rows():
    X = drawn()
    weight = np.random.default_rng(2).integers(0, 4, size=len(X))
    one = distinct_rows(sparse.csr_array(X), weight.astype(float))
    other = distinct_rows(sparse.csr_array(np.repeat(X, weight, axis=0)))
    assert (one.rows != other.rows).nnz == 0
    np.testing.assert_array_equal(one.weight, other.weight)
    assert (one.place[weight == 0] == -1).all()


def test_rows_that_all_count_once_have_no_weight():
    X = sparse.csr_array(np.eye(5, dtype=np.float32))
    assert distinct_rows(X).weight is None
    assert distinct_rows(X, np.ones(5)).weight is None


def test_a_sample_stands_for_all_and_holds_what_is_frequent():
    rng = np.random.default_rng(3)
    rare = (rng.random((4_000, 60)) < 0.1).astype(np.float32)
    frequent = np.zeros((3_000, 60), dtype=np.float32)
    frequent[:, 0] = 1
    found = distinct_rows(sparse.csr_array(np.vstack([rare, frequent])))
    sample = found.sample(800)
    assert 700 < sample.rows.shape[0] < 900
    assert sample.total == pytest.approx(7_000)
    means = [(d.weight @ d.rows.toarray()) / d.total for d in (found, sample)]
    np.testing.assert_allclose(*means, atol=0.03)
    assert sample.weight.max() == pytest.approx(found.weight.max(), rel=0.05)
    assert found.sample(10_000) is found


def test_weights_of_any_size_are_told_apart():
    X = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=np.float32)
    for scale in (1e-3, 1.0, 1e12):
        found = distinct_rows(X, scale * np.array([3.0, 1.0, 1.0]))
        assert found.total == pytest.approx(5 * scale)
        assert found.rows.shape == (3, 3)
