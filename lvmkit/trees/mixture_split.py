"""SIDIWO with a model: a split by the likelihood of two components."""

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core.linalg import impute_diagonal, significant, whitener_of
from lvmkit.core.parallel import map_blocks
from lvmkit.core.typing import Array
from lvmkit.decompose.completion import completion
from lvmkit.decompose.components import Components
from lvmkit.decompose.sidiwo import sidiwo
from lvmkit.mixtures.e_step import MixtureParams, em_step
from lvmkit.mixtures.em import run_em
from lvmkit.mixtures.families import BERNOULLI, MULTINOMIAL, Family, Prior
from lvmkit.moments import Moments, WhitenedMoments, second_moment_operator, whiten
from lvmkit.moments.weightings import EQUAL_ROWS, POISSON, RAW, Weighting, row_totals
from lvmkit.trees.splits import WIDE, NoSplit, Rows, Split, Sums, column_sums, linear_split

SHARED = 0.01
"""Share of the node's mean in every center, so that a feature that a center lacks excludes nothing."""

EM_STEPS = 100
EM_TOL = 1e-5
"""Nats per row: two centers move little once the split is found."""


def family_of(rows: Rows) -> Family:
    """Return the family that fits the entries: Bernoulli for 0/1 rows, words for larger counts. rows (n, d)."""
    values = rows.data if sparse.issparse(rows) else rows
    return BERNOULLI if values.max(initial=0.0) <= 1 else MULTINOMIAL


def model_split(rows: Rows, sums: Sums, *, family: Family, em: bool) -> Split | NoSplit:
    """Split rows by the more likely of two pseudo-centers. rows (n, d)."""
    # Ruffini thesis, Algorithm 4. Of words, all rows count the same (Zou 2013) instead of by their lengths
    # (Theorem 3.2.1): in a small node few long texts would be all that is seen. Rows go by their posterior (MAP); a
    # hundredth of the node's mean is mixed into each center, so that a feature that a center lacks excludes nothing.
    if rows.shape[1] < 2:
        return NoSplit("it has one feature only: nothing tells two components apart")
    if family is MULTINOMIAL and not (row_totals(rows) >= 3).any():
        return NoSplit(
            "none of its rows has three words, and the third moment needs three of one row"
        )
    often = sums.weight
    components = _bernoulli(rows, often) if family is BERNOULLI else _two(rows, EQUAL_ROWS, often)
    if components is None:
        return NoSplit("its moments show one direction only: no second component to split by")
    prior = node_prior(rows, sums, family)
    centers = (1 - SHARED) * family.project(components.centers) + SHARED * prior.mean
    weights = np.maximum(components.weights, SHARED)
    params = MixtureParams(weights / weights.sum(), centers)
    return likelihood_split(rows, params, prior, family, em=em, weight=sums.weight)


def likelihood_split(
    rows: Rows,
    params: MixtureParams,
    prior: Prior,
    family: Family,
    *,
    em: bool,
    weight: Array | None = None,
) -> Split:
    """Split rows by a mixture of two, refined by EM if asked. rows (n, d), weight (n,)."""
    if em:
        step = em_step(rows, family, prior, weight)
        params = run_em(params, step, tol=EM_TOL, max_iter=EM_STEPS).params
    slopes, constants = family.linear(params.centers)
    offsets = constants + np.log(params.weights)
    scores = np.vstack(list(map_blocks(lambda block: block @ slopes.T + offsets, rows)))
    return linear_split(slopes, offsets, scores, _certainty(scores, weight), params.centers)


def refined(rows: Rows, sums: Sums, split: Split, family: Family) -> Split:
    """Refine a split by EM, from the means and the sizes of its sides. rows (n, d)."""
    # Ruffini thesis, section 6.3, last paragraph.
    members = split.side if sums.weight is None else split.side * sums.weight
    n, m = sums.total(rows), float(members.sum())
    other = column_sums(rows, members)
    centers = np.stack([(sums.first - other) / (n - m), other / m])
    prior = node_prior(rows, sums, family)
    inside = (1 - SHARED) * family.project(centers) + SHARED * prior.mean
    params = MixtureParams(np.array([n - m, m]) / n, inside)
    return likelihood_split(rows, params, prior, family, em=True, weight=sums.weight)


def node_prior(rows: Rows, sums: Sums, family: Family) -> Prior:
    """Return pseudo-counts of one row per center, at the node's mean. rows (n, d)."""
    n, d = sums.total(rows), rows.shape[1]
    if family is BERNOULLI:
        return Prior.around(sums.first, n, 1.0)
    # Spread over all words too: one that this node lacks may occur in a row to predict.
    words = sums.first + 1 / d
    return Prior(float(sums.first.sum()) / n, words / words.sum())


def _two(rows: Rows, weighting: Weighting, often: Array | None) -> Components | None:
    """Whiten with the two leading directions, and rotate. rows (n, d), often (n,)."""
    m2: Any = _second(rows, weighting, often)
    whitener, values = whiten(getattr(m2, "m2", m2), 2)
    if len(values) < 2 or not significant(values).all():
        return None
    return sidiwo(WhitenedMoments.of(rows, whitener, weighting, sample_weight=often), 2)


def _bernoulli(rows: Rows, often: Array | None) -> Components | None:
    """Decompose the moments of 0/1 rows into two pseudo-centers, entries with coinciding indexes filled in."""
    m2: Any = _second(rows, POISSON, often)
    imputed = impute_diagonal(getattr(m2, "m2", m2), 2, tol=1e-3)
    if not significant(imputed.values).all():
        return _two(rows, RAW, often)
    whitener = whitener_of(imputed.values, imputed.vectors)
    second = getattr(m2, "second", None)
    moments = WhitenedMoments.of(rows, whitener, POISSON, second=second, sample_weight=often)
    return completion(moments, decompose=sidiwo)


def _second(rows: Rows, weighting: Weighting, often: Array | None) -> Any:
    """Return the second moment: `Moments` for few features, a linear operator for many."""
    if rows.shape[1] <= WIDE:
        return Moments.of(rows, weighting, sample_weight=often)
    return second_moment_operator(rows, weighting, sample_weight=often)


def _certainty(scores: Array, weight: Array | None = None) -> float:
    """Return 1 − the mean entropy of the posteriors, in bits. scores (n, 2), weight (n,)."""
    odds = np.abs(scores[:, 0] - scores[:, 1])
    share = 1 / (1 + np.exp(-odds))
    rest = np.maximum(1 - share, 1e-300)
    entropies = share * np.log2(share) + rest * np.log2(rest)
    return float(
        1 + (entropies.mean() if weight is None else np.average(entropies, weights=weight))
    )
