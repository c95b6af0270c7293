"""Tab of patient attributes by cluster: age, sex, stay, and any other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import pandas as pd

from lvmkit.charts import attributes_chart, attributes_table, svg
from lvmkit.cohorts.corpus import value_text
from lvmkit.cohorts.subset import level_attributes, numeric_attributes
from lvmkit.mixtures.assignment import Assignment
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.controls import column, select
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Picture, Text

FIRST = ("age", "sex", "stay", "days_of_care", "length_of_stay", "time_in_hospital", "cluster")
UNITS = {"age": "years", "stay": "days", "days_of_care": "days", "length_of_stay": "days"}
TRUTH = "planted"  # the state a simulated record was drawn from
SHOWN = 3  # attributes drawn without being asked for


class AttributesTab(Tab[ExplorerState]):
    """One picture per attribute, and a choice of further ones."""

    title: ClassVar[str] = "Who they are"

    def __init__(self) -> None:
        super().__init__()
        nothing = Text(
            text="The cohort has no attributes such as age or sex. Name their columns when the "
            "cohort is made: from_wide(..., attributes=[...])."
        )
        pictures = {f"attribute{i}": Picture() for i in range(SHOWN)}
        self.components = {
            "no_attributes": nothing,
            **pictures,
            "other_attribute": Form(inline=True),
            "attribute_more": Picture(),
        }
        self.layout = [
            "no_attributes",
            {"row": ["attribute0", "attribute1"]},
            {"row": ["attribute2", ["other_attribute", "attribute_more"]]},
        ]
        self.events = {
            "other_attribute.values": lambda state, values: state.replace(
                attribute=str(values.get("attribute") or "")
            ),
            **{f"{name}.pick": ExplorerState.pick_mark for name in (*pictures, "attribute_more")},
        }

    def picks(self, state: ExplorerState) -> Fields:
        """Show what there is."""
        names = drawn_attributes(state)
        there = {f"attribute{i}": i < len(names) for i in range(SHOWN)}
        more = len(names) > SHOWN
        shown = {"no_attributes": not names, "other_attribute": more, "attribute_more": more}
        return {name: {"visible": visible} for name, visible in (there | shown).items()}

    def fields(self, state: ExplorerState) -> Fields:
        """Draw the attributes, and the further one that is chosen."""
        names, a, counts = drawn_attributes(state), state.assignment, state.counts()
        shown: dict[str, Any] = {
            f"attribute{i}": attribute_fields(state, name, a, counts)
            for i, name in enumerate(names[:SHOWN])
        }
        if len(names) > SHOWN:
            further = state.attribute if state.attribute in names else names[SHOWN]
            options = [[name, column_title(name)] for name in names[SHOWN:]]
            control = select("attribute", "Another attribute", options)
            shown["other_attribute"] = {"controls": [control], "values": {"attribute": further}}
            shown["attribute_more"] = attribute_fields(state, further, a, counts)
        return shown


@remembered
def drawn_attributes(state: ExplorerState) -> list[str]:
    """List the attributes of the cohort that can be drawn; what a record stands for is none."""
    weight = state.patients.weighted_by
    return [name for name in attributes_to_show(state.patients.cohort.obs) if name != weight]


@remembered
def attribute_fields(
    state: ExplorerState, name: str, a: Assignment, counts: CodeCounts
) -> dict[str, Any]:
    """Draw one attribute."""
    values = state.patients.cohort.obs[name].iloc[a.rows]
    numeric = name in numeric_attributes(values.to_frame())
    # clusters whose size is not hidden: the patients of the others would tell it
    known = [int(id) for id, n in zip(counts.clusters, counts.sizes, strict=True) if n == n]
    table = attributes_table(
        values if numeric else values.astype(str),
        a.labels,
        clusters=known,
        names=dict(zip(state.clustering.ids, counts.names, strict=True)),
        suppress_below=state.disclosure.level or None,
        sample_weight=state.weights,
    )
    title = column_title(name)
    chart = attributes_chart(table, title=title, unit=UNITS.get(name, ""), width=430)
    return {
        "svg": svg(chart),
        "title": title,
        "alt": f"{title} of the patients by cluster.",
        "download": f"clusters-by-{name}",
    }


def attributes_to_show(obs: pd.DataFrame) -> list[str]:
    """List the attributes that can be drawn, age, sex and stay first."""
    names = [n for n in (*numeric_attributes(obs), *level_attributes(obs)) if n != TRUTH]
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def attributes_text(record: pd.Series[Any], names: Iterable[str]) -> str:
    """Write attributes of a patient; a dash for one that is missing, nothing where all are."""
    texts = [value_text(record[name]) for name in names]
    return ", ".join(text or "–" for text in texts) if any(texts) else ""


def who(obs: pd.DataFrame, row: int) -> str:
    """Write the attributes of a patient that lists show, as `attributes_text` does."""
    return attributes_text(obs.iloc[row], [name for name in FIRST if name in obs])


def who_columns(obs: pd.DataFrame) -> list[dict[str, Any]]:
    """Describe the column of these attributes, where there are any."""
    shown = [column_title(name) for name in FIRST if name in obs]
    return [column("who", ", ".join(shown))] if shown else []


def column_title(name: str) -> str:
    """Write the name of a column as words."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
