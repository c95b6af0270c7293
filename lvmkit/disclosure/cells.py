"""Primary and complementary suppression of cells of a table of counts."""

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_finite, as_numbers, listed, require_number
from lvmkit.disclosure.rule import THRESHOLD

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


@checked()
def suppression(
    counts: npt.ArrayLike,
    *,
    sizes: npt.ArrayLike | None = None,
    hidden: npt.ArrayLike | None = None,
    threshold: int = THRESHOLD,
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
    few = _few(cells, threshold) | _few(bound - cells, threshold)
    low, high = _slack(cells, bound, threshold)
    mask = few if hidden is None else few | _flags(hidden, cells.shape)
    total = cells.sum(axis=0)
    totals = _few(total, threshold) | _few(bound.sum(axis=0) - total, threshold)
    for column in np.flatnonzero(mask.any(axis=0) & ~totals):
        one = np.s_[:, column]
        safe = _protected(mask[one], low[one], high[one], few[one], cells[one], threshold - 2)
        totals[column] = safe is None
        mask[one] = mask[one] if safe is None else safe
    return Suppression(mask, totals)


@checked()
def suppression_with_totals(counts: npt.ArrayLike, *, threshold: int = THRESHOLD) -> Suppression:
    """Find the cells and totals that must not be shown of a table whose row sums are known.

    Parameters
    ----------
    counts : array (k, d)
        Whole numbers; each row sums to something known, for example the cluster's size. The totals
        of columns are shown too, as far as possible.
    threshold : int, default=11
        Smallest count that may be shown, apart from 0.

    Returns
    -------
    Suppression
        Cells, and totals. In a row that is hidden whole the sum must be hidden too.

    Raises
    ------
    ValueError
        If counts are negative or `threshold` is below 2.

    Notes
    -----
    As `suppression`, applied to the rows, to the totals (their sum is known) and to each column
    with its total (the difference is 0) in turn until nothing more is hidden. This is safe against
    one equation at a time, not against the solution of all of them together (a linear program; Cox
    1980).

    Examples
    --------
    >>> found = suppression_with_totals([[4, 30, 50], [40, 50, 60], [60, 70, 80]])
    >>> found.cells
    array([[ True,  True, False],
           [ True,  True, False],
           [False, False, False]])
    """
    cells, _ = _checked(counts, None, threshold)
    grid = np.vstack([cells, cells.sum(axis=0)])
    few = _few(grid, threshold)
    low, high = _slack(grid, np.full(grid.shape, np.inf), threshold)
    last = np.zeros(grid.shape, dtype=bool)
    last[-1] = True
    # in the equation of a column its total is subtracted
    down, up = np.where(last, high, low), np.where(last, low, high)
    mask = few.copy()
    while True:
        before = mask.copy()
        _protect_lines(mask, low, high, few, grid, threshold - 2)
        _protect_lines(mask.T, down.T, up.T, few.T, grid.T, threshold - 2)
        if np.array_equal(mask, before):
            return Suppression(mask[:-1], mask[-1])


def _protect_lines(mask: Mask, low: Array, high: Array, few: Mask, cells: Array, need: int) -> None:
    """Hide in place what protects the hidden cells of each line, the whole line if need be."""
    for i in np.flatnonzero(mask.any(axis=1)):
        safe = _protected(mask[i], low[i], high[i], few[i], cells[i], need)
        mask[i] = cells[i] > 0 if safe is None else safe


def _flags(hidden: npt.ArrayLike, shape: tuple[int, ...]) -> Mask:
    """Return what is hidden already as (k, d) of bool."""
    found = np.asarray(hidden)
    if found.shape != shape or found.dtype.kind != "b":
        msg = f"hidden must be True or False for each of the counts {shape}; found {found.dtype} {found.shape}"
        raise ValueError(msg)
    return found


def is_small(counts: npt.ArrayLike, *, sizes: npt.ArrayLike | None, threshold: int) -> Mask:
    """Find counts that are small, or that leave few of their size."""
    cells, bound = _checked(counts, sizes, threshold)
    return _few(cells, threshold) | _few(bound - cells, threshold)


def _checked(
    counts: npt.ArrayLike, sizes: npt.ArrayLike | None, threshold: int
) -> tuple[Array, Array]:
    """Check counts against sizes; return both as (k, d), without sizes the second infinite."""
    cells = as_finite(counts, "counts")
    require_number(threshold, "threshold", least=-inf, whole=True)
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
        totals = as_numbers(sizes, "sizes")  # infinite where no size is known
        if totals.shape not in (cells.shape[:1], cells.shape) or np.isnan(totals).any():
            msg = f"sizes must be one for each of the {len(cells)} rows, or for each cell; found shape {totals.shape}"
            raise ValueError(msg)
        bound = np.broadcast_to(totals[:, None] if totals.ndim == 1 else totals, cells.shape)
    over = np.argwhere(cells > bound)
    if len(over):
        row, column = over[0]
        found = f"{cells[row, column]:g} of {bound[row, column]:g} in row {row}"
        msg = f"counts cannot exceed their sizes; found {found}"
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


def _protected(
    mask: Mask, low: Array, high: Array, few: Mask, rank: Array, need: int
) -> Mask | None:
    """Hide further cells of a line until the hidden ones are safe; None if they never are."""
    # Cells of a line sum to something known; of a cell that is subtracted, low and high are swapped.
    chosen = mask.copy()
    while True:
        lack_low, lack_high = _lack(chosen, low, high, few, need)
        if lack_low <= 0 and lack_high <= 0:
            return chosen
        free = np.flatnonzero(~chosen & ((low > 0) | (high > 0)))
        if not free.size:
            return None
        enough = free[(low[free] >= lack_low) & (high[free] >= lack_high)]
        helps = np.minimum(low[free], max(lack_low, 0)) + np.minimum(high[free], max(lack_high, 0))
        chosen[enough[np.argmin(rank[enough])] if enough.size else free[np.argmax(helps)]] = True


def _lack(chosen: Mask, low: Array, high: Array, few: Mask, need: int) -> tuple[float, float]:
    """How much slack the hidden cells of a line lack, below and above."""
    open_cells = np.flatnonzero(chosen & ((low > 0) | (high > 0)))
    if (chosen & few).any():
        return need - low[chosen].sum(), need - high[chosen].sum()
    lack = 0.0
    for cell in open_cells:
        others = open_cells[open_cells != cell]
        below = min(low[cell], high[others].sum())
        lack = max(lack, need - below - min(high[cell], low[others].sum()))
    return lack, lack
