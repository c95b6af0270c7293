"""Samples in whitened coordinates, and maximum likelihood of their covariances."""

import numpy as np

from lvmkit.tensor_normal.modes import multiply
from lvmkit.tensor_normal.whitening import Whitened


def test_whitening_and_the_way_back(covariance, kronecker):
    parts = [covariance(3, 0), covariance(4, 1)]
    X = np.random.default_rng(2).standard_normal((6, 3, 4))
    white = Whitened(X)
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
    white = Whitened(X)
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


def test_means_that_are_not_averages_add_to_what_varies(kronecker):
    """Around other means, the most likely covariance of vectors is that of the residuals."""
    rng = np.random.default_rng(5)
    X, labels = rng.standard_normal((40, 3)), np.arange(40) % 2
    averages = np.array([X[labels == k].mean(axis=0) for k in range(2)])
    offsets = rng.standard_normal((2, 3))
    white, means, away = Whitened(X), averages, offsets
    for _ in range(4):
        means, changed = white.sweep(np.array([20.0, 20.0]), means, away)
        away = offsets @ np.linalg.inv(white.factors[0]).T
    residuals = X - (averages - offsets)[labels]
    np.testing.assert_allclose(white.covariances()[0], residuals.T @ residuals / 40, atol=1e-12)
    np.testing.assert_allclose(means @ white.factors[0].T, averages, atol=1e-12)
    assert changed <= 1e-12


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
    white = Whitened(X)
    whole, none = np.array([15.0]), np.zeros((1, 3, 4, 2))
    for _ in range(200):
        white.sweep(whole, none)
    found = kronecker(white.covariances())
    np.testing.assert_allclose(found, kronecker(flip_flop(X)), rtol=1e-7, atol=1e-9)
