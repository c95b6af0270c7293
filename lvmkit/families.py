"""Families of distributions of a row given its state: likelihood, M step, sampling, valid set."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lvmkit._typing import Array


@dataclass(frozen=True)
class Family:
    """A distribution of independent features given the state, as functions.

    Attributes
    ----------
    name : str
        Name of the family.
    linear : callable centers (k, d) -> (slopes (k, d), constants (k,))
        log P(x | state j) = constants_j + ⟨slopes_j, x⟩, up to terms without the centers.
    m_step : callable (counts (k,), sums (k, d), prior) -> centers (k, d)
        The most probable centers given expected counts and sums of rows per state, under the prior.
    log_prior : callable (centers, prior) -> float
        Log density of the prior at the centers, up to a constant.
    sample : callable (centers (n, d), generator) -> sparse rows (n, d)
        Draw one row for each row of centers.
    project : callable centers -> centers
        The nearest valid centers.
    """

    name: str
    linear: Callable[[Array], tuple[Array, Array]]
    m_step: Callable[[Array, Array, "Prior"], Array]
    log_prior: Callable[[Array, "Prior"], float]
    sample: Callable[[Array, np.random.Generator], Any]
    project: Callable[[Array], Array]


@dataclass(frozen=True)
class Prior:
    """Imaginary rows that keep estimates inside their valid set.

    Attributes
    ----------
    strength : float
        How many imaginary rows every state receives.
    mean : array (d,)
        Their mean, strictly inside the valid set.
    """

    strength: float
    mean: Array

    @classmethod
    def around(cls, sums: Array, n: int, strength: float) -> "Prior":
        """Center the prior of a Bernoulli family on the overall prevalence, half a row away from 0 and 1.

        Parameters
        ----------
        sums : array (d,)
            Rows that have each feature.
        n : int
            Number of rows.
        strength : float
            How many imaginary rows every state receives.

        Returns
        -------
        Prior
            So that a feature that all rows have, or none, is as likely in every state.
        """
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


def _bernoulli_sample(centers: Array, generator: np.random.Generator) -> Any:
    """Draw 0/1 rows."""
    return sparse.csr_array((generator.random(centers.shape) < centers).astype(np.float32))


def _bernoulli_project(centers: Array) -> Array:
    """Clip to [0, 1]."""
    return np.clip(centers, 0.0, 1.0)


BERNOULLI = Family(
    "bernoulli",
    _bernoulli_linear,
    _bernoulli_m_step,
    _bernoulli_log_prior,
    _bernoulli_sample,
    _bernoulli_project,
)
"""Independent 0/1 features (Ruffini thesis, section 4.2)."""
