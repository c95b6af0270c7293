"""Input validation of counts of any order: entries, names of modes, labels."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.parallel import row_blocks
from lvmkit.core.validation import (
    DataWarning,
    as_numbers,
    check_matrix,
    check_source,
    check_structure,
    listed,
    refuse_shape,
)
from lvmkit.sustain.unfolding import Unfolded

Labels = list[Any]
WHOLE = 2**53
"""Whole numbers below it are exact in double precision."""


@dataclass(frozen=True)
class Named:
    """Counts as scipy or numpy hold them, and the names of their modes and of what stands along each."""

    counts: Any  # The counts
    modes: list[str]  # Names of the modes
    # For each mode (size,) of str, or None; always None for the first, whose indexes are samples
    labels: Labels


def split_names(X: Any) -> Named | None:
    """Split a labelled tensor into counts and names; None for a matrix, which scikit-learn's rules hold for."""
    # A DataFrame has its columns as attributes, whatever they are called.
    if all(hasattr(X, name) for name in ("counts", "modes", "labels")) and not hasattr(
        X, "columns"
    ):
        counts = check_structure(X.counts, "X.counts")
        labels = [None, *(np.asarray(table.index, dtype=object) for table in X.labels[1:])]
        return Named(counts, list(X.modes), labels)
    if hasattr(X, "obs"):  # an AnnData, which numpy would take apart row by row
        return None
    X = check_source(X)
    order = len(X.shape) if hasattr(X, "shape") else np.asarray(X).ndim
    if order <= 2:
        return None
    refuse_shape(X, "X", allow_nd=True)
    counts = X if sparse.issparse(X) else np.asarray(X)
    if counts.dtype == object and not sparse.issparse(X):
        counts = as_numbers(counts, "X")
    return Named(counts, [f"mode {n}" for n in range(order)], [None] * order)


def matrix_of(X: Any) -> Any:
    """Return the counts of a matrix, checked, without its names."""
    matrix, names = features.unwrapped(X)
    labels = (features.row_names(X), names)
    return check_matrix(
        matrix, rows=labels[0], columns=labels[1], accept_sparse=["csr", "csc", "coo"], sound=True
    )


def align_labels(tensor: Named, modes: Sequence[str], labels: Labels, shape: Sequence[int]) -> Any:
    """Put the entries of a tensor where a model that was fitted with other labels expects them."""
    counts = tensor.counts
    if counts.ndim != len(shape):
        msg = f"X has {counts.ndim} modes; the model was fitted with {len(shape)} ({', '.join(modes)})"
        raise ValueError(msg)
    for mode in range(1, len(shape)):
        own, wanted = tensor.labels[mode], labels[mode]
        if own is not None and wanted is not None:
            if not np.array_equal(own, wanted):
                counts = _relabelled(counts, mode, own, wanted, modes[mode])
        elif counts.shape[mode] != shape[mode]:
            msg = (
                f"mode {mode} ({modes[mode]}) of X has size {counts.shape[mode]}; the model was fitted with "
                f"{shape[mode]}"
            )
            raise ValueError(msg)
    return counts


def _relabelled(counts: Any, mode: int, own: Any, wanted: Any, name: str) -> Any:
    """Move entries to the places of their labels in the model; leave out those of unknown labels, and say so."""
    place = {label: i for i, label in enumerate(wanted)}
    target = np.array([place.get(label, -1) for label in own])
    if (target < 0).all():
        msg = (
            f"none of the {len(own)} labels of mode {mode} ({name}) of X ({listed(own)}) is known to the model, which "
            f"was fitted with {listed(wanted)}. Check that both use the same codes and level of detail."
        )
        raise ValueError(msg)
    if (target < 0).any():
        msg = (
            f"{(target < 0).sum()} of {len(own)} labels of mode {mode} ({name}) are unknown to the model and were "
            f"ignored: {listed(np.asarray(own)[target < 0])}"
        )
        warnings.warn(msg, DataWarning, stacklevel=6)
    tensor = sparse.coo_array(counts)
    moved = target[tensor.coords[mode]]
    kept = moved >= 0
    coords = tuple(moved[kept] if n == mode else c[kept] for n, c in enumerate(tensor.coords))
    shape = tuple(len(wanted) if n == mode else size for n, size in enumerate(tensor.shape))
    return sparse.coo_array((tensor.data[kept], coords), shape=shape)


def mode_names(order: int) -> list[str]:
    """Name modes that have no names."""
    return ["rows", "features"] if order == 2 else [f"mode {n}" for n in range(order)]


