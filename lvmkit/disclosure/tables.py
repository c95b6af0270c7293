"""Suppression in tables, shares and single counts."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import (
    as_finite,
    as_numbers,
    listed,
    refuse_entries,
    require_number,
    with_gaps,
)
from lvmkit.disclosure.cells import Mask, is_small, suppression
from lvmkit.disclosure.rule import THRESHOLD


@checked()
def suppress(
    table: pd.DataFrame,
    *,
    counts: str | Sequence[str],
    derived: Sequence[str] = (),
    within: str | Sequence[str] | None = None,
    out_of: str | None = None,
    threshold: int = THRESHOLD,
    text: bool = False,
) -> pd.DataFrame:
    """Hide the small counts of a table, and what could give them away.

    Parameters
    ----------
    table : DataFrame
        One row per cell, for example per cluster and code.
    counts : str or sequence of str
        Columns of counts. If one of a row is small, all of them are hidden in that row.
    derived : sequence of str, default=()
        Columns computed from the counts (shares, ratios, intervals); hidden in the same rows.
    within : str or sequence of str, optional
        Columns that name a group of rows whose total is known to the reader. Further rows of the
        group are hidden where one could be found by subtraction.
    out_of : str, optional
        Column with the size the counts are part of: they are also hidden where 1 to `threshold` − 1
        remain.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.
    text : bool, default=False
        Return counts as text: "<11" where small, "hidden" where hidden for the others' sake.

    Returns
    -------
    DataFrame
        A copy with NaN (or text) in hidden places and the column `suppressed`; with `within` also
        `total_suppressed`, True where the group's total must not be shown either.

    Raises
    ------
    ValueError
        If columns are missing, or counts are no whole numbers of 0 or more.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cluster": [0, 1, 2], "n": [250, 7, 90], "share": [0.72, 0.02, 0.26]})
    >>> suppress(table, counts="n", derived=["share"], text=True)
       cluster    n  share  suppressed
    0        0  250   0.72       False
    1        1  <11    NaN        True
    2        2   90   0.26       False
    """
    numbers = [counts] if isinstance(counts, str) else list(counts)
    groups = [within] if isinstance(within, str) else list(within or ())
    roles = {"counts": numbers, "derived": derived, "within": groups}
    for name, columns in {**roles, "out_of": [out_of] if out_of else []}.items():
        _require_columns(table, name, columns)
    if within is not None and not groups:
        msg = "within must name one column or more; found none"
        raise ValueError(msg)
    _require_counts(table, [*numbers, *([out_of] if out_of else [])])
    if within is None:
        mask, unsafe = _small_rows(table, numbers, out_of, threshold), None
    else:
        mask, unsafe = _grouped(table, numbers, groups, out_of, threshold)
    shown = table.copy()
    for name in numbers:
        values = table[name].to_numpy(dtype=float)
        hidden = _texts(values, mask, threshold) if text else np.where(mask, np.nan, values)
        shown[name] = hidden if text or mask.any() else table[name]
    for name in derived:
        shown[name] = table[name].mask(mask)
    shown["suppressed"] = mask
    if unsafe is not None:
        shown["total_suppressed"] = unsafe
    return shown


@checked()
def mask_shares(
    shares: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    threshold: int = THRESHOLD,
    fill: float = float("nan"),
) -> Array:
    """Hide shares that stand for small counts, for example a model's centers sent to a browser.

    Parameters
    ----------
    shares : array (k, d)
        Share of each cluster that has each code, in [0, 1].
    sizes : array (k,)
        Rows of each cluster; need not be whole.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.
    fill : float, default=NaN
        What stands for a hidden share: NaN, or a number that is no share. With 0 the reader must be told that 0
        may mean "few".

    Returns
    -------
    array (k, d)
        A copy with `fill` where round(share · size) is hidden by `suppression`, given sizes and
        overall shares known, and in the clusters that are small themselves.

    Raises
    ------
    ValueError
        If shares are outside [0, 1], or `fill` could be taken for a share.

    Examples
    --------
    >>> mask_shares([[0.5, 0.02], [0.5, 0.3]], [100, 1000])
    array([[0.5, nan],
           [0.5, nan]])
    """
    if 0 < fill <= 1 or np.isinf(fill):
        msg = f"fill must be NaN, 0 or a finite number outside [0, 1], not to be taken for a share; found {fill:g}"
        raise ValueError(msg)
    part = as_numbers(shares, "shares")
    if part.ndim != 2 or not part.size:
        msg = f"shares must be (k, d); found shape {part.shape}"
        raise ValueError(msg)
    if not np.all((part >= 0) & (part <= 1)):
        msg = f"shares lie in [0, 1]; found {listed(part[~((part >= 0) & (part <= 1))].tolist())}"
        raise ValueError(msg)
    whole = np.round(as_finite(sizes, "sizes", 1))
    if len(whole) != len(part) or (whole < 0).any():
        msg = f"sizes must be 0 or more, one for each of the {len(part)} rows of shares; found {listed(whole)}"
        raise ValueError(msg)
    few = suppression(whole[:, None], threshold=threshold).cells
    found = suppression(
        np.round(part * whole[:, None]),
        sizes=whole,
        hidden=np.broadcast_to(few, part.shape),
        threshold=threshold,
    )
    return np.where(found.cells | found.totals, fill, part)


@checked()
def count_text(count: float, *, threshold: int = THRESHOLD) -> str:
    """Return a count as it may be shared.

    Parameters
    ----------
    count : float
        A whole number, or NaN for one that is hidden.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.

    Returns
    -------
    str
        The number with thousands separated; "<11" if it is small; "hidden" for NaN.

    Examples
    --------
    >>> count_text(12345), count_text(3), count_text(0)
    ('12,345', '<11', '0')
    """
    require_number(threshold, "threshold", least=2, whole=True)
    if count < 0 or np.isinf(count):
        msg = f"count must be a whole number of 0 or more, or NaN for a hidden one; found {count!r}"
        raise ValueError(msg)
    if np.isnan(count):
        return "hidden"
    return f"<{threshold}" if 1 <= count < threshold else f"{count:,.0f}"


def _require_columns(table: pd.DataFrame, name: str, names: Sequence[Hashable]) -> None:
    """Refuse names that are not columns."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        known = listed(list(table.columns))
        msg = f"{name} must be columns of the table, which has no column {listed(missing)}; it has {known}"
        raise ValueError(msg)


