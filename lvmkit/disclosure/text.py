"""Suppressed counts as text: "<11" where small, "hidden" where complementary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd


def shown_count(shown: float, whole: float, threshold: int) -> int | str:
    """Return a count as a number, or as text where it is hidden."""
    if not np.isnan(shown):
        return int(shown)
    return f"<{threshold}" if 1 <= whole < threshold else "hidden"


def is_few(count: float, level: int) -> bool:
    """Return whether a count is hidden at a level (0 hides none)."""
    return 0 < count < level


def stands_for(sums: float, shown: float) -> int | None:
    """Return what records stand for, in whole ones; None where their number is hidden."""
    return None if np.isnan(shown) or np.isnan(sums) else round(sums)


def coarse(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Round numbers that rest on every person to what a reader can see in a curve of them."""
    numbers = np.asarray(values, dtype=np.float64)
    known = numbers[np.isfinite(numbers)]
    span = float(np.ptp(known)) if known.size > 1 else 0.0
    span = span or float(np.abs(known).max(initial=0.0))
    if not span > 0:
        return numbers
    digits = -int(np.ceil(np.log10(span / 500)))
    return np.round(numbers, digits) + 0.0


def with_texts(
    shown: pd.DataFrame,
    whole: pd.DataFrame,
    counts: Sequence[str],
    threshold: int,
    *,
    sums: Sequence[str] = (),
) -> pd.DataFrame:
    """Write the counts of a table as whole numbers, and hidden ones as text."""
    table = shown.copy()
    for name in (*counts, *sums):
        values = shown[name].to_numpy(dtype=float)
        real = whole[name].to_numpy(dtype=float)
        hidden = np.isnan(values)
        texts = np.where(hidden, 0, values).astype(np.int64).astype(object)
        few = (real >= 1) & (real < threshold) & (name not in sums)
        texts[hidden] = np.where(few, f"<{threshold}", "hidden")[hidden]
        table[name] = texts
    return table
