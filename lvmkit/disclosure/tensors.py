"""Suppression in clusters of samples: counts whose sizes are known, known groups, and means that two models share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure.cells import suppression, suppression_with_totals
from lvmkit.disclosure.text import shown_count


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
    sizes: Labels = np.isnan(shown_with_sizes(counts.sum(axis=1)[:, None], threshold)[1])
    # of a cluster whose size is hidden nothing is told, and its size must not follow from the totals
    cells = found.cells & (counts > 0) | sizes[:, None]
    return np.vstack([cells, found.totals | bool(sizes.any())])


def groups_table(
    labels: Labels, groups: pd.Categorical, *, n_clusters: int, threshold: int, hide: bool
) -> pd.DataFrame:
    """Count known groups of samples (n,) by cluster, one row per group; `attrs["hidden"]` says whether a count is."""
    counts = np.zeros((n_clusters, len(groups.categories)))
    np.add.at(counts, (labels, groups.codes), 1)
    rows = np.vstack([counts, counts.sum(axis=0)])
    hidden = hidden_groups(counts, threshold) if hide else rows < 0
    texts = [
        [
            shown_count(np.nan if secret else n, int(n), threshold)
            for n, secret in zip(*pair, strict=True)
        ]
        for pair in zip(rows.T, hidden.T, strict=True)
    ]
    table = pd.DataFrame(texts, columns=[*(f"c{j}" for j in range(n_clusters)), "total"])
    table.insert(0, "group", [str(name) for name in groups.categories])
    table.attrs["hidden"] = bool(hidden.any())
    return table


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
