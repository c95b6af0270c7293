"""The density by which fits are compared: selected entries only, most likely covariances."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from lvmkit.tensor_normal import density as module
from lvmkit.tensor_normal.contrasts import contrasts
from lvmkit.tensor_normal.density import density_of
from lvmkit.tensor_normal.fitting import (
    Options,
    Samples,
    doubly_enhanced,
    expectation_maximization,
)
from lvmkit.tensor_normal.starts import one_hot


@pytest.fixture
def close(monkeypatch):
    """Go on until nothing changes."""
    monkeypatch.setattr(module, "NEAR", 1e-10)
    monkeypatch.setattr(module, "SWEEPS", 400)
    monkeypatch.setattr(module, "ROUNDS", 30)


@pytest.fixture(params=[2, 3])
def fitted(request, close):
    K = request.param
    rng = np.random.default_rng(K)
    labels = np.arange(80) % K
    X = rng.standard_normal((80, 4, 3)) @ np.tril(np.ones((3, 3)))
    X[:, 0, :2] += 6.0 * labels[:, np.newaxis]
    samples, options = Samples(X), Options(contrasts(K), penalty=0.3, tol=1e-10, max_iter=500)
    return samples, doubly_enhanced(samples, one_hot(labels, K), options), options


def test_means_differ_by_what_the_selected_entries_ask_for(fitted, kronecker):
    samples, fit, options = fitted
    found = density_of(samples, fit, options, "deem")
    S = kronecker(found.covariances)
    on = np.flatnonzero(fit.rule.discriminants.any(axis=0))
    assert 0 < len(on) < 12
    away = fit.rule.means - fit.rule.weights @ fit.rule.means
    B = np.zeros_like(away)
    B[:, on] = np.linalg.solve(S[np.ix_(on, on)], away[:, on].T).T
    np.testing.assert_allclose(found.means, B @ S, atol=1e-7)
    logs = [
        np.log(weight) + multivariate_normal(mean, S).logpdf(samples.flat)
        for weight, mean in zip(fit.rule.weights, found.means, strict=True)
    ]
    assert found.log_likelihood == pytest.approx(logsumexp(logs, axis=0).sum(), rel=1e-10)


def test_covariances_are_the_most_likely(fitted, kronecker):
    """None of many small changes makes the samples, with their posteriors, more likely."""
    samples, fit, options = fitted
    found = density_of(samples, fit, options, "deem")
    believed = fit.posteriors  # those that the weights and means came from, but for the last step

    def expected(parts):
        S = kronecker(parts)
        logs = np.array([multivariate_normal(mean, S).logpdf(samples.flat) for mean in found.means])
        return float((believed * logs.T).sum())

    best = expected(found.covariances)
    rng = np.random.default_rng(0)
    for _ in range(30):
        roots = [
            np.eye(len(part)) + 0.02 * rng.standard_normal(part.shape) for part in found.covariances
        ]
        changed = [
            root @ part @ root.T for root, part in zip(roots, found.covariances, strict=True)
        ]
        assert expected(changed) < best


def test_one_cluster_is_the_same_by_either_method(close):
    """Even where the covariance of all entries is no product, and moments fit badly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) @ rng.standard_normal((12, 12))
    samples, options = Samples(X.reshape(60, 4, 3)), Options(contrasts(1), tol=1e-9, max_iter=2000)
    alone = np.ones((60, 1))
    by_em = expectation_maximization(samples, alone, options)
    by_deem = doubly_enhanced(samples, alone, options)
    found = density_of(samples, by_deem, options, "deem")
    assert found.log_likelihood == pytest.approx(60 * by_em.objective, rel=1e-8)
    assert by_deem.objective < by_em.objective - 0.05
    same = density_of(samples, by_em, options, "em")
    np.testing.assert_array_equal(same.means, by_em.rule.means)
    assert same.log_likelihood == pytest.approx(60 * by_em.objective)
