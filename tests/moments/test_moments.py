"""Moments add, and equal the explicit tensors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lvmkit.moments import (
    EQUAL_ROWS,
    POISSON,
    POOLED,
    RAW,
    Moments,
    SubspaceMoments,
    WhitenedMoments,
    leading_basis,
    second_moment_operator,
    significant,
    whiten,
)

WEIGHTINGS = pytest.mark.parametrize(
    "weighting", [RAW, POISSON, POOLED, EQUAL_ROWS], ids=lambda w: w.name
)
counts = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.just(5)), elements=st.integers(0, 4).map(float)
)


@WEIGHTINGS
@given(X=counts, cut=st.integers(0, 12))
def test_blocks_add_to_the_whole(weighting, X, cut):
    parts = Moments.of(X[:cut], weighting) + Moments.of(X[cut:], weighting)
    assert parts == Moments.of(X, weighting)


@WEIGHTINGS
@given(X=counts)
def test_zero_is_neutral_and_row_order_is_free(weighting, X):
    whole = Moments.of(X, weighting)
    assert whole + Moments.zero(5, weighting) == whole
    assert (
        sum((Moments.of(row[None], weighting) for row in X[::-1]), Moments.zero(5, weighting))
        == whole
    )


@WEIGHTINGS
@given(X=counts, cut=st.integers(0, 12))
def test_whitened_blocks_add_to_the_whole(weighting, X, cut):
    W = np.random.default_rng(0).normal(size=(5, 3))
    whole = WhitenedMoments.of(X, W, weighting)
    parts = WhitenedMoments.of(X[:cut], W, weighting) + WhitenedMoments.of(X[cut:], W, weighting)
    if cut in (0, len(X)) or cut > len(X):
        assert parts.n_samples == whole.n_samples
    np.testing.assert_allclose(parts.slices, whole.slices, rtol=1e-10, atol=1e-9)


def explicit_third(X, weighting):
    d, totals = X.shape[1], X.sum(axis=1)
    tensor = np.zeros((d, d, d))
    eye = np.eye(d)
    for x, a in zip(X, weighting.row_weight(3, totals), strict=True):
        term = np.einsum("r,h,l->rhl", x, x, x)
        if weighting.factorial:
            term = x[:, None, None] * (x - eye)[:, :, None] * (x - eye[:, None] - eye)
        tensor += a * term
    return tensor / weighting.divisor(3, totals).sum()


@WEIGHTINGS
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_slices_equal_the_explicit_tensor_seen_through_the_whitener(weighting, as_rows):
    rng = np.random.default_rng(1)
    X = rng.poisson(1.0, size=(30, 7)).astype(float)
    W = rng.normal(size=(7, 3))
    expected = np.einsum("rhl,ha,lb->rab", explicit_third(X, weighting), W, W)
    found = WhitenedMoments.of(as_rows(X), W, weighting)
    np.testing.assert_allclose(found.slices, expected, rtol=1e-10, atol=1e-12)
    single = WhitenedMoments.of(as_rows(X), W, weighting, dtype=np.float32)
    np.testing.assert_allclose(single.slices, expected, rtol=2e-4, atol=1e-4)


def test_the_second_moment_replaces_two_passes_for_the_coinciding_indexes():
    X = np.random.default_rng(2).poisson(1.0, size=(40, 6)).astype(float)
    W = np.random.default_rng(3).normal(size=(6, 2))
    short = WhitenedMoments.of(X, W, POISSON, second=Moments.of(X, POISSON).second)
    np.testing.assert_allclose(
        short.slices, WhitenedMoments.of(X, W, POISSON).slices, rtol=1e-10, atol=1e-12
    )


@WEIGHTINGS
def test_counting_pairs_equals_the_dense_product_and_the_operator(weighting):
    X = sparse.random_array((300, 400), density=0.01, rng=np.random.default_rng(4), format="csr")
    X.data = np.ceil(X.data * 3)
    counted = Moments.of(X, weighting)
    dense = Moments.of(X.toarray(), weighting)
    assert counted == dense
    V = np.random.default_rng(5).normal(size=(400, 3))
    np.testing.assert_allclose(
        second_moment_operator(X, weighting) @ V, dense.m2 @ V, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("held", ["matrix", "operator"])
def test_whitening_makes_the_second_moment_the_identity(held):
    X = sparse.csr_array((np.random.default_rng(6).random((500, 40)) < 0.2).astype(float))
    m2 = Moments.of(X, RAW).m2
    W, values = whiten(m2 if held == "matrix" else second_moment_operator(X, RAW), 3)
    np.testing.assert_allclose(W.T @ m2 @ W, np.eye(3), atol=1e-8)
    assert (np.diff(values) <= 0).all()


def test_sums_that_do_not_belong_together_are_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match="RAW cannot be added to POISSON"):
        Moments.of(X, RAW) + Moments.of(X, POISSON)
    with pytest.raises(ValueError, match="3 features cannot be added to those of 2"):
        Moments.of(X, RAW) + Moments.zero(2, RAW)
    with pytest.raises(ValueError, match="same whitener"):
        WhitenedMoments.of(X, np.eye(3), RAW) + WhitenedMoments.of(X, 2 * np.eye(3), RAW)


def test_rows_too_short_for_an_order_divide_nothing_by_zero():
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    moments = WhitenedMoments.of(X, np.eye(2), EQUAL_ROWS)
    assert moments.divisors.tolist() == [2.0, 1.0, 0.0]
    assert not moments.slices.any()


def test_what_is_no_moment_is_refused_by_name() -> None:
    X = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    with pytest.raises(TypeError, match="weighting must be a Weighting; found 'POOLED'"):
        Moments.of(X, "POOLED")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="whitener must have as many rows as X has features, 3"):
        WhitenedMoments.of(X, np.eye(2), RAW)
    with pytest.raises(ValueError, match="single precision"):
        SubspaceMoments.of(X * 1e15, np.eye(3), POOLED)
    with pytest.raises(ValueError, match="values holds NaN"):
        significant(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="q=4 directions need as many features; X has 3"):
        leading_basis(X, POOLED, 4)
