"""Covariances of the modes from moments, as in DEEM, and how modes share their scale."""

from collections.abc import Sequence

import numpy as np

from lvmkit._typing import Array
from lvmkit.tensor_normal.modes import scatter

NOTHING = 1e-14
"""A variance within clusters below this share of all is rounding."""
SCALES = ("trace", "first_entry")
"""How the one scale that the covariances of the modes have together is estimated and shared among them."""


def moment_covariances(
    total: Sequence[Array], counts: Array, means: Array, *, first_variance: float | None = None
) -> list[Array]:
    """Estimate the covariances of the modes from second moments.

    Parameters
    ----------
    total : sequence of array (p_m, p_m)
        Sum over all samples of X_(m) X_(m)', for each mode: `modes.scatter`, computed once.
    counts : array (K,)
        Sum of the posteriors of each cluster.
    means : array (K, p_1, ..., p_M)
        Means of the clusters.
    first_variance : float, optional
        Variance of the first entry within clusters, for the scale as it is printed; without it, all entries count.

    Returns
    -------
    list of array (p_m, p_m)
        Positive semidefinite. Each has the same mean diagonal; or with `first_variance`, all but the first have
        a first entry of 1, and that of the first is the variance.

    Notes
    -----
    Document 004, section 2.2, enhanced M step. The residuals are never formed. The printed scale hangs on the
    single entry X_1...1, is noisy, and changes when entries are listed in another order.
    """
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
    """Draw covariances towards a multiple of the identity that keeps their trace.

    Parameters
    ----------
    covariances : sequence of array (p_m, p_m)
        One for each mode.
    shrinkage : float
        From 0, which leaves them, to 1.

    Returns
    -------
    list of array (p_m, p_m)
        The weighted means.
    """
    if not shrinkage:
        return list(covariances)
    return [
        (1 - shrinkage) * part + shrinkage * np.trace(part) / len(part) * np.eye(len(part))
        for part in covariances
    ]


def scaled(covariances: Sequence[Array], scale: str) -> list[Array]:
    """Share the common scale of covariances among the modes without changing their Kronecker product.

    Parameters
    ----------
    covariances : sequence of array (p_m, p_m)
        One for each mode.
    scale : {"trace", "first_entry"}
        Give all the same mean diagonal, or all but the first a first entry of 1.

    Returns
    -------
    list of array (p_m, p_m)
        Multiples of the covariances.

    Examples
    --------
    >>> [float(part[0, 0]) for part in scaled([np.eye(2), 4 * np.eye(3)], "trace")]
    [2.0, 2.0]
    """
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
