"""Tab of patient attributes by cluster: age, sex, stay, and any other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import attributes_chart, attributes_table, svg
from lvmkit.cohorts.subset import level_attributes, numeric_attributes
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Picture, Text

FIRST = ("age", "sex", "stay", "days_of_care", "length_of_stay", "time_in_hospital")
UNITS = {"age": "years", "stay": "days", "days_of_care": "days", "length_of_stay": "days"}
TRUTH = "planted"  # the state a simulated record was drawn from
SHOWN = 3  # attributes drawn without being asked for


class AttributesTab(ClusterTab):
    """One picture per attribute, and a choice of further ones."""

    title: ClassVar[str] = "Who they are"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.pictures = {f"attribute{i}": Picture() for i in range(SHOWN)}
        self.further = Form(inline=True)
        self.extra = Picture()
        self.nothing = Text(
            text="The cohort has no attributes such as age or sex. Name their columns when the "
            "cohort is made: from_wide(..., attributes=[...])."
        )
        self.components = {
            "no_attributes": self.nothing,
            **self.pictures,
            "other_attribute": self.further,
            "attribute_more": self.extra,
        }
        self.layout = [
            "no_attributes",
            {"row": ["attribute0", "attribute1"]},
            {"row": ["attribute2", ["other_attribute", "attribute_more"]]},
        ]

    def attach(self, state: ExplorerState) -> None:
        """Follow another state from now on."""
        super().attach(state)
        weight = state.patients.weighted_by
        shown = attributes_to_show(state.patients.cohort.obs)
        self.names = [name for name in shown if name != weight]
        self.nothing.visible = not self.names
        self.further.visible = self.extra.visible = len(self.names) > SHOWN
        for i, picture in enumerate(self.pictures.values()):
            picture.visible = i < len(self.names)

    def refresh(self) -> None:
        """Show the state as it is now."""
        for name, picture in zip(self.names, self.pictures.values(), strict=False):
            self._draw(picture, name)
        if len(self.names) > SHOWN:
            options = [[name, column_title(name)] for name in self.names[SHOWN:]]
            self.further.controls = [
                {
                    "name": "attribute",
                    "kind": "select",
                    "label": "Another attribute",
                    "options": options,
                }
            ]
            name = self.further.values.get("attribute")
            name = name if name in self.names else self.names[SHOWN]
            self.further.values = {"attribute": name}
            self._draw(self.extra, name)

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("other_attribute", "values", self._choose)
        for name in (*self.pictures, "attribute_more"):
            board.listen(name, "pick", self.pick)

    def _choose(self, values: dict[str, Any]) -> None:
        """Draw the attribute that is asked for."""
        if values.get("attribute") in self.names:
            self._draw(self.extra, values["attribute"])

    def _draw(self, picture: Picture, name: str) -> None:
        """Draw one attribute."""
        state = self.state
        hidden = state.threshold if state.hide_small else None
        if not self.changed(
            str(picture.name), name, state.assignment, state.counts().names, hidden
        ):
            return
        values = state.patients.cohort.obs[name].iloc[state.assignment.rows]
        numeric = name in numeric_attributes(values.to_frame())
        table = attributes_table(
            values if numeric else values.astype(str),
            state.assignment.labels,
            clusters=self._known(),
            names=dict(zip(state.clustering.ids, state.counts().names, strict=True)),
            suppress_below=hidden,
            sample_weight=state.weights,
        )
        chart = attributes_chart(
            table, title=column_title(name), unit=UNITS.get(name, ""), width=430
        )
        picture.param.update(
            svg=svg(chart),
            title=column_title(name),
            alt=f"{column_title(name)} of the patients by cluster.",
            download=f"clusters-by-{name}",
        )

    def _known(self) -> list[int]:
        """List clusters whose size is not hidden: the patients of the others would tell it."""
        counts = self.state.counts()
        return [int(id) for id, n in zip(counts.clusters, counts.sizes, strict=True) if n == n]


def attributes_to_show(obs: pd.DataFrame) -> list[str]:
    """List the attributes that can be drawn, age, sex and stay first."""
    names = [n for n in (*numeric_attributes(obs), *level_attributes(obs)) if n != TRUTH]
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def attributes_text(record: pd.Series[Any], names: Iterable[str]) -> str:
    """Write attributes of a patient; a dash for one that is missing, nothing where all are."""
    texts = [_attribute_text(record[name]) for name in names]
    return ", ".join(text or "–" for text in texts) if any(texts) else ""


def _attribute_text(value: Any) -> str:
    """Write an attribute; nothing where it is missing."""
    if value is None or (not isinstance(value, str) and bool(pd.isna(value))):
        return ""
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def column_title(name: str) -> str:
    """Write the name of a column as words."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
