"""EM and doubly enhanced EM (DEEM) for tensor normal mixtures."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.tensors.contrasts import Contrasts
from lvmkit.tensors.covariances import moment_covariances, scaled, shrunken
from lvmkit.tensors.discriminant import Rule, implied_means, log_densities, posteriors
from lvmkit.tensors.group_lasso import GroupLasso, group_lasso
from lvmkit.tensors.modes import multiply, rooted, scatter
from lvmkit.tensors.whitening import WhitenedSamples

EMPTY = 1.0
"""A cluster that has less than this of all posteriors, in samples, is empty."""
MAX_ENTERING = 50
"""Entries that may be selected in one iteration while the posteriors move, if no more are so already: the clearest
come first, and shape the clusters before the doubtful ones are asked."""
GAP = 1e-10
"""Relative duality gap of the group lasso, once the posteriors have settled."""
LOOSE = 1e-5
"""A gap above this makes a fit one that did not converge."""
SETTLED = 10.0
"""EM ends once covariances, too, are within so many times the tolerance of what was whitened by; within the tolerance
itself they need no further whitening."""


class CenteredSamples:
    """Centered samples, with their scatter matrices. X (n, p_1, ..., p_M), weight (n,): how often each counts."""

    def __init__(self, X: Array, weight: Array | None = None) -> None:
        self.weight = weight
        self.total: float = len(X) if weight is None else float(weight.sum())
        self.center = np.average(X, axis=0, weights=weight)
        self.values = np.ascontiguousarray(X - self.center)
        self.flat = self.values.reshape(len(X), -1)
        self.sizes = X.shape[1:]
        self.scatter = scatter(rooted(self.values, weight), len(self.sizes))

    def __len__(self) -> int:
        """Return n."""
        return len(self.values)

    def counted(self, posteriors: Array) -> Array:
        """Count the posteriors of each sample as often as the sample. posteriors (n, K)."""
        return posteriors if self.weight is None else posteriors * self.weight[:, np.newaxis]

    def mean(self, values: Array) -> float:
        """Average numbers of the samples. values (n,)."""
        return float(np.average(values, weights=self.weight))


@dataclass(frozen=True)
class EMOptions:
    """Options of EM and DEEM."""

    contrasts: Contrasts
    penalty: float = 0.0
    scale: str = "trace"
    shrinkage: float = 0.0
    tol: float = 1e-3
    max_iter: int = 200


class TensorFit(NamedTuple):
    """A fitted mixture of centered samples."""

    rule: Rule  # Weights, means, discriminants; flat
    covariances: list[Array]  # (p_m, p_m): One for each mode
    posteriors: Array  # (n, K): By that rule
    objective: float
    gap: float  # Relative duality gap of the last group lasso; 0 for EM
    n_iter: int  # Iterations
    stopped_by: str


def doubly_enhanced(samples: CenteredSamples, start: Array, options: EMOptions) -> TensorFit:
    """Fit by the doubly enhanced EM algorithm. start (n, K)."""
    # Mutoh 2023, section 2.2 and figure 6.
    responsibilities, exact = start, False
    found = GroupLasso(np.zeros((0, *samples.sizes)), 0.0, 0.0, 0)  # nothing to start from
    for step in range(1, options.max_iter + 1):
        exact = exact or step == options.max_iter  # the last one, whatever it is
        counted = samples.counted(responsibilities)
        covariances, rule, found = _enhanced(samples, counted, found, options, exact)
        before, responsibilities = responsibilities, posteriors(samples.flat, rule)
        ended = _ended(samples, before, responsibilities, options, step)
        if len(rule.weights) > 1 and not found.coef.any():
            ended = "penalty"
        if exact and ended == "tol" and found.gap > LOOSE:
            ended = "gap"
        if ended and (exact or ended != "tol"):
            break
        exact = ended == "tol" or exact
    return _finished(
        samples, rule, covariances, responsibilities, options, (found.gap, step, ended)
    )


def _ended(
    samples: CenteredSamples, before: Array, after: Array, options: EMOptions, step: int
) -> str:
    """Return the stopping rule that holds, or ""."""
    if samples.counted(after).sum(axis=0).min() < EMPTY:
        return "empty"
    if samples.counted(np.abs(after - before)).sum() / 2 <= options.tol * samples.total:
        return "tol"
    return "max_iter" if step == options.max_iter else ""


def _enhanced(
    samples: CenteredSamples,
    responsibilities: Array,
    found: GroupLasso,
    options: EMOptions,
    exact: bool,
) -> tuple[list[Array], Rule, GroupLasso]:
    """Take the M step, then find the discriminants of the E step."""
    counts = responsibilities.sum(axis=0)
    means = (responsibilities.T @ samples.flat) / counts[:, np.newaxis]
    first = None
    if options.scale == "first_entry":
        first = float(
            samples.mean(samples.flat[:, 0] ** 2) - counts @ means[:, 0] ** 2 / samples.total
        )
    shaped = means.reshape(-1, *samples.sizes)
    covariances = moment_covariances(samples.scatter, counts, shaped, first_variance=first)
    covariances = shrunken(covariances, options.shrinkage)
    compared = options.contrasts
    if len(counts) == 1:  # nothing to tell apart
        found = GroupLasso(np.zeros((0, *samples.sizes)), 0.0, 0.0, 0)
        return covariances, Rule(np.ones(1), means, np.zeros_like(means), means[0]), found
    found = group_lasso(
        (compared.differences @ means).reshape(-1, *samples.sizes),
        covariances,
        options.penalty * compared.factor,
        start=found.coef if len(found.coef) else None,
        tol=GAP,
        max_iter=500 if exact else 1,
        most_entering=None if exact else MAX_ENTERING,
    )
    B = compared.spread @ found.coef.reshape(len(found.coef), -1)
    return covariances, Rule(counts / samples.total, means, B, compared.middle @ means), found


def expectation_maximization(
    samples: CenteredSamples, start: Array, options: EMOptions
) -> TensorFit:
    """Fit by maximum likelihood. start (n, K)."""
    # Mutoh 2023, section 2.1 and equation (3). All is computed in coordinates in which the samples are whitened; each
    # M step whitens them further by what it finds (`WhitenedSamples.sweep`), which is little once it has settled.
    responsibilities, counted = start, samples.counted(start)
    counts = counted.sum(axis=0)
    first = (counted.T @ samples.flat) / counts[:, np.newaxis]
    shaped = first.reshape(-1, *samples.sizes)
    whitened = WhitenedSamples(samples.values, samples.weight)
    whitened.whiten(
        shrunken(moment_covariances(samples.scatter, counts, shaped), options.shrinkage)
    )
    for step in range(1, options.max_iter + 1):
        counted = samples.counted(responsibilities)
        counts = counted.sum(axis=0)
        shaped, changed = whitened.sweep(
            counts,
            _means_in(whitened, counted),
            shrinkage=options.shrinkage,
            tol=options.tol,
        )
        centers, weights = shaped.reshape(len(counts), -1), counts / samples.total
        rule = Rule(weights, centers, centers, np.zeros_like(centers[0]))
        before, responsibilities = (
            responsibilities,
            posteriors(whitened.values.reshape(len(samples), -1), rule),
        )
        ended = _ended(samples, before, responsibilities, options, step)
        if ended == "tol" and changed > SETTLED * options.tol:
            ended = "max_iter" if step == options.max_iter else ""
        if ended:
            break
    backwards = [part.T for part in whitened.unwound()]
    away = (centers - options.contrasts.middle @ centers).reshape(-1, *samples.sizes)
    means = multiply(centers.reshape(away.shape), whitened.factors).reshape(centers.shape)
    B = multiply(away, backwards).reshape(centers.shape)
    rule = Rule(weights, means, B, options.contrasts.middle @ means)
    covariances = scaled(whitened.covariances(), options.scale)
    return _finished(samples, rule, covariances, responsibilities, options, (0.0, step, ended))


def _means_in(whitened: WhitenedSamples, responsibilities: Array) -> Array:
    """Return the means of the samples by their posteriors in whitened coordinates."""
    flat = whitened.values.reshape(len(responsibilities), -1)
    means = (responsibilities.T @ flat) / responsibilities.sum(axis=0)[:, np.newaxis]
    return means.reshape(-1, *whitened.values.shape[1:])


def _finished(
    samples: CenteredSamples,
    rule: Rule,
    covariances: list[Array],
    responsibilities: Array,
    options: EMOptions,
    status: tuple[float, int, str],
) -> TensorFit:
    """Compute the objective by which starts are compared."""
    means = implied_means(rule, covariances, samples.sizes)
    likelihood = samples.mean(log_densities(samples.values, rule.weights, means, covariances))
    cost = options.penalty * options.contrasts.cost(rule.discriminants)
    return TensorFit(rule, covariances, responsibilities, likelihood - cost, *status)
