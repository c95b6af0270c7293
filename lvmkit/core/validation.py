"""Input validation: numbers, options, matrices, tables, sparse structure; `DataWarning`."""

import copy
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from math import inf
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data


class DataWarning(UserWarning):
    """Data were repaired, left out or clipped; the message says what, how many and what to do."""


_OWN = f"{Path(__file__).parents[1]}{os.sep}"


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn of what users passed: at their line, however deep inside the package the cause was found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _python(value: Any) -> Any:
    """Return a numpy scalar as Python's own value, which is how it is told."""
    return value.item() if isinstance(value, np.generic) else value


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Name at most `most` values, and how many more there are."""
    values = list(values)
    shown = ", ".join(repr(_python(v)) for v in values[:most])
    more = len(values) - most
    return f"{shown} and {more} more" if more > 0 else shown


def require_number(
    value: Any, name: str, *, least: float, whole: bool = False, above: bool = False
) -> None:
    """Refuse an option that is no number (or no whole one), or is smaller than allowed, or infinite."""
    kind = "a whole number" if whole else "a number"
    value = _python(value)
    bound = (
        f"greater than {least:g}" if above else f"at least {least:g}" if least > -inf else "finite"
    )
    fits = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not fits:
        msg = f"{name} must be {kind}, {bound}; found {value!r} ({type(value).__name__})"
        raise TypeError(msg)
    if not (least < value < inf if above else least <= value < inf) or value == -inf:
        msg = f"{name} must be {kind}, {bound}; found {value!r}"
        raise ValueError(msg)


_INDEX_KINDS = "int32 or int64"
_REBUILD = "Build the matrix anew from its rows, columns and values (scipy.sparse.coo_array)"


def check_structure(X: Any, name: str = "X") -> Any:
    """Refuse a sparse array whose indexes point outside it: compiled code would read and write other memory."""
    # One pass over the indexes, before anything else touches them: slicing, transposing or converting such an array may
    # already end the process. Whatever is not sparse passes. Indexes that are unsigned, short, or of the other byte
    # order are converted in what is returned.
    if not sparse.issparse(X):
        return X
    X = _with_known_indexes(X)
    shape = X.shape
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in shape):
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
    return X


def _with_known_indexes(X: Any) -> Any:
    """Return a sparse array whose indexes are all int32 or all int64 if they are whole numbers; entries are shared."""
    held = vars(X)
    coords = held["coords"] if isinstance(held.get("coords"), tuple) else ()
    parts = [part for part in ("indptr", "indices", "offsets") if part in held]
    indexes = [*(held[part] for part in parts), *coords]
    known = [_known_indexes(values) for values in indexes]
    kinds = {values.dtype for values in known if isinstance(values, np.ndarray)}
    if kinds == {np.dtype(np.int32), np.dtype(np.int64)}:  # scipy converts no such mixture
        known = [values.astype(np.int64, copy=False) for values in known]
    if any(a is not b for a, b in zip(known, indexes, strict=True)):
        X = copy.copy(X)  # what the user holds is left as it is
        changed = dict(zip(parts, known, strict=False))
        if coords:
            changed["coords"] = tuple(known[len(parts) :])
        vars(X).update(changed)
    return X


def _known_indexes(indexes: Any) -> Any:
    """Return whole numbers as scipy takes them; anything else, and what int64 cannot hold, as it is."""
    if not isinstance(indexes, np.ndarray) or indexes.dtype.kind not in "iu":
        return indexes
    if indexes.dtype.itemsize < 4:
        return indexes.astype(np.int32)
    if indexes.dtype.kind == "i":
        native = indexes.dtype.newbyteorder("=")
        return indexes if indexes.dtype.isnative else indexes.astype(native)
    largest = int(indexes.max(initial=0))
    if largest >= 2**63:
        return indexes
    return indexes.astype(np.int32 if largest < 2**31 else np.int64)


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
    # Read without their sign, negative ones are the largest: one pass instead of two.
    if not len(indexes) or indexes.view(f"u{indexes.dtype.itemsize}").max() < size:
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
        if not all(isinstance(c, int | np.integer) and 0 <= c < X.shape[1] for c in columns):
            _broken(name, X, f"row {i} has columns {columns}, not all from 0 to {X.shape[1] - 1}")


def _check_keys(X: Any, name: str) -> None:
    """Check the places of DOK."""
    for key in X.keys():  # noqa: SIM118 - a DOK array iterates over its rows
        place = key if isinstance(key, tuple) else (key,)
        fits = len(place) == len(X.shape) and all(
            isinstance(i, int | np.integer) and 0 <= i < size
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


_CONVERT = "Convert or leave out what is no number"


def check_source(X: Any, name: str = "X", remedy: str = "") -> Any:
    """Return what may be read as numbers, its indexes, mask and types sound; refuse anything else."""
    # Entries are not looked at, but for objects: see `check_matrix`.
    if sparse.issparse(X):
        return check_structure(X, name)
    if isinstance(X, pd.DataFrame):
        _check_columns(X, name)
        return X
    X = unmasked(X, name, remedy)
    if isinstance(X, (list, tuple)):
        X = _stacked(X, name)
    elif isinstance(X, (np.matrix, Real)):
        X = np.asarray(X)
    elif not hasattr(X, "__array__") and not hasattr(X, "__dataframe__"):
        msg = (
            f"{name} must be numbers, rows by columns (an array, a sparse array or a DataFrame); found "
            f"{type(X).__name__}"
        )
        raise ValueError(msg)
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in _NO_NUMBERS:
        shown = f", first {X.flat[0]!s:.40}" if isinstance(X, np.ndarray) and X.size else ""
        msg = f"{name} must hold numbers; found {_NO_NUMBERS[kind]} ({X.dtype}){shown}. {_CONVERT}"
        raise ValueError(msg)
    if kind == "O" and isinstance(X, np.ndarray):
        _check_objects(X, name)
    return X


_NO_NUMBERS = {
    "U": "text",
    "S": "text",
    "T": "text",
    "M": "dates",
    "m": "durations",
    "V": "records",
}


def unmasked(X: Any, name: str, remedy: str = "") -> Any:
    """Return a masked array as a plain one; refuse a mask that hides entries, which would be read as numbers."""
    if isinstance(X, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.stack(X)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    hidden = np.ma.getmaskarray(X)
    if hidden.dtype.names is not None or not hidden.any():
        return np.asarray(X.data)
    n = int(hidden.sum())
    msg = (
        f"{name} is a masked array, and hides {n:,} of its entries, first {place_of(np.argwhere(hidden)[0])}: there is "
        f"no value to use there. Fill them ({name}.filled(0), if absent is meant), or leave these rows out{remedy}"
    )
    raise ValueError(msg)


def _stacked(X: Any, name: str) -> Any:
    """Return rows of a list as an array; refuse rows of different lengths."""
    try:
        return np.asarray(X)
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
        odd = next((i for i, n in enumerate(lengths) if n != lengths[0]), None)
        where = f": row 0 has {lengths[0]}, row {odd} has {lengths[odd]}" if odd else ""
        msg = f"{name} is ragged (inhomogeneous): its rows must have equally many numbers{where}"
        raise ValueError(msg) from None


def _check_objects(X: Any, name: str, rows: Any = None, columns: Any = None) -> None:
    """Refuse text among objects, where numpy would read what looks like a number."""
    if pd.api.types.infer_dtype(X.ravel(), skipna=True) in _OBJECTS_OF_NUMBERS:
        return
    for at, value in enumerate(X.flat):
        if isinstance(value, (str, bytes)):
            where = place_of(np.unravel_index(at, X.shape), rows, columns)
            msg = f"{name} must hold numbers; found the text {value!r:.60} {where}. {_CONVERT}"
            raise ValueError(msg)


_OBJECTS_OF_NUMBERS = {
    "integer",
    "floating",
    "mixed-integer-float",
    "boolean",
    "decimal",
    "complex",
    "empty",  # None, or nothing at all
}


def _check_columns(X: pd.DataFrame, name: str) -> None:
    """Refuse columns of a DataFrame that hold no numbers, naming the first."""
    if X.columns.nlevels > 1:
        msg = (
            f"{name} has columns of {X.columns.nlevels} levels; give each one name, for example "
            f"{name}.columns = ['_'.join(map(str, c)) for c in {name}.columns]"
        )
        raise ValueError(msg)
    for place, dtype in enumerate(X.dtypes):
        inner = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        inner = getattr(inner, "subtype", inner)
        is_text = isinstance(inner, pd.StringDtype)
        if is_text or (isinstance(inner, np.dtype) and inner.kind == "O"):
            values = X.iloc[:, [place]].to_numpy(dtype=object)
            _check_objects(values, name, X.index, [X.columns[place]])
        elif getattr(inner, "kind", "O") not in "biufc":
            msg = f"column {X.columns[place]!r} of {name} must hold numbers; its type is {dtype}. {_CONVERT}"
            raise ValueError(msg)


def place_of(at: Any, rows: Any = None, columns: Any = None) -> str:
    """Say where an entry stands: by name where there are names, else counted from 0."""
    if len(at) != 2:
        return f"at [{', '.join(str(int(i)) for i in at)}]"
    shown = []
    for index, names in zip(at, (rows, columns), strict=True):
        named = names is not None and not isinstance(names, pd.RangeIndex)
        label = names[int(index)] if named else int(index)
        shown.append(repr(_python(label)))
    return f"in row {shown[0]}, column {shown[1]}"


def check_matrix(
    X: Any,
    name: str = "X",
    *,
    model: Any = None,
    reset: bool = True,
    rows: Any = None,
    columns: Any = None,
    remedy: str = "",
    accept_sparse: Any = "csr",
    dtype: Any = "numeric",
    allow_nd: bool = False,
    allow_nan: bool = False,
    least_rows: int = 1,
    sound: bool = False,
) -> Any:
    """Return finite numbers, rows by columns, or say which entry stands where, and what to do."""
    # scikit-learn looks at the entries; what it refuses is looked at again, to name the place. `rows` and `columns` are
    # names. Given a model, the number of features is kept (`reset`) or compared. What has passed `check_source` is
    # `sound`.
    X = widened(X if sound else check_source(X, name, remedy))
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        msg = f"{name} must have columns of different names; {twice!r} stands more than once"
        raise ValueError(msg)
    refuse_shape(X, name, allow_nd=allow_nd, least_rows=least_rows)
    options = {
        "accept_sparse": accept_sparse,
        "dtype": dtype,
        "allow_nd": allow_nd,
        "ensure_all_finite": "allow-nan" if allow_nan else True,
        "ensure_min_samples": least_rows,
    }
    try:
        if model is not None:
            return validate_data(model, X, reset=reset, **options)
        return check_array(X, input_name=name, **options)
    except (TypeError, ValueError, OverflowError) as error:
        if sparse.issparse(X) and not accept_sparse:
            raise
        refuse_entries(X, name, rows, columns, remedy, error, allow_nan=allow_nan)
        raise


def widened(X: Any) -> Any:
    """Return numbers of types that scipy has, and that add up exactly where a sparse entry stands more than once."""
    # scipy adds up in the type given: 200 and 100 make 44 in uint8.
    if isinstance(X, np.ndarray) and not X.dtype.isnative:
        return X.astype(X.dtype.newbyteorder("="))  # scipy has none of the other byte order
    if isinstance(X, np.ndarray) and X.dtype == np.float16:
        return X.astype(np.float32)  # scipy has no sparse arrays of half precision
    if not sparse.issparse(X) or X.dtype.kind not in "biu" or X.format in ("dok", "lil"):
        return X
    # Copied before the type changes: astype adds up first, in the narrow type and in the user's memory.
    wide = X.copy()
    wide.data = X.data.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)
    return wide


def refuse_shape(X: Any, name: str, *, allow_nd: bool = False, least_rows: int = 1) -> None:
    """Refuse what is no matrix, or has too few rows or no columns."""
    shape = np.asarray(X).shape if not hasattr(X, "shape") else tuple(X.shape)
    if len(shape) < 2:
        msg = (
            f"{name} has {len(shape)} dimension(s), shape {shape}; expected a 2D array, rows by columns. "
            f"Reshape your data: {name}.reshape(1, -1) makes a row of it, {name}.reshape(-1, 1) a column"
        )
        raise ValueError(msg)
    if len(shape) > 2 and not allow_nd:
        msg = f"{name} has {len(shape)} dimensions, shape {shape}; expected 2, rows by columns"
        raise ValueError(msg)
    for size, what, least in ((shape[0], "sample", least_rows), (min(shape[1:]), "feature", 1)):
        if size < least:
            kind = "rows" if what == "sample" else "columns"
            msg = (
                f"{name} has {size} {what}(s) (shape={shape}) while a minimum of {least} is required. "
                f"See where its {kind} were lost"
            )
            raise ValueError(msg)


def refuse_entries(
    X: Any,
    name: str,
    rows: Any = None,
    columns: Any = None,
    remedy: str = "",
    error: Exception | None = None,
    *,
    allow_nan: bool = False,
) -> None:
    """Refuse the first entry that is no finite number, saying where it stands."""
    if isinstance(X, pd.DataFrame):
        rows, columns = X.index if rows is None else rows, X.columns if columns is None else columns
    if sparse.issparse(X):
        coo = sparse.coo_array(X)
        values, places = coo.data, np.column_stack(coo.coords)
    else:
        values, places = _plain(X, name, rows, columns, error), None
    _refuse_complex(values, name)
    if values.dtype.kind != "f":
        return
    wrong = np.flatnonzero((np.isinf(values) if allow_nan else ~np.isfinite(values)).ravel())
    if not len(wrong):
        return
    at = places[wrong[0]] if places is not None else np.unravel_index(wrong[0], values.shape)
    value = values.ravel()[wrong[0]]
    what = "NaN (no value)" if np.isnan(value) else f"infinity ({value})"
    more = f", {len(wrong):,} such entries in all (NaN or infinite)" if len(wrong) > 1 else ""
    msg = (
        f"{name} holds {what} {place_of(at, rows, columns)}{more}. Fill them, or leave these rows or columns out"
        f"{remedy}"
    )
    raise ValueError(msg)


def _refuse_complex(values: Any, name: str) -> None:
    """Refuse complex numbers."""
    if values.dtype.kind == "c":
        msg = f"Complex data not supported: {name} holds {values.dtype}. Pass real numbers"
        raise ValueError(msg)


def _plain(X: Any, name: str, rows: Any, columns: Any, error: Exception | None) -> Any:
    """Return dense numbers as an array, None as NaN; refuse the first object that is no number."""
    values = X.to_numpy(dtype=object) if isinstance(X, pd.DataFrame) else np.asarray(X)
    if values.dtype.kind != "O":
        return values
    found = np.empty(values.shape)
    kind = pd.api.types.infer_dtype(values.ravel(), skipna=True)
    if kind in _OBJECTS_OF_NUMBERS - {"complex"}:
        with suppress(TypeError, ValueError, OverflowError):  # told below, with the place
            found[...] = np.where(pd.isna(values), np.nan, values)
            return found
    for at, value in enumerate(values.flat):
        try:
            found.flat[at] = np.nan if value is None or value is pd.NA else value
        except (TypeError, ValueError, OverflowError):
            where = place_of(np.unravel_index(at, values.shape), rows, columns)
            if isinstance(value, complex):
                msg = f"Complex data not supported: {name} holds {value!r} {where}"
                raise ValueError(msg) from None
            msg = (
                f"{name} holds {value!r:.60} ({type(value).__name__}) {where}; an argument must be of numbers, without "
                f"a string or anything else that is no number. {_CONVERT}"
            )
            raise (TypeError if isinstance(error, TypeError) else ValueError)(msg) from None
    return found


def with_gaps(X: Any, name: str = "X", *, rows: Any = None, columns: Any = None) -> Any:
    """Return a dense array (n, d) of float64 in which NaN marks what is missing."""
    X = X.toarray() if sparse.issparse(X) else X
    values = _plain(X, name, rows, columns, None)
    _refuse_complex(values, name)
    return values.astype(np.float64)


def require_range(
    X: Any,
    most: float,
    why: str,
    names: tuple[Any, Any] = (None, None),
    *,
    least: float = 0.0,
    name: str = "X",
) -> None:
    """Refuse numbers above `most` in size, where sums or squares fail, and all below `least`, where they vanish."""
    values = X.data if sparse.issparse(X) else X
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if least <= largest <= most or not largest:
        return
    if largest < least:
        msg = f"no entry of {name} is above {largest:g} in size, and {least:g} is needed: {why}"
        raise ValueError(msg)
    wrong = np.abs(values) > most
    at = np.argwhere(wrong)[0]
    if sparse.issparse(X):
        at = tuple(part[at[0]] for part in sparse.coo_array(X).coords)
    n = int(wrong.sum())
    more = f" and {n - 1:,} more" if n > 1 else ""
    found = values[wrong].ravel()[0]
    msg = f"{name} holds {found:g} {place_of(at, *names)}{more}, above {most:g} in size: {why}"
    raise ValueError(msg)


def summable(X: Any, *, least_rows: int = 0) -> Any:
    """Return rows of which moments can be summed: finite, and of a size whose cubes are."""
    if sparse.issparse(X) and X.format == "csr" and X.dtype.kind == "f":
        X = check_structure(X)
        # One product instead of several passes: models sum the rows that they have checked before.
        with np.errstate(all="ignore"):
            if len(X.shape) == 2 and X.shape[0] >= least_rows and X.data @ X.data < 1e180:
                return X
    X = check_matrix(X, least_rows=least_rows)
    require_range(X, 1e90, "sums of products of three leave the range of double precision")
    return X


def check_classes(y: Any, n: int, model: Any = None) -> Any:
    """Return the class of each of n samples; refuse missing ones, and text among numbers."""
    if y is None:
        who = type(model).__name__ if model is not None else "This"
        msg = f"{who} requires y to be passed, but the target y is None: give the class of each sample"
        raise ValueError(msg)
    if isinstance(y, np.ma.MaskedArray):
        y = unmasked(y, "y")
    values = _classes_of(y)
    if values.dtype.kind in "cMm":
        kind = "complex numbers" if values.dtype.kind == "c" else "dates or durations"
        msg = f"y must hold a class for each sample, as whole numbers or text; found {kind} ({values.dtype})"
        raise ValueError(msg)
    values = column_or_1d(values, warn=True)
    missing = np.asarray(pd.isna(values))
    if values.dtype.kind == "f":
        missing |= np.isinf(values)
    missing = np.flatnonzero(missing)
    if len(missing):
        at, more = missing[0], f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        msg = (
            f"y holds no class ({values[at]}) at {at}{more}: leave these samples out, or give them a "
            "class of their own"
        )
        raise ValueError(msg)
    if values.dtype.kind == "O":
        kinds = sorted({"text" if isinstance(v, str) else type(v).__name__ for v in values})
        if len(kinds) > 1 and "text" in kinds:
            msg = f"y mixes {listed(kinds)}: write all classes as text, or all as numbers"
            raise ValueError(msg)
    if len(values) != n:
        msg = f"y has {len(values):,} classes for {n:,} samples of X (inconsistent numbers of samples)"
        raise ValueError(msg)
    check_classification_targets(values)
    return values


def _classes_of(y: Any) -> Any:
    """Return classes as an array, without making text of numbers that stand beside text."""
    if sparse.issparse(y):
        msg = "y is sparse; pass the class of each sample as an array or list"
        raise ValueError(msg)
    if isinstance(y, (list, tuple)):
        values = np.empty(len(y), dtype=object)
        values[:] = y
        return np.asarray(y) if len({isinstance(v, str) for v in y}) == 1 else values
    return np.asarray(y)


def as_numbers(values: Any, name: str) -> Any:
    """Return numbers of any shape as float64; refuse masks, text, dates, complex numbers and other objects."""
    if sparse.issparse(values):
        msg = f"{name} must be an array or list of numbers; found a sparse {type(values).__name__}. Pass its toarray()"
        raise ValueError(msg)
    plain = _plain(check_source(values, name), name, None, None, None)
    _refuse_complex(plain, name)
    return plain.astype(np.float64, copy=False)


def finite_array(values: Any, name: str, shape: tuple[int | None, ...], *, like: str = "") -> Any:
    """Return finite numbers as float64 of a shape, that of `like`, where None is any length from 1 on."""
    numbers = as_numbers(values, name)
    fits = numbers.ndim == len(shape) and all(
        size >= 1 if wanted is None else size == wanted
        for size, wanted in zip(numbers.shape, shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("1 or more" if size is None else str(size) for size in shape)
        wanted += f" as {like} asks for" if like else ""
        msg = f"{name} must be an array of {len(shape)} dimension(s), {wanted}; found shape {numbers.shape}"
        raise ValueError(msg)
    if not np.isfinite(numbers).all():
        refuse_entries(numbers, name)
    return numbers


def as_finite(values: Any, name: str, n_axes: int | None = None) -> Any:
    """Return finite numbers as float64, of so many axes if that is said; refuse anything else."""
    numbers = as_numbers(values, name)
    if n_axes is not None and numbers.ndim != n_axes:
        msg = f"{name} must have {n_axes} axes; found shape {numbers.shape}"
        raise ValueError(msg)
    refuse_entries(numbers, name)
    return numbers


def whole_numbers(values: Any, name: str) -> Any:
    """Return whole numbers (n,) as int64; refuse anything else."""
    numbers = as_finite(values, name, 1)
    if not (numbers == np.round(numbers)).all() or (np.abs(numbers) > 2**53).any():
        wrong = numbers[(numbers != np.round(numbers)) | (np.abs(numbers) > 2**53)]
        msg = f"{name} must be whole numbers; found {listed(wrong)}"
        raise ValueError(msg)
    return numbers.astype(np.int64)


class _Cells(NamedTuple):
    """What pandas finds in a column of a kind, the type it is brought to, and what else must be true."""

    found: set[str]
    dtype: Any = None
    rule: Callable[[Any], Any] | None = None


def _are_whole(cells: Any) -> bool:
    """Return whether all cells (n,) are whole numbers, also if held as floats."""
    values = cells.astype(float)
    return bool((np.isfinite(values) & (np.floor(values) == values)).all())


_WHOLE = {"integer", "floating"}
_NUMBERS = {"integer", "floating", "mixed-integer-float", "empty"}
_CELLS = {
    "text": _Cells({"string"}),
    "whole numbers": _Cells(_WHOLE, int, _are_whole),
    "numbers": _Cells(_NUMBERS, float),
    "numbers, none of them infinite": _Cells(
        _NUMBERS, float, lambda cells: np.isfinite(cells.astype(float)).all()
    ),
    "True or False": _Cells({"boolean"}, bool),
    "whole numbers or nothing": _Cells({*_WHOLE, "empty"}, rule=_are_whole),
}


def require_columns(
    table: pd.DataFrame,
    name: str = "table",
    *,
    text: str = "",
    whole: str = "",
    numbers: str = "",
    finite: str = "",
    flags: str = "",
    gaps: str = "",
    rows: int = 0,
    choices: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return a table whose columns named hold what they should; numbers and `gaps` (whole numbers) may be missing."""
    # `choices` names the values that a column may hold.
    kinds = zip(_CELLS, (text, whole, numbers, finite, flags, gaps), strict=True)
    columns = {column: kind for kind, names in kinds for column in names.split()}
    missing = [column for column in columns if column not in table]
    if missing:
        msg = f"{name} must have the columns {listed(columns, 20)}; there is no {listed(missing)}"
        raise ValueError(msg)
    if len(table) < rows:
        msg = f"{name} must have {rows} row(s) or more; found {len(table)}"
        raise ValueError(msg)
    changed: dict[str, Any] = {}
    for column, kind in columns.items():
        cells = table[column].to_numpy()
        if len(cells) and not _holds(cells, _CELLS[kind]):
            row = next((i for i in range(len(cells)) if not _holds(cells[[i]], _CELLS[kind])), 0)
            found = f"{_python(cells[row])!r:.60} in row {listed(table.index[[row]])}"
            msg = f"column {column!r} of {name} must hold {kind}; found {found}"
            raise ValueError(msg)
        dtype = _CELLS[kind].dtype
        plain = isinstance(table[column].dtype, np.dtype) and cells.dtype != object
        if dtype is not None and not (plain and (dtype is not int or cells.dtype.kind in "iu")):
            changed[column] = np.where(pd.isna(cells), np.nan, cells).astype(dtype)
    for column, allowed in choices.items():
        for value in table[column].unique():
            require_one_of(value, f"{column} of {name}", allowed)
    return table.assign(**changed) if changed else table


