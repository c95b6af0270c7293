"""E step and M step of mixtures, log-densities and posteriors, by blocks of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from lvmkit.core.parallel import map_blocks, sum_blocks
from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.mixtures.families import Family, Prior


class MixtureParams(NamedTuple):
    """Parameters of a mixture."""

    weights: Array
    """(k,), positive, sum 1."""
    centers: Array
    """(k, d)."""


def smoothed(params: MixtureParams, n: float, prior: Prior, family: Family) -> MixtureParams:
    """Pull parameters inside their valid set as if n rows had given them under the prior."""
    # A state that the moments give no weight keeps its center: pulled onto the overall mean, it would be one
    # with the next such state, and EM could not tell them apart again.
    k = len(params.weights)
    counts = np.full(k, n / k)
    centers = family.m_step(counts, counts[:, None] * family.project(params.centers), prior)
    weights = np.maximum(params.weights, 0.1 / k)
    return MixtureParams(_smooth_weights(n * weights / weights.sum(), prior), centers)


def em_step(
    X: Counts, family: Family, prior: Prior, sample_weight: Array | None = None
) -> Callable[[MixtureParams], tuple[MixtureParams, float]]:
    """Return the function that makes one E and M step on the rows of `X`. X (n, d), sample_weight (n,)."""
    n = X.shape[0] if sample_weight is None else float(sample_weight.sum())

    def step(params: MixtureParams) -> tuple[MixtureParams, float]:
        counts, sums, log_likelihood = expected_sums(X, params, family, sample_weight)
        strength = prior.strength / len(params.weights)
        log_prior = (
            family.log_prior(params.centers, prior) + strength * np.log(params.weights).sum()
        )
        updated = MixtureParams(_smooth_weights(counts, prior), family.m_step(counts, sums, prior))
        return updated, float(log_likelihood + log_prior) / n

    return step


def _smooth_weights(counts: Array, prior: Prior) -> Array:
    """Return the weights with the prior's pseudo-counts, spread evenly; never exactly 0."""
    tiny = max(prior.strength, 1e-9)
    weights: Array = (counts + tiny / len(counts)) / (counts.sum() + tiny)
    return weights


def expected_sums(
    X: Counts, params: MixtureParams, family: Family, sample_weight: Array | None = None
) -> tuple[Array, Array, float]:
    """Make the E step: expected rows per state, expected sums of rows per state, log-likelihood. X (n, d)."""
    # Products with sparse rows are in float32, whose rounding is the same on all processors. Exponentials and sums over
    # states and rows, whose last bits are not, are in float64: EM would let a difference grow to the fourth digit. The
    # log-likelihood is corrected, to first order, for what rounding the parameters cost: exact to about 1e-6 per row
    # with tens of entries.
    slopes, constants = _linear(params, family)
    slopes32 = np.ascontiguousarray(slopes.T, dtype=np.float32)
    constants32 = constants.astype(np.float32)
    ones = np.ones(len(constants))

    def block_sums(block: Any, weight: Array | None = None) -> tuple[Array, Array, float]:
        rough = block @ slopes32
        rough += constants32
        # A maximum along long rows is twice as fast as one along short ones; sums are products with ones.
        largest = np.ascontiguousarray(rough.T).max(axis=0)
        rough -= largest[:, None]
        scores = np.exp(rough, dtype=np.float64)
        totals = scores @ ones
        if weight is None:
            log_likelihood = largest.sum(dtype=np.float64) + np.log(totals).sum()
            shares = 1 / totals
        else:
            log_likelihood = weight @ (largest + np.log(totals))
            shares = weight / totals
        np.multiply(scores, shares[:, None], out=rough, casting="same_kind")
        return shares @ scores, block.T @ rough, log_likelihood

    counts, sums, log_likelihood = sum_blocks(block_sums, X, along=sample_weight)
    rounding = (counts * (constants - constants32)).sum() + (sums * (slopes.T - slopes32)).sum()
    return counts, np.ascontiguousarray(sums.T), float(log_likelihood + rounding)


def _linear(params: MixtureParams, family: Family) -> tuple[Array, Array]:
    """Return the slopes and the constants, which include log weights."""
    slopes, constants = family.linear(params.centers)
    with np.errstate(divide="ignore"):
        return slopes, constants + np.log(params.weights)


def log_joint(X: Counts, params: MixtureParams, family: Family) -> Array:
    """Return log P(x_i, state j) in double precision, (n, k). X (n, d)."""
    slopes, constants = _linear(params, family)
    right = np.ascontiguousarray(slopes.T)
    return np.vstack(list(map_blocks(lambda block: block @ right + constants, X)))


def log_densities(X: Counts, params: MixtureParams, family: Family) -> Array:
    """Return log P(x_i), block by block, (n,). X (n, d)."""
    slopes, constants = _linear(params, family)
    right = np.ascontiguousarray(slopes.T)
    return np.concatenate(
        list(map_blocks(lambda block: logsumexp(block @ right + constants, axis=1), X))
    )


def most_likely(X: Counts, params: MixtureParams, family: Family) -> Labels:
    """Return the state with the largest posterior for every row; the first one of equal ones, (n,). X (n, d)."""
    slopes, constants = _linear(params, family)
    right = np.ascontiguousarray(slopes.T)
    found = map_blocks(lambda block: (block @ right + constants).argmax(axis=1), X)
    return np.concatenate(list(found))


def posteriors(log_joints: Array) -> Array:
    """Normalize log joint probabilities to posteriors, (n, k)."""
    shifted = np.exp(log_joints - log_joints.max(axis=1, keepdims=True))
    result: Array = shifted / shifted.sum(axis=1, keepdims=True)
    return result
