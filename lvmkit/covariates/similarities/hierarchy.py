"""Similarity from a hierarchy of codes: shared category, block or chapter."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.cohorts import _tables
from lvmkit.cohorts._icd import category_of, spell, system_name
from lvmkit.core.arguments import checked
from lvmkit.core.validation import listed, require_number

LEVELS = ("chapter", "block", "category")


@checked()
def from_hierarchy(levels: Any, weights: Sequence[float] | None = None) -> sparse.csr_array:
    """Return the sum of the weights of the levels at which two covariates have the same label.

    Parameters
    ----------
    levels : DataFrame (d, levels), or sequence of array (d,)
        Labels of the covariates at each level, such as chapter and category. A missing label is shared by none.
    weights : sequence of float or None, default=None
        Weight of each level, at least 0. None weighs all alike, with a sum of 1.

    Returns
    -------
    csr_array (d, d)
        Similarities; 0 where no label is shared, and on the diagonal.

    Raises
    ------
    ValueError
        If levels differ in length, there are none, or weights do not fit them.

    Notes
    -----
    A similarity from an ontology, as Andrade 2021, section 2, suggests.

    Examples
    --------
    >>> from_hierarchy([["heart", "heart", "lung"], ["a", "a", None]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    labels = _labels(levels)
    shares = [1 / len(labels)] * len(labels) if weights is None else list(weights)
    if len(shares) != len(labels):
        msg = f"weights has {len(shares)} numbers for {len(labels)} levels; expected one for each"
        raise ValueError(msg)
    for weight in shares:
        require_number(weight, "weights", least=0)
    d = len(labels[0])
    similarity = sparse.csr_array((d, d), dtype=np.float64)
    for level, weight in zip(labels, shares, strict=True):
        codes, values = pd.factorize(level)
        known = np.flatnonzero(codes >= 0)
        ones = np.ones(len(known))
        members = sparse.csr_array((ones, (known, codes[known])), shape=(d, len(values)))
        similarity = similarity + weight * (members @ members.T)
    similarity = sparse.csr_array(similarity - sparse.diags_array(similarity.diagonal()))
    similarity.eliminate_zeros()
    return similarity


@checked()
def from_codes(
    codes: Any, system: str | None = None, *, weights: Sequence[float] | None = None
) -> sparse.csr_array:
    """Return how near diagnosis codes stand in ICD-9-CM or ICD-10-CM.

    Parameters
    ----------
    codes : AnnData, or iterable of str (d,)
        A cohort, or its codes. What is no code of its system, or not in the tables, is similar to nothing.
    system : {"icd9", "icd10"} or None, default=None
        Their coding system; None takes what the cohort says of each code.
    weights : sequence of 3 float or None, default=None
        Weight of a shared chapter, block and category; None weighs all alike, with a sum of 1. Codes of one category
        differ only if the cohort has full codes.

    Returns
    -------
    csr_array (d, d)
        Similarities; codes of different chapters, or systems, have 0.

    Raises
    ------
    ValueError
        If the system is not known, none of the codes is in its table, or weights are not three numbers of at least 0.

    Examples
    --------
    >>> from_codes(["428.0", "428.1", "427.31", "250.00"], "icd9").toarray().round(2)[0].tolist()
    [0.0, 1.0, 0.67, 0.0]
    """
    systems: Iterable[str]
    if hasattr(codes, "var_names"):
        table, codes = codes.var, codes.var_names
        systems = (
            table["system"] if system is None and "system" in table else [system or ""] * len(codes)
        )
    else:
        if not isinstance(codes, Iterable) or isinstance(codes, (str, bytes, Mapping)):
            msg = f"codes must be a cohort or a list of codes; found {type(codes).__name__}"
            raise TypeError(msg)
        codes = list(codes)
        systems = [system or ""] * len(codes)
    names = [system_name(str(each)) for each in systems]
    if not set(names) & set(_tables.SYSTEMS):
        msg = f"system={system!r} has no table, and the codes name none; expected 'icd9' or 'icd10'"
        raise ValueError(msg)
    places = [_place(str(code), name) for code, name in zip(codes, names, strict=True)]
    if not any(place[0] for place in places):
        msg = f"codes must be codes of {system or 'their systems'}, but none is in its table; found {listed(codes)}"
        raise ValueError(msg)
    return from_hierarchy(pd.DataFrame(places, columns=list(LEVELS), dtype=object), weights)


def _place(code: str, name: str) -> tuple[str | None, ...]:
    """Return chapter, block and category of a code, each with its system, or None for all."""
    if name in _tables.SYSTEMS:
        # Where a cohort mixes systems, its names are "system:code".
        spelled = spell(code.removeprefix(f"{name}:"), name).code
        category = category_of(spelled, name) if spelled else ""
        table = _tables.category_table(name)
        if category in table.index:
            row = table.loc[category]
            return tuple(f"{name} {label}" for label in (row["chapter"], row["block"], category))
    return (None,) * len(LEVELS)


def _labels(levels: Any) -> list[npt.NDArray[np.object_]]:
    """Return the labels of each level as an array of equal length."""
    if not isinstance(levels, (pd.DataFrame, list, tuple, np.ndarray)):
        msg = f"levels must be a DataFrame, or a list of labels for each level; found {type(levels).__name__}"
        raise TypeError(msg)
    columns = levels.to_numpy(dtype=object).T if isinstance(levels, pd.DataFrame) else levels
    labels = [np.asarray(column, dtype=object) for column in columns]
    if not labels or {level.ndim for level in labels} != {1} or len({*map(len, labels)}) > 1:
        msg = (
            f"levels has the shapes {[level.shape for level in labels]}; expected at least one level, each with one "
            "label for every covariate"
        )
        raise ValueError(msg)
    return labels
