"""Counts of any order unfolded to sparse rows: one mode against all others."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.parallel import row_blocks
from lvmkit.core.typing import Array

EXACT = 2**24
"""Below it float32 holds every whole number, and sums of whole numbers have no rounding."""


@dataclass(frozen=True)
class Unfolded:
    """A tensor of counts, unfolded along its longest mode."""

    # The rows are what all products stream over; the columns are combinations of the other modes' indexes.

    shape: tuple[int, ...]  # Sizes of the modes
    mode: int  # The mode whose indexes are the rows: the longest one
    rows: Any  # The counts: float32, or float64 if one is 2**24 or more
    # For each other mode, (n_columns,): which of its indexes each column belongs to
    places: dict[int, npt.NDArray[np.intp]]
    n_merged: int = 0  # Entries whose coordinates stood more than once, added to the first

    @classmethod
    def of(cls, X: Any) -> "Unfolded":
        """Unfold sparse or dense counts of any order; duplicate coordinates are summed. X (I_1, ..., I_d)."""
        if X.ndim == 2:
            return cls._of_matrix(X)
        tensor = sparse.coo_array(_wide(X))
        mode = int(np.argmax(tensor.shape))
        others = [n for n in range(tensor.ndim) if n != mode]
        columns, places = _columns(
            [tensor.coords[n] for n in others], [tensor.shape[n] for n in others]
        )
        size = (tensor.shape[mode], len(places[0]))
        entries = (tensor.data, (tensor.coords[mode].astype(np.int32), columns))
        rows, n_merged = _compact(sparse.coo_array(entries, shape=size))
        return cls(tensor.shape, mode, rows, dict(zip(others, places, strict=True)), n_merged)

    @classmethod
    def _of_matrix(cls, X: Any) -> "Unfolded":
        """Take a matrix as it is, or turned, if it is wider than long."""
        mode = int(X.shape[1] > X.shape[0])
        rows, n_merged = _compact(_wide(X.T if mode else X))
        return cls(X.shape, mode, rows, {1 - mode: np.arange(rows.shape[1])}, n_merged)

    @property
    def others(self) -> list[int]:
        """The modes that the columns stand for."""
        return sorted(self.places)

    @cached_property
    def squared_norm(self) -> float:
        """Sum of the squared counts."""
        return float(np.einsum("i,i->", self.rows.data, self.rows.data, dtype=np.float64))

    @cached_property
    def totals(self) -> tuple[float, float, float]:
        """Largest sum of absolute counts in a row and in a column, and the largest count."""
        row = largest = 0.0
        columns = np.zeros(self.rows.shape[1])
        for block in row_blocks(
            self.rows, 30_000
        ):  # not at once: what is made here is as large as the counts
            size = abs(block)
            row = max(row, float(size.sum(axis=1).max()))
            largest = max(largest, float(size.data.max(initial=0)))
            columns += size.sum(axis=0)
        return row, float(columns.max()), largest

    @cached_property
    def selectors(self) -> dict[int, Any]:
        """For each mode of the columns, the 0/1 matrix (I_n, n_columns) that sums columns by its index."""
        n_columns = self.rows.shape[1]
        return {
            mode: sparse.csr_array(
                (np.ones(n_columns), (place, np.arange(n_columns))),
                shape=(self.shape[mode], n_columns),
            )
            for mode, place in self.places.items()
        }

    def slice_of(self, patient: int) -> tuple[npt.NDArray[np.intp], Array]:
        """Return the entries of one index of the first mode: coordinates in the others (d-1, m), and counts (m,)."""
        if self.mode == 0:
            entries = slice(*self.rows.indptr[patient : patient + 2])
            columns, values = self.rows.indices[entries], self.rows.data[entries]
            return np.stack([self.places[n][columns] for n in self.others]), values
        chosen = np.flatnonzero(self.places[0] == patient)
        found = sparse.coo_array(self.rows[:, chosen])
        coords = {n: place[chosen[found.coords[1]]] for n, place in self.places.items()}
        coords[self.mode] = found.coords[0]
        return np.stack([coords[n] for n in range(1, len(self.shape))]), found.data

    def khatri_rao(self, factors: list[Array], but: int | None = None) -> Array:
        """Return, for each column, the product of the other modes' factor rows: (n_columns, R). factors (R, I_n)."""
        product = np.ones((self.rows.shape[1], len(factors[0])))
        for mode, place in self.places.items():
            if mode != but:
                product *= np.ascontiguousarray(factors[mode].T)[place]
        return product


def _columns(coords: list[Any], shape: list[int]) -> tuple[Any, list[npt.NDArray[np.intp]]]:
    """Give the combinations of the columns' modes that occur numbers, frequent ones first."""
    # What products read for the frequent columns then lies together, which makes them twice as fast.
    grid: Any
    if prod(shape) <= max(len(coords[0]), 2**16):
        numbers, grid = (
            np.ravel_multi_index(coords, shape),
            np.unravel_index(np.arange(prod(shape)), shape),
        )
    elif prod(shape) < 2**62:
        found, numbers = np.unique(np.ravel_multi_index(coords, shape), return_inverse=True)
        grid = np.unravel_index(found, shape)
    else:
        grid, numbers = np.unique(np.stack(coords), axis=1, return_inverse=True)
    counts = np.bincount(numbers.ravel(), minlength=len(grid[0]))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    rank = np.empty(len(counts), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return rank[numbers.ravel()], [place[order] for place in grid]


def _wide(X: Any) -> Any:
    """Return counts in a type in which entries of the same place can be added up without overflow."""
    kind, size = X.dtype.kind, X.dtype.itemsize
    if kind not in "biu" or size == 8:
        return X
    wide = np.float32 if size <= 2 else np.int64
    if not sparse.issparse(X):
        return X.astype(wide)
    copy = (
        X.copy()
    )  # astype of sparse counts adds up first, in the narrow type, and in the user's memory
    copy.data = X.data.astype(wide)
    return copy


def _compact(entries: Any) -> tuple[Any, int]:
    """Return sparse rows in the narrowest types that hold them exactly, and how many entries were added to others."""
    n_entries = entries.nnz if sparse.issparse(entries) else None
    rows = sparse.csr_array(entries)
    if not rows.has_canonical_format:
        rows = rows.copy()  # what was passed may share its memory
        rows.sum_duplicates()
    n_merged = 0 if n_entries is None else n_entries - rows.nnz
    if (rows.data == 0).any():
        rows = rows.copy()
        rows.eliminate_zeros()
    large = rows.nnz and max(float(rows.data.max()), -float(rows.data.min())) >= EXACT
    rows = rows.astype(np.float64 if large else np.float32, copy=False)
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows, n_merged
