"""Suppression in clusters of samples: counts whose sizes are known, known groups, and means that two models share."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure.cells import suppression, suppression_with_totals


def shown_with_sizes(counts: Any, threshold: int) -> tuple[Any, Any]:
    """Hide small counts (k, d) whose rows sum to sizes that are known with their total; NaN hides."""
    sizes = counts.sum(axis=1)
    total = suppression(sizes[:, None], threshold=threshold)
    hidden = total.cells[:, 0] | total.totals.any()
    found = suppression(counts.T, threshold=threshold)
    mask = found.cells.T | found.totals[:, None] | hidden[:, None]
    return np.where(mask, np.nan, counts), np.where(hidden, np.nan, sizes)


def hidden_groups(counts: Array, threshold: int) -> Any:
    """Find cells (clusters, groups), and below them totals of groups, that are not shown; sizes are known."""
    found = suppression_with_totals(counts, threshold=threshold)
    cells = found.cells.copy()
    sizes: Labels = np.isnan(shown_with_sizes(counts.sum(axis=1)[:, None], threshold)[1])
    # of a cluster whose size is hidden nothing is told, and its size must not follow from the totals
    cells[sizes] = True
    totals = found.totals | bool(sizes.any())
    return np.vstack([cells & (counts > 0) | sizes[:, None], totals])


def same_means(means: Array, shown: Array) -> Array:
    """Return the means (k, ...) that another model shows too, NaN elsewhere."""
    # sizes times means are sums, and two sums of almost the same samples differ by who changed clusters
    if means.shape != shown.shape:
        return np.full_like(means, np.nan)
    within = tuple(range(1, means.ndim))
    far = np.abs(means - shown).max(axis=within) > 1e-6 * max(float(np.abs(shown).max()), 1e-300)
    result = shown.copy()
    result[far] = np.nan
    return result
