"""Small multiples: panels below each other, each with a title, its own scale, and its extreme values in print."""

from collections.abc import Callable
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, y_pixels
from lvmkit.charts.theme import INK, NEUTRAL, PICKED, TEXT_SIZE

RIGHT, BELOW = 16, 44  # pixels: beside the panels, and below them for the axis that they share


class Panels(NamedTuple):
    """Panels by a column of their table; sizes in pixels."""

    by: str  # Column with the quantity of a row
    title: int  # The line above a panel
    panel: int
    gap: int = 14  # Below a panel
    rise: int = 1  # Of a title above the middle of its line

    def height(self, table: pd.DataFrame) -> int:
        """Height of all panels."""
        return int(table[self.by].nunique()) * (self.title + self.panel + self.gap)

    def with_positions(
        self,
        table: pd.DataFrame,
        *,
        spread: bool = False,
        zero: str | None = None,
        flat: float = 0.5,
    ) -> pd.DataFrame:
        """Add the top of each row's panel and the height of its value; with `spread` also those of low and high."""
        # The scale of the quantity `zero` starts at 0; a line whose values are all the same lies at `flat`.
        data = table.copy()
        data["top"] = (
            self.title + (self.title + self.panel + self.gap) * pd.factorize(data[self.by])[0]
        )
        columns = {"y": "value", **({"y_low": "low", "y_high": "high"} if spread else {})}
        groups = data.groupby(self.by, sort=False)
        low = groups["low" if spread else "value"].transform("min")
        high = groups["high" if spread else "value"].transform("max")
        low = low.where(data[self.by] != zero, 0.0)
        span = (high - low).where(high > low, 1.0)
        middle = np.where(high > low, 0.0, flat)
        for name, value in columns.items():
            data[name] = data["top"] + self.panel * (1 - middle - (data[value] - low) / span)
        return data

    def titles(
        self,
        data: pd.DataFrame,
        text: Callable[[str, pd.DataFrame], str],
        room: float,
    ) -> pd.DataFrame:
        """Return the title of each panel, at its height."""
        rows = [
            (
                float(part["top"].iloc[0]) - self.title / 2 - self.rise,
                fitted(text(str(name), part), room),
            )
            for name, part in data.groupby(self.by, sort=False)
        ]
        return pd.DataFrame(rows, columns=["y", "text_head"])

    def extremes(self, data: pd.DataFrame, number: Callable[[str, float], str]) -> pd.DataFrame:
        """Return the smallest and the largest value of each panel in print, at their heights."""
        rows = []
        for name, part in data.dropna(subset=["value"]).groupby(self.by, sort=False):
            ends = part.loc[[part["value"].idxmin(), part["value"].idxmax()]]
            ends = ends.drop_duplicates("value")
            shown = zip(ends["y"], ends["value"], strict=True)
            rows += [(y, number(str(name), value)) for y, value in shown]
        return pd.DataFrame(rows, columns=["y", "text_end"])

    def rules(self, rows: pd.DataFrame, x: alt.X, height: float, **look: Any) -> alt.Chart:
        """Draw an upright line through each row's panel."""
        axis: Any = x.to_dict()
        field = axis["field"]
        data = rows[[field, "top"]].assign(bottom=rows["top"] + self.panel)
        return drawn(data).mark_rule(**look).encode(x, y_pixels("top", height), alt.Y2("bottom:Q"))

    def spans(self, data: pd.DataFrame, x: alt.X, height: float) -> alt.Chart:
        """Shade what lies between low and high."""
        area = drawn(data.dropna(subset=["value"])).mark_area(
            color=PICKED, opacity=0.16, line=False
        )
        y, detail = y_pixels("y_low", height), alt.Detail(f"{self.by}:N")
        return area.encode(x, y, alt.Y2("y_high:Q"), detail)


def title_layer(titles: pd.DataFrame, height: float) -> alt.Chart:
    """Draw the titles of panels; needs y and text_head."""
    text = drawn(titles).mark_text(align="left", x=0, color=INK)
    return text.encode(y_pixels("y", height), alt.Text("text_head:N"))


def extremes_layer(extremes: pd.DataFrame, height: float) -> alt.Chart:
    """Draw extreme values left of their panels; needs y and text_end."""
    text = drawn(extremes).mark_text(align="right", x=-8, fontSize=TEXT_SIZE - 1, color=INK)
    return text.encode(y_pixels("y", height), alt.Text("text_end:N"))


def marked_points(rows: pd.DataFrame, x: alt.X, height: float) -> alt.Chart:
    """Draw rows as points of their own color and size."""
    points = drawn(rows).mark_point(filled=True, opacity=1)
    color = alt.Color("color:N", scale=None, legend=None)
    return points.encode(x, y_pixels("y", height), color, alt.Size("size:Q", scale=None))


def number_axis(
    numbers: pd.Series, title: str, *, field: str = "n_components", pad: float = 0.03, **look: Any
) -> alt.X:
    """Return the horizontal axis of the numbers that were tried; those that there is room for are named."""
    tried = sorted({int(number) for number in numbers})
    low, high = tried[0], tried[-1]
    room = max((high - low) * pad, 0.25)
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
    named = tried[:: -(-len(tried) // 16)]
    axis = alt.Axis(values=named, format="d", title=title, domain=False, grid=False, **look)
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def number_chart(
    panels: Panels,
    data: pd.DataFrame,
    title_of: Callable[[str, pd.DataFrame], str],
    number: Callable[[float], str],
    *,
    axis: dict[str, Any],
    width: int,
    spread: bool = False,
    **texts: str,
) -> alt.LayerChart:
    """Draw values against a number of components, the recommended one dashed; needs size and hover."""
    height = panels.height(data)
    extremes = panels.extremes(data, lambda _, value: number(value))
    left = margin(extremes["text_end"], width * 0.3, least=48)
    titles = panels.titles(data, title_of, width - left - RIGHT)
    x, y = number_axis(data["n_components"], **axis), y_pixels("y", height)
    base = drawn(data.dropna(subset=["value"]))
    lines = base.mark_line(color=PICKED, strokeWidth=1.5)
    dots = base.mark_point(filled=True, opacity=1, color=PICKED)
    tooltip = alt.Description("hover:N"), alt.Tooltip("hover:N", title=panels.by)
    chosen = data[data["recommended"]]
    return frame(
        [
            panels.rules(chosen, x, height, color=NEUTRAL, strokeDash=[4, 3]),
            title_layer(titles, height),
            extremes_layer(extremes, height),
            *([panels.spans(data, x, height)] if spread else []),
            lines.encode(x, y, alt.Detail(f"{panels.by}:N")),
            dots.encode(x, y, alt.Size("size:Q", scale=None), *tooltip),
        ],
        **texts,
        width=width,
        height=height,
        left=left,
        right=RIGHT,
        below=BELOW,
    )
