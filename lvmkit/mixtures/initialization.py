"""Initial parameters of EM: from moments, or random."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lvmkit.core.linalg import generator_of, impute_diagonal
from lvmkit.core.typing import Array, Counts, Progress, RandomState
from lvmkit.core.validation import as_numbers, listed, place_of, warn
from lvmkit.decompose import Components, completion, svtd
from lvmkit.mixtures.e_step import MixtureParams, em_step, smoothed
from lvmkit.mixtures.families import BERNOULLI, Prior
from lvmkit.mixtures.three_view import three_view_mom, three_view_tpm
from lvmkit.moments import (
    POISSON,
    RAW,
    Moments,
    Weighting,
    WhitenedMoments,
    second_moment_operator,
    significant,
    whiten,
    whitener_of,
)
from lvmkit.moments.weightings import n_counted

LARGE_CLIP = 0.02
"""Mean change per entry, in probability, above which clipping the start is worth a warning."""

DENSE_MOMENTS = 4_000
"""Up to this many features the second moment is held as a matrix (128 MB); beyond, as an operator."""

ROUGH, FINE = 1e-3, 1e-5
"""Relative change at which the diagonal of the second moment is known well enough to start EM, or to be told itself."""


class Method(NamedTuple):
    """A decomposition and its seed."""

    decompose: Callable[..., Components] | None = None
    """One of `lvmkit.decompose.BY_NAME`; None for what the start is known for."""
    random_state: RandomState = 0
    """Passed to it."""


OWN = Method()
"""The decomposition that belongs to a start."""


def asvtd_start(
    X: Counts,
    k: int,
    progress: Progress,
    method: Method = OWN,
    sample_weight: Array | None = None,
) -> Components:
    """Decompose the raw moments by SVTD, as the documents do, or otherwise. X (n, d), progress (str, float)."""
    # Ruffini 2017, Algorithm 2. Biased (Ruffini thesis, Theorem 4.3.1); EM is part of the method.
    progress("second moments", 0.0)
    m2 = second_moment(X, RAW, sample_weight)
    whitener, values = whiten(m2 if isinstance(m2, LinearOperator) else m2.m2, min(k, X.shape[1]))
    rank = int(significant(values).sum())
    if rank < k:
        warn(
            f"the second moment of the data has only {rank} significant directions, n_components={k} needs as many; "
            f"{k - rank} of the components start empty. Choose n_components <= {rank}, or init='random'."
        )
    progress("third moments", 0.3)
    moments = WhitenedMoments.of(
        X, whitener[:, :rank], RAW, dtype=np.float32, sample_weight=sample_weight
    )
    progress("decomposition", 0.9)
    found = (method.decompose or svtd)(moments, random_state=method.random_state)
    return padded(found, k, moments.m1)


def corrected_start(
    X: Counts,
    k: int,
    progress: Progress,
    method: Method = OWN,
    sample_weight: Array | None = None,
    *,
    tol: float = ROUGH,
) -> Components:
    """Decompose moments from which every term with coinciding indexes was removed. X (n, d), progress (str, float)."""
    # See `lvmkit.decompose.completion`.
    if k > X.shape[1]:
        return asvtd_start(X, k, progress, method, sample_weight)
    progress("second moments", 0.0)
    m2 = second_moment(X, POISSON, sample_weight)
    imputed = impute_diagonal(m2 if isinstance(m2, LinearOperator) else m2.m2, k, tol=tol)
    if not significant(imputed.values).all():
        found = int(significant(imputed.values).sum())
        warn(
            f"the co-occurrences of the features support {found} directions, n_components={k} needs as many; "
            "starting from the raw moments instead (init='asvtd'). Fewer components, or more rows, would fit better."
        )
        return asvtd_start(X, k, progress, method, sample_weight)
    progress("third moments", 0.3)
    whitener = whitener_of(imputed.values, imputed.vectors)
    second = None if isinstance(m2, LinearOperator) else m2.second
    moments = WhitenedMoments.of(
        X, whitener, POISSON, second=second, dtype=np.float32, sample_weight=sample_weight
    )
    progress("decomposition", 0.9)
    return completion(moments, decompose=method.decompose, random_state=method.random_state)


def random_start(
    X: Counts,
    k: int,
    prior: Prior,
    generator: np.random.Generator,
    sample_weight: Array | None = None,
) -> MixtureParams:
    """Draw centers: for every state, the prevalences mixed with the mean of ten random rows. X (n, d)."""
    n = X.shape[0]
    chances = None if sample_weight is None else sample_weight / sample_weight.sum()
    picked = generator.choice(n, size=(k, min(10, n)), p=chances)
    means = np.stack([np.asarray(X[rows].mean(axis=0)).ravel() for rows in picked])
    return MixtureParams(np.full(k, 1 / k), 0.5 * prior.mean + 0.5 * means)


def second_moment(
    X: Counts, weighting: Weighting, sample_weight: Array | None
) -> Moments | LinearOperator:
    """Hold the second moment as a matrix while it is small."""
    if X.shape[1] <= DENSE_MOMENTS:
        return Moments.of(X, weighting, sample_weight=sample_weight)
    return second_moment_operator(X, weighting, sample_weight=sample_weight)


def padded(found: Components, k: int, mean: Array) -> Components:
    """Add components of weight 0 at the overall mean. mean (d,)."""
    extra = k - len(found.weights)
    centers = np.vstack([found.centers, np.tile(mean, (extra, 1))])
    return Components(centers, np.append(found.weights, np.zeros(extra)), found.clipped)


def three_view_start(
    X: Counts,
    k: int,
    init: str,
    generator: np.random.Generator,
    progress: Progress,
    sample_weight: Array | None = None,
) -> Components:
    """Decompose moments between three groups of features, for comparison. X (n, d), progress (str, float)."""
    d = X.shape[1]
    if not 3 * k <= d <= DENSE_MOMENTS:
        msg = (
            f"init={init!r} splits the {d} features into three views and needs n_components={k} in each, and at most "
            f"{DENSE_MOMENTS:,} in all; choose init='corrected'"
        )
        raise ValueError(msg)
    progress("three views", 0.0)
    start = three_view_mom if init == "3v-mom" else three_view_tpm
    return start(X, k, generator, sample_weight)


def bernoulli_start(
    X: Counts,
    k: int,
    init: Any,
    prior: Prior,
    progress: Progress,
    *,
    method: Method = OWN,
    sample_weight: Array | None = None,
    tol: float = FINE,
) -> tuple[MixtureParams, float]:
    """Return the start from moments that `init` names, clipped to valid probabilities."""
    if k == 1:
        return MixtureParams(np.ones(1), prior.mean[None, :]), 0.0
    if init.startswith("3v"):
        generator = generator_of(method.random_state)
        seen = three_view_start(X, k, init, generator, progress, sample_weight)
        found, clipped = clipped_components(seen)
    else:
        begin = asvtd_start if init == "asvtd" else partial(corrected_start, tol=tol)
        found, clipped = clipped_components(begin(X, k, progress, method, sample_weight))
    if clipped > LARGE_CLIP and init == "corrected":
        # Too few rows or features to correct by: the raw moments, which never need clipping, may do better.
        raw, raw_clipped = clipped_components(asvtd_start(X, k, silent, method, sample_weight))
        step = em_step(X, BERNOULLI, prior, sample_weight)
        n = n_counted(X, sample_weight)
        starts = [smoothed(start, n, prior, BERNOULLI) for start in (found, raw)]
        if step(starts[1])[1] > step(starts[0])[1]:
            found, clipped = raw, raw_clipped
    if clipped > LARGE_CLIP:
        views = " or than three views can tell apart; init='corrected' needs fewer rows"
        warn(
            f"the centers found from the moments lay outside [0, 1] by {clipped:.3f} per entry and were clipped; "
            f"n_components={k} may be more clusters than the {n_counted(X, sample_weight):,.0f} rows show"
            f"{views if init.startswith('3v') else ''}. Try fewer (scores.select_n_components compares them), leave "
            "out features that hardly any row has, or use init='search', which does not rest on moments."
        )
    return found, clipped


def given_params(
    weights: Any, centers: Any, k: int | None, d: int | None, *, upper: float | None = 1.0
) -> MixtureParams:
    """Check parameters that the user gave. weights (k,), centers (k, d)."""
    w, c = as_numbers(weights, "weights"), as_numbers(centers, "centers")
    if w.ndim != 1 or c.ndim != 2:
        msg = f"weights and centers have shapes {w.shape} and {c.shape}; expected (k,) and (k, d)"
        raise ValueError(msg)
    expected = (k if k is not None else len(w), d if d is not None else c.shape[-1])
    if w.ndim != 1 or c.shape != expected or len(w) != expected[0]:
        msg = f"weights and centers have shapes {w.shape} and {c.shape}; expected ({expected[0]},) and {expected}"
        raise ValueError(msg)
    if not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        msg = f"weights must be finite, non-negative and not all zero; found {listed(w)}"
        raise ValueError(msg)
    highest = np.finfo(np.float64).max if upper is None else upper
    if not ((c >= 0) & (c <= highest)).all():
        valid = "be at least 0" if upper is None else f"lie in [0, {upper:g}]"
        wrong = ~((c >= 0) & (c <= highest))
        at = place_of(np.argwhere(wrong)[0])
        msg = (
            f"centers must {valid}; found {c[wrong][0]:g} {at}, all from {c.min():g} to {c.max():g}"
        )
        raise ValueError(msg)
    return MixtureParams(w / w.sum(), c)


def part(tell: Progress, begin: float, end: float) -> Progress:
    """Report progress within a part of the whole. tell (str, float)."""
    return lambda stage, done: tell(stage, begin + (end - begin) * done)


def silent(stage: str, done: float) -> None:
    """Report nothing."""


def clipped_components(found: Components) -> tuple[MixtureParams, float]:
    """Clip centers to probabilities."""
    valid = BERNOULLI.project(found.centers)
    return MixtureParams(found.weights, valid), float(np.abs(valid - found.centers).mean())
