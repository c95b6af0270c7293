"""Count tensors: patients by codes of several modes, with names, and their files."""

import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts._cells import canonical, check_cells
from lvmkit.cohorts._cleaning_log import number_of
from lvmkit.cohorts._entries import INEXACT
from lvmkit.core.arguments import checked
from lvmkit.core.npz import MAX_BYTES, complete, json_of, read_npz
from lvmkit.core.validation import (
    DataWarning,
    as_finite,
    check_source,
    check_structure,
    listed,
    require_text,
)
from lvmkit.core.writing import replacing

__all__ = ["CountTensor"]

FORMAT = "lvmkit-tensor-1"
KIND = "file of a CountTensor"
_COLUMN = re.compile(r"(?:names\d+|column\d+_\d+(?:_missing)?)\Z")
_MAX_MODES = 30


@dataclass(frozen=True, eq=False, repr=False)
class CountTensor:
    """Counts of patients by diagnosis, medication, procedure and the like, with their names.

    The dense form is never made: memory grows with the cells that are not 0.

    Parameters
    ----------
    counts : coo_array of any order, sparse matrix or array
        Whole numbers of at least 0; the first axis is the patients. Cells given twice are summed, which
        is said as a `DataWarning`.
    modes : tuple of str
        Name of each axis, such as ("patient", "diagnosis", "procedure").
    labels : tuple of DataFrame
        For each axis a table of one row per index, whose index holds the ids or codes; of patients the columns
        are their attributes, of codes title, chapter and system, where known.
    source : str, default=""
        Where the counts come from.
    about : mapping, default={}
        What else ``uns["cohort"]`` tells of a cohort: options, repairs, n_input_rows, n_dropped.

    Attributes
    ----------
    counts : coo_array
        In the order of rows, without repeated cells and zeros; int32 where it holds them.
    shape : tuple of int
        Patients, then the size of each other mode.
    ndim : int
        Number of modes.
    nnz : int
        Number of cells that are not 0.
    obs : DataFrame
        Attributes of the patients: the first of `labels`.

    Raises
    ------
    ValueError
        If a count is negative, missing or no whole number (naming its cell), if modes or labels do not fit the
        shape, or if a name occurs twice.

    Notes
    -----
    Perros 2018, section 3.3: a cell counts the encounters of a patient at which two codes came
    together, such as a medication and the diagnosis that it was ordered for.

    Examples
    --------
    >>> counts = sparse.coo_array(([2, 1], ([0, 1], [0, 1], [1, 0])), shape=(2, 2, 2))
    >>> labels = [["ann", "bob"], ["428", "250"], ["3722", "8872"]]
    >>> CountTensor(counts, ("patient", "diagnosis", "procedure"), labels)
    CountTensor of 2 patients × 2 diagnoses × 2 procedures, 2 non-zeros
    """

    counts: sparse.coo_array
    modes: tuple[str, ...]
    labels: tuple[pd.DataFrame, ...]
    source: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the parts against each other and put the cells in order."""
        counts = _counts(check_structure(self.counts, "counts"))
        for name, given in {"modes": self.modes, "labels": self.labels}.items():
            if isinstance(given, str) or not isinstance(given, Iterable):
                msg = f"{name} must have one entry for each axis of counts; found {given!r} ({type(given).__name__})."
                raise TypeError(msg)
        require_text(self.source, "source")
        if not isinstance(self.about, Mapping):
            msg = f"about must be a mapping of texts to what they tell; found {type(self.about).__name__}."
            raise TypeError(msg)
        modes = tuple(self.modes)
        _check_modes(modes, counts.ndim)
        check_cells(counts)
        labels = tuple(map(_labeled, modes, self.labels))
        if len(labels) != len(modes):
            msg = f"labels has {number_of(len(labels), 'table')} for {len(modes)} modes; give one per mode."
            raise ValueError(msg)
        for name, table, size in zip(modes, labels, counts.shape, strict=True):
            if len(table) != size:
                msg = (
                    f"labels of {name!r} has {number_of(len(table), 'row')} for {size:,} of counts; "
                    "give each index of the axis one row."
                )
                raise ValueError(msg)
        ordered = canonical(counts)
        repeated = counts.nnz - ordered.nnz - int((counts.data == 0).sum())
        if repeated > 0:
            cells = number_of(repeated, "count")
            told = f"counts: {cells} given for a cell that has one already: they are summed."
            warnings.warn(told, DataWarning, stacklevel=3)
        for name, value in {"counts": ordered, "modes": modes, "labels": labels}.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Patients, then the size of each other mode."""
        return tuple(self.counts.shape)

    @property
    def ndim(self) -> int:
        """Number of modes."""
        return len(self.modes)

    @property
    def nnz(self) -> int:
        """Number of cells that are not 0."""
        return int(self.counts.nnz)

    @property
    def obs(self) -> pd.DataFrame:
        """Attributes of the patients."""
        return self.labels[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        sizes = " × ".join(map(_number_of_mode, self.shape, self.modes))
        return f"CountTensor of {sizes}, {number_of(self.nnz, 'non-zero')}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse to become dense, which numpy would try patient by patient."""
        msg = "a CountTensor is never made dense; take its counts, or a matrix by cohort()."
        raise TypeError(msg)

    def __getitem__(self, patients: Any) -> "CountTensor":
        """Return some patients, by mask, slice or index; every code stays."""
        rows = _chosen(patients, len(self))
        coords, data = self.counts.coords, self.counts.data
        starts = np.searchsorted(coords[0], np.arange(len(self) + 1))
        lengths = np.diff(starts)[rows]
        shifts = starts[rows] - np.concatenate([[0], lengths.cumsum()[:-1]])
        cells = np.repeat(shifts, lengths) + np.arange(lengths.sum())
        numbers = np.repeat(np.arange(len(rows), dtype=coords[0].dtype), lengths)
        where = (numbers, *(axis[cells] for axis in coords[1:]))
        counts = sparse.coo_array((data[cells], where), shape=(len(rows), *self.shape[1:]))
        labels = (self.labels[0].iloc[rows], *self.labels[1:])
        return CountTensor(counts, self.modes, labels, self.source, self.about)

    @checked()
    def cohort(self, mode: str | None = None) -> AnnData:
        """Return the patients by the codes of one mode, or of all modes side by side.

        Parameters
        ----------
        mode : str, optional
            The mode whose codes become features, counted over all other modes. All modes but the first
            if not given.

        Returns
        -------
        AnnData
            As from `from_events`: X (n, d) CSR float32; ``obs``, the patients' attributes; ``var`` with title,
            chapter, system, mode and n_records, named by the code, or "mode:code" if another mode has it too;
            ``uns["cohort"]``. Codes that no patient has are kept, so that the columns are those of the tensor.

        Raises
        ------
        ValueError
            If there is no such mode, or a sum is 2**24 or more and float32 might not hold it.

        Notes
        -----
        A sum over other modes counts pairs: a visit with one diagnosis and two procedures adds 2 to the diagnosis.

        Examples
        --------
        >>> counts = sparse.coo_array(([2, 1], ([0, 0], [0, 0], [1, 0])), shape=(1, 1, 2))
        >>> tensor = CountTensor(counts, ("patient", "drug", "site"), [["ann"], ["B01"], ["arm", "leg"]])
        >>> tensor.cohort().to_df()
             B01  arm  leg
        ann  3.0  1.0  2.0
        """
        if mode is not None and mode not in self.modes[1:]:
            msg = f"mode={mode!r}; expected {listed(self.modes[1:])}, or None for all of them."
            raise ValueError(msg)
        places = range(1, self.ndim) if mode is None else [self.modes.index(mode)]
        X = sparse.csr_array(sparse.hstack([self._summed(m) for m in places], format="csr"))
        if X.nnz and X.data.max() >= INEXACT:
            msg = f"a sum of counts is {X.data.max():,}; above {INEXACT:,} float32 may not hold it."
            raise ValueError(msg)
        var = pd.concat([self._features(m) for m in places])
        several = var.index.duplicated(keep=False)
        var.index = pd.Index(
            np.where(several, var["mode"] + ":" + var.index, var.index), dtype=object
        )
        about = {"source": self.source, "options": {}, "repairs": [], "n_dropped": {}, **self.about}
        var["n_records"] = X.count_nonzero(axis=0)
        return AnnData(X=X.astype(np.float32), obs=self.obs, var=var, uns={"cohort": about})

    @checked()
    def save(self, path: str | PathLike[str]) -> Path:
        """Write the tensor to a file that holds numbers and text only.

        The file (npz) holds the ids and attributes of the patients: it is as confidential as the data. It is written
        beside the target and moved there, so that a failure leaves the old file; only its owner can read it.

        Parameters
        ----------
        path : str or path
            Where; the name is used as it is.

        Returns
        -------
        Path
            The file written.

        Raises
        ------
        ValueError
            If `about` cannot be written as JSON.

        Examples
        --------
        >>> import tempfile
        >>> tensor = CountTensor(np.eye(2, dtype=int), ("patient", "code"), [["ann", "bob"], ["428", "250"]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     CountTensor.load(tensor.save(Path(folder) / "tensor.npz"))
        CountTensor of 2 patients × 2 codes, 2 non-zeros
        """
        arrays: dict[str, Any] = as_arrays(self)
        with replacing(Path(path), private=True) as file:
            np.savez_compressed(file, **arrays)
        return Path(path)

    @classmethod
    @checked()
    def load(cls, path: str | PathLike[str], *, max_bytes: int = MAX_BYTES) -> "CountTensor":
        """Read a tensor that `save` wrote; nothing in the file is executed.

        A file may come from anybody: its sizes are checked before anything is read, and its parts against each other.
        At most `max_bytes` of arrays are read (a text counts as 64 bytes or more), 10,000 arrays, 30 modes and 8
        million characters of `about`, nested 100 deep; reading takes some ten times the memory of the arrays.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default=2**30
            What the arrays may hold uncompressed.

        Returns
        -------
        CountTensor
            The tensor. Columns of labels are numbers, booleans, texts or categories; others, such as dates,
            have become text.

        Raises
        ------
        FileNotFoundError, IsADirectoryError, PermissionError, OSError
            If there is no such file, or it may not or cannot be read.
        ValueError
            If the file is truncated, is no tensor of lvmkit, its parts contradict each other, or they are larger
            than `max_bytes`.
        """
        arrays = read_npz(
            Path(path),
            KIND,
            lambda key: key in ("counts", "places", "header") or bool(_COLUMN.match(key)),
            max_bytes,
        )
        with complete(Path(path), KIND):
            return tensor_of(arrays)

    def _summed(self, place: int) -> sparse.csr_array:
        """Patients × one mode, summed over the others."""
        where = (self.counts.coords[0], self.counts.coords[place])
        shape = (len(self), self.shape[place])
        found = sparse.coo_array((self.counts.data.astype(np.int64), where), shape=shape).tocsr()
        found.sum_duplicates()
        return found

    def _features(self, place: int) -> pd.DataFrame:
        """Table of one mode's codes, with the columns that every cohort has."""
        table = self.labels[place]
        plain = {"title": table.index, "chapter": "", "system": "other"}
        columns = {name: table.get(name, value) for name, value in plain.items()}
        return pd.DataFrame({**columns, "mode": self.modes[place]}, index=table.index)


def _counts(counts: Any) -> sparse.coo_array:
    """Return the counts as a sparse array."""
    if not sparse.issparse(counts):
        counts = np.atleast_1d(check_source(counts, "counts"))
        if counts.dtype == object:
            counts = as_finite(counts, "counts")
    return sparse.coo_array(counts)


def _check_modes(modes: tuple[str, ...], ndim: int) -> None:
    """Refuse modes that do not fit the order of the counts, have no name or share one."""
    if ndim < 2:
        msg = f"counts has {number_of(ndim, 'axis', 'axes')}; expected patients and at least one other mode."
        raise ValueError(msg)
    if len(modes) != ndim or not all(isinstance(name, str) and name for name in modes):
        shown = tuple(m.item() if isinstance(m, np.generic) else m for m in modes)
        msg = f"modes={shown!r}; expected a name for each of the {ndim} axes of counts."
        raise ValueError(msg)
    if len(set(modes)) < ndim:
        msg = f"modes={modes!r} repeats a name; give each mode its own."
        raise ValueError(msg)


def _labeled(mode: str, table: pd.DataFrame | Sequence[str]) -> pd.DataFrame:
    """Return the table of a mode, indexed by text; refuse repeated names."""
    if not isinstance(table, Iterable):
        msg = (
            f"labels of {mode!r} must be a table or a list of names; found {type(table).__name__}."
        )
        raise TypeError(msg)
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(index=list(table))
    names = pd.Index([str(name) for name in frame.index], dtype=object)
    repeated = names[names.duplicated()].unique()
    if len(repeated):
        msg = (
            f"labels of {mode!r} repeats {listed(repeated.tolist())}; give each index its own name."
        )
        raise ValueError(msg)
    return frame.set_axis(names)


def _chosen(patients: Any, n: int) -> npt.NDArray[np.intp]:
    """Numbers of the patients that a mask, a slice or an index names; refuse one named twice."""
    if not isinstance(patients, slice):
        patients = np.atleast_1d(np.asarray(patients))
        if patients.ndim != 1 or (patients.dtype.kind not in "biu" and patients.size):
            msg = (
                "patients are chosen by a mask, a slice or an array of row numbers, on one axis; "
                "by id with the mask tensor.obs.index.isin([…])."
            )
            raise TypeError(msg)
        if patients.dtype.kind == "b" and len(patients) != n:
            msg = f"the mask has {len(patients):,} entries for {number_of(n, 'patient')}."
            raise IndexError(msg)
        if patients.dtype.kind not in "b":
            patients = patients.astype(np.intp)
    rows = np.arange(n)[patients]
    if len(np.unique(rows)) < len(rows):
        msg = "a patient is chosen twice; choose each once."
        raise ValueError(msg)
    return rows


def _number_of_mode(size: int, mode: str) -> str:
    """Write a size with its mode: "1 patient", "2,000 diagnoses"."""
    plural = (
        mode[:-2] + "es"
        if mode.endswith("sis")
        else mode[:-1] + "ies"
        if mode.endswith("ry")
        else ""
    )
    return number_of(size, mode, plural)


def as_arrays(tensor: CountTensor) -> dict[str, npt.NDArray[Any]]:
    """Return the cells, the labels and, as the JSON text `header`, the rest of a tensor: no objects."""
    # Columns of labels keep numbers, booleans, texts and categories (in the order of their names); other columns
    # become text.
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
    """Return the tensor of which `as_arrays` returned these arrays."""
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
    """Return a column as an array; of text, with a mask of missing entries."""
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
