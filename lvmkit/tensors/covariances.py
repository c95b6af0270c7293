"""Moment estimates of the modes' covariances, and their common scale."""

from collections.abc import Sequence

import numpy as np

from lvmkit.core.typing import Array
from lvmkit.tensors.modes import scatter

NOTHING = 1e-14
"""A variance within clusters below this share of all is rounding."""
SCALES = ("trace", "first_entry")
"""Estimates of the common scale of the modes' covariances, and how the modes share it."""


def moment_covariances(
    total: Sequence[Array], counts: Array, means: Array, *, first_variance: float | None = None
) -> list[Array]:
    """Estimate the covariances of the modes from second moments, (p_m, p_m). counts (K,), means (K, p_1, ..., p_M)."""
    # Mutoh 2023, section 2.2, enhanced M step. The residuals are never formed. The printed scale hangs on the single
    # entry X_1...1, is noisy, and changes when entries are listed in another order.
    order = means.ndim - 1
    spread = scatter(means * np.sqrt(counts).reshape(-1, *[1] * order), order)
    n = float(counts.sum())
    size = means[0].size
    found = [
        (part - of_means) / (n * size / len(part))
        for part, of_means in zip(total, spread, strict=True)
    ]
    if first_variance is not None:
        found = [part / part[0, 0] for part in found]
        found[0] *= first_variance
        return found
    variance = float(np.trace(found[0]) / len(found[0]))  # the same for each mode
    if variance <= NOTHING * float(np.trace(total[0])) / (n * size):
        msg = "nothing varies within clusters"
        raise np.linalg.LinAlgError(msg)
    return [part * variance ** (1 / order - 1) for part in found]


def shrunken(covariances: Sequence[Array], shrinkage: float) -> list[Array]:
    """Draw covariances towards a multiple of the identity that keeps their trace, (p_m, p_m)."""
    if not shrinkage:
        return list(covariances)
    return [
        (1 - shrinkage) * part + shrinkage * np.trace(part) / len(part) * np.eye(len(part))
        for part in covariances
    ]


def scaled(covariances: Sequence[Array], scale: str) -> list[Array]:
    """Share the common scale of covariances among the modes without changing their Kronecker product, (p_m, p_m)."""
    if scale == "trace":
        sizes = np.array([np.trace(part) / len(part) for part in covariances])
    else:
        sizes = np.array([part[0, 0] for part in covariances])
    common = np.prod(sizes)
    if scale == "trace":
        return [
            part * (common ** (1 / len(sizes)) / size)
            for part, size in zip(covariances, sizes, strict=True)
        ]
    found = [part / size for part, size in zip(covariances, sizes, strict=True)]
    found[0] = found[0] * common
    return found
