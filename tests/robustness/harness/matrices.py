"""Kinds of matrices, and what can be wrong with a matrix.

`SAME` are other ways to store the very same numbers: each must give the very same answer. `FAULTS` make a matrix
wrong; what must come of it is REFUSED, EITHER (an answer or a refusal, but neither nonsense nor words from the
depths), or a set of domains in which it is refused: entries of -1 are wrong as counts, and right as real numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from harness.examples import CODES

REFUSED, EITHER, SAME_ANSWER = "refused", "either", "same"
Make = Callable[[np.ndarray], Any]


def named(X: np.ndarray) -> list[str]:
    """Names of the columns."""
    return CODES[: X.shape[1]] if X.shape[1] <= len(CODES) else [f"c{j}" for j in range(X.shape[1])]


def frame(X: np.ndarray) -> pd.DataFrame:
    """A DataFrame with names."""
    return pd.DataFrame(X, columns=named(X))


def cohort(X: Any) -> AnnData:
    """An AnnData with names."""
    obs = pd.DataFrame(index=[f"p{i}" for i in range(X.shape[0])])
    return AnnData(X, obs=obs, var=pd.DataFrame(index=named(X)))


def unsorted(X: np.ndarray) -> Any:
    """Rows whose indices are in descending order."""
    S = sparse.csr_array(X)
    for start, stop in zip(S.indptr, S.indptr[1:], strict=False):
        S.indices[start:stop] = S.indices[start:stop][::-1].copy()
        S.data[start:stop] = S.data[start:stop][::-1].copy()
    S.has_sorted_indices = False
    return S


def doubled(X: np.ndarray) -> Any:
    """Each entry stored twice, as itself and as 0."""
    S = sparse.csr_array(X)
    data = np.column_stack([S.data, np.zeros_like(S.data)]).ravel()
    return sparse.csr_array((data, np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


def long_indices(X: np.ndarray) -> Any:
    """Indices of 64 bits."""
    S = sparse.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def zeros_stored(X: np.ndarray) -> Any:
    """Zeros stored as entries."""
    S = sparse.coo_array(np.ones_like(X)).tocsr()
    S.data = X.ravel().copy()
    return S


def read_only(X: np.ndarray) -> np.ndarray:
    """An array that must not be written to."""
    X = X.copy()
    X.flags.writeable = False
    return X


SAME: dict[str, Make] = {
    "Fortran order": np.asfortranarray,
    "every second of a larger array": lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2],
    "read only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "uint16": lambda X: X.astype(np.uint16),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "coo_matrix": sparse.coo_matrix,
    "bsr_array": lambda X: sparse.bsr_array(X, blocksize=tuple(2 - size % 2 for size in X.shape)),
    "dok_array": sparse.dok_array,
    "lil_array": sparse.lil_array,
    "dia_array": sparse.dia_array,
    "csr of int32": lambda X: sparse.csr_array(X.astype(np.int32)),
    "csr with unsorted indices": unsorted,
    "csr with doubled indices": doubled,
    "csr with indices of 64 bits": long_indices,
    "csr with stored zeros": zeros_stored,
    "DataFrame": frame,
    "DataFrame of int": lambda X: frame(X).astype(int),
    "DataFrame with missing values allowed": lambda X: frame(X).astype(int).convert_dtypes(),
    "DataFrame of sparse columns": lambda X: frame(X).astype(pd.SparseDtype(float, 0.0)),
    "DataFrame with rows of any name": lambda X: frame(X).set_index(np.arange(len(X))[::-1] * 3),
    "AnnData": cohort,
    "AnnData, csr": lambda X: cohort(sparse.csr_matrix(X)),
    "AnnData, csc": lambda X: cohort(sparse.csc_array(X)),
    "masked array without masked entries": lambda X: np.ma.masked_array(X, mask=False),
}

# Kinds that an entry point may refuse in plain words: it says which kinds it takes.
MAY_REFUSE = {
    "objects",
    "lists",
    "masked array without masked entries",
    "dia_array",
    "AnnData",
    "AnnData, csr",
    "AnnData, csc",
    "DataFrame of sparse columns",
}


def put(value: Any, kind: str = "dense") -> Make:
    """Put a value into the third row and second column."""

    def make(X: np.ndarray) -> Any:
        Y = (
            X.astype(np.result_type(X, value))
            if not isinstance(value, str | None)
            else X.astype(object)
        )
        Y[(2, 1, *(0,) * (X.ndim - 2))] = value
        return STORED[kind](Y)

    return make


STORED: dict[str, Make] = {
    "dense": lambda X: X,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "DataFrame": frame,
    "AnnData": cohort,
    "AnnData, csr": lambda X: cohort(sparse.csr_matrix(X)),
}


def broken(field: str, value: int, kind: str = "csr", *, wrap: bool = False) -> Make:
    """Put a value into the indices or row bounds of a sparse matrix."""

    def make(X: np.ndarray) -> Any:
        S = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind](X)
        S = sparse.csr_matrix(S) if wrap else S
        getattr(S, field)[-1 if field == "indptr" else 1] = value
        return cohort(S) if wrap else S

    return make


def broken_coo(value: int) -> Make:
    """Put a value into the columns of triples."""

    def make(X: np.ndarray) -> Any:
        S = sparse.coo_array(X)
        S.coords[1][1] = value
        return S

    return make


def falling(X: np.ndarray) -> Any:
    """Row bounds that go back."""
    S = sparse.csr_array(X)
    S.indptr[1], S.indptr[2] = S.indptr[2], S.indptr[1]
    S.indptr[1] += 1
    return S


def short(X: np.ndarray) -> Any:
    """Fewer values than indices."""
    S = sparse.csr_array(X)
    S.data = S.data[:-3]
    return S


def masked(X: np.ndarray) -> Any:
    """One entry is masked."""
    Y = np.ma.masked_array(X.copy(), mask=False)
    Y[2, 1] = np.ma.masked
    return Y


def missing(X: np.ndarray) -> pd.DataFrame:
    """One entry of a nullable table is missing."""
    table = frame(X).astype("Int64")
    table.iloc[2, 1] = pd.NA
    return table


def twice_named(X: np.ndarray) -> pd.DataFrame:
    """Two columns of one name."""
    table = frame(X)
    table.columns = [table.columns[1], *table.columns[1:]]
    return table


def twice_named_cohort(X: np.ndarray) -> AnnData:
    """Two features of one name."""
    found = cohort(X)
    names = list(found.var_names)
    found.var_names = [names[1], *names[1:]]
    return found


COUNTS, ZERO_ONE = frozenset({"counts", "0/1"}), frozenset({"0/1"})
NUMBERS: dict[str, tuple[Make, Any]] = {
    "NaN": (put(np.nan), REFUSED),
    "NaN, csr": (put(np.nan, "csr"), REFUSED),
    "NaN, csc": (put(np.nan, "csc"), REFUSED),
    "NaN, DataFrame": (put(np.nan, "DataFrame"), REFUSED),
    "NaN, AnnData": (put(np.nan, "AnnData, csr"), REFUSED),
    "inf": (put(np.inf), REFUSED),
    "-inf, csr": (put(-np.inf, "csr"), REFUSED),
    "inf, DataFrame": (put(np.inf, "DataFrame"), REFUSED),
    "-1": (put(-1.0), COUNTS),
    "-1, csr": (put(-1.0, "csr"), COUNTS),
    "-1, DataFrame": (put(-1.0, "DataFrame"), COUNTS),
    "0.5": (put(0.5), COUNTS),
    "0.5, csr": (put(0.5, "csr"), COUNTS),
    "2": (put(2.0), ZERO_ONE),
    "1e15": (put(1e15), ZERO_ONE),
    "1e15, csr": (put(1e15, "csr"), ZERO_ONE),
    "1e30": (put(1e30), COUNTS),
    "1e200": (put(1e200), COUNTS),
    "1e200, csr": (put(1e200, "csr"), COUNTS),
    "all entries 1e200": (lambda X: np.full_like(X, 1e200), COUNTS),
    "all entries 1e-200": (lambda X: X * 1e-200, COUNTS),
    "2**62": (lambda X: put(2**62)(X.astype(np.int64)), ZERO_ONE),
    "complex": (put(1j), REFUSED),
    "text": (put("x"), REFUSED),
    "text, DataFrame": (put("x", "DataFrame"), REFUSED),
    "text of numbers": (lambda X: X.astype(int).astype(str), EITHER),
    "None": (put(None), REFUSED),
    "missing, DataFrame": (missing, REFUSED),
    "masked": (masked, REFUSED),
    "dates": (lambda X: frame(X).apply(pd.to_datetime), REFUSED),
    "all zeros": (lambda X: 0 * X, EITHER),
    "all ones": (lambda X: 0 * X + 1, EITHER),
    "one row": (lambda X: X[:1], EITHER),
    "one column": (lambda X: X[:, :1], EITHER),
    "float16": (lambda X: X.astype(np.float16), EITHER),
    "bool": (lambda X: X.astype(bool), EITHER),
}
SHAPES: dict[str, tuple[Make, Any]] = {
    "no rows": (lambda X: X[:0], REFUSED),
    "no rows, csr": (lambda X: sparse.csr_array(X[:0]), REFUSED),
    "no columns": (lambda X: X[:, :0], REFUSED),
    "no rows, DataFrame": (lambda X: frame(X)[:0], REFUSED),
    "no rows, AnnData": (lambda X: cohort(X)[:0], REFUSED),
    "1-D": (lambda X: X[0], REFUSED),
    "0-D": (lambda X: np.array(1.0), REFUSED),
    "3-D": (lambda X: np.stack([X, X], axis=2), REFUSED),
    "ragged lists": (lambda X: [[1, 0], [1]], REFUSED),
    "empty list": (lambda X: [], REFUSED),
    "text itself": (lambda X: "X", REFUSED),
    "None itself": (lambda X: None, REFUSED),
    "a number": (lambda X: 3, REFUSED),
    "a dict": (lambda X: {"a": [1]}, REFUSED),
    "an object": (lambda X: object(), REFUSED),
    "a function": (lambda X: len, REFUSED),
    "a set": (lambda X: {1, 2}, REFUSED),
    "two columns of one name": (twice_named, REFUSED),
    "two features of one name, AnnData": (twice_named_cohort, REFUSED),
}
STORAGE: dict[str, tuple[Make, Any]] = {
    "csr index out of range": (broken("indices", 10**6), REFUSED),
    "csr index one too large": (lambda X: broken("indices", X.shape[1])(X), REFUSED),
    "csr index negative": (broken("indices", -1), REFUSED),
    "csc index out of range": (broken("indices", 10**6, "csc"), REFUSED),
    "csc index negative": (broken("indices", -1, "csc"), REFUSED),
    "bsr index out of range": (broken("indices", 10**6, "bsr"), REFUSED),
    "coo index out of range": (broken_coo(10**6), REFUSED),
    "coo index negative": (broken_coo(-1), REFUSED),
    "csr bounds too large": (broken("indptr", 10**6), REFUSED),
    "csr bounds falling": (falling, REFUSED),
    "csr with too few values": (short, REFUSED),
    "AnnData, csr index out of range": (broken("indices", 10**6, wrap=True), REFUSED),
    "AnnData, csr index negative": (broken("indices", -1, wrap=True), REFUSED),
}
FAULTS = {**NUMBERS, **SHAPES, **STORAGE}
# What lies in one place, which the refusal has to name.
LOCATED = tuple(
    name
    for name in FAULTS
    if name.startswith(("NaN", "inf", "-inf", "-1", "0.5", "missing", "masked"))
) + tuple(name for name in STORAGE if "index" in name)
