"""Validation of tensors and of initial posteriors."""

import warnings
from typing import Any

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.core.validation import DataWarning, listed
from lvmkit.tensors.initialization import one_hot
from lvmkit.tensors.modes import scatter

DEPENDENT = 1e-12
"""Eigenvalues of correlations below this share of the largest are 0 but for rounding."""
SAME = 1e-9
"""Posteriors that differ by less are the same."""


def require_estimable(X: Array, n_components: int, shrinkage: float) -> None:
    """Refuse samples from which the parameters cannot be estimated. X (n, p_1, ..., p_M)."""
    n, sizes = len(X), X.shape[1:]
    if n_components > n:
        msg = (
            f"n_components={n_components} is more than the {n} samples of X; ask for fewer clusters"
        )
        raise ValueError(msg)
    _require_distinct(X, n_components)
    _require_spread(X, shrinkage)
    for mode, size in enumerate(sizes):
        rows = (n - n_components) * (X[0].size // size)
        if rows == 0 or (rows < size and not shrinkage):
            msg = (
                f"mode {mode} of X has {size} entries, but {n} samples in {n_components} clusters leave only {rows} "
                "vectors along it to estimate their covariance from; give more samples, ask for fewer clusters or "
                "entries, or give shrinkage above 0 (0.1, for example)"
            )
            raise ValueError(msg)


def require_covariance(covariance: Array, name: str, size: int) -> None:
    """Refuse a matrix that is no covariance of a mode."""
    if covariance.shape != (size, size):
        msg = f"{name} has shape {covariance.shape}; expected {(size, size)}, as the means have."
        raise ValueError(msg)
    symmetric = np.isfinite(covariance).all() and np.allclose(covariance, covariance.T)
    if not symmetric or not np.linalg.eigvalsh(covariance)[0] > 0:
        msg = f"{name} is not symmetric and positive definite, as a covariance has to be."
        raise ValueError(msg)


def require_independent(X: Array, guess: Array, shrinkage: float) -> None:
    """Refuse samples in which entries of a mode follow from others within clusters."""
    if shrinkage:
        return
    flat = X.reshape(len(X), -1)
    means = (guess.T @ flat) / guess.sum(axis=0)[:, np.newaxis]
    residuals = (flat - guess @ means).reshape(X.shape)
    for mode, part in enumerate(scatter(residuals, X.ndim - 1)):
        deviations = np.sqrt(np.diag(part))
        if not deviations.all():
            continue  # nothing varies there, which the fit says
        values, vectors = np.linalg.eigh(part / np.outer(deviations, deviations))
        if values[0] > DEPENDENT * values[-1]:
            continue
        among = np.flatnonzero(np.abs(vectors[:, 0]) > 1e-6 * np.abs(vectors[:, 0]).max())
        msg = (
            f"in mode {mode} of X, entries {listed(among)} are not independent: one is a sum of multiples of the "
            "others. Leave one of them out, or give shrinkage above 0 (0.1, for example)"
        )
        raise ValueError(msg)


def _require_distinct(X: Array, n_components: int) -> None:
    """Refuse fewer different samples than clusters."""
    seen: set[bytes] = set()
    for sample in X:
        seen.add(np.ascontiguousarray(sample).tobytes())
        if len(seen) >= n_components:
            return
    msg = f"X has only {len(seen)} different samples; n_components={n_components} is more than that"
    raise ValueError(msg)


def _require_spread(X: Array, shrinkage: float) -> None:
    """Refuse entries that are the same for all samples, which no normal distribution has."""
    constant = np.ptp(X, axis=0) == 0
    if not constant.any():
        return
    found = listed(
        [tuple(map(int, at)) if X.ndim > 2 else int(at[0]) for at in np.argwhere(constant)]
    )
    what = f"X has {int(constant.sum())} entries that are constant over the {len(X)} samples (variance 0): {found}"
    if shrinkage and not constant.all():
        warnings.warn(f"{what}; they tell nothing about clusters", DataWarning, stacklevel=5)
        return
    msg = f"{what}; leave these rows or columns of the tensors out, or give shrinkage above 0 (0.1, for example)"
    raise ValueError(msg)


def first_guess(init: Any, n_samples: int, n_components: int) -> Array:
    """Read labels or posteriors to start from, (n, K). init (n,)."""
    guess = np.asarray(init)
    if guess.shape == (n_samples,):
        whole = guess.dtype.kind in "iufb" and bool(np.isfinite(guess).all())
        as_int = guess.astype(int) if whole else None
        if as_int is None or not np.array_equal(as_int, guess):
            msg = (
                f"init must hold whole numbers as labels; found {guess.dtype} with {listed(guess)}"
            )
            raise ValueError(msg)
        if as_int.min() < 0 or as_int.max() >= n_components:
            msg = (
                f"init has labels from {as_int.min()} to {as_int.max()}; "
                f"with n_components={n_components} they run from 0 to {n_components - 1}"
            )
            raise ValueError(msg)
        guess = one_hot(as_int, n_components)
    if guess.shape != (n_samples, n_components):
        msg = (
            f"init has shape {guess.shape}; expected labels ({n_samples},), posteriors "
            f"({n_samples}, {n_components}), or a name"
        )
        raise ValueError(msg)
    try:
        guess = guess.astype(float)
    except (TypeError, ValueError) as error:
        msg = f"init must hold numbers, labels or posteriors; found {guess.dtype}"
        raise ValueError(msg) from error
    sums = guess.sum(axis=1)
    if not (np.isfinite(guess).all() and guess.min() >= 0 and np.allclose(sums, 1, atol=1e-6)):
        msg = "init must hold posteriors: numbers of at least 0 whose rows sum to 1"
        raise ValueError(msg)
    empty = np.flatnonzero(guess.sum(axis=0) < 1)
    if len(empty):
        msg = f"init leaves cluster {listed(empty)} without samples; each of the {n_components} needs one"
        raise ValueError(msg)
    if n_components > 1 and np.ptp(guess, axis=0).max() < SAME:
        msg = "init gives all samples the same posteriors, which tells no clusters apart; give labels, or a name"
        raise ValueError(msg)
    return np.asarray(guess / sums[:, np.newaxis])