def _require_counts(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse columns of a table that hold anything but numbers."""
    for name in names:
        refuse_entries(with_gaps(table[[name]]), f"the table's column {name!r}")


def _small_rows(
    table: pd.DataFrame, numbers: list[str], out_of: str | None, threshold: int
) -> Mask:
    """Find rows with a small count."""
    values = table[numbers].to_numpy(dtype=float)
    sizes = None if out_of is None else table[out_of].to_numpy(dtype=float)
    return np.asarray(is_small(values, sizes=sizes, threshold=threshold).any(axis=1))


def _grouped(
    table: pd.DataFrame, numbers: list[str], groups: list[str], out_of: str | None, threshold: int
) -> tuple[Mask, Mask]:
    """Find rows to hide in groups with known totals: groups become columns, padded with zeros."""
    mask = _small_rows(table, numbers, out_of, threshold)
    keys: Any = table.groupby(groups, sort=False, dropna=False)
    column, row = keys.ngroup().to_numpy(), keys.cumcount().to_numpy()
    shape = (int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1)
    unsafe = np.zeros(shape[1], dtype=bool)
    sizes = np.zeros(shape)
    sizes[row, column] = np.inf if out_of is None else table[out_of]
    while True:
        before = mask
        for name in numbers:
            cells, hidden = np.zeros(shape), np.zeros(shape, dtype=bool)
            cells[row, column], hidden[row, column] = table[name], mask
            found = suppression(cells, sizes=sizes, hidden=hidden, threshold=threshold)
            mask, unsafe = found.cells[row, column], unsafe | found.totals
        if np.array_equal(mask, before):
            return mask, unsafe[column]


def _texts(values: Array, mask: Mask, threshold: int) -> list[str]:
    """Write counts for readers."""
    return [
        count_text(value, threshold=threshold) if not hide or 1 <= value < threshold else "hidden"
        for value, hide in zip(values, mask, strict=True)
    ]
