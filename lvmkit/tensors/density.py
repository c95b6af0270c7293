"""The mixture density of a fit, by which BIC compares penalties and numbers of clusters."""

from typing import NamedTuple

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.tensors.contrasts import Contrasts
from lvmkit.tensors.discriminant import Rule, implied_means, log_densities
from lvmkit.tensors.em import CenteredSamples, EMOptions, TensorFit
from lvmkit.tensors.group_lasso import on_entries
from lvmkit.tensors.modes import multiply
from lvmkit.tensors.whitening import WhitenedSamples, squares

SWEEPS, NEAR = 20, 0.01
"""Sweeps for the covariances at most, until they change by less."""


class Density(NamedTuple):
    """A mixture of tensor normals that differ at the selected entries only."""

    means: Array  # (K, p): Means, of centered samples
    covariances: list[Array]  # (p_m, p_m): One for each mode
    log_likelihood: float  # Of all samples


def density_of(
    samples: CenteredSamples, fit: TensorFit, options: EMOptions, method: str
) -> Density:
    """Fit, given the posteriors, the most likely mixture whose discriminants are 0 where those of a fit are."""
    # Neither the discriminants of DEEM nor its covariances will do to compare fits. The penalty not only selects
    # entries, it also shortens what is selected, so that a likelihood would prefer to select too many. Covariances from
    # moments, where that of all entries is not a product over the modes, fit so badly that one cluster looks far worse
    # than two. Covariances are the most likely ones around the averages of the clusters, means follow from these, and
    # the common scale is that around the means: going round again would change what is left, a share K / n of the
    # shapes.
    rule, n = fit.rule, samples.total
    if method == "em":
        return Density(rule.means, fit.covariances, n * fit.objective)
    shape, counts = (-1, *samples.sizes), rule.weights * n
    white = WhitenedSamples(samples.values, samples.weight)
    averages = multiply(rule.means.reshape(shape), white.whiten(fit.covariances))
    for _ in range(SWEEPS):
        averages, changed = white.sweep(counts, averages, shrinkage=options.shrinkage)
        if changed <= NEAR:
            break
    covariances = white.covariances()
    means = selected_means(rule, covariances, samples.sizes, options.contrasts)
    # These are the covariances around the averages of the clusters; around the means there is more to explain.
    offsets = multiply((rule.means - means).reshape(shape), white.unwound())
    covariances[0] = covariances[0] * (1 + counts @ squares(offsets) / (n * rule.means.shape[1]))
    likelihood = samples.mean(log_densities(samples.values, rule.weights, means, covariances))
    return Density(means, covariances, n * likelihood)


def selected_means(
    rule: Rule, covariances: list[Array], sizes: tuple[int, ...], compared: Contrasts
) -> Array:
    """Return the means of clusters that differ at the selected entries only, by as much as their samples do, (K, p)."""
    selected = np.asarray(rule.discriminants.any(axis=0)).reshape(sizes)
    differences = (compared.differences @ rule.means).reshape(-1, *sizes)
    full = on_entries(differences, covariances, selected)
    B = compared.spread @ full.reshape(len(differences), rule.means.shape[1])
    return implied_means(rule._replace(discriminants=B), covariances, sizes)
