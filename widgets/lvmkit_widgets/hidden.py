"""Hidden counts as text: "<11" where small, "hidden" where hidden so that others cannot be found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd


def shown_count(shown: float, whole: float, threshold: int) -> int | str:
    """Return a count as a number, or as text where it is hidden.

    Parameters
    ----------
    shown : float
        NaN where hidden.
    whole : float
        The count itself.
    threshold : int
        Smallest count that may be shown, apart from 0.

    Returns
    -------
    int or str
        "<11" where small; "hidden" where hidden to protect another one.

    Examples
    --------
    >>> shown_count(25.0, 25, 11), shown_count(np.nan, 3, 11), shown_count(np.nan, 25, 11)
    (25, '<11', 'hidden')
    """
    if not np.isnan(shown):
        return int(shown)
    return f"<{threshold}" if 1 <= whole < threshold else "hidden"


def coarse(values: npt.ArrayLike, span: float) -> npt.NDArray[np.float64]:
    """Round numbers that rest on every person to what a reader can see in a curve of them.

    Parameters
    ----------
    values : array-like
        Such as BIC of several models.
    span : float
        Their range; 0 stands for the size of the numbers themselves.

    Returns
    -------
    array
        Multiples of a power of ten that is at least 1/500 of the range.

    Examples
    --------
    >>> coarse([1234.5678, 1734.5], 500.0).tolist()
    [1235.0, 1734.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    known = np.abs(numbers[np.isfinite(numbers)])
    span = span or float(known.max(initial=0.0))
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
    """Write the counts of a table as whole numbers, and hidden ones as text.

    Parameters
    ----------
    shown : DataFrame
        Hidden counts are NaN.
    whole : DataFrame
        The same rows with all counts.
    counts : sequence of str
        Columns of counts.
    threshold : int
        Smallest count that may be shown, apart from 0.
    sums : sequence of str, default=()
        Columns of sums of several counts; that one of them is small would tell of its parts, so
        hidden ones are only "hidden".

    Returns
    -------
    DataFrame
        A copy of `shown` for reading.
    """
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