def _holds(cells: Any, kind: _Cells) -> bool:
    """Return whether all cells (n,) are of a kind."""
    known = cells[~pd.isna(cells)] if "empty" in kind.found else cells
    found = pd.api.types.infer_dtype(known, skipna=False)
    return found in kind.found and (kind.rule is None or bool(kind.rule(known)))


def require_parts(value: Any, name: str, maker: str, parts: str) -> None:
    """Refuse what lacks the attributes of what a function returns."""
    if not all(hasattr(value, part) for part in parts.split()):
        msg = f"{name} must be what {maker} returns; found {type(value).__name__}"
        raise TypeError(msg)


def require_flag(value: Any, name: str) -> None:
    """Refuse an option that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name} is True or False; found {value!r} ({type(value).__name__})"
        raise TypeError(msg)


def require_text(value: Any, name: str, *, optional: bool = False) -> None:
    """Refuse an option that is no text."""
    if not isinstance(value, str) and not (optional and value is None):
        expected = "a text (str) or None" if optional else "a text (str)"
        msg = f"{name} must be {expected}; found {_python(value)!r:.60} ({type(value).__name__})"
        raise TypeError(msg)


def parts_of(values: Any, name: str, of: str) -> list[Any]:
    """Return the items of any iterable in order; refuse text, mappings and sets."""
    no_list = isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable)
    if no_list or getattr(values, "shape", None) == ():
        msg = f"{name} must be a list of {of}, one for each mode; found {type(values).__name__}"
        raise TypeError(msg)
    return list(values)


def require_seed(value: Any, name: str = "random_state") -> None:
    """Refuse an option that no random numbers can be drawn from."""
    if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
        return
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        msg = (
            f"{name} is a whole number of at least 0, a Generator or RandomState of numpy, or None; found {value!r} "
            f"({type(value).__name__})"
        )
        raise TypeError(msg)
    require_number(value, name, least=0, whole=True)


def require_one_of(value: Any, name: str, known: Iterable[Any]) -> None:
    """Refuse a name that is not known."""
    known = list(known)
    if not isinstance(value, str) or value not in known:
        msg = f"{name}={value!r} is not known; expected one of {listed(known, 12)}"
        raise ValueError(msg)


def sample_weights(sample_weight: Any, n: int, X: Any = None) -> Any:
    """Return weights of rows in double precision, (n,), or None; the name of a column of AnnData's obs is one, too."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str):
        obs = getattr(X, "obs", None)
        if obs is None or sample_weight not in obs:
            known = "" if obs is None else f"; its obs has {listed(obs.columns)}"
            msg = (
                f"sample_weight={sample_weight!r} names a column of obs, and X ({type(X).__name__}) has none of that "
                f"name{known}. Pass an array of {n:,} weights"
            )
            raise ValueError(msg)
        sample_weight = obs[sample_weight]
    weights = as_numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        msg = f"sample_weight has the shape {weights.shape}; X has {n:,} rows, and needs one weight for each"
        raise ValueError(msg)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        msg = (
            f"sample_weight must be finite and at least 0; found {weights[row]:g} for row {row}, and "
            f"{int(wrong.sum()):,} such in all"
        )
        raise ValueError(msg)
    if not weights.any():
        msg = "every sample_weight is zero: no row would count"
        raise ValueError(msg)
    return weights
