"""Small counts hidden before anything is shared, so that no patient can be made out.

The rule is the one health statistics offices use: counts of 1 to 10 are not shown, 0 is (US Centers
for Medicare & Medicaid Services, cell size suppression policy). A hidden count must not be found by
subtraction from a known total either: further cells are hidden until it could still be anything
from 1 to 10.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit._checks import listed
from lvmkit._typing import Array

__all__ = ["Suppression", "count_text", "mask_shares", "suppress", "suppression"]

Mask = npt.NDArray[np.bool_]


class Suppression(NamedTuple):
    """What must not be shown of a table of counts.

    Parameters
    ----------
    cells : array (k, d) of bool
        Cells to hide.
    totals : array (d,) of bool
        Columns whose total must be hidden too: it is small itself, or no cells are left to protect
        the others.
    """

    cells: Mask
    totals: Mask


def suppression(
    counts: npt.ArrayLike,
    *,
    sizes: npt.ArrayLike | None = None,
    hidden: npt.ArrayLike | None = None,
    threshold: int = 11,
) -> Suppression:
    """Find the cells that must not be shown when the total of each column is known.

    Parameters
    ----------
    counts : array (k, d)
        Whole numbers, for example patients of each cluster that have each code.
    sizes : array (k,) or (k, d), optional
        What each row's counts are part of; then a count is hidden too where 1 to `threshold` − 1 do
        *not* have the code.
    hidden : array (k, d) of bool, optional
        Cells that are hidden already.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.

    Returns
    -------
    Suppression
        Cells, and totals.

    Raises
    ------
    ValueError
        If counts are negative or exceed `sizes`, or `threshold` is below 2.

    Notes
    -----
    A reader who knows the total knows the sum r of the hidden cells of a column, and of each the
    bounds that its kind sets: 1 … t − 1 for a small count, n − t + 1 … n − 1 where few lack the
    code, t … n − t for a cell hidden to protect them (t the threshold, n the size). Each small
    count can still take every value in its bounds if and only if Σ(x − lower) and Σ(upper − x) over
    the hidden cells are both at least t − 2. Cells are added until that holds: the smallest one
    that is enough by itself, else the one that helps most, again and again.

    Examples
    --------
    >>> found = suppression([[4, 30], [40, 50], [25, 60]])
    >>> found.cells
    array([[ True, False],
           [False, False],
           [ True, False]])
    """
    cells, bound = _checked(counts, sizes, threshold)
    small = _few(cells, threshold) | _few(bound - cells, threshold)
    low, high = _slack(cells, bound, threshold)
    mask = small if hidden is None else small | np.asarray(hidden, dtype=bool)
    total = cells.sum(axis=0)
    totals = _few(total, threshold) | _few(bound.sum(axis=0) - total, threshold)
    at_risk = (mask & small).any(axis=0) & ~totals
    unsafe = np.zeros_like(totals)
    for column in np.flatnonzero(at_risk):
        protected = _protected(
            mask[:, column], low[:, column], high[:, column], cells[:, column], threshold - 2
        )
        unsafe[column] = protected is None
        mask[:, column] = mask[:, column] if protected is None else protected
    return Suppression(mask, totals | unsafe)


def suppress(
    table: pd.DataFrame,
    *,
    counts: str | Sequence[str],
    derived: Sequence[str] = (),
    within: str | Sequence[str] | None = None,
    out_of: str | None = None,
    threshold: int = 11,
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
    _require_columns(table, [*numbers, *derived, *groups, *([out_of] if out_of else [])])
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


def mask_shares(
    shares: npt.ArrayLike, sizes: npt.ArrayLike, *, threshold: int = 11, fill: float = float("nan")
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
        What stands for a hidden share. With 0 the reader must be told that 0 may mean "few".

    Returns
    -------
    array (k, d)
        A copy with `fill` where round(share · size) is hidden by `suppression`, given sizes and
        overall shares known, and in the clusters that are small themselves.

    Raises
    ------
    ValueError
        If shares are outside [0, 1].

    Examples
    --------
    >>> mask_shares([[0.5, 0.02], [0.5, 0.3]], [100, 1000])
    array([[0.5, nan],
           [0.5, nan]])
    """
    part = np.asarray(shares, dtype=float)
    if not np.all((part >= 0) & (part <= 1)):
        msg = f"shares lie in [0, 1]; found {listed(part[~((part >= 0) & (part <= 1))].tolist())}"
        raise ValueError(msg)
    whole = np.round(np.asarray(sizes, dtype=float))
    few = suppression(whole[:, None], threshold=threshold).cells
    found = suppression(
        np.round(part * whole[:, None]),
        sizes=whole,
        hidden=np.broadcast_to(few, part.shape),
        threshold=threshold,
    )
    return np.where(found.cells | found.totals, fill, part)


