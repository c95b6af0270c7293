"""Patients and their counts, from a cohort, a tensor or an array."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import anndata
import numpy as np
import pandas as pd
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.typing import Labels
from lvmkit.sustain.phenotypes import Phenotypes, codes_of
from lvmkit.sustain.unfolding import Unfolded

Cells = tuple[tuple[Labels, ...], Labels]


class CountCohort:
    """Rows of counts, with ids, attributes and titles where they are known."""

    def __init__(self, cohort: Any, *, name: str = "") -> None:
        self.cohort = cohort
        self.is_tensor = hasattr(cohort, "counts") and hasattr(cohort, "modes")
        self.is_table = hasattr(cohort, "var_names") and hasattr(cohort, "obs")
        shape = getattr(cohort, "shape", ())
        if len(shape) < 2:
            message = (
                "ScoreCards needs a cohort, patients by codes: an AnnData table, a CountTensor, or an array of two "
                f"axes or more; found {type(cohort).__name__}."
            )
            raise TypeError(message)
        if not all(shape):
            size = " × ".join(map(str, shape))
            message = f"The cohort is empty: {size}; pass one with patients and codes."
            raise ValueError(message)
        self.shape: tuple[int, ...] = tuple(map(int, shape))
        self.name = name or self._source()

    def __len__(self) -> int:
        """Return the number of patients."""
        return self.shape[0]

    @cached_property
    def obs(self) -> pd.DataFrame:
        """Attributes of the patients; the index holds their ids."""
        if self.is_table:
            return self.cohort.obs
        if self.is_tensor:
            return self.cohort.labels[0]
        index = self.cohort.index if isinstance(self.cohort, pd.DataFrame) else range(len(self))
        return pd.DataFrame(index=pd.Index([str(i) for i in index], dtype=object))

    @cached_property
    def counts(self) -> Any:
        """The counts without names: sparse or dense, of any order."""
        if self.is_table:
            return self.cohort.to_memory().X if self.cohort.isbacked else self.cohort.X
        if isinstance(self.cohort, pd.DataFrame):
            return self.cohort.to_numpy()
        return self.cohort.counts if self.is_tensor else self.cohort

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """What each code of a table is, where it has codes of several kinds, as from `CountTensor.cohort`."""
        if not self.is_table or "mode" not in self.cohort.var:
            return ()
        return tuple(map(str, self.cohort.var["mode"]))

    @cached_property
    def titles(self) -> list[Mapping[str, str]]:
        """What the codes of each mode of features mean."""
        tables = self.cohort.labels[1:] if self.is_tensor else []
        tables = [self.cohort.var] if self.is_table else tables
        return [
            {str(code): str(title) for code, title in table["title"].items() if title == title}
            if "title" in table
            else {}
            for table in tables
        ]

    @cached_property
    def words(self) -> list[tuple[str, ...]]:
        """Codes of each mode of features; none where there are no names."""
        if self.is_tensor:
            return [tuple(map(str, table.index)) for table in self.cohort.labels[1:]]
        if self.is_table:
            return [tuple(map(str, self.cohort.var_names))]
        named = isinstance(self.cohort, pd.DataFrame)
        return [tuple(map(str, self.cohort.columns))] if named else []

    def left_out(self, phenotypes: Phenotypes, row_name: str) -> str:
        """Say what a model leaves out of the patients, and whether it was fitted to others."""
        told = []
        for words, mode in zip(self.words, phenotypes.modes, strict=False):
            unknown = len(set(words) - set(mode.codes))
            absent = len(set(mode.codes) - set(words))
            if unknown:
                told.append(
                    f"{unknown:,} of the cohort's {len(words):,} codes are unknown to the model and left out."
                )
            if absent:
                told.append(
                    f"{absent:,} of the model's {len(mode.codes):,} do not occur in the cohort."
                )
        n = len(phenotypes.fitted_scores)
        if n != len(self):
            fitted = f"{n:,} {row_name}" if n else f"{row_name} that are not stored with it"
            told.append(
                f"The model was fitted to {fitted}; the {len(self):,} of this cohort were scored with its phenotypes."
            )
        return " ".join(told)

    def row_of(self, text: str) -> int:
        """Return the row of a patient by id or number."""
        typed = text.strip()
        found = np.flatnonzero(self.obs.index.astype(str) == typed)
        if len(found):
            return int(found[0])
        number = typed.lower().removeprefix("row").strip().replace(",", "")
        if number.isdecimal() and 1 <= int(number) <= len(self):
            return int(number) - 1
        message = f"There is no patient “{typed}”: type an id of the cohort, or a row from 1 to {len(self):,}."
        raise ValueError(message)

    def cells(self, row: int, phenotypes: Phenotypes) -> Cells:
        """Return the nonzero cells of a patient, largest counts first."""
        places, counts = self._entries(row)
        kept = np.ones(len(counts), dtype=bool)
        known = []
        for found, order in zip(places, self._orders(phenotypes), strict=True):
            known.append(found if order is None else order[found])
            kept &= known[-1] >= 0
        order = np.flatnonzero(kept)[np.argsort(-counts[kept], kind="stable")]
        return tuple(place[order] for place in known), counts[order]

    def table(self, phenotypes: Phenotypes) -> Any:
        """Return the patients as a cohort of one mode, for other dashboards."""
        if self.is_table:
            return self.cohort
        if self.is_tensor:
            return self.cohort.cohort()
        if len(self.shape) > 2:
            message = (
                "An array of more than two axes cannot be explored as clusters: pass a CountTensor, "
                "which knows what its axes are."
            )
            raise ValueError(message)
        var = pd.DataFrame(index=pd.Index(phenotypes.modes[0].codes, dtype=object))
        return anndata.AnnData(self._rows_of_counts, obs=self.obs, var=var)

    @cached_property
    def _rows_of_counts(self) -> Any:
        """The counts as sparse rows, where there are two axes."""
        return sparse.csr_array(self.counts)

    @cached_property
    def _tensor(self) -> Any:
        """The counts by coordinates, and the order that sorts them by patient."""
        counts = sparse.coo_array(self.counts)
        rows = counts.coords[0]
        order = None if (np.diff(rows) >= 0).all() else np.argsort(rows, kind="stable")
        return counts, rows if order is None else rows[order], order

    def _entries(self, row: int) -> Cells:
        """Find the non-zero counts of a patient, by the places of this cohort."""
        if len(self.shape) == 2:
            line = self._rows_of_counts
            part = slice(line.indptr[row], line.indptr[row + 1])
            found, values = line.indices[part], line.data[part]
            return (found[values != 0],), values[values != 0]
        counts, rows, order = self._tensor
        part = slice(*np.searchsorted(rows, [row, row + 1]))
        places = part if order is None else order[part]
        return tuple(axis[places] for axis in counts.coords[1:]), counts.data[places]

    def _orders(self, phenotypes: Phenotypes) -> list[Labels | None]:
        """Where each code of the cohort stands in the model; -1 where it does not; None where all agree."""
        words = self.words or [mode.codes for mode in phenotypes.modes]
        return [
            None
            if codes == mode.codes
            else np.array([mode.place.get(code, -1) for code in codes], dtype=np.intp)
            for codes, mode in zip(words, phenotypes.modes, strict=True)
        ]

    def _source(self) -> str:
        """Return the name of the source, if the cohort has one."""
        told = getattr(self.cohort, "source", "") if self.is_tensor else ""
        if self.is_table:
            noted = self.cohort.uns.get("cohort", {})
            told = noted.get("source", "") if isinstance(noted, Mapping) else ""
        return str(told or "")


def is_fitted_to(model: Any, people: CountCohort) -> bool:
    """Tell whether a model was fitted to these patients, so that it knows their scores."""
    if tuple(len(factor) for factor in model.factors_) != people.shape:
        return False
    known = [codes_of(model, m, size) for m, size in enumerate(people.shape) if m]
    if people.words and people.words != known:
        return False
    kept = getattr(model, "data_fingerprint_", None)
    return kept is None or kept == features.fingerprint(Unfolded.of(people.counts).rows)
