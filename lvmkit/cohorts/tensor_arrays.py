"""A count tensor as arrays and JSON, and as a file of these: without pickle."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit._writing import replacing
from lvmkit.cohorts.tensors import CountTensor

__all__ = ["as_arrays", "read", "tensor_of", "write"]

FORMAT = "lvmkit-tensor-1"
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    NotImplementedError,
)


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


def read(path: Path) -> CountTensor:
    """Read a tensor from a file, as `CountTensor.load` says.

    Parameters
    ----------
    path : Path
        The file.

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
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                msg = "it is cut short or of another kind"
                raise ValueError(msg)
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                return tensor_of(stored)
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        msg = (
            f"{path.name} is not a complete file of a CountTensor ({error}); save the tensor again"
        )
        raise ValueError(msg) from error


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
        return {**arrays, "header": np.array(json.dumps(header))}
    except (TypeError, ValueError) as error:
        msg = f"about cannot be written as JSON: {error}; keep numbers, texts, lists and mappings in it"
        raise ValueError(msg) from error


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
    header = json.loads(str(arrays["header"][()]))
    if header.get("format") != FORMAT:
        msg = f"the arrays are of format {header.get('format')!r}; expected {FORMAT!r}."
        raise ValueError(msg)
    labels = []
    for mode, columns in enumerate(header["columns"]):
        values = {
            name: _values(arrays, kind, f"column{mode}_{number}")
            for number, (name, kind) in enumerate(columns)
        }
        names = pd.Index(arrays[f"names{mode}"].tolist(), dtype=object)
        labels.append(pd.DataFrame(values, index=names))
    cells = (arrays["counts"], tuple(arrays["places"]))
    counts = sparse.coo_array(cells, shape=tuple(header["shape"]))
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


def _values(arrays: Mapping[str, npt.NDArray[Any]], kind: str, name: str) -> Any:
    """Return a column's values from its arrays."""
    if kind == "number":
        return arrays[name]
    missing = arrays[f"{name}_missing"]
    texts = [
        None if gone else text for text, gone in zip(arrays[name].tolist(), missing, strict=True)
    ]
    return pd.Categorical(texts) if kind == "category" else np.array(texts, dtype=object)
