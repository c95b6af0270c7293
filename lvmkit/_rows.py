"""Rows and feature names out of what users pass: arrays, sparse matrices, DataFrames, AnnData."""

import hashlib
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit._checks import DataWarning, listed
from lvmkit._typing import Array

Names = npt.NDArray[np.object_]


def unwrapped(X: Any) -> tuple[Any, Names | None]:
    """Split labelled data into what scikit-learn validates and the names of its features.

    DataFrames are returned as they are: scikit-learn reads their names itself.
    """
    if hasattr(X, "var_names") and hasattr(X, "obs"):
        return X.X, np.asarray(X.var_names, dtype=object)
    if hasattr(X, "columns") and all(isinstance(c, str) for c in X.columns):
        return X, np.asarray(X.columns, dtype=object)
    return X, None


def aligned(X: Any, expected: Names | None) -> Any:
    """Put the features of labelled data into the order a model was fitted with.

    Features the model does not know are left out and features it misses are taken as absent; both are said
    in a `DataWarning`.
    """
    matrix, names = unwrapped(X)
    if names is None or expected is None or np.array_equal(names, expected):
        return matrix
    place = {name: i for i, name in enumerate(names)}
    known = [name in place for name in expected]
    if not any(known):
        msg = (
            f"none of the {len(names)} features of X ({listed(names)}) is known to the model, which was fitted "
            f"with {listed(expected)}. Check that both use the same codes and level of detail."
        )
        raise ValueError(msg)
    _report(names, expected, np.array(known))
    if hasattr(matrix, "columns"):
        return matrix.reindex(columns=list(expected), fill_value=0)
    columns = sparse.csc_array(matrix)
    picked = np.array([place.get(name, 0) for name in expected])
    return sparse.csr_array(
        columns[:, picked] @ sparse.diags_array(np.array(known, dtype=np.float32))
    )


def _report(names: Names, expected: Names, known: npt.NDArray[np.bool_]) -> None:
    """Warn of features that only one side knows."""
    fitted = set(expected)
    unseen = [name for name in names if name not in fitted]
    missing = expected[~known]
    if unseen:
        msg = f"{len(unseen)} of {len(names)} features are unknown to the model and were ignored: {listed(unseen)}"
        warnings.warn(msg, DataWarning, stacklevel=4)
    if len(missing):
        msg = (
            f"{len(missing)} of the model's {len(expected)} features are not in X and count as absent: "
            f"{listed(missing)}"
        )
        warnings.warn(msg, DataWarning, stacklevel=4)


def as_float32_rows(X: Any) -> Any:
    """Return sparse rows (CSR, sorted, no stored zeros) or a dense array, float32."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float32)
    rows = sparse.csr_array(X)
    if rows.data.dtype != np.float32:
        rows = rows.astype(np.float32)
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:
        # Half the memory to read, and what scikit-learn and our peers ask for.
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    if not rows.has_canonical_format or (rows.data == 0).any():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def require_binary(X: Any, names: Names | None) -> None:
    """Refuse entries other than 0 and 1, naming where they are."""
    values = X.data if sparse.issparse(X) else X
    wrong = (values != 0) & (values != 1)
    if not wrong.any():
        return
    where = sparse.coo_array(X) if sparse.issparse(X) else None
    column = int(
        where.coords[1][np.argmax(wrong)] if where is not None else np.argwhere(wrong)[0][1]
    )
    found = np.unique(values[wrong])
    label = repr(names[column]) if names is not None else column
    msg = (
        f"BernoulliMixture needs 0/1 data; found {listed(found)} (first in column {label}). "
        "Pass binarize=0 to count anything above 0 as present."
    )
    raise ValueError(msg)


def binarized(X: Any, threshold: float) -> Any:
    """Return 1 where entries exceed the threshold, sparse if `X` is and the threshold allows it."""
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
