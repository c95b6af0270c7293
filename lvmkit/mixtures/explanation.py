"""Posterior probability of a cluster explained as a product of odds, code by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from lvmkit.core.typing import Array
from lvmkit.mixtures.clustering import Clustering

ABSENT_SHOWN = 3  # codes a patient does not have that are named one by one
TINY = 1e-12
HUGE = 10_000.0


@dataclass(frozen=True)
class Factor:
    """Factor of one code in the odds of a cluster."""

    code: str  # The code
    present: bool  # Whether the patient has it
    factor: float  # The odds after this code, divided by the odds before it


@dataclass(frozen=True)
class Evidence:
    """The way from the share of a cluster to the posterior probability of one patient."""

    # The odds are multiplied code after code, so that they end at the exact posterior also for a merged cluster, within
    # which the codes are not independent.

    cluster: int  # Id of the cluster the evidence speaks of
    prior: float  # Share of the cluster, as the probability before any code is known
    factors: tuple[Factor, ...]  # In the order in which they are applied
    n_rest: int  # Number of other codes, all absent
    rest: float  # Factor of these in the odds, together
    posteriors: tuple[float, ...]  # Probability of every cluster, in the order of the clustering
    posterior: float  # That of `cluster`


def explain(
    clustering: Clustering,
    present: npt.NDArray[np.bool_],
    cluster: int,
    *,
    absent_known: bool = True,
) -> Evidence:
    """Explain the posterior probability of one cluster for one patient."""
    centers = np.clip(clustering.mixture.centers, TINY, 1 - TINY)
    inside = clustering.membership[:, clustering.position(cluster)] > 0
    if_present, if_absent = np.log(centers), np.log1p(-centers)
    state = np.log(np.maximum(clustering.mixture.weights, TINY))
    prior = _probability(state, inside)
    factors = []
    for code in _by_effect(state, if_present, inside, np.flatnonzero(present)):
        state, factor = _apply(state, if_present[:, code], inside)
        factors.append(Factor(clustering.mixture.codes[code], present=True, factor=factor))
    absent = np.flatnonzero(~present) if absent_known else np.array([], dtype=int)
    ordered = _by_effect(state, if_absent, inside, absent)
    for code in ordered[:ABSENT_SHOWN]:
        state, factor = _apply(state, if_absent[:, code], inside)
        factors.append(Factor(clustering.mixture.codes[code], present=False, factor=factor))
    others = ordered[ABSENT_SHOWN:]
    state, rest = _apply(state, if_absent[:, others].sum(axis=1), inside)
    posteriors = np.exp(state - logsumexp(state)) @ clustering.membership
    return Evidence(
        cluster=cluster,
        prior=prior,
        factors=tuple(factors),
        n_rest=len(others),
        rest=rest,
        posteriors=tuple(float(p) for p in posteriors),
        posterior=float(posteriors[clustering.position(cluster)]),
    )


def _log_odds(state: Array, inside: npt.NDArray[np.bool_]) -> Array:
    """Log-odds of the group of components `inside`; `state` is (k, ...)."""
    if inside.all():
        return np.full(state.shape[1:], np.inf)
    return np.asarray(logsumexp(state[inside], axis=0) - logsumexp(state[~inside], axis=0))


def _probability(state: Array, inside: npt.NDArray[np.bool_]) -> float:
    """Probability of the group of components `inside`."""
    return float(np.exp(logsumexp(state[inside]) - logsumexp(state)))


def _apply(state: Array, change: Array, inside: npt.NDArray[np.bool_]) -> tuple[Array, float]:
    """Add the evidence of one code; return the new state and its factor in the odds."""
    after = state + change
    if inside.all():
        return after, 1.0
    return after, float(np.exp(_log_odds(after, inside) - _log_odds(state, inside)))


def _by_effect(
    state: Array, change: Array, inside: npt.NDArray[np.bool_], codes: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Order codes by their own factor in the odds, strongest first."""
    if inside.all() or not len(codes):
        return codes
    effect = _log_odds(state[:, None] + change[:, codes], inside) - _log_odds(state, inside)
    return codes[np.argsort(-np.abs(effect), kind="stable")]


def steps_in_words(
    evidence: Evidence, clustering: Clustering, titles: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Tell evidence step by step, each with the probability after it."""
    row = clustering.position(evidence.cluster)
    weights, centers = clustering.weights, clustering.centers
    elsewhere = (weights @ centers - weights[row] * centers[row]) / max(1 - weights[row], TINY)
    odds = _odds(evidence.prior)
    told = [_step("Before any code is known", None, evidence.prior)]
    for found in evidence.factors:
        odds *= found.factor
        verb = "Has" if found.present else "Does not have"
        words = f"{verb} {found.code} {titles.get(found.code, '')}".rstrip()
        j = clustering.mixture.codes.index(found.code)
        shares = {"inside": float(centers[row, j]), "outside": float(elsewhere[j])}
        told.append(_step(words, found.factor, odds / (1 + odds)) | shares)
    if evidence.n_rest:
        words = f"Has none of the other {evidence.n_rest:,} codes"
        told.append(_step(words, evidence.rest, evidence.posterior))
    return told


def _step(words: str, factor: float | None, probability: float) -> dict[str, Any]:
    """One line of the arithmetic; huge and tiny factors in words."""
    shown: float | str | None = factor
    if factor is not None and factor >= HUGE:
        shown = f"over {HUGE:,.0f}"
    elif factor is not None and factor < 1 / HUGE:
        shown = f"below {1 / HUGE}"
    return {"step": words, "factor": shown, "probability": probability}


def _odds(probability: float) -> float:
    """Return odds of a probability."""
    return probability / max(1 - probability, TINY)
