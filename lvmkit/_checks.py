"""What lvmkit says when its input is wrong."""

from collections.abc import Iterable
from math import inf
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from scipy import sparse


class DataWarning(UserWarning):
    """Data were repaired, left out or clipped; the message says what, how many and what to do."""


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Name at most `most` values, and how many more there are."""
    values = list(values)
    shown = ", ".join(repr(v.item() if isinstance(v, np.generic) else v) for v in values[:most])
    more = len(values) - most
    return f"{shown} and {more} more" if more > 0 else shown


def require_number(
    value: Any, name: str, *, least: float, whole: bool = False, above: bool = False
) -> None:
    """Refuse an option that is no number (or no whole one), or is smaller than allowed, or infinite."""
    kind = "a whole number" if whole else "a number"
    bound = f"greater than {least:g}" if above else f"at least {least:g}"
    fits = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not fits:
        msg = f"{name} must be {kind}, {bound}; found {value!r} ({type(value).__name__})"
        raise TypeError(msg)
    if not (least < value < inf if above else least <= value < inf):
        msg = f"{name} must be {kind}, {bound}; found {value!r}"
        raise ValueError(msg)


_INDEX_KINDS = "int32 or int64"
_REBUILD = "Build the matrix anew from its rows, columns and values (scipy.sparse.coo_array)"


def check_structure(X: Any, name: str = "X") -> None:
    """Refuse a sparse array whose indexes point outside it: compiled code would read and write other memory.

    One pass over the indexes, before anything else touches them: slicing, transposing or converting such an
    array may already end the process. Whatever is not sparse passes.
    """
    if not sparse.issparse(X):
        return
    shape = X.shape
    if not all(isinstance(size, Integral) and size >= 0 for size in shape):
        _broken(name, X, f"its shape is {shape}")
    checks = {
        "csr": _check_compressed,
        "csc": _check_compressed,
        "bsr": _check_compressed,
        "coo": _check_coordinates,
        "lil": _check_lists,
        "dok": _check_keys,
        "dia": _check_diagonals,
    }
    checks[X.format](X, name)


def _broken(name: str, X: Any, found: str) -> NoReturn:
    """Refuse a sparse array whose parts do not fit together."""
    size = " x ".join(map(str, X.shape))
    msg = f"{name} is a broken sparse {type(X).__name__} ({X.format}, {size}): {found}. {_REBUILD}"
    raise ValueError(msg)


def _check_indexes(name: str, X: Any, part: str, indexes: Any) -> None:
    """Refuse what is no one-dimensional array of signed integers."""
    if not isinstance(indexes, np.ndarray) or indexes.ndim != 1 or indexes.dtype.kind != "i":
        found = (
            f"shape {np.shape(indexes)}, dtype {getattr(indexes, 'dtype', type(indexes).__name__)}"
        )
        _broken(name, X, f"{part} must be one row of {_INDEX_KINDS}; found {found}")


def _check_range(name: str, X: Any, part: str, indexes: Any, size: int) -> None:
    """Refuse indexes below 0 or not below `size`, naming the first."""
    if not len(indexes) or (indexes.min() >= 0 and indexes.max() < size):
        return
    wrong = int(np.argmax((indexes < 0) | (indexes >= size)))
    _broken(name, X, f"{part}[{wrong}] is {indexes[wrong]}, and must be from 0 to {size - 1}")


def _check_compressed(X: Any, name: str) -> None:
    """Check indptr, indices and data of CSR, CSC and BSR."""
    indptr, indices, data = X.indptr, X.indices, X.data
    _check_indexes(name, X, "indptr", indptr)
    _check_indexes(name, X, "indices", indices)
    shape = X.shape if len(X.shape) == 2 else (1, *X.shape)
    major, minor = shape[::-1] if X.format == "csc" else shape
    if X.format == "bsr":
        if data.ndim != 3 or 0 in data.shape[1:]:
            _broken(name, X, f"data must be blocks (n, rows, columns); found shape {data.shape}")
        if major % data.shape[1] or minor % data.shape[2]:
            _broken(name, X, f"blocks of {data.shape[1]} x {data.shape[2]} do not fill it")
        major, minor = major // data.shape[1], minor // data.shape[2]
    elif data.ndim != 1:
        _broken(name, X, f"data must be one row of numbers; found shape {data.shape}")
    if len(indptr) != major + 1:
        _broken(name, X, f"indptr must have {major + 1} numbers; found {len(indptr)}")
    if indptr[0] != 0:
        _broken(name, X, f"indptr must begin with 0; found {indptr[0]}")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        at = int(np.argmax(falls)) + 1
        _broken(name, X, f"indptr falls from {indptr[at - 1]} to {indptr[at]} at {at}")
    if indptr[-1] > min(len(indices), len(data)):
        found = f"{len(indices)} indices and {len(data)} data"
        _broken(name, X, f"indptr speaks of {indptr[-1]} entries; there are {found}")
    _check_range(name, X, "indices", indices[: indptr[-1]], minor)


def _check_coordinates(X: Any, name: str) -> None:
    """Check coordinates and data of COO of any order."""
    coords, data = X.coords, X.data
    if len(coords) != len(X.shape):
        _broken(name, X, f"coords must have {len(X.shape)} parts; found {len(coords)}")
    for mode, (places, size) in enumerate(zip(coords, X.shape, strict=True)):
        part = f"coords[{mode}]"
        _check_indexes(name, X, part, places)
        if data.shape != places.shape:
            _broken(name, X, f"{part} has {len(places)} numbers, and data the shape {data.shape}")
        _check_range(name, X, part, places, size)


def _check_lists(X: Any, name: str) -> None:
    """Check rows and data of LIL: lists of columns, ascending, and of as many values."""
    rows, data = X.rows, X.data
    if rows.shape != data.shape or rows.shape != (X.shape[0],):
        _broken(name, X, f"rows and data have the shapes {rows.shape} and {data.shape}")
    for i, (columns, values) in enumerate(zip(rows, data, strict=True)):
        if not isinstance(columns, list) or not isinstance(values, list):
            _broken(name, X, f"row {i} is no list")
        if len(columns) != len(values):
            _broken(name, X, f"row {i} has {len(columns)} columns and {len(values)} values")
        if not all(isinstance(c, Integral) and 0 <= c < X.shape[1] for c in columns):
            _broken(name, X, f"row {i} has columns {columns}, not all from 0 to {X.shape[1] - 1}")


def _check_keys(X: Any, name: str) -> None:
    """Check the places of DOK."""
    for key in X.keys():  # noqa: SIM118 - a DOK array iterates over its rows
        place = key if isinstance(key, tuple) else (key,)
        fits = len(place) == len(X.shape) and all(
            isinstance(i, Integral) and 0 <= i < size
            for i, size in zip(place, X.shape, strict=True)
        )
        if not fits:
            _broken(name, X, f"it has an entry at {place}")


def _check_diagonals(X: Any, name: str) -> None:
    """Check offsets and data of DIA."""
    _check_indexes(name, X, "offsets", X.offsets)
    if X.data.ndim != 2 or len(X.data) != len(X.offsets):
        found = f"{len(X.offsets)} offsets and data of shape {X.data.shape}"
        _broken(name, X, f"there must be a row of data for each offset; found {found}")
    if len(np.unique(X.offsets)) != len(X.offsets):
        _broken(name, X, "an offset stands more than once")
