"""Samples in whitened coordinates, and maximum likelihood of their covariances."""

import numpy as np
import pytest

from lvmkit.tensors.modes import multiply
from lvmkit.tensors.whitening import WhitenedSamples


def test_whitening_and_the_way_back(covariance, kronecker):
    parts = [covariance(3, 0), covariance(4, 1)]
    X = np.random.default_rng(2).standard_normal((6, 3, 4))
    white = WhitenedSamples(X)
    white.whiten(parts)
    inverse = np.linalg.inv(kronecker(parts))
    rows = X.reshape(6, -1)
    np.testing.assert_allclose(
        white.values.reshape(6, -1) @ white.values.reshape(6, -1).T, rows @ inverse @ rows.T
    )
    np.testing.assert_allclose(kronecker(white.covariances()), kronecker(parts))
    again = [covariance(3, 3), covariance(4, 4)]
    white.whiten(again)
    whole = kronecker(white.covariances())
    np.testing.assert_allclose(
        white.values.reshape(6, -1) @ white.values.reshape(6, -1).T,
        rows @ np.linalg.inv(whole) @ rows.T,
    )


def test_a_sweep_shrinks_towards_the_identity_of_the_data(covariance):
    rng = np.random.default_rng(2)
    X = np.einsum(
        "nij,ai,bj->nab", rng.standard_normal((50, 3, 4)), covariance(3, 0), covariance(4, 1)
    )
    whole, none = np.array([50.0]), np.zeros((1, 3, 4))
    white = WhitenedSamples(X)
    for _ in range(60):
        white.sweep(whole, none, shrinkage=0.3)
    for mode, part in enumerate(white.covariances()):
        others = [np.eye(size) for size in X.shape[1:]]
        others[1 - mode] = np.linalg.inv(np.linalg.cholesky(white.covariances()[1 - mode]))
        rows = np.moveaxis(multiply(X, others), mode + 1, 0).reshape(len(part), -1)
        alone = rows @ rows.T
        alone /= np.trace(alone)
        expected = 0.7 * alone + 0.3 * np.eye(len(part)) / len(part)
        np.testing.assert_allclose(part / np.trace(part), expected, atol=1e-6)


def flip_flop(X, sweeps=400):
    """Maximum likelihood of centered samples, one mode after the other, by explicit inverses."""
    parts = [np.eye(p) for p in X.shape[1:]]
    for _ in range(sweeps):
        for mode in range(len(parts)):
            W = X
            for other, part in enumerate(parts):
                if other != mode:
                    root = np.linalg.inv(np.linalg.cholesky(part))
                    W = np.moveaxis(np.tensordot(root, W, (1, other + 1)), 0, other + 1)
            rows = np.moveaxis(W, mode + 1, 0).reshape(len(parts[mode]), -1)
            parts[mode] = rows @ rows.T / rows.shape[1]
    return parts


def test_all_modes_at_once_end_where_one_after_the_other_does(covariance, kronecker):
    rng = np.random.default_rng(3)
    roots = [np.linalg.cholesky(covariance(p, p, 100)) for p in (3, 4, 2)]
    X = np.einsum("nijk,ai,bj,ck->nabc", rng.standard_normal((15, 3, 4, 2)), *roots)
    X -= X.mean(axis=0)
    white = WhitenedSamples(X)
    whole, none = np.array([15.0]), np.zeros((1, 3, 4, 2))
    for _ in range(200):
        white.sweep(whole, none)
    found = kronecker(white.covariances())
    np.testing.assert_allclose(found, kronecker(flip_flop(X)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_rises_where_all_modes_at_once_go_too_far(seed, kronecker):
    """Heavy tails: a few samples are nearly all there is, and each mode would take all of them out."""
    X = np.random.default_rng(seed).standard_cauchy((60, 4, 3, 2))
    X -= X.mean(axis=0)
    white = WhitenedSamples(X)
    whole, none = np.array([60.0]), np.zeros((1, 4, 3, 2))
    volumes = []
    for _ in range(150):
        _, changed = white.sweep(whole, none)
        volumes.append(np.linalg.slogdet(kronecker(white.covariances())).logabsdet)
    assert (
        np.diff(volumes).max() <= 1e-9
    )  # residuals have variance 1: a smaller volume is more likely
    assert changed <= 1e-6
    truth = kronecker(flip_flop(X))
    np.testing.assert_allclose(
        kronecker(white.covariances()), truth, rtol=1e-3, atol=1e-5 * truth.max()
    )
