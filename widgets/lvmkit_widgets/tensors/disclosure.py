"""Suppression of small counts and small clusters of samples that stand for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lvmkit.charts.posterior_histogram import shown_counts
from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure import suppression_with_totals
from lvmkit.disclosure.text import coarse, shown_count
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.state import remembered


@remembered
def small_clusters(state: TensorState, index: int) -> tuple[int, ...]:
    """List the clusters whose means and discriminants are hidden now."""
    if not state.suppressing:
        return ()
    k = state.solutions[index].n_components
    sizes = np.bincount(state.labels(index, 0), minlength=k)
    fitted = getattr(state.solutions[index].model, "labels_", None)
    if fitted is not None:
        sizes = np.minimum(sizes, np.bincount(np.asarray(fitted), minlength=k))
    return tuple(int(j) for j in np.flatnonzero(sizes < state.disclosure.threshold))


@remembered
def shown_model(state: TensorState, index: int) -> tuple[Array, Array]:
    """Return what may be shown of means and discriminants, NaN elsewhere."""
    model = state.solutions[index].model
    means = np.array(model.means_, dtype=float)
    weights = np.array(model.discriminants_, dtype=float)
    small = np.array(small_clusters(state, index), dtype=int)
    first = state.index if state.held is None else state.held.first
    if state.suppressing and index != first:
        means = _same_means(means, np.asarray(state.solutions[first].model.means_, dtype=float))
    means[small] = np.nan
    if 0 in small:
        weights[:] = np.nan
    else:
        weights[small - 1] = np.nan
    return means, weights


def _same_means(means: Array, shown: Array) -> Array:
    """Return the means that another model shows too, NaN elsewhere."""
    # sizes times means are sums, and two sums of almost the same samples differ by who changed clusters
    if means.shape != shown.shape:
        return np.full_like(means, np.nan)
    within = tuple(range(1, means.ndim))
    far = np.abs(means - shown).max(axis=within) > 1e-6 * max(float(np.abs(shown).max()), 1e-300)
    result = shown.copy()
    result[far] = np.nan
    return result


def strengths(state: TensorState, index: int) -> Array:
    """Return how strong each entry is: the norm of its discriminants, over the clusters that are shown."""
    weights = shown_model(state, index)[1]
    flat = weights.reshape(len(weights), int(np.prod(weights.shape[1:])))
    norms: Array = np.sqrt(np.nansum(flat**2, axis=0))
    return np.where(np.isnan(flat).all(axis=0), np.nan, norms) if len(flat) else norms


def rounded_bic(state: TensorState) -> Array:
    """Return BIC of every model, where small counts are hidden no finer than a pixel of its curve."""
    bic = np.array([one.bic for one in state.solutions], dtype=float)
    return coarse(bic) if state.suppressing else bic


def sizes_of(state: TensorState, index: int) -> tuple[list[int | str], Array]:
    """Return the sizes of the clusters as texts or numbers, and their shares."""
    labels, least = state.labels(index), state.disclosure.threshold
    whole = np.bincount(labels, minlength=state.solutions[index].n_components).astype(float)
    shown = shown_counts(whole[:, None], least)[1] if state.suppressing else whole
    texts = [shown_count(n, int(all_of), least) for n, all_of in zip(shown, whole, strict=True)]
    return texts, shown / len(labels)


@remembered
def groups_of(state: TensorState, index: int, which: int | None = None) -> pd.DataFrame | None:
    """Count known groups by cluster."""
    groups = state.sets[state.shown_set if which is None else which].groups
    if groups is None:
        return None
    k, least = state.solutions[index].n_components, state.disclosure.threshold
    names = groups.categories
    counts = np.zeros((k, len(names)))
    np.add.at(counts, (state.labels(index, which), groups.codes), 1)
    cells, totals = (
        _hidden(counts, least)
        if state.suppressing
        else (counts < 0, np.zeros(len(names), dtype=bool))
    )
    rows: list[dict[str, Any]] = []
    for g, name in enumerate(names):
        shown = np.where(cells[:, g], np.nan, counts[:, g])
        row: dict[str, Any] = {"group": str(name)}
        row |= {f"c{j}": shown_count(shown[j], int(counts[j, g]), least) for j in range(k)}
        total = int(counts[:, g].sum())
        row["total"] = shown_count(np.nan if totals[g] else total, total, least)
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs["hidden"] = bool(cells.any() or totals.any())
    return table


def _hidden(counts: Array, least: int) -> tuple[Any, Any]:
    """Find cells (clusters, groups) and totals of groups that are not shown; sizes of clusters are known."""
    found = suppression_with_totals(counts, threshold=least)
    cells = found.cells.copy()
    sizes: Labels = np.isnan(shown_counts(counts.sum(axis=1)[:, None], least)[1])
    # of a cluster whose size is hidden nothing is told, and its size must not follow from the totals
    cells[sizes] = True
    totals = found.totals | bool(sizes.any())
    return cells & (counts > 0) | sizes[:, None], totals
