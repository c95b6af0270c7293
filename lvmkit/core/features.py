"""Matrices and feature names from arrays, sparse matrices, DataFrames and AnnData; aligning, binarizing, hashing."""

import hashlib
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.typing import Array
from lvmkit.core.validation import DataWarning, check_source, listed, place_of, require_number

Names = npt.NDArray[np.object_]
Labels = tuple[Any, Any]
"""Names of rows and of columns; None for those that have none."""
NO_LABELS: Labels = (None, None)


def unwrapped(X: Any, *, remedy: str = "") -> tuple[Any, Names | None]:
    """Split labelled data into what `check_matrix` takes and the names of its features."""
    # DataFrames stay DataFrames: scikit-learn reads their names itself. Columns that are merely numbered from 0 have no
    # names.
    if _is_anndata(X):
        names = np.asarray(X.var_names, dtype=object)
        matrix = X.to_memory().X if X.isbacked else X.X
        if matrix is None:
            msg = "X is an AnnData without a matrix (its X is None); set it, for example X.X = X.layers['counts']"
            raise ValueError(msg)
        return check_source(matrix, "X", remedy), distinct(names)
    X = check_source(X, "X", remedy)
    if hasattr(X, "columns") and hasattr(X, "reindex"):
        if list(X.columns) == list(range(X.shape[1])):
            return X, None
        if not all(isinstance(c, str) for c in X.columns):
            X = X.rename(columns=str)
        return X, distinct(np.asarray(X.columns, dtype=object))
    return X, None


def _is_anndata(X: Any) -> bool:
    """Tell whether these are rows with names and attributes."""
    return hasattr(X, "var_names") and hasattr(X, "obs")


def is_labelled(X: Any) -> bool:
    """Tell whether features have names by which they are matched."""
    return _is_anndata(X) or hasattr(X, "columns")


def row_names(X: Any) -> Any:
    """Return the names of the rows of an AnnData or a DataFrame, if it has any."""
    if _is_anndata(X):
        return X.obs_names
    return X.index if hasattr(X, "columns") and hasattr(X, "index") else None


def distinct(names: Names) -> Names:
    """Refuse names that stand twice: features could not be told apart."""
    values, counts = np.unique(names.astype(str), return_counts=True)
    if (counts > 1).any():
        msg = f"feature names must be distinct; {listed(values[counts > 1])} stand more than once"
        raise ValueError(msg)
    return names


def aligned(X: Any, expected: Names | None, *, remedy: str = "") -> Any:
    """Put the features of labelled data into the order a model was fitted with."""
    # Features the model does not know are left out and features it misses are taken as absent; both are said in a
    # `DataWarning`.
    matrix, place = matched_columns(X, expected, remedy=remedy)
    if place is None or expected is None:
        return matrix
    missing = place < 0
    if missing.any():
        msg = (
            f"{missing.sum()} of the model's {len(expected)} features are not in X and count as absent: "
            f"{listed(expected[missing])}"
        )
        warnings.warn(msg, DataWarning, stacklevel=5)
    return matrix


def matched_columns(
    X: Any, expected: Names | None, *, remedy: str = ""
) -> tuple[Any, npt.NDArray[np.intp] | None]:
    """Return the features a model expects, and where each stood in `X`: -1, and zeros, where it did not."""
    # None for the places says that `X` has no names, or the same ones in the same order.
    matrix, names = unwrapped(X, remedy=remedy)
    if names is None or expected is None or np.array_equal(names, expected):
        return matrix, None
    found = {name: i for i, name in enumerate(names)}
    place = np.array([found.get(name, -1) for name in expected])
    if (place < 0).all():
        msg = (
            f"none of the {len(names)} features of X ({listed(names)}) is known to the model, which was fitted "
            f"with {listed(expected)}. Check that both use the same codes and level of detail."
        )
        raise ValueError(msg)
    unseen = [name for name in names if name not in set(expected)]
    if unseen:
        msg = f"{len(unseen)} of {len(names)} features are unknown to the model and were ignored: {listed(unseen)}"
        warnings.warn(msg, DataWarning, stacklevel=6)
    if hasattr(matrix, "columns"):
        return matrix.reindex(columns=list(expected), fill_value=0), place
    kept = sparse.diags_array((place >= 0).astype(np.float32))
    return sparse.csr_array(sparse.csc_array(matrix)[:, np.maximum(place, 0)] @ kept), place


