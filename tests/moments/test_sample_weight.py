"""Rows counted by weights sum to what repeated rows sum to."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.mixtures.e_step import MixtureParams, em_step
from lvmkit.mixtures.families import BERNOULLI, MULTINOMIAL, POISSON, Prior
from lvmkit.moments import Moments, WhitenedMoments, second_moment_operator
from lvmkit.moments.subspaces import SubspaceMoments, leading_basis
from lvmkit.moments.weightings import EQUAL_ROWS, POOLED, RAW
from lvmkit.moments.weightings import POISSON as FACTORIAL

N, D = 9_000, 30  # rows of two blocks


@pytest.fixture(scope="module")
def repeated():
    """Rows, how often each counts, and the rows repeated."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.3, 1.0, size=(3, D))[rng.integers(3, size=N)]).astype(np.float32)
    weight = rng.integers(0, 4, size=N)
    return X, weight.astype(float), np.repeat(X, weight, axis=0)


def agree(one, other):
    """Compare all sums."""
    for name in vars(one):
        if isinstance(getattr(one, name), (np.ndarray, float, int)):
            np.testing.assert_allclose(
                getattr(one, name), getattr(other, name), rtol=1e-4, atol=1e-3, err_msg=name
            )


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighting", [RAW, FACTORIAL, POOLED, EQUAL_ROWS], ids=lambda w: w.name)
def test_weights_equal_repeated_rows_in_all_moments(repeated, weighting, as_rows):
    X, weight, all_rows = repeated
    X, all_rows = as_rows(X), as_rows(all_rows)
    W = np.linalg.qr(np.random.default_rng(1).normal(size=(D, 4)))[0]
    agree(Moments.of(X, weighting, sample_weight=weight), Moments.of(all_rows, weighting))
    agree(
        WhitenedMoments.of(X, W, weighting, sample_weight=weight),
        WhitenedMoments.of(all_rows, W, weighting),
    )
    seen = [
        second_moment_operator(rows, weighting, sample_weight=w) @ W
        for rows, w in ((X, weight), (all_rows, None))
    ]
    np.testing.assert_allclose(*seen, rtol=1e-9)
    if weighting.factorial:
        agree(
            SubspaceMoments.of(X, W, weighting, sample_weight=weight),
            SubspaceMoments.of(all_rows, W, weighting),
        )
        bases = [
            leading_basis(rows, weighting, 3, sample_weight=w)
            for rows, w in ((X, weight), (all_rows, None))
        ]
        np.testing.assert_allclose(*bases, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", [BERNOULLI, POISSON, MULTINOMIAL], ids=lambda f: f.name)
def test_weights_equal_repeated_rows_in_a_step_of_em(repeated, family):
    X, weight, all_rows = repeated
    if family is BERNOULLI:
        X, all_rows = (X > 0).astype(np.float32), (all_rows > 0).astype(np.float32)
    rng = np.random.default_rng(2)
    centers = rng.dirichlet(np.ones(D), size=3).clip(1e-3)
    params = MixtureParams(rng.dirichlet(np.ones(3)), centers)
    prior = Prior(1.0, np.full(D, 1 / D))
    weighted, objective = em_step(sparse.csr_array(X), family, prior, weight)(params)
    plain, expected = em_step(sparse.csr_array(all_rows), family, prior)(params)
    np.testing.assert_allclose(weighted.weights, plain.weights, rtol=1e-5)
    np.testing.assert_allclose(weighted.centers, plain.centers, rtol=1e-4, atol=1e-6)
    assert objective == pytest.approx(expected, rel=1e-6)


def test_weights_that_cannot_be_are_refused(repeated):
    X, weight, _ = repeated
    W = np.eye(D)[:, :2]
    with pytest.raises(ValueError, match="one weight for each"):
        Moments.of(X, RAW, sample_weight=weight[:5])
    with pytest.raises(ValueError, match="at least 0"):
        WhitenedMoments.of(X, W, RAW, sample_weight=-weight)
    with pytest.raises(ValueError, match="is zero"):
        SubspaceMoments.of(X, W, POOLED, sample_weight=0 * weight)
    with pytest.raises(ValueError, match="finite"):
        leading_basis(X, POOLED, 2, sample_weight=np.full(N, np.nan))
