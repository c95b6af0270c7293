"""Families of distributions of a row given its component: likelihood, M step, sampling, valid set."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from lvmkit.core.typing import Array


@dataclass(frozen=True)
class Family:
    """A distribution of independent features given the state, as functions."""

    name: str  # Name of the family
    # Centers (k, d) to slopes (k, d) and constants (k,): log P(x | state j) = constants_j + ⟨slopes_j, x⟩ + carrier(x)
    linear: Callable[[Array], tuple[Array, Array]]
    # Counts (k,), sums (k, d) of rows per state, prior: the most probable centers (k, d)
    m_step: Callable[[Array, Array, "Prior"], Array]
    # Log density of the prior at the centers, up to a constant
    log_prior: Callable[[Array, "Prior"], float]
    carrier: Callable[[Any], Array]  # (n, d): The terms of log P(x | state) without the centers
    # Centers (n, d), totals, generator: one sparse row each; only a family given totals looks at them
    sample: Callable[[Array, Any, np.random.Generator], Any]
    project: Callable[[Array], Array]  # The nearest valid centers
    # Centers to coordinates without bounds, and back: where EM's steps may be made longer
    unbounded: Callable[[Array], Array]
    bounded: Callable[[Array], Array]
    # Variance of each feature by its mean, (d,)
    variance: Callable[[Array], Array]
    # Whether the model says nothing of the sum of a row
    given_totals: bool
    # Centers to where equal distances cost about equal likelihood, when two states become one
    stabilized: Callable[[Array], Array]


@dataclass(frozen=True)
class Prior:
    """Prior pseudo-counts that keep estimates inside their valid set."""

    strength: float  # Pseudo-counts: rows added to every state
    mean: Array  # (d,): Their mean, strictly inside the valid set

    @classmethod
    def around(cls, sums: Array, n: float, strength: float) -> "Prior":
        """Center the prior of a Bernoulli family on the overall prevalence, half a row away from 0 and 1. sums (d,)."""
        return cls(strength, (sums + 0.5) / (n + 1))


def _bernoulli_linear(centers: Array) -> tuple[Array, Array]:
    """Return log-odds and Σ log(1 − μ)."""
    # Fitted centers lie inside (0, 1); the guard is for given ones that say "never" or "always".
    inside = np.clip(centers, 1e-12, 1 - 1e-12)
    absent = np.log1p(-inside)
    slopes = np.log(inside) - absent
    return slopes, absent.sum(axis=1)


def _bernoulli_m_step(counts: Array, sums: Array, prior: Prior) -> Array:
    """Return the mode of the Beta posteriors."""
    shared = prior.strength * prior.mean
    # Sums in single precision may exceed the counts by rounding; a probability may not exceed 1.
    within = np.clip(sums, 0.0, counts[:, None])
    centers: Array = (within + shared) / (counts[:, None] + prior.strength)
    return centers


def _bernoulli_log_prior(centers: Array, prior: Prior) -> float:
    """Sum the log densities of the Beta priors."""
    present = prior.mean * np.log(centers)
    absent = (1 - prior.mean) * np.log1p(-centers)
    return float(prior.strength * (present + absent).sum())


def _bernoulli_sample(centers: Array, _: Any, generator: np.random.Generator) -> Any:
    """Draw 0/1 rows."""
    return sparse.csr_array((generator.random(centers.shape) < centers).astype(np.float32))


def _bernoulli_project(centers: Array) -> Array:
    """Clip to [0, 1]."""
    return np.clip(centers, 0.0, 1.0)


def _logit(centers: Array) -> Array:
    """Return log-odds."""
    odds: Array = np.log(centers) - np.log1p(-centers)
    return odds


def _from_logit(odds: Array) -> Array:
    """Return probabilities, strictly inside (0, 1)."""
    return np.clip(1 / (1 + np.exp(-np.clip(odds, -40, 40))), 1e-12, 1 - 1e-12)


BERNOULLI = Family(
    name="bernoulli",
    linear=_bernoulli_linear,
    m_step=_bernoulli_m_step,
    log_prior=_bernoulli_log_prior,
    carrier=lambda rows: np.zeros(rows.shape[0]),
    sample=_bernoulli_sample,
    project=_bernoulli_project,
    unbounded=_logit,
    bounded=_from_logit,
    variance=lambda mean: mean * (1 - mean),
    given_totals=False,
    stabilized=lambda centers: np.arcsin(np.sqrt(_bernoulli_project(centers))),
)
"""Independent 0/1 features (Ruffini thesis, section 4.2)."""


def _log_of_rates(centers: Array) -> tuple[Array, Array]:
    """Return log rates and −Σ rates."""
    # A rate of 0 would make any count there impossible; fitted rates lie above the guard.
    return np.log(np.maximum(centers, 1e-12)), -centers.sum(axis=1)


def _gamma_mode(counts: Array, sums: Array, prior: Prior) -> Array:
    """Return the mode of the Gamma posteriors."""
    rates: Array = (np.maximum(sums, 0.0) + prior.strength * prior.mean) / (
        counts[:, None] + prior.strength
    )
    return rates


def _gamma_log_prior(centers: Array, prior: Prior) -> float:
    """Sum the log densities of the Gamma priors."""
    return float(prior.strength * (prior.mean * np.log(centers) - centers).sum())


def _log_factorials(rows: Any) -> Array:
    """Return −Σ log x! of every row."""
    if not sparse.issparse(rows):
        totals: Array = -gammaln(np.asarray(rows, dtype=np.float64) + 1).sum(axis=1)
        return totals
    logs = rows.astype(np.float64)
    logs.data = gammaln(logs.data + 1)
    return -np.asarray(logs.sum(axis=1)).ravel()


def _poisson_sample(centers: Array, _: Any, generator: np.random.Generator) -> Any:
    """Draw counts."""
    return sparse.csr_array(generator.poisson(centers).astype(np.float32))


def _from_log(logs: Array) -> Array:
    """Return positive numbers."""
    return np.exp(np.clip(logs, -600, 600))


POISSON = Family(
    name="poisson",
    linear=_log_of_rates,
    m_step=_gamma_mode,
    log_prior=_gamma_log_prior,
    carrier=_log_factorials,
    sample=_poisson_sample,
    project=lambda centers: np.maximum(centers, 0.0),
    unbounded=np.log,
    bounded=_from_log,
    variance=lambda mean: mean,
    given_totals=False,
    stabilized=np.sqrt,
)
"""Independent counts (Ruffini thesis, section 1.1.3)."""


def _log_of_words(centers: Array) -> tuple[Array, Array]:
    """Return log probabilities of the words, and no constant."""
    return np.log(np.maximum(centers, 1e-12)), np.zeros(len(centers))


def _dirichlet_mode(counts: Array, sums: Array, prior: Prior) -> Array:
    """Return the mode of the Dirichlet posteriors."""
    del counts  # the words of a topic are counted, not its documents
    words = np.maximum(sums, 0.0) + prior.strength * prior.mean
    shares: Array = words / words.sum(axis=1, keepdims=True)
    return shares


def _dirichlet_log_prior(centers: Array, prior: Prior) -> float:
    """Sum the log densities of the Dirichlet priors."""
    return float(prior.strength * (prior.mean * np.log(np.maximum(centers, 1e-300))).sum())


def _orders(rows: Any) -> Array:
    """Return log(t!/Πx!): in how many orders the words of a row can stand."""
    totals = np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()
    orders: Array = gammaln(totals + 1) + _log_factorials(rows)
    return orders


def _multinomial_sample(centers: Array, totals: Any, generator: np.random.Generator) -> Any:
    """Draw the words of every row, of a given number."""
    return sparse.csr_array(generator.multinomial(totals, centers).astype(np.float32))


def _onto_simplex(centers: Array) -> Array:
    """Clip at 0 and divide by the sum; rows without mass become uniform."""
    clipped = np.maximum(centers, 0.0)
    totals = clipped.sum(axis=1, keepdims=True)
    even = 1 / centers.shape[1]
    return np.where(totals > 0, clipped / np.where(totals > 0, totals, 1.0), even)


MULTINOMIAL = Family(
    name="multinomial",
    linear=_log_of_words,
    m_step=_dirichlet_mode,
    log_prior=_dirichlet_log_prior,
    carrier=_orders,
    sample=_multinomial_sample,
    project=_onto_simplex,
    unbounded=np.log,
    bounded=lambda logs: _onto_simplex(np.exp(logs - logs.max(axis=1, keepdims=True))),
    variance=lambda mean: mean,
    given_totals=True,
    stabilized=np.sqrt,
)
"""Words of one topic, their number given (Ruffini thesis, section 3.2)."""
