"""Where EM starts: from moments, or at random."""

import warnings

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lvmkit._checks import DataWarning
from lvmkit._typing import Array, Counts, Progress
from lvmkit.decompose import Components, completion, svtd
from lvmkit.families import Prior
from lvmkit.linalg import impute_diagonal
from lvmkit.mixtures import MixtureParams
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

DENSE_MOMENTS = 4_000
"""Up to this many features the second moment is held as a matrix (128 MB); beyond, as an operator."""


def asvtd_start(X: Counts, k: int, progress: Progress) -> Components:
    """Decompose the raw moments by SVTD, as the documents do.

    Parameters
    ----------
    X : sparse rows or array (n, d), float32
        0/1 rows.
    k : int
        Number of states.
    progress : callable (str, float)
        Told the stage.

    Returns
    -------
    Components
        Centers not yet projected.

    Warns
    -----
    DataWarning
        If the second moment has fewer than k significant directions; the components beyond start empty.

    Notes
    -----
    Ruffini et al. 2017, Algorithm 2. Biased (Ruffini thesis, Theorem 4.3.1); EM is part of the method.
    """
    progress("second moments", 0.0)
    m2 = _second(X, RAW)
    whitener, values = whiten(m2 if isinstance(m2, LinearOperator) else m2.m2, k)
    rank = int(significant(values).sum())
    if rank < k:
        msg = (
            f"the second moment of the data has only {rank} significant directions, n_components={k} needs as many; "
            f"{k - rank} of the components start empty. Choose n_components <= {rank}, or init='random'."
        )
        warnings.warn(msg, DataWarning, stacklevel=3)
    progress("third moments", 0.3)
    moments = WhitenedMoments.of(X, whitener[:, :rank], RAW, dtype=np.float32)
    progress("decomposition", 0.9)
    return _padded(svtd(moments), k, moments.m1)


def corrected_start(X: Counts, k: int, progress: Progress) -> Components:
    """Decompose moments from which every term with coinciding indexes was removed.

    Parameters
    ----------
    X : sparse rows or array (n, d), float32
        0/1 rows.
    k : int
        Number of states.
    progress : callable (str, float)
        Told the stage.

    Returns
    -------
    Components
        Centers not yet projected.

    Warns
    -----
    DataWarning
        If the data are too few to correct; the raw moments are used instead.

    Notes
    -----
    See `lvmkit.decompose.completion`.
    """
    progress("second moments", 0.0)
    m2 = _second(X, POISSON)
    imputed = impute_diagonal(m2 if isinstance(m2, LinearOperator) else m2.m2, k, tol=1e-4)
    if not significant(imputed.values).all():
        found = int(significant(imputed.values).sum())
        msg = (
            f"the co-occurrences of the features support {found} directions, n_components={k} needs as many; "
            "starting from the raw moments instead (init='asvtd'). Fewer components, or more rows, would fit better."
        )
        warnings.warn(msg, DataWarning, stacklevel=3)
        return asvtd_start(X, k, progress)
    progress("third moments", 0.3)
    whitener = whitener_of(imputed.values, imputed.vectors)
    second = None if isinstance(m2, LinearOperator) else m2.second
    moments = WhitenedMoments.of(X, whitener, POISSON, second=second, dtype=np.float32)
    progress("decomposition", 0.9)
    return completion(moments)


def random_start(X: Counts, k: int, prior: Prior, generator: np.random.Generator) -> MixtureParams:
    """Draw centers: for every state, the prevalences mixed with the mean of ten random rows.

    Parameters
    ----------
    X : sparse rows or array (n, d)
        0/1 rows.
    k : int
        Number of states.
    prior : Prior
        Its mean is the prevalence of the features.
    generator : numpy Generator
        Source of randomness.

    Returns
    -------
    MixtureParams
        Equal weights.
    """
    n = X.shape[0]
    picked = generator.integers(n, size=(k, min(10, n)))
    means = np.stack([np.asarray(X[rows].mean(axis=0)).ravel() for rows in picked])
    return MixtureParams(np.full(k, 1 / k), 0.5 * prior.mean + 0.5 * means)


def _second(X: Counts, weighting: Weighting) -> Moments | LinearOperator:
    """Hold the second moment as a matrix while it is small."""
    if X.shape[1] <= DENSE_MOMENTS:
        return Moments.of(X, weighting)
    return second_moment_operator(X, weighting)


def _padded(found: Components, k: int, mean: Array) -> Components:
    """Add components of weight 0 at the overall mean."""
    extra = k - len(found.weights)
    centers = np.vstack([found.centers, np.tile(mean, (extra, 1))])
    return Components(centers, np.append(found.weights, np.zeros(extra)), found.clipped)
