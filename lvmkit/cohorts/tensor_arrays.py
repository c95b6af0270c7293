"""A count tensor as arrays and JSON, and as a file of these: without pickle."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.cohorts.tensors import CountTensor
from lvmkit.core.npz import MAX_BYTES, complete, json_of, read_npz
from lvmkit.core.validation import listed
from lvmkit.core.writing import replacing

__all__ = ["as_arrays", "read", "tensor_of", "write"]

FORMAT = "lvmkit-tensor-1"
KIND = "file of a CountTensor"
_COLUMN = re.compile(r"(?:names\d+|column\d+_\d+(?:_missing)?)\Z")
_MAX_MODES = 30


def write(tensor: CountTensor, path: Path) -> Path:
    """Write a tensor to a file, as `CountTensor.save` says.

    Parameters
    ----------
    tensor : CountTensor
        The tensor.
    path : Path
        Where.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        If `about` cannot be written as JSON.
    """
    arrays: dict[str, Any] = as_arrays(tensor)
    with replacing(path, private=True) as file:
        np.savez_compressed(file, **arrays)
    return path


def read(path: Path, max_bytes: int = MAX_BYTES) -> CountTensor:
    """Read a tensor from a file, as `CountTensor.load` says.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int, default=2**30
        What the arrays may hold uncompressed.

    Returns
    -------
    CountTensor
        The tensor.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is truncated, or is no tensor of lvmkit.
    """
    arrays = read_npz(
        path,
        KIND,
        lambda key: key in ("counts", "places", "header") or bool(_COLUMN.match(key)),
        max_bytes,
    )
    with complete(path, KIND):
        return tensor_of(arrays)


def as_arrays(tensor: CountTensor) -> dict[str, npt.NDArray[Any]]:
    """Return the cells, the labels and, as the JSON text `header`, the rest of a tensor.

    Columns of labels keep numbers, booleans, texts and categories (in the order of their names); other columns
    become text.

    Parameters
    ----------
    tensor : CountTensor
        The tensor.

    Returns
    -------
    dict of str to array
        Arrays of numbers and of text, none of objects: what `np.savez_compressed` writes without pickle.

    Raises
    ------
    ValueError
        If `about` cannot be written as JSON.

    Examples
    --------
    >>> tensor = CountTensor(np.eye(2, dtype=int), ("patient", "code"), [["ann", "bob"], ["428", "250"]])
    >>> tensor_of(as_arrays(tensor))
    CountTensor of 2 patients × 2 codes, 2 non-zeros
    """
    arrays = {"counts": tensor.counts.data, "places": np.stack(tensor.counts.coords)}
    columns = []
    for mode, table in enumerate(tensor.labels):
        arrays[f"names{mode}"] = np.array(table.index, dtype=np.str_)
        kinds = [_kind(table[name]) for name in table]
        for number, (name, kind) in enumerate(zip(table, kinds, strict=True)):
            arrays |= _column(table[name], kind, f"column{mode}_{number}")
        columns.append([[str(name), kind] for name, kind in zip(table, kinds, strict=True)])
    header = {
        "format": FORMAT,
        "modes": tensor.modes,
        "shape": tensor.shape,
        "columns": columns,
        "source": tensor.source,
        "about": dict(tensor.about),
    }
    try:
        text = np.array(json.dumps(header))
        _require_header(json_of(text, finite=False))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"about cannot be written as JSON: {error}; keep numbers, texts, lists and mappings in it"
        raise ValueError(msg) from error
    return {**arrays, "header": text}


def tensor_of(arrays: Mapping[str, npt.NDArray[Any]]) -> CountTensor:
    """Make a tensor again from what `as_arrays` returned.

    Parameters
    ----------
    arrays : mapping of str to array
        As from `as_arrays`, such as an open file of numpy's.

    Returns
    -------
    CountTensor
        The tensor.

    Raises
    ------
    ValueError
        If the arrays are of another format, or contradict each other.
    KeyError
        If one of them is missing.
    """
    header = json_of(arrays["header"], finite=False)
    _require_header(header)
    shape = _checked_shape(header["shape"], arrays["counts"], arrays["places"])
    labels = []
    for mode, columns in enumerate(header["columns"]):
        names = pd.Index(_of_kind(arrays, f"names{mode}", "U", shape[mode]).tolist(), dtype=object)
        values = {
            name: _values(arrays, kind, f"column{mode}_{number}", len(names))
            for number, (name, kind) in enumerate(columns)
        }
        labels.append(pd.DataFrame(values, index=names))
    counts = sparse.coo_array((arrays["counts"], tuple(arrays["places"])), shape=shape)
    return CountTensor(
        counts, tuple(header["modes"]), tuple(labels), header["source"], header["about"]
    )


def _kind(values: "pd.Series[Any]") -> str:
    """Say how a column is kept: "number", "category" or "text"."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return "category"
    return (
        "number" if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf" else "text"
    )


