"""Rows by codes, sorted by cluster and averaged to the size of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse as sp

from lvmkit_widgets.ui.words import refuse

MAX_ROWS = 4_000


def heat_fields(
    X: Any,
    labels: Any,
    *,
    codes: Sequence[str],
    titles: Sequence[str] | None = None,
    ids: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    max_rows: int = MAX_ROWS,
    smallest: int = 0,
    hidden: Any = None,
) -> dict[str, Any]:
    """Return the fields of a `Heat` component: rows grouped by cluster, averaged when many."""
    # Rows of a cluster keep their order, so sort them before by what should lie together. A row of the picture never
    # mixes two clusters.
    found = np.asarray(labels).astype(np.int64).ravel()
    if X.shape != (len(found), len(codes)):
        refuse(
            f"X has shape {X.shape}, but there are {len(found)} labels and {len(codes)} codes; "
            "pass one label per row and one code per column"
        )
    wanted = [int(j) for j in (np.unique(found) if ids is None else ids)]
    members = [np.flatnonzero(found == j) for j in wanted]
    n = sum(len(rows) for rows in members)
    share = min(1.0, max_rows / max(n, 1))
    bins = [_n_bins(len(rows), share, smallest) for rows in members]
    blocks = [_binned(X, rows, m, smallest) for rows, m in zip(members, bins, strict=True)]
    secret = np.zeros((len(wanted), len(codes)), dtype=bool) if hidden is None else hidden
    for block, columns in zip(blocks, secret, strict=True):
        block[:, columns] = 0
    ends = [0, *accumulate(bins)]
    labelled = names if names is not None else [f"Cluster {j}" for j in wanted]
    bands = [
        {"id": j, "name": labelled[i], "start": ends[i], "stop": ends[i + 1], "n": len(members[i])}
        for i, j in enumerate(wanted)
        if bins[i]
    ]
    meaning = titles if titles is not None else [""] * len(codes)
    cells = np.vstack([np.empty((0, len(codes)), np.uint8), *blocks])
    return {
        "cells": cells.tobytes(),
        "columns": [{"code": c, "title": t} for c, t in zip(codes, meaning, strict=True)],
        "bands": bands,
        "per_row": n / max(ends[-1], 1),
        "hidden": [[wanted[i], int(column)] for i, column in np.argwhere(secret) if bins[i]],
        "coarse": smallest > 0,
    }


def _n_bins(n: int, share: float, smallest: int) -> int:
    """Return how many rows of the picture a cluster of n rows gets."""
    if n < max(smallest, 1):
        return 0
    bins = max(1, round(n * share))
    return min(bins, max(1, n // (4 * smallest))) if smallest else bins


def _binned(X: Any, rows: Any, bins: int, smallest: int) -> Any:
    """Return the rows averaged to so many, as bytes."""
    if bins == 0:
        return np.empty((0, X.shape[1]), np.uint8)
    cut = np.linspace(0, len(rows), bins + 1).round().astype(np.int64)
    sizes = np.diff(cut)
    if hasattr(X, "toarray"):
        place = np.repeat(np.arange(bins), sizes)
        ones = np.ones(len(rows), np.float32)
        sums = (sp.csr_array((ones, (place, rows)), shape=(bins, X.shape[0])) @ X).toarray()
    else:
        sums = np.add.reduceat(np.asarray(X, dtype=np.float32)[rows], cut[:-1], axis=0)
    if smallest:
        whole = sizes[:, None]
        quarters = np.rint(4 * sums / whole) / 4 * whole
        most = np.where(whole - sums < smallest, whole, quarters)
        sums = np.where(sums < smallest, 0.0, most)
    return np.clip(np.rint(sums * (255.0 / sizes[:, None])), 0, 255).astype(np.uint8)