def count_text(count: float, *, threshold: int = 11) -> str:
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
    if np.isnan(count):
        return "hidden"
    return f"<{threshold}" if 1 <= count < threshold else f"{count:,.0f}"


def _checked(
    counts: npt.ArrayLike, sizes: npt.ArrayLike | None, threshold: int
) -> tuple[Array, Array]:
    """Check counts against sizes; return both as (k, d), without sizes the second infinite."""
    cells = np.asarray(counts, dtype=float)
    if threshold < 2:
        msg = f"threshold is the smallest count to show and must be 2 or more; found {threshold!r}"
        raise ValueError(msg)
    if cells.ndim != 2:
        msg = f"counts must be (k, d); found shape {cells.shape}"
        raise ValueError(msg)
    wrong = ~((cells >= 0) & (cells == np.round(cells)))
    if wrong.any():
        msg = f"counts are whole numbers of 0 or more; found {listed(cells[wrong].tolist())}"
        raise ValueError(msg)
    bound = np.full(cells.shape, np.inf)
    if sizes is not None:
        given = np.asarray(sizes, dtype=float)
        bound = np.broadcast_to(given[:, None] if given.ndim == 1 else given, cells.shape)
    over = np.argwhere(cells > bound)
    if len(over):
        row, column = over[0]
        found = f"{cells[row, column]:g} of {bound[row, column]:g} in row {row}"
        msg = f"a count cannot exceed its size; found {found}"
        raise ValueError(msg)
    return cells, bound


def _few(values: Array, threshold: int) -> Mask:
    """Find counts of 1 to threshold − 1."""
    return (values >= 1) & (values < threshold)


def _slack(cells: Array, bound: Array, threshold: int) -> tuple[Array, Array]:
    """How far each cell is inside the bounds that its kind sets (Notes of `suppression`)."""
    few, most = _few(cells, threshold), _few(bound - cells, threshold)
    with np.errstate(invalid="ignore"):
        lower = np.where(
            few, 1, np.where(most, np.maximum(threshold, bound - threshold + 1), threshold)
        )
        upper = np.where(
            few, np.minimum(threshold - 1, bound), np.where(most, bound - 1, bound - threshold)
        )
    fixed = (cells == 0) | ((cells == bound) & ~few)
    return np.where(fixed, 0, cells - lower).clip(min=0), np.where(fixed, 0, upper - cells).clip(
        min=0
    )


def _protected(mask: Mask, low: Array, high: Array, cells: Array, need: int) -> Mask | None:
    """Hide further cells until the hidden ones have slack enough; None if they never have."""
    chosen = mask.copy()
    while True:
        lack_low, lack_high = need - low[chosen].sum(), need - high[chosen].sum()
        if lack_low <= 0 and lack_high <= 0:
            return chosen
        free = np.flatnonzero(~chosen & ((low > 0) | (high > 0)))
        if not free.size:
            return None
        enough = free[(low[free] >= lack_low) & (high[free] >= lack_high)]
        helps = np.minimum(low[free], max(lack_low, 0)) + np.minimum(high[free], max(lack_high, 0))
        chosen[enough[np.argmin(cells[enough])] if enough.size else free[np.argmax(helps)]] = True


def _require_columns(table: pd.DataFrame, names: Sequence[Hashable]) -> None:
    """Refuse names that are not columns."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        msg = f"the table has no column {listed(missing)}; it has {listed(list(table.columns))}"
        raise ValueError(msg)


def _small_rows(
    table: pd.DataFrame, numbers: list[str], out_of: str | None, threshold: int
) -> Mask:
    """Find rows with a small count."""
    values = table[numbers].to_numpy(dtype=float)
    sizes = None if out_of is None else table[out_of].to_numpy(dtype=float)
    cells, bound = _checked(values, sizes, threshold)
    small = _few(cells, threshold) | _few(bound - cells, threshold)
    return np.asarray(small.any(axis=1))


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
