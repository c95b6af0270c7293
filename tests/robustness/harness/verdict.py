"""What counts as a clear answer: one sentence that names the argument, the place and the remedy, or a right result."""

import re
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

CLEAR = (
    ValueError,
    TypeError,
    FileNotFoundError,
    PermissionError,
    IsADirectoryError,
    FileExistsError,
    OSError,  # as documented, in words of ours: "Errno" is forbidden
    KeyError,
)

# Words of what lies below us, which tell a clinician nothing.
FORBIDDEN = (
    "gradient boosting",
    "HistGradient",
    "std::",
    "C++",
    "Traceback",
    "LinAlgError",
    "/tmp/",
    "object has no attribute",
    "unsupported operand",
    "not subscriptable",
    "cannot unpack",
    "invalid literal",
    "could not convert",
    "Expected 2D array",
    "Expected 2D",
    "operands could not be broadcast",
    "not iterable",
    "object is not callable",
    "has no len()",
    "ufunc",
    "dtype('",
    "loop of ufunc",
    "unhashable",
    "argument must be a string or",
    "isnan",
    "not supported between instances",
    "_duckdb",
    "Binder Error",
    "Catalog Error",
    "Parser Error",
    "Conversion Error",
    "IO Error",
    "Invalid Input Error",
    "Error when sniffing",
    "unexpected keyword",
    "positional argument",
    "inhomogeneous shape",
    "setting an array element",
    "must be real number",
    "cannot be interpreted as",
    "index out of bounds",
    "out of bounds for axis",
    "list index",
    "did not contain a loop",
    "check_array",
    "np.",
    "matmul",
    "singular",
    "SVD did not",
    "truth value of",
    "ambiguous",
    "__index__",
    "__float__",
    "<function",
    "'NoneType'",
    "can only concatenate",
    "expected str instance",
    "zero-size array",
    "not a sequence",
    "dict_keys",
    "KeyError",
    "schema",
    "SchemaValidationError",
    "'str' object",
    "Unable to",
    "AxisError",
    "axis 0",
    "not in the columns",
    "not in index",
    "Lengths must match",
    "All arrays must be",
    "Length of values",
    "slice indices",
    "integer argument",
    "expected str, bytes",
    "should be one of",
    "Bytes object",
    "embedded null",
    "tuple index",
    "float object",
    "int object",
    "probabilities do not",
    "should not happen",
    "Errno",
)
# Words that say what is expected, or what to do.
REMEDY_WORDS = [
    "are.whole.numbers",
    "are.\\d",
    "are.0.or.more",
    "is.a.share",
    "are.of.the.same",
    "are.of.one",
    "are.a.list",
    "holds.how.often",
    "holds.nothing",
    "has.two",
    "are.probabilities",
    "belong.together",
    "Pass",
    "Take.it.out",
    "sums.are.exact",
    "counts.as",
    "unpack",
    "export",
    "Say.which",
    "download",
    "stand.more.than.once",
    "says.that",
    "must",
    "expected",
    "expects?",
    "needs?",
    "needed",
    "pass",
    "use",
    "choose",
    "give",
    "gives",
    "given",
    "should",
    "only",
    "known",
    "takes?",
    "fitted",
    "call",
    "name",
    "set",
    "leave",
    "drop",
    "save",
    "wants?",
    "allowed",
    "cannot",
    "between",
    "convert",
    "remove",
    "fill",
    "try",
    "instead",
    "reads",
    "rename",
    "make",
    "put",
    "open",
    "write",
    "build",
    "sum",
    "follow",
    "there.(is|are)",
    "(it|they|the.\\w+).has",
    "one.of",
    "at.least",
    "too.many",
    "does.not",
    "is.no",
    "are.no",
    "has.no",
    "have.no",
    "lies?.in",
    "counts.from",
    "is.*.or",
    "has.\\d+",
    "have.\\d+",
    "\\d+.to.\\d+",
    "shows.two",
    "are.*.by",
]
REMEDY = re.compile(rf"\b({'|'.join(REMEDY_WORDS)})\b")
PLACE = re.compile(r"row|column|sample|position|entry|index|indices|place|\d|'[^']+'")
LONGEST = 420


