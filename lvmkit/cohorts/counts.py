"""Cohorts from an existing matrix of counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts._assemble import CohortOptions, assemble
from lvmkit.cohorts._cleaning_log import Repairs
from lvmkit.cohorts._entries import INEXACT, Tally
from lvmkit.cohorts._icd import FORMS, category_of, spell, system_name
from lvmkit.cohorts._options import check_titles
from lvmkit.cohorts.weights import declare, weight_column
from lvmkit.core.validation import as_numbers, check_source, listed, require_text, with_gaps

__all__ = ["from_counts"]

EXACT = 2**53
"""Smallest whole number from which floating point is not exact."""


def from_counts(
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    obs: pd.DataFrame | None = None,
    titles: Mapping[str, str] | None = None,
    system: str | None = None,
    level: str = "full",
    binary: bool = True,
    min_codes: int = 0,
    min_prevalence: float = 0.0,
    max_codes: int | None = None,
    weight: str | None = None,
) -> AnnData:
    """Make a cohort from a matrix of counts or of 0 and 1.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        Whole numbers of at least 0.
    feature_names : list of str (d,), optional
        Codes or words. A DataFrame's columns or an AnnData's var_names, else "0", "1", … if not given.
    obs : DataFrame (n rows), optional
        Row attributes; its index names the records. A DataFrame's index or an AnnData's obs, else "0",
        "1", … if not given.
    titles : mapping of str to str, optional
        Titles of features. The column title of an AnnData's var if not given.
    system : str, optional
        "icd9" or "icd10" to spell, title and shorten features as codes; "other" (also if not given)
        to take them as they are.
    level : {"full", "category"}, default="full"
        Keep codes whole, or add columns of the same category.
    binary : bool, default=True
        0/1 if True, else the counts, which must be below 2**24.
    min_codes : int, default=0
        Fewest different codes of a record that is kept.
    min_prevalence : float, default=0
        Least share of all records, in [0, 1], of a code that is kept; chosen before the records.
    max_codes : int, optional
        Keep the most frequent codes only, this many.
    weight : str, optional
        Column of `obs`: how many of the population a record stands for, as in surveys; see `sample_weight`. That of an
        AnnData with its own obs if not given.

    Returns
    -------
    AnnData
        As from `from_events`, records in the order given.

    Raises
    ------
    ValueError
        If a value is missing, negative, no whole number or too large, names do not fit the shape of `X`,
        weights are no numbers of 0 or more, or no code or record is left.

    Examples
    --------
    >>> cohort = from_counts([[0, 2], [1, 0]], feature_names=["428", "250"], system="icd9", binary=False)
    >>> cohort.to_df()
       250  428
    0  2.0  0.0
    1  0.0  1.0
    """
    repairs = Repairs()
    options = CohortOptions(level, binary, min_codes, min_prevalence, max_codes)
    options.check()
    check_titles(titles)
    require_text(system, "system", optional=True)
    require_text(weight, "weight", optional=True)
    if isinstance(X, AnnData):
        feature_names = X.var_names if feature_names is None else feature_names
        weight = weight_column(X) if weight is None and obs is None else weight
        obs = X.obs if obs is None else obs
        titles = X.var["title"].to_dict() if titles is None and "title" in X.var else titles
        X = X.to_memory().X if X.isbacked else X.X
        if X is None:
            msg = "X: the AnnData has no X; put the counts there or pass the matrix."
            raise ValueError(msg)
    X = check_source(X)
    shape = _shape(X)
    names = _names(X, feature_names, shape[1])
    rows = _rows(X, obs, shape[0])
    named = isinstance(X, pd.DataFrame) or feature_names is not None or obs is not None
    counts = _checked(X, (rows.index, names) if named else None)
    kind = "other" if system is None else system_name(system)
    if kind not in {"icd9", "icd10", "other"}:
        msg = f"system={system!r}; expected 'icd9', 'icd10' or 'other'."
        raise ValueError(msg)
    tallied = _merged(counts, rows, names, kind, level, repairs)
    cohort = assemble(
        tallied,
        rows,
        options,
        source=f"a matrix of {counts.shape[0]:,} × {counts.shape[1]:,}",
        n_input_rows=counts.shape[0],
        titles=titles,
        repairs=repairs,
    )
    repairs.announce()
    return declare(cohort, weight)


def _shape(X: Any) -> tuple[int, int]:
    """Return the number of records and features of a table."""
    shape = tuple(X.shape) if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or 0 in shape:
        msg = f"X must be a table of records × features; found shape {shape}."
        raise ValueError(msg)
    return shape


def _checked(X: Any, names: tuple[Any, Any] | None) -> sparse.csr_array:
    """Return the counts as sparse rows; refuse other values by place."""
    values = _numbers(X) if isinstance(X, pd.DataFrame) else X
    if not sparse.issparse(values):
        values = np.asarray(values)
    if values.dtype == object and not sparse.issparse(values):
        values = as_numbers(values, "X")
    if values.dtype.kind not in "buif":
        msg = f"X must hold numbers; found the type {values.dtype}."
        raise ValueError(msg)
    if values.dtype == np.float16 or not values.dtype.isnative:
        values = values.astype(np.float64)  # scipy has no sparse arrays of these
    # NaN is kept by the conversion, as it differs from 0
    found = sparse.coo_array(values).astype(np.float64)
    data = found.data
    wrong = np.flatnonzero(~np.isfinite(data) | (data < 0) | (data != np.floor(data)))
    if len(wrong):
        order = wrong[np.lexsort((found.col[wrong], found.row[wrong]))]
        cells = [f"{data[i]:g} {_place(found.row[i], found.col[i], names)}" for i in order[:5]]
        more = f" and {len(order) - 5:,} more" if len(order) > 5 else ""
        counted = "" if names else " (counted from 0)"
        msg = (
            f"X must hold whole numbers of at least 0; found {', '.join(cells)}{more}{counted}. "
            "Correct or leave out these rows."
        )
        raise ValueError(msg)
    large = np.flatnonzero(data >= EXACT)
    if len(large):
        at = large[0]
        msg = (
            f"X must hold whole numbers below {EXACT:,}, from which on they are not exact; found {data[at]:g} "
            f"{_place(found.row[at], found.col[at], names)}."
        )
        raise ValueError(msg)
    return found.tocsr()


def _place(row: int, column: int, names: tuple[Any, Any] | None) -> str:
    """Return the place of an entry, by names where there are any."""
    if names is None:
        return f"in row {row}, column {column}"
    return f"in row {names[0][row]!r}, column {names[1][column]!r}"


def _numbers(frame: pd.DataFrame) -> Any:
    """Return the numbers of a checked DataFrame of any types of columns, NaN where missing."""
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    if not all(numeric):  # categories and objects that are numbers
        frame = frame.copy(deep=False)
        for place in np.flatnonzero(~np.array(numeric)).tolist():
            column: Any = frame.iloc[:, [place]]
            found = with_gaps(column, rows=frame.index, columns=column.columns)
            frame.isetitem(place, found[:, 0])
    kinds = frame.dtypes.unique()
    if all(isinstance(kind, pd.SparseDtype) for kind in kinds):
        accessor: Any = frame.sparse
        return accessor.to_coo()
    if all(isinstance(kind, np.dtype) for kind in kinds):
        return frame.to_numpy()
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _names(X: Any, feature_names: Sequence[str] | None, d: int) -> list[str]:
    """Names of the columns; refuse repeated ones and a wrong number."""
    if feature_names is None:
        feature_names = list(X.columns if isinstance(X, pd.DataFrame) else map(str, range(d)))
    if isinstance(feature_names, str) or not isinstance(feature_names, Iterable):
        msg = f"feature_names must be a list of names; found {feature_names!r} ({type(feature_names).__name__})."
        raise TypeError(msg)
    names = [str(name).strip() for name in feature_names]
    if len(names) != d:
        msg = f"feature_names has {len(names):,} names for {d:,} columns of X."
        raise ValueError(msg)
    if "" in names:
        msg = f"feature_names: column {names.index('')} of X (counted from 0) is named ''; give it a name."
        raise ValueError(msg)
    repeated = sorted(name for name, n in Counter(names).items() if n > 1)
    if repeated:
        msg = f"feature_names repeats {listed(repeated)}; give each column its own name."
        raise ValueError(msg)
    return names


def _rows(X: Any, obs: pd.DataFrame | None, n: int) -> pd.DataFrame:
    """Attributes of the rows, indexed by the text of the record's id."""
    if obs is None:
        index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(n)
        obs = pd.DataFrame(index=index)
    if not isinstance(obs, pd.DataFrame):
        msg = f"obs must be a DataFrame of one row per record; found {type(obs).__name__}."
        raise TypeError(msg)
    if len(obs) != n:
        msg = f"obs has {len(obs):,} rows for {n:,} rows of X."
        raise ValueError(msg)
    rows = obs.set_axis(pd.Index([str(key) for key in obs.index], dtype=object))
    repeated = rows.index[rows.index.duplicated()].unique()
    if len(repeated):
        msg = f"obs repeats the record ids {listed(repeated.tolist())}; give each row its own."
        raise ValueError(msg)
    return rows


