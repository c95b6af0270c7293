"""Documents grouped by the values of an attribute: numbers, dates by year or month, categories."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST_GROUPS = 400
"""More values of a number than this are put into bins."""
_BINS = 60


def grouped(values: pd.Series) -> tuple[npt.NDArray[np.intp], pd.DataFrame, str]:
    """Return the group of each document (-1: none), the groups, and what the axis shows."""
    if pd.api.types.is_datetime64_any_dtype(values):
        span = (values.max() - values.min()).days if values.notna().any() else 0
        values = values.dt.year if span > 3 * 365 else values.dt.strftime("%Y-%m")
    number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if not number:
        order = (
            list(values.cat.categories) if isinstance(values.dtype, pd.CategoricalDtype) else None
        )
        text = values.astype(object).where(values.notna())
        levels = [
            v for v in (order or sorted(text.dropna().unique(), key=str)) if (text == v).any()
        ]
        which = pd.Index(levels).get_indexer(pd.Index(text)) if levels else np.full(len(text), -1)
        which[text.isna().to_numpy()] = -1
        place = np.arange(len(levels), dtype=float)
        names = [str(level) for level in levels]
        groups = pd.DataFrame({"group": names, "start": place + 0.08, "stop": place + 0.92})
        return which, groups, "category"
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    found = np.unique(numbers[np.isfinite(numbers)])
    if len(found) > MOST_GROUPS:
        edges = np.linspace(found[0], found[-1], _BINS + 1)
        which = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, _BINS - 1)
        names = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
        groups = pd.DataFrame({"group": names, "start": edges[:-1], "stop": edges[1:]})
    else:
        which = np.searchsorted(found, numbers)
        half = float(np.diff(found).min()) / 2 if len(found) > 1 else 0.5
        names = [f"{value:.10g}" for value in found]
        groups = pd.DataFrame({"group": names, "start": found - half, "stop": found + half})
    which = np.where(np.isfinite(numbers), which, -1)
    return which, groups, "number"


def commonest(bands: Any, which: npt.NDArray[np.intp], n_groups: int) -> npt.NDArray[np.object_]:
    """Return the commonest band of each group as text, empty where there is none."""
    found = np.full(n_groups, "", dtype=object)
    if bands is None:
        return found
    pairs = pd.DataFrame({"which": which, "band": pd.Series(bands).astype(object).to_numpy()})
    pairs = pairs[(pairs["which"] >= 0) & pairs["band"].notna()].astype({"band": str})
    common = pairs.groupby("which")["band"].agg(lambda texts: texts.value_counts().index[0])
    found[common.index.to_numpy()] = common.to_numpy()
    return found
