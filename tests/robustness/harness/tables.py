"""What can be wrong with arrays and tables."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from harness.matrices import EITHER, REFUSED

Make = Callable[[Any], Any]


def _with(value: Any) -> Make:
    """Put a value into the second place."""

    def make(given: Any) -> Any:
        array = np.array(given, dtype=object if isinstance(value, str | None) else None, order="C")
        array = (
            array.astype(np.result_type(array, np.asarray(value)), order="C")
            if array.dtype != object
            else array
        )
        array.reshape(-1)[1 if array.size > 1 else 0] = value
        return array

    return make


ARRAYS: dict[str, tuple[Make, Any]] = {
    "NaN inside": (_with(np.nan), REFUSED),
    "inf inside": (_with(np.inf), REFUSED),
    "text inside": (_with("x"), EITHER),
    "None inside": (_with(None), REFUSED),
    "complex inside": (_with(1j), REFUSED),
    "-1 inside": (_with(-1), EITHER),
    "0.5 inside": (_with(0.5), EITHER),
    "1e200 inside": (_with(1e200), EITHER),
    "2**62 inside": (_with(2**62), EITHER),
    "too short": (lambda a: np.asarray(a)[:-1], EITHER),
    "too long": (lambda a: np.concatenate([np.asarray(a), np.asarray(a)]), EITHER),
    "empty": (lambda a: np.asarray(a)[:0], REFUSED),
    "one axis more": (lambda a: np.asarray(a)[None], REFUSED),
    "no axis": (lambda a: np.asarray(a).reshape(-1)[0], REFUSED),
    "masked entry": (
        lambda a: np.ma.masked_array(a, mask=np.arange(np.size(a)).reshape(np.shape(a)) == 1),
        REFUSED,
    ),
    "dates": (lambda a: np.full(np.shape(a), np.datetime64("2010-01-01")), REFUSED),
    "all zeros": (lambda a: 0 * np.asarray(a), EITHER),
}
TENSORS: dict[str, tuple[Make, Any]] = {
    "NaN": (_with(np.nan), REFUSED),
    "inf": (_with(np.inf), REFUSED),
    "text": (_with("x"), REFUSED),
    "None": (_with(None), REFUSED),
    "complex": (_with(1j), REFUSED),
    "masked entry": (
        lambda a: np.ma.masked_array(a, mask=np.arange(a.size).reshape(a.shape) == 1),
        REFUSED,
    ),
    "no samples": (lambda a: a[:0], REFUSED),
    "an empty mode": (lambda a: a[:, :0], REFUSED),
    "one sample": (lambda a: a[:1], EITHER),
    "1-D": (lambda a: a.reshape(-1), REFUSED),
    "ragged lists": (lambda a: [[1, 0], [1]], REFUSED),
    "times 1e200": (lambda a: a * 1e200, EITHER),
    "times 1e30": (lambda a: a * 1e30, EITHER),
    "times 1e-200": (lambda a: a * 1e-200, EITHER),
    "all zeros": (lambda a: 0 * a, EITHER),
    "one entry the same everywhere": (
        lambda a: np.concatenate([a[:, :1] * 0 + 3, a[:, 1:]], axis=1),
        EITHER,
    ),
    "text itself": (lambda a: "X", REFUSED),
    "None itself": (lambda a: None, REFUSED),
    "an object": (lambda a: object(), REFUSED),
}


def drop(column: int) -> Make:
    """Leave out a column."""
    return lambda t: t.drop(columns=t.columns[column % t.shape[1]])


def put(value: Any, column: int = 0) -> Make:
    """Put a value into the second row of a column."""

    def make(table: pd.DataFrame) -> pd.DataFrame:
        found = table.astype({table.columns[column % table.shape[1]]: object})
        found.iloc[min(1, len(found) - 1), column % table.shape[1]] = value
        return found

    return make


def renamed(names: Callable[[list[str]], Any]) -> Make:
    """Give the columns other names."""

    def make(table: pd.DataFrame) -> pd.DataFrame:
        found = table.copy()
        found.columns = names(list(table.columns))
        return found

    return make


TABLES: dict[str, tuple[Make, Any]] = {
    **{f"without column {j + 1}": (drop(j), EITHER) for j in range(6)},
    "without any column": (lambda t: t[[]], REFUSED),
    "without rows": (lambda t: t[:0], EITHER),
    "first column twice": (lambda t: pd.concat([t, t.iloc[:, :1]], axis=1), EITHER),
    "last column twice": (lambda t: pd.concat([t, t.iloc[:, -1:]], axis=1), EITHER),
    "columns of two levels": (
        renamed(lambda names: pd.MultiIndex.from_product([["a"], names])),
        REFUSED,
    ),
    "a column named nothing": (renamed(lambda names: ["", *names[1:]]), EITHER),
    "names that are numbers": (renamed(lambda names: list(range(len(names)))), EITHER),
    "names that are None": (renamed(lambda names: [None] * len(names)), EITHER),
    "one index for all rows": (lambda t: t.set_axis([0] * len(t), axis=0), EITHER),
    **{f"None in column {j + 1}": (put(None, j), EITHER) for j in range(4)},
    **{f"NaN in column {j + 1}": (put(float("nan"), j), EITHER) for j in range(4)},
    **{f"text in column {j + 1}": (put("x", j), EITHER) for j in range(5)},
    **{f"a list in column {j + 1}": (put([1], j), EITHER) for j in range(4)},
    **{f"inf in column {j + 1}": (put(float("inf"), j), EITHER) for j in range(4)},
    "a number above 2**53": (put(2.0**60), EITHER),
    "bytes in column 2": (put(b"\xff", 1), EITHER),
    "an array instead": (lambda t: t.to_numpy(), REFUSED),
    "a dict of columns instead": (lambda t: t.to_dict("list"), REFUSED),
    "a Series instead": (lambda t: t.iloc[:, 0], REFUSED),
}
