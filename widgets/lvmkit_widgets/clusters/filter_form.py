"""Controls that choose patients by attributes and codes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lvmkit.cohorts.subset import Subset, level_attributes
from lvmkit_widgets.clusters.attributes_tab import attributes_to_show, column_title
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.state import remembered

MOST_ATTRIBUTES = 4  # of each kind that are offered


class FilterForm:
    """Controls for attributes and codes of a cohort."""

    def __init__(self, state: ExplorerState) -> None:
        # What a record stands for is no attribute of a patient.
        obs = state.patients.cohort.obs.drop(columns=state.patients.weighted_by, errors="ignore")
        self._patients = state.patients
        names, levels = attributes_to_show(obs), level_attributes(obs)
        numeric = [name for name in names if name not in levels][:MOST_ATTRIBUTES]
        self._numeric = {name: _bounds(obs[name]) for name in numeric}
        text = [name for name in names if name in levels][:MOST_ATTRIBUTES]
        self._levels = {name: levels[name] for name in text}

    def controls(self) -> list[dict[str, Any]]:
        """Return the controls."""
        found: list[dict[str, Any]] = []
        for name, (low, high) in self._numeric.items():
            limits = {"kind": "number", "min": low, "max": high}
            found += [
                {"name": f"{end}_{name}", "label": f"{column_title(name)} {end}", **limits}
                for end in ("from", "to")
            ]
        for name, levels in self._levels.items():
            control = {"name": f"level_{name}", "kind": "multiselect", "label": column_title(name)}
            found.append({**control, "options": levels, "placeholder": "any"})
        return [*found, *self._code_controls()]

    def _code_controls(self) -> list[dict[str, Any]]:
        """Return the controls that choose by code."""
        patients = self._patients
        options = [[code, patients.title(code)] for code in patients.codes]
        asked = {
            "having": "Only patients with (all of)",
            "lacking": "Only patients without (any of)",
            "excluded": "Codes left out of the fit",
        }
        return [
            {"name": name, "kind": "multiselect", "label": label, "options": options}
            for name, label in asked.items()
        ]

    def values(self, state: ExplorerState) -> dict[str, Any]:
        """Return what the controls show for the choice in the state."""
        subset = state.subset
        found: dict[str, Any] = {}
        for name, full in self._numeric.items():
            found[f"from_{name}"], found[f"to_{name}"] = subset.ranges.get(name, full)
        for name in self._levels:
            found[f"level_{name}"] = list(subset.values.get(name, ()))
        found |= {"having": list(subset.having), "lacking": list(subset.lacking)}
        return found | {"excluded": list(state.excluded)}

    def subset(self, values: dict[str, Any]) -> Subset:
        """Return the choice that controls mean."""
        ranges = {}
        for name, full in self._numeric.items():
            asked = (values.get(f"from_{name}"), values.get(f"to_{name}"))
            low, high = (
                end if value is None else value for end, value in zip(full, asked, strict=True)
            )
            if (low, high) != full:
                ranges[name] = (low, high)
        chosen = {name: tuple(values.get(f"level_{name}") or ()) for name in self._levels}
        return Subset(
            ranges=ranges,
            values={name: levels for name, levels in chosen.items() if levels},
            having=tuple(values.get("having") or ()),
            lacking=tuple(values.get("lacking") or ()),
        )


@remembered
def filter_form(state: ExplorerState) -> FilterForm:
    """Return the controls for the cohort of a state."""
    return FilterForm(state)


def _bounds(values: pd.Series[Any]) -> tuple[float, float]:
    """Smallest and largest value, as whole numbers where they are."""
    low, high = float(values.min()), float(values.max())
    if low.is_integer() and high.is_integer():
        return int(low), int(high)
    return low, high