def _merged(
    counts: sparse.csr_array,
    rows: pd.DataFrame,
    names: list[str],
    system: str,
    level: str,
    repairs: Repairs,
) -> Tally:
    """Spell the names as codes of their system and add columns that mean the same."""
    spelled = [spell(name, system) for name in names]
    wrong = [name for name, s in zip(names, spelled, strict=True) if not s.code]
    if wrong and system in FORMS:
        msg = f"feature_names: {listed(wrong)} are no {system} codes; leave them out or pass system='other'."
        raise ValueError(msg)
    padded = [f"{n} → {s.code}" for n, s in zip(names, spelled, strict=True) if s.padded]
    if padded:
        repairs.tell(f"feature_names have lost leading zeros: restored in {', '.join(padded[:5])}.")
    codes = [category_of(s.code, system) if level == "category" else s.code for s in spelled]
    unique, column = np.unique(codes, return_inverse=True)
    merge = sparse.csr_array(
        (np.ones(len(codes)), (np.arange(len(codes)), column)), shape=(len(codes), len(unique))
    )
    features = pd.DataFrame({"system": system, "code": unique})
    merged = sparse.csr_array(counts @ merge)
    merged.data = merged.data.clip(max=INEXACT)
    merged.eliminate_zeros()
    return Tally(merged.astype(np.float32), rows.index.to_numpy(), features)