def canonical(X: Any) -> Any:
    """Return sparse rows sorted and without stored zeros, or a dense array, in the type given."""
    if not sparse.issparse(X):
        return X
    rows = sparse.csr_array(X)
    if not rows.has_canonical_format or (rows.data == 0).any():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def as_float32_rows(X: Any) -> Any:
    """Return sparse rows (CSR, sorted, no stored zeros) or a dense array, float32."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float32)
    return in_float32(canonical(X.astype(np.float32, copy=False)))


def in_float32(rows: Any) -> Any:
    """Return what `canonical` returned in single precision, with indexes of 32 bits where they do."""
    if not sparse.issparse(rows):
        return np.ascontiguousarray(rows, dtype=np.float32)
    if rows.data.dtype != np.float32:
        rows = rows.astype(np.float32)
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:
        # Half the memory to read, and what scikit-learn and our peers ask for.
        rows = sparse.csr_array(rows)
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


EXACT = 2**24
"""Counts below it, and their sums, are exact in single precision."""


def require_binary(
    X: Any,
    names: Labels = NO_LABELS,
    model: str = "BernoulliMixture",
    todo: str = "binarize=0",
) -> None:
    """Refuse entries other than 0 and 1, naming where they are, and the option that takes them."""
    values = X.data if sparse.issparse(X) else X
    wrong = (values != 0) & (values != 1)
    if not wrong.any():
        return
    found = np.unique(values[wrong])
    msg = (
        f"{model} needs 0/1 data; found {listed(found)} (first {first_place(X, wrong, names)}). "
        + (
            f"Pass {todo} to count anything above 0 as present."
            if todo == "binarize=0"
            else f"Pass {todo}."
        )
    )
    raise ValueError(msg)


def require_counts(
    X: Any,
    names: Labels,
    model: str,
    todo: str = "Pass the counts, or round_counts=True",
) -> None:
    """Refuse entries that are negative, not whole or too large to add up, naming where they are and what to do."""
    values = X.data if sparse.issparse(X) else X
    wrong = (values < 0) | (values != np.rint(values)) | (values >= EXACT)
    if not wrong.any():
        return
    found = np.unique(values[wrong])
    if (found < 0).any():
        trouble, todo = "Negative values in data passed to", "Remove them"
    elif (found != np.rint(found)).any():
        trouble = "Fractions in data passed to"
    else:
        trouble = f"Counts of {EXACT:,} and more, whose sums would be rounded, in data passed to"
        todo = "Count in larger units, or see whether they are counts"
    msg = (
        f"{trouble} {model}, which needs counts, whole numbers of at least 0: {listed(found)} "
        f"(first {first_place(X, wrong, names)}). {todo}."
    )
    raise ValueError(msg)


def first_place(X: Any, wrong: Any, names: Labels) -> str:
    """Say where the first wrong entry of sparse rows or an array stands."""
    first = int(np.flatnonzero(wrong.ravel())[0])
    if sparse.issparse(X):
        at = int(np.searchsorted(X.indptr, first, side="right") - 1), int(X.indices[first])
    else:
        at = divmod(first, X.shape[1])
    return place_of(at, *names)


def binarized(X: Any, threshold: float) -> Any:
    """Return 1 where entries exceed the threshold, sparse if `X` is and the threshold allows it."""
    require_number(threshold, "binarize", least=-np.inf)
    if not sparse.issparse(X) or threshold < 0:
        dense = X.toarray() if sparse.issparse(X) else X
        return (dense > threshold).astype(np.float32)
    return as_float32_rows(sparse.csr_array(threshold < X))


def fingerprint(X: Any) -> str:
    """Hash the rows, so that a result can be traced to its data."""
    digest = hashlib.blake2b(digest_size=16)
    parts: list[Array] = [X.indptr, X.indices, X.data] if sparse.issparse(X) else [X]
    digest.update(repr(X.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
