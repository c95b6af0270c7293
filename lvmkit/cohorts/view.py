"""A cohort for a mixture: 0/1 rows in the order of its codes, titles, attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.weights import sample_weight, weight_column
from lvmkit.core.typing import Array


class CohortView:
    """Reads patients of a cohort in the shape an explorer needs."""

    def __init__(self, cohort: Any, *, binary: bool = True) -> None:
        if not all(hasattr(cohort, name) for name in ("X", "obs", "var", "var_names")):
            message = (
                f"The explorer needs a cohort (an AnnData table); found {type(cohort).__name__}. "
                "Make one with lvmkit.cohorts.from_wide, from_events or from_counts."
            )
            raise TypeError(message)
        if not cohort.n_obs or not cohort.n_vars:
            message = f"The cohort is empty: {cohort.n_obs} patients and {cohort.n_vars} codes."
            raise ValueError(message)
        self.cohort = cohort
        self.codes: list[str] = [str(code) for code in cohort.var_names]
        names = cohort.var["title"] if "title" in cohort.var else pd.Series(self.codes)
        self.titles: dict[str, str] = {
            code: str(title) for code, title in zip(self.codes, names, strict=True)
        }
        self._X = _binary(cohort.X) if binary else sparse.csr_matrix(cohort.X, dtype=np.float32)
        self.weighted_by = weight_column(cohort) or ""  # column of weights, "" without
        self._weights = sample_weight(cohort)
        self._matrices: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._rows: dict[str, npt.NDArray[np.intp]] = {}

    @property
    def n_patients(self) -> int:
        """Number of patients in the whole cohort."""
        return int(self.cohort.n_obs)

    @property
    def source(self) -> str:
        """Source of the cohort, as a heading."""
        told = self.cohort.uns.get("cohort", {})
        name = str(told.get("source", "")) if isinstance(told, Mapping) else ""
        return name[:1].upper() + name[1:] or "Cohort"

    def title(self, code: str) -> str:
        """Return the code with its plain name."""
        name = self.titles.get(code, "")
        return f"{code} {name}" if name and name != code else code

    def rows(self, subset: Subset) -> npt.NDArray[np.intp]:
        """Find the rows of a subset."""
        key = subset.code
        if key not in self._rows:
            _forget(self._rows)
            self._rows[key] = np.flatnonzero(subset.rows(self.cohort))
        return self._rows[key]

    def weights(self, subset: Subset) -> Array | None:
        """Return what the patients of a subset stand for (n,), if the cohort has weights."""
        return None if self._weights is None else self._weights[self.rows(subset)]

    def matrix(self, subset: Subset, codes: Sequence[str]) -> Any:
        """Return patients of a subset by some codes, (n, d)."""
        key = (subset.code, tuple(codes))
        if key not in self._matrices:
            _forget(self._matrices)
            rows = self.rows(subset)
            X = self._X if len(rows) == self.n_patients else self._X[rows]
            self._matrices[key] = _columns(X, self.codes, codes)
        return self._matrices[key]

    def differences(self, codes: Sequence[str]) -> str:
        """Say where the codes of a model and of the cohort differ."""
        missing, unused = len(set(codes) - set(self.codes)), len(set(self.codes) - set(codes))
        parts = []
        if missing:
            parts.append(f"{missing} codes of the model occur in nobody of this cohort.")
        if unused:
            parts.append(f"{unused} codes of the cohort are not part of the model.")
        return " ".join(parts)


def _binary(X: Any) -> Any:
    """Return present and absent as CSR of 0 and 1."""
    table = sparse.csr_matrix(X, dtype=np.float32, copy=True)
    table.data = (table.data > 0).astype(np.float32)
    table.eliminate_zeros()
    return table


def _columns(X: Any, have: Sequence[str], want: Sequence[str]) -> Any:
    """Take columns by name; a missing one is all zero."""
    if list(have) == list(want):
        return X
    place = pd.Index(have).get_indexer(pd.Index(want))
    if (place < 0).any():
        X = sparse.hstack([X, sparse.csr_matrix((X.shape[0], 1), dtype=X.dtype)], format="csr")
        place = np.where(place < 0, X.shape[1] - 1, place)
    return X[:, place].tocsr()


def _forget(cache: dict[Any, Any], keep: int = 3) -> None:
    """Drop the oldest entries so that memory stays bounded."""
    while len(cache) > keep:
        cache.pop(next(iter(cache)))
