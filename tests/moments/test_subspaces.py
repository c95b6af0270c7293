"""Moments along a few directions equal those of the explicit tensor."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.moments.subspaces import SubspaceMoments, leading_basis, leading_eigenvectors
from lvmkit.moments.weightings import EQUAL_ROWS, POISSON, POOLED
from lvmkit.moments.whitened import with_slices


def counts(n, d, seed=0):
    return np.random.default_rng(seed).poisson(0.8, size=(n, d)).astype(np.float32)


def explicit(X, weighting):
    """Second and third factorial moments from the definition, one row and one triple at a time."""
    d = X.shape[1]
    second, third, divisors = np.zeros((d, d)), np.zeros((d, d, d)), np.zeros(4)
    for x in X.astype(float):
        total = np.array([x.sum()])
        for order in (1, 2, 3):
            divisors[order] += weighting.divisor(order, total)[0]
        drawn = np.repeat(np.arange(d), x.astype(int))
        a2, a3 = weighting.row_weight(2, total)[0], weighting.row_weight(3, total)[0]
        for i, u in enumerate(drawn):
            for j, v in enumerate(drawn):
                if i != j:
                    second[u, v] += a2
                    for m, w in enumerate(drawn):
                        if m not in (i, j):
                            third[u, v, w] += a3
    return second / divisors[2], third / divisors[3]


@pytest.mark.parametrize("weighting", [POISSON, POOLED, EQUAL_ROWS])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_sums_equal_the_explicit_tensor(weighting, as_rows):
    X = counts(30, 6)
    basis = np.random.default_rng(1).normal(size=(6, 3))
    second, third = explicit(X, weighting)
    found = SubspaceMoments.of(as_rows(X), basis, weighting)
    expected = np.einsum("rhl,ra,hb,lc->abc", third, basis, basis, basis)
    np.testing.assert_allclose(found.core, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        found.second / found.divisors[1], second @ basis, rtol=1e-4, atol=1e-5
    )


def test_parts_add_to_the_whole_in_any_cut():
    X, basis = counts(50, 8), np.eye(8)[:, :4]
    whole = SubspaceMoments.of(X, basis, POOLED)
    parts = [SubspaceMoments.of(X[s], basis, POOLED) for s in (slice(7), slice(7, 8), slice(8, 50))]
    total = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(total.cubes, whole.cubes, rtol=1e-6)
    np.testing.assert_allclose(total.divisors, whole.divisors)
    assert total.n_samples == 50
    with pytest.raises(ValueError, match="same weighting and basis"):
        whole + SubspaceMoments.of(X, basis, POISSON)


@pytest.mark.parametrize("alpha0", [0.0, 0.7, 3.0])
def test_exact_dirichlet_moments_become_those_of_a_mixture(alpha0):
    rng = np.random.default_rng(2)
    k, d = 3, 7
    alpha = rng.dirichlet(np.ones(k)) * (alpha0 or 1.0)
    topics = rng.dirichlet(np.ones(d), size=k)
    m1, second, third = dirichlet_moments(alpha, topics) if alpha0 else mixture(alpha, topics)
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0][:, :5] @ rng.normal(size=(5, 5))
    exact = SubspaceMoments(
        POISSON,
        basis,
        1,
        0,
        np.ones(3),
        m1,
        second @ basis,
        np.zeros((d, 5)),
        np.zeros(d),
        np.einsum("rhl,ra,hb,lc->abc", third, basis, basis, basis),
    )
    seen = exact.whitened(k, alpha0=alpha0)
    W, weights = seen.whitener, alpha / alpha.sum()
    np.testing.assert_allclose(
        W.T @ (topics.T * weights) @ topics @ W, np.eye(k), rtol=0, atol=1e-8
    )
    whitened = topics @ W
    expected = np.einsum("j,ja,jb,jc->abc", weights, whitened, whitened, whitened)
    np.testing.assert_allclose(seen.core, expected, atol=1e-7)
    np.testing.assert_allclose(
        seen.image, np.einsum("j,jr,ja->ra", weights, topics, whitened), atol=1e-8
    )
    plain = np.einsum("rhl,ha,lb->rab", third, W, W)
    slices = with_slices(seen, plain, second @ W, alpha0).slices
    expected = np.einsum("j,jr,ja,jb->rab", weights, topics, whitened, whitened)
    np.testing.assert_allclose(slices, expected, atol=1e-7)
    assert exact.rank(alpha0=alpha0) == k


def mixture(weights, topics):
    weights = weights / weights.sum()
    return (
        weights @ topics,
        np.einsum("j,ja,jb->ab", weights, topics, topics),
        np.einsum("j,ja,jb,jc->abc", weights, topics, topics, topics),
    )


def dirichlet_moments(alpha, topics):
    """Moments of words from the raw moments of the Dirichlet distribution."""
    k, a0 = len(alpha), alpha.sum()
    h2, h3 = np.empty((k, k)), np.empty((k, k, k))
    for i in range(k):
        for j in range(k):
            h2[i, j] = alpha[i] * (alpha[j] + (i == j)) / (a0 * (a0 + 1))
            for m in range(k):
                h3[i, j, m] = h2[i, j] * (alpha[m] + (m == i) + (m == j)) / (a0 + 2)
    return (
        alpha @ topics / a0,
        topics.T @ h2 @ topics,
        np.einsum("ijm,ia,jb,mc->abc", h3, topics, topics, topics),
    )


def test_leading_eigenvectors_equal_those_of_the_full_solver():
    rng = np.random.default_rng(3)
    d, k = 400, 6
    values = np.concatenate([[9.0, 7, 5, 4, 3, 2.5], rng.uniform(-0.5, 0.5, d - k)])
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    matrix = (Q * values) @ Q.T
    found = leading_eigenvectors(lambda V: matrix @ V, d, k, start=rng.random(d), tol=1e-7)
    np.testing.assert_allclose(np.abs(found.T @ Q[:, :k]), np.eye(k), atol=2e-3)


def test_the_basis_does_not_depend_on_the_order_of_rows_and_hardly_on_that_of_features():
    X = sparse.csr_array(counts(300, 120, seed=4))
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(300), rng.permutation(120)
    basis = leading_basis(X, POOLED, 4, tol=1e-6)
    np.testing.assert_allclose(leading_basis(X[rows], POOLED, 4, tol=1e-6), basis, atol=1e-3)
    turned = leading_basis(X[:, columns], POOLED, 4, tol=1e-6)
    span = np.linalg.qr(basis[columns])[0]
    np.testing.assert_allclose(span @ (span.T @ turned), turned, atol=0.05)


def test_rows_too_short_for_the_third_moment_are_counted_and_divide_by_nothing():
    X = np.array([[1, 1, 0], [2, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=np.float32)
    for weighting in (POOLED, EQUAL_ROWS):
        found = SubspaceMoments.of(X, np.eye(3), weighting)
        assert found.n_short == 3
        assert np.isfinite(found.core).all()
