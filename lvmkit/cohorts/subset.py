"""Subsets of a cohort by attributes and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST_LEVELS = 12  # a text attribute with more values is not offered as a choice


@dataclass(frozen=True)
class Subset:
    """A choice of patients; every condition must hold."""

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    having: Sequence[str] = ()  # Codes that a patient must have, or must not have
    lacking: Sequence[str] = ()  # Codes that a patient must have, or must not have

    @property
    def text(self) -> str:
        """The choice in words."""
        parts = [f"{name} {low:g} to {high:g}" for name, (low, high) in self.ranges.items()]
        parts += [f"{name} {' or '.join(values)}" for name, values in self.values.items()]
        parts += [f"with {code}" for code in self.having]
        parts += [f"without {code}" for code in self.lacking]
        return ", ".join(parts) or "all patients"

    @property
    def code(self) -> str:
        """Python that makes the choice."""
        given = {
            "ranges": dict(self.ranges),
            "values": {name: tuple(values) for name, values in self.values.items()},
            "having": tuple(self.having),
            "lacking": tuple(self.lacking),
        }
        return f"Subset({', '.join(f'{name}={value!r}' for name, value in given.items() if value)})"

    def rows(self, cohort: Any) -> npt.NDArray[np.bool_]:
        """Find the patients, (n,)."""
        chosen = np.ones(cohort.n_obs, dtype=bool)
        for name, (low, high) in self.ranges.items():
            numbers = pd.to_numeric(_attribute(cohort, name), errors="coerce").to_numpy(float)
            chosen &= (numbers >= low) & (numbers <= high)
        for name, values in self.values.items():
            chosen &= _attribute(cohort, name).astype(str).isin(list(values)).to_numpy(bool)
        for codes, present in ((self.having, True), (self.lacking, False)):
            for code in codes:
                chosen &= _has(cohort, code) == present
        if not chosen.any():
            message = f"Nobody in the cohort fits this choice: {self.text}. Widen it."
            raise ValueError(message)
        return chosen


def numeric_attributes(obs: pd.DataFrame) -> list[str]:
    """List the attributes that have a range."""
    names = obs.select_dtypes("number").columns
    return [str(name) for name in names if obs[name].nunique() > 1]


def level_attributes(obs: pd.DataFrame) -> dict[str, list[str]]:
    """List the attributes that have a few values."""
    found = {}
    for name in obs.columns.difference(obs.select_dtypes("number").columns, sort=False):
        levels = obs[name].astype(str).value_counts()
        if 2 <= len(levels) <= MOST_LEVELS:
            found[str(name)] = [str(level) for level in levels.index]
    return found


def _attribute(cohort: Any, name: str) -> pd.Series[Any]:
    """Return one attribute of the patients."""
    if name not in cohort.obs:
        known = ", ".join(map(str, cohort.obs.columns[:8])) or "none"
        message = f"The cohort has no attribute “{name}”; it has {known}."
        raise ValueError(message)
    return cohort.obs[name]


def _has(cohort: Any, code: str) -> npt.NDArray[np.bool_]:
    """Return which patients have a code."""
    if code not in cohort.var_names:
        message = f"No patient of the cohort has the code “{code}”; check how it is written."
        raise ValueError(message)
    column = cohort.X[:, [cohort.var_names.get_loc(code)]]
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return np.asarray(dense.ravel() > 0)