def round_counts(counts: Any) -> Any:
    """Round entries to whole counts."""
    if counts.dtype.kind != "f":
        return counts
    if not sparse.issparse(counts):
        return np.rint(counts)
    counts = counts.copy()
    counts.data = np.rint(counts.data)
    return counts


def require_finite(X: Any) -> None:
    """Refuse what is no number, or missing."""
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "biuf":
        msg = f"X must hold counts (numbers); its dtype is {values.dtype}"
        raise ValueError(msg)
    if not all(np.isfinite(piece).all() for piece in _pieces(values)):
        msg = f"X has NaN or infinite entries: {_entries(X, ~np.isfinite(values))}. Fill or remove them."
        raise ValueError(msg)


def require_counts(X: Any, *, signed: bool) -> None:
    """Refuse entries that are not finite, not whole, or negative where that was not asked for."""
    require_finite(X)
    values = X.data if sparse.issparse(X) else np.asarray(X)
    _require_exact(X, values)
    if values.dtype.kind in "bu":
        return
    pieces = list(_pieces(values))
    if all((piece >= 0).all() and (piece == np.rint(piece)).all() for piece in pieces):
        return
    for wrong, trouble, todo in (
        (values != np.rint(values), "Fractions", "Pass counts, or round_counts=True"),
        (values < 0, "Negative values", "Remove them, or allow negative scores by min_score=-5"),
    ):
        if wrong.any() and not (signed and trouble.startswith("Negative")):
            what = f"{trouble} in data passed to SUSTain, which needs counts, whole numbers"
            msg = f"{what}: {_entries(X, wrong)}. {todo}."
            raise ValueError(msg)


def _require_exact(X: Any, values: Any) -> None:
    """Refuse counts whose sum double precision would round, naming the largest."""
    total = sum(float(np.abs(piece.astype(np.float64)).sum()) for piece in _pieces(values))
    if total < WHOLE:
        return
    largest = np.abs(values.astype(np.float64)).max()
    wrong = np.abs(values.astype(np.float64)) == largest
    msg = (
        f"the counts of X add up to {total:.3g}, and sums are exact below {WHOLE:,}; the largest: "
        f"{_entries(X, wrong)}. "
        "Count in larger units, or see whether they are counts"
    )
    raise ValueError(msg)


def _pieces(values: Any) -> Iterator[Any]:
    """Yield entries a million at a time: what checks make of all at once may not fit beside the counts."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, 2**20):
        yield flat[start : start + 2**20]


def _entries(X: Any, wrong: Any) -> str:
    """Name the first entries that are wrong, by their coordinates."""
    first = np.flatnonzero(wrong.ravel())
    if sparse.issparse(X):
        coords = sparse.coo_array(X).coords
        places = [tuple(int(c[i]) for c in coords) for i in first[:3]]
        values = X.data[first[:3]]
    else:
        places = [tuple(int(i) for i in np.unravel_index(i, X.shape)) for i in first[:3]]
        values = np.asarray(X).ravel()[first[:3]]
    shown = ", ".join(
        f"X{list(place)} = {value}" for place, value in zip(places, values, strict=True)
    )
    return shown + (f" and {len(first) - 3:,} more" if len(first) > 3 else "")


def unfold(X: Any, *, empty: bool = False) -> Unfolded:
    """Unfold counts; warn of coordinates that stood more than once."""
    data = Unfolded.of(X.astype(np.float32) if X.dtype == np.float16 else X)
    if data.n_merged:
        msg = f"the coordinates of {data.n_merged:,} entries of X stand more than once; their counts were added up"
        warnings.warn(msg, DataWarning, stacklevel=4)
    if not data.rows.nnz and not empty:
        msg = f"X holds nothing: all its {' x '.join(map(str, data.shape))} entries are 0"
        raise ValueError(msg)
    return data


def warn_of_empty(data: Unfolded, modes: Sequence[str], labels: Labels) -> None:
    """Warn of indexes without counts: they get no score."""
    used = np.zeros(data.rows.shape[1], dtype=bool)
    for block in row_blocks(data.rows, 30_000):  # not at once: as for the checks
        used[block.indices] = True
    for mode, size in enumerate(data.shape):
        if mode == data.mode:
            filled = np.diff(data.rows.indptr) > 0
        else:
            filled = np.bincount(data.places[mode][used], minlength=size) > 0
        if filled.all():
            continue
        empty = np.flatnonzero(~filled)
        names = empty if labels[mode] is None else np.asarray(labels[mode])[empty]
        msg = f"{len(empty):,} of {size:,} slices of mode {mode} ({modes[mode]}) are all 0 and score 0: {listed(names)}"
        warnings.warn(msg, DataWarning, stacklevel=3)
