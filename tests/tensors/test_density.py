"""The density by which fits are compared: selected entries only, most likely covariances."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from lvmkit.tensors import density as module
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.density import density_of
from lvmkit.tensors.em import (
    CenteredSamples,
    EMOptions,
    doubly_enhanced,
    expectation_maximization,
)
from lvmkit.tensors.initialization import one_hot


@pytest.fixture
def close(monkeypatch):
    """Go on until nothing changes."""
    monkeypatch.setattr(module, "NEAR", 1e-10)
    monkeypatch.setattr(module, "SWEEPS", 400)


@pytest.fixture(params=[2, 3])
def fitted(request, close):
    K = request.param
    rng = np.random.default_rng(K)
    labels = np.arange(80) % K
    X = rng.standard_normal((80, 4, 3)) @ np.tril(np.ones((3, 3)))
    X[:, 0, :2] += 6.0 * labels[:, np.newaxis]
    samples, options = (
        CenteredSamples(X),
        EMOptions(contrasts(K), penalty=0.3, tol=1e-10, max_iter=500),
    )
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
    """No small change of their shapes is more likely around the averages, nor one of the scale around the means."""
    samples, fit, options = fitted
    found = density_of(samples, fit, options, "deem")
    counts = fit.rule.weights * len(samples)

    def expected(parts, means):
        """By the posteriors behind weights and averages: all that samples say are their sums."""
        S = kronecker(parts)
        inside = samples.flat.T @ samples.flat - (fit.rule.means.T * counts) @ fit.rule.means
        off = fit.rule.means - means
        scatter = inside + (off.T * counts) @ off
        return (
            -len(samples) * np.linalg.slogdet(S).logabsdet / 2
            - np.trace(np.linalg.solve(S, scatter)) / 2
        )

    def scaled(parts, means):
        """At the best scale."""
        return max(expected([parts[0] * c, *parts[1:]], means) for c in np.linspace(0.8, 1.2, 4001))

    best = scaled(found.covariances, fit.rule.means)
    rng = np.random.default_rng(0)
    for _ in range(5):
        roots = [np.eye(len(p)) + 0.05 * rng.standard_normal(p.shape) for p in found.covariances]
        changed = [root @ p @ root.T for root, p in zip(roots, found.covariances, strict=True)]
        assert scaled(changed, fit.rule.means) < best
    here = expected(found.covariances, found.means)
    for scale in (0.99, 1.01):
        assert expected([scale * found.covariances[0], *found.covariances[1:]], found.means) < here


def test_one_cluster_is_the_same_by_either_method(close):
    """Even where the covariance of all entries is no product, and moments fit badly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) @ rng.standard_normal((12, 12))
    samples, options = (
        CenteredSamples(X.reshape(60, 4, 3)),
        EMOptions(contrasts(1), tol=1e-9, max_iter=2000),
    )
    alone = np.ones((60, 1))
    by_em = expectation_maximization(samples, alone, options)
    by_deem = doubly_enhanced(samples, alone, options)
    found = density_of(samples, by_deem, options, "deem")
    assert found.log_likelihood == pytest.approx(60 * by_em.objective, rel=1e-8)
    assert by_deem.objective < by_em.objective - 0.05
    same = density_of(samples, by_em, options, "em")
    np.testing.assert_array_equal(same.means, by_em.rule.means)
    assert same.log_likelihood == pytest.approx(60 * by_em.objective)
