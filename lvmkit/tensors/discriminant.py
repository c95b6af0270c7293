"""Discriminant rule: posteriors, log-densities and samples of a tensor normal mixture."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from lvmkit.core.typing import Array, Labels
from lvmkit.tensors.modes import multiply

SPARSE = 0.3
"""Below this share of entries that are not 0, only these are read."""


class Rule(NamedTuple):
    """Weights, means and discriminants that determine the posteriors; arrays are flat, p = p_1 ... p_M."""

    weights: Array  # (K,): Weights of the clusters
    means: Array  # (K, p): Their means
    discriminants: Array  # (K, p): What tells each from the middle
    middle: Array  # (p,): What the clusters are compared with


def posteriors(X: Array, rule: Rule) -> Array:
    """Return the probability of each cluster for each sample, (n, K). X (n, p)."""
    # Mutoh 2023, equations (4) and (5), with the sums in logarithms.
    logits = scores(X, rule)
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def scores(X: Array, rule: Rule) -> Array:
    """Return log weight_k + <X - (mean_k + middle) / 2, discriminant_k> of each sample, (n, K). X (n, p)."""
    selected = rule.discriminants.any(axis=0)
    B = rule.discriminants
    halfway = np.einsum("kp,kp->k", rule.means + rule.middle, B) / 2
    if selected.mean() < SPARSE:
        X, B = X[:, selected], B[:, selected]
    with np.errstate(divide="ignore"):  # a cluster may have lost all its weight
        return np.asarray(X @ B.T - halfway + np.log(rule.weights))


def drawn(
    n_samples: int,
    weights: Array,
    means: Array,
    covariances: Sequence[Array],
    *,
    generator: np.random.Generator,
) -> tuple[Array, Labels]:
    """Draw samples from a mixture. weights (K,), means (K, p_1, ..., p_M), covariances (p_m, p_m)."""
    labels = generator.choice(len(weights), n_samples, p=weights)
    noise = generator.standard_normal((n_samples, *means.shape[1:]))
    return multiply(noise, [np.linalg.cholesky(part) for part in covariances]) + means[
        labels
    ], labels


def implied_means(rule: Rule, covariances: list[Array], sizes: tuple[int, ...]) -> Array:
    """Return the means at which the discriminants are exact, around the mean of all samples, (K, p)."""
    away = rule.discriminants - rule.weights @ rule.discriminants
    moved = multiply(away.reshape(-1, *sizes), covariances)
    return rule.weights @ rule.means + moved.reshape(away.shape)


def log_densities(X: Array, weights: Array, means: Array, covariances: list[Array]) -> Array:
    """Return the log-density of each sample under a mixture, (n,)."""
    # Mutoh 2023, equations (1) and (2).
    sizes = X.shape[1:]
    lower = [linalg.cholesky(part, lower=True) for part in covariances]
    inverse = [linalg.solve_triangular(part, np.eye(len(part)), lower=True) for part in lower]
    center = weights @ means
    rows = multiply(X - center.reshape(sizes), inverse).reshape(len(X), -1)
    centers = multiply((means - center).reshape(-1, *sizes), inverse).reshape(len(weights), -1)
    squares = np.einsum("np,np->n", rows, rows)
    p = rows.shape[1]
    volume = sum(np.log(np.diag(part)).sum() * (p / len(part)) for part in lower)
    with np.errstate(divide="ignore"):
        near = rows @ centers.T - np.einsum("kp,kp->k", centers, centers) / 2 + np.log(weights)
    return np.asarray(logsumexp(near, axis=1) - squares / 2 - p / 2 * np.log(2 * np.pi) - volume)