def _column(values: "pd.Series[Any]", kind: str, name: str) -> dict[str, npt.NDArray[Any]]:
    """Return a column as an array, of text with another that tells what is missing."""
    if kind == "number":
        return {name: values.to_numpy()}
    missing = values.isna().to_numpy()
    texts = ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return {name: np.array(texts, dtype=np.str_), f"{name}_missing": missing}


def _values(arrays: Mapping[str, npt.NDArray[Any]], kind: str, name: str, n: int) -> Any:
    """Return the n values of a column from its arrays."""
    if kind == "number":
        return _of_kind(arrays, name, "biuf", n)
    missing = _of_kind(arrays, f"{name}_missing", "b", n)
    texts = [
        None if gone else text
        for text, gone in zip(_of_kind(arrays, name, "U", n).tolist(), missing, strict=True)
    ]
    return pd.Categorical(texts) if kind == "category" else np.array(texts, dtype=object)


def _of_kind(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, kinds: str, n: int
) -> npt.NDArray[Any]:
    """Return an array of n numbers, booleans or texts; refuse another."""
    values = arrays[name]
    if values.dtype.kind not in kinds or values.shape != (n,):
        msg = f"{name!r} has the type {values.dtype} and shape {values.shape}; expected ({n},)"
        raise ValueError(msg)
    return values


def _require_header(header: Any) -> None:
    """Refuse a header of another format, or with parts of other types."""
    found = header.get("format") if isinstance(header, dict) else None
    if found != FORMAT:
        msg = f"the arrays are of format {found!r}; expected {FORMAT!r}"
        raise ValueError(msg)
    modes, columns = header["modes"], header["columns"]
    if not isinstance(modes, list) or not isinstance(columns, list) or len(columns) != len(modes):
        msg = "its modes and columns are no lists of the same length"
        raise ValueError(msg)
    for table in columns:
        names = [name for name, _ in table]
        known = all(kind in ("number", "category", "text") for _, kind in table)
        if not known or not all(isinstance(name, str) for name in names):
            msg = "its columns are no pairs of a name and a kind"
            raise ValueError(msg)
        if len(set(names)) < len(names):
            msg = f"its columns {listed(names)} are not distinct"
            raise ValueError(msg)
    if not isinstance(header["source"], str) or not isinstance(header["about"], dict):
        msg = "its source is no text, or what it tells about itself no mapping"
        raise ValueError(msg)


def _checked_shape(
    sizes: Any, counts: npt.NDArray[Any], places: npt.NDArray[Any]
) -> tuple[int, ...]:
    """Return the shape (modes,) of a tensor whose counts (n,) and places (modes, n) lie within it."""
    if not isinstance(sizes, list) or not all(type(n) is int and 0 <= n < 2**31 for n in sizes):
        msg = f"its shape is {str(sizes)[:50]}"
        raise ValueError(msg)
    whole = all(part.dtype.kind == "i" and part.dtype.itemsize >= 4 for part in (counts, places))
    if not whole or counts.ndim != 1 or places.shape != (len(sizes), len(counts)):
        msg = (
            f"its counts {counts.shape} of {counts.dtype} and places {places.shape} of {places.dtype} do not belong "
            f"to {len(sizes)} modes"
        )
        raise ValueError(msg)
    if not 2 <= len(sizes) <= _MAX_MODES:
        msg = f"it has {len(sizes)} modes; from 2 to {_MAX_MODES} are read"
        raise ValueError(msg)
    for mode, size in enumerate(sizes):
        if len(counts) and not (places[mode].min() >= 0 and places[mode].max() < size):
            msg = f"a count stands outside mode {mode}, which has {size:,} indexes"
            raise ValueError(msg)
    return tuple(sizes)
