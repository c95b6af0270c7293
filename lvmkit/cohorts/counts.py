"""Cohorts from a matrix of counts that already exists."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit._checks import check_source, listed
from lvmkit.cohorts._assemble import Options, assemble
from lvmkit.cohorts._coding import FORMS, category_of, spell, system_name
from lvmkit.cohorts._entries import INEXACT, Tally
from lvmkit.cohorts._repairs import Repairs

__all__ = ["from_counts"]


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

    Returns
    -------
    AnnData
        As from `from_events`, records in the order given.

    Raises
    ------
    ValueError
        If a value is missing, negative, no whole number or too large, names do not fit the shape of `X`, or
        no code or record is left.

    Examples
    --------
    >>> cohort = from_counts([[0, 2], [1, 0]], feature_names=["428", "250"], system="icd9", binary=False)
    >>> cohort.to_df()
       250  428
    0  2.0  0.0
    1  0.0  1.0
    """
    repairs = Repairs()
    options = Options(level, binary, min_codes, min_prevalence, max_codes)
    options.check()
    if isinstance(X, AnnData):
        feature_names = X.var_names if feature_names is None else feature_names
        obs = X.obs if obs is None else obs
        titles = X.var["title"].to_dict() if titles is None and "title" in X.var else titles
        X = X.to_memory().X if X.isbacked else X.X
        if X is None:
            msg = "X: the AnnData has no X; put the counts there or pass the matrix."
            raise ValueError(msg)
    counts = _checked(X)
    names = _names(X, feature_names, counts.shape[1])
    rows = _rows(X, obs, counts.shape[0])
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
    return cohort


def _checked(X: Any) -> sparse.csr_array:
    """Return the counts as sparse rows; refuse what is no count, naming its place."""
    X = check_source(X)
    values = X.to_numpy() if isinstance(X, pd.DataFrame) else X
    if not sparse.issparse(values):
        values = np.asarray(values)
    if values.ndim != 2 or 0 in values.shape:
        msg = f"X must be a table of records × features; found shape {tuple(values.shape)}."
        raise ValueError(msg)
    if values.dtype.kind not in "buif":
        msg = f"X must hold numbers; found the type {values.dtype}."
        raise ValueError(msg)
    # NaN is kept by the conversion, as it differs from 0
    found = sparse.coo_array(values).astype(np.float64)
    data = found.data
    wrong = np.flatnonzero(~np.isfinite(data) | (data < 0) | (data != np.floor(data)))
    if len(wrong):
        order = wrong[np.lexsort((found.col[wrong], found.row[wrong]))]
        cells = [f"{data[i]:g} in row {found.row[i]}, column {found.col[i]}" for i in order[:5]]
        more = f" and {len(order) - 5:,} more" if len(order) > 5 else ""
        msg = (
            f"X must hold whole numbers of at least 0; found {', '.join(cells)}{more} (counted from 0). "
            "Correct or leave out these rows."
        )
        raise ValueError(msg)
    return found.tocsr()


def _names(X: Any, feature_names: Sequence[str] | None, d: int) -> list[str]:
    """Names of the columns; refuse repeated ones and a wrong number."""
    if feature_names is None:
        feature_names = list(X.columns if isinstance(X, pd.DataFrame) else map(str, range(d)))
    names = [str(name).strip() for name in feature_names]
    if len(names) != d:
        msg = f"feature_names has {len(names):,} names for {d:,} columns of X."
        raise ValueError(msg)
    repeated = (
        sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < d else []
    )
    if repeated:
        msg = f"feature_names repeats {listed(repeated)}; give each column its own name."
        raise ValueError(msg)
    return names


def _rows(X: Any, obs: pd.DataFrame | None, n: int) -> pd.DataFrame:
    """Attributes of the rows, indexed by the text of the record's id."""
    if obs is None:
        index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(n)
        obs = pd.DataFrame(index=index)
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
