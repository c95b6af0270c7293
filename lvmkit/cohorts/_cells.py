"""Cells of a sparse tensor: validation and canonical order."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Numbers = npt.NDArray[np.integer[Any]]
LARGEST_KEY = 2**62
"""Sizes whose product is below are sorted by one number for each place."""


def check_cells(counts: sparse.coo_array) -> None:
    """Refuse cells that are no counts, by place."""
    data = counts.data
    if data.dtype.kind not in "buif":
        msg = f"counts must hold numbers; found the type {data.dtype}."
        raise ValueError(msg)
    if data.dtype.kind in "bu":
        return
    wrong = data < 0
    if data.dtype.kind == "f":
        wrong |= ~np.isfinite(data) | (data != np.floor(data))
    if wrong.any():
        places = np.flatnonzero(wrong)
        cells = (tuple(int(axis[place]) for axis in counts.coords) for place in places[:5])
        shown = ", ".join(f"{data[p]:g} in {c}" for p, c in zip(places, cells, strict=False))
        more = f" and {len(places) - 5:,} more" if len(places) > 5 else ""
        msg = (
            f"counts must be whole numbers of at least 0; found {shown}{more} (counted from 0). "
            "Correct or leave out these cells."
        )
        raise ValueError(msg)


def canonical(counts: sparse.coo_array) -> sparse.coo_array:
    """Return the cells in the order of rows, each once, without zeros, as small integers."""
    data = counts.data
    if data.dtype.kind != "i":
        data = data.astype(np.int64)
    coords = counts.coords
    if not data.all():
        coords, data = tuple(axis[data != 0] for axis in coords), data[data != 0]
    coords, data = ordered(coords, data, counts.shape)
    small = data.max(initial=0) < 2**31
    data = data.astype(np.int32 if small else np.int64, copy=False)
    found = sparse.coo_array((data, coords), shape=counts.shape)
    if max(counts.shape) < 2**31:  # scipy takes 64-bit indices for every tensor, twice the memory
        found.coords = tuple(axis.astype(np.int32, copy=False) for axis in coords)
    found.has_canonical_format = True
    return found


def ordered(
    coords: tuple[Numbers, ...], data: Numbers, shape: tuple[int, ...]
) -> tuple[tuple[Numbers, ...], Numbers]:
    """Sort cells by their place, first axis first, and add those of the same place."""
    one = np.prod([float(size) for size in shape]) < LARGEST_KEY
    keys: list[Numbers] = [np.ravel_multi_index(coords, shape)] if one else [*coords]
    if not _ascend(keys):
        order = keys[0].argsort(kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
        coords, data = tuple(axis[order] for axis in coords), data[order]
        keys = [key[order] for key in keys]
    new = np.ones(len(data), dtype=bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    if new.all():
        return coords, data
    starts = np.flatnonzero(new)
    return tuple(axis[starts] for axis in coords), np.add.reduceat(data, starts, dtype=np.int64)


def _ascend(keys: list[Numbers]) -> bool:
    """Whether single keys are in order already; several are taken not to be."""
    return len(keys) == 1 and bool((keys[0][1:] >= keys[0][:-1]).all())