def refusal_faults(error: BaseException, names: tuple[str, ...], *, located: bool) -> list[str]:
    """Return what is wrong with a refusal."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    faults = []
    if not isinstance(error, CLEAR) or type(error).__module__.startswith(
        ("_duckdb", "duckdb", "numpy.linalg")
    ):
        faults.append(f"raises {type(error).__name__}")
    low = text.lower()
    words = [word for word in FORBIDDEN if word.lower() in low]
    if words:
        faults.append(f"words from the depths: {words[0]!r}")
    if not any(re.search(rf"(?<![A-Za-z]){re.escape(name)}", text) for name in names):
        faults.append(f"does not name {names[0]}")
    if not REMEDY.search(text):
        faults.append("says no remedy and no expectation")
    if located and not PLACE.search(text):
        faults.append("names no place")
    if len(text) > LONGEST:
        faults.append(f"{len(text)} characters")
    if re.search(r"(^|[\s'\"(])/(?:\w[\w.-]*/)+", text):
        faults.append("shows a full path")
    return faults


def cohort_of(value: Any) -> Any:
    """Return the cohort that a dashboard shows; anything else as it is."""
    return getattr(getattr(getattr(value, "state", None), "patients", None), "cohort", value)


def names_of(value: Any) -> list[list[str]]:
    """Return the names of rows and columns of a cohort or tensor, and what is known of them."""
    value = cohort_of(value)
    if isinstance(value, AnnData):
        tables = [value.obs, value.var]
    else:
        tables = [
            table for table in getattr(value, "labels", ()) if isinstance(table, pd.DataFrame)
        ]
    columns = [table[name] for table in tables for name in table]
    return [[str(v) for v in part] for part in (*(t.index for t in tables), *columns)]


def other_names(value: Any, plain: Any) -> str:
    """Say if a cohort or tensor has other names or attributes than that of a file that is right."""
    for ours, theirs in zip(names_of(value), names_of(plain), strict=True):
        if ours != theirs:
            return f"silently other names or attributes: {ours[:3]}, {theirs[:3]}"
    return ""


def numbers_of(value: Any, depth: int = 0) -> list[np.ndarray]:
    """Return all numbers in a result, as arrays in a fixed order."""
    if (
        value is None
        or isinstance(value, str | bytes)
        or depth > 4
        or (callable(value) and not hasattr(value, "get_params"))
    ):
        return []
    if isinstance(value, bool | int | float | complex | np.generic):
        return (
            [np.asarray(value)]
            if isinstance(value, bool | int | float | np.number | np.bool_)
            else []
        )
    if sparse.issparse(value):
        return [value.toarray() if value.ndim <= 2 else value.todense()]
    if isinstance(value, np.ndarray):
        return [value] if value.dtype.kind in "biuf" else []
    value = cohort_of(value)
    if isinstance(value, AnnData):
        return numbers_of(value.X, depth + 1)
    if isinstance(value, pd.DataFrame):
        return [a for name in value for a in numbers_of(value[name].to_numpy(), depth + 1)]
    if isinstance(value, pd.Series):
        return numbers_of(value.to_numpy(), depth + 1)
    if isinstance(value, Mapping):
        return [a for key in value for a in numbers_of(value[key], depth + 1)]
    if isinstance(value, list | tuple):
        return [a for item in value for a in numbers_of(item, depth + 1)]
    if hasattr(value, "get_params"):
        parts = {
            k: v
            for k, v in sorted(vars(value).items())
            if k.endswith("_") and not k.startswith("_")
        }
        parts = {k: v for k, v in parts.items() if k not in {"annotations_", "data_fingerprint_"}}
        return numbers_of(parts, depth + 1)
    if is_dataclass(value):
        # How long something took is no part of the answer.
        parts = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "seconds"}
        return numbers_of(parts, depth + 1)
    return []


def not_finite(value: Any) -> int:
    """Return how many numbers of a result are NaN or infinite."""
    return sum(int((~np.isfinite(a)).sum()) for a in numbers_of(value) if a.dtype.kind == "f")


def differences(value: Any, plain: Any, tolerance: float = 1e-6) -> str:
    """Say how a result differs from that of the plain dense matrix; empty if it does not."""
    ours, theirs = numbers_of(value), numbers_of(plain)
    if [a.shape for a in ours] != [a.shape for a in theirs]:
        return f"other shapes than the plain array's: {[a.shape for a in ours][:4]}, {[a.shape for a in theirs][:4]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a, b in zip(ours, theirs, strict=True):
            if not np.allclose(
                a.astype(float), b.astype(float), rtol=tolerance, atol=tolerance, equal_nan=True
            ):
                worst = np.nanmax(np.abs(a.astype(float) - b.astype(float)))
                return f"silently another answer than the plain array's: differs by {worst:.3g}"
    return ""


def far_apart(value: Any, plain: Any, tolerance: float = 0.02) -> str:
    """Say if results of the same shape are not near each other, as those of sparse and dense rows must be."""
    for a, b in zip(numbers_of(value), numbers_of(plain), strict=False):
        other = a.shape != b.shape or a.dtype.kind != "f"  # of steps there may be one more
        near = other or np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not near:
            return f"far from the dense array's: differs by {np.nanmax(np.abs(a - b)):.3g}"
    return ""
