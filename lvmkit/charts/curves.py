"""A quantity against another, one line per method, with the spread of repeats."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import ROW, drawn, frame, margin, series_legend
from lvmkit.charts.theme import CATEGORIES, SHAPES
from lvmkit.core.arguments import checked
from lvmkit.core.validation import as_finite, require_columns

MOST_SERIES = 2 * len(CATEGORIES)
"""Every hue comes twice, the second time dashed and with points of another shape."""
_MANY = 40  # more places than this are drawn as a line without points
_LEFT = 66  # pixels: the margin of the vertical axis


@checked()
def curves_table(
    x: Sequence[float] | npt.NDArray[Any],
    values: Mapping[str, npt.ArrayLike],
    *,
    middle: Literal["mean", "median"] = "median",
) -> pd.DataFrame:
    """Tabulate a quantity measured at several places, once or repeatedly, by several methods.

    Parameters
    ----------
    x : array (m,)
        Places: sizes of samples, angles, numbers of states.
    values : mapping of str to array (m,) or (m, repeats)
        What was measured at each place, by name of the series.
    middle : {"mean", "median"}, default="median"
        What stands for repeats: their median, between their quartiles, or their mean, one standard
        deviation down and up.

    Returns
    -------
    DataFrame
        x, y, series, low, high; series follow each other in their order, each by `x`. Of single
        measurements low = high = y.

    Raises
    ------
    ValueError
        If a series does not have one row of finite numbers for each place, or `middle` is unknown.

    Examples
    --------
    >>> curves_table([10, 20], {"ours": [[2, 4, 6], [1, 2, 3]]})
        x    y series  low  high
    0  10  4.0   ours  3.0   5.0
    1  20  2.0   ours  1.5   2.5
    """
    if middle not in ("mean", "median"):
        msg = f"middle={middle!r}; expected 'mean' or 'median'"
        raise ValueError(msg)
    as_finite(x, "x", 1)
    places = np.asarray(x)
    order = np.argsort(places, kind="stable")
    parts = []
    for series, given in values.items():
        found = np.asarray(given, dtype=float)
        if found.ndim == 1:
            found = found[:, None]
        if found.ndim != 2 or len(found) != len(places) or not found.size:
            msg = (
                f"values[{series!r}] needs one row for each of the {len(places)} places of x; "
                f"found shape {np.shape(given)}"
            )
            raise ValueError(msg)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            msg = f"values[{series!r}] must be finite; found {found[row].tolist()[:5]} at x={places[row]}"
            raise ValueError(msg)
        low, y, high = _summary(found[order], middle)
        part = {"x": places[order], "y": y, "series": str(series), "low": low, "high": high}
        parts.append(pd.DataFrame(part))
    empty = pd.DataFrame(columns=["x", "y", "series", "low", "high"])
    return pd.concat(parts, ignore_index=True) if parts else empty


@checked(width=1, height=1)
def curves_chart(
    table: pd.DataFrame,
    *,
    title: str,
    subtitle: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool = False,
    log_y: bool = False,
    width: int = 640,
    height: int = 280,
) -> alt.LayerChart:
    """Draw a line for each series, a shade between low and high, and a legend in the order at the right end.

    Parameters
    ----------
    table : DataFrame
        x, y, series and, where there is something to shade, low and high; as made by `curves_table`.
    title : str
        The finding, or the quantity.
    subtitle : str, optional
        What a line and its shade are.
    x_title, y_title : str, optional
        Quantities of the axes, with their units.
    log_x, log_y : bool, default=False
        Whether an axis is logarithmic.
    width : int, default=640
        Width of the picture with its legend, in pixels.
    height : int, default=280
        Height of the inside, in pixels.

    Returns
    -------
    altair.LayerChart
        Hue, dash and shape of the points tell the series apart.

    Raises
    ------
    ValueError
        If there are more than 12 series, or a logarithmic axis would have to show 0 or less.

    Examples
    --------
    >>> table = curves_table([10, 20], {"ours": [0.3, 0.2], "theirs": [0.4, 0.3]})
    >>> chart = curves_chart(table, title="Error", x_title="rows", log_x=True)
    >>> chart.to_dict()["title"]["text"]
    ['Error']
    """
    data = _checked(table, log_x=log_x, log_y=log_y)
    names = list(dict.fromkeys(data["series"]))
    looks = pd.DataFrame(
        {
            "series": names,
            "color": [CATEGORIES[i % len(CATEGORIES)] for i in range(len(names))],
            "dash": [[1, 0] if i < len(CATEGORIES) else [5, 3] for i in range(len(names))],
            "shape": [SHAPES[(i + i // len(CATEGORIES)) % len(SHAPES)] for i in range(len(names))],
        }
    )
    data = data.merge(looks, on="series")
    x_text, y_text = x_title or "x", y_title or "y"
    data["hover"] = [
        f"{row.series}: {row.y:.4g} ({y_text}) at {row.x:,.6g} ({x_text})"
        for row in data.itertuples()
    ]
    right = 30 + margin(names, width * 0.36)
    spread = pd.concat([data["low"], data["y"], data["high"]])
    scale = _scale(spread, log=log_y)
    axis = _axis(y_title, spread, height // 30, log=log_y)
    y = alt.Y("y:Q", scale=scale, axis=axis)
    room = (width - _LEFT - right) // 66
    x_axis = _axis(x_title, data["x"], room, log=log_x)
    x = alt.X("x:Q", scale=_scale(data["x"], log=log_x), axis=x_axis)
    color = alt.Color("color:N", scale=None, legend=None)
    layers: list[Any] = []
    if (data["high"] > data["low"]).any():
        band = drawn(data).mark_area(opacity=0.14, line=False)
        below = alt.Y("low:Q", scale=scale, axis=axis)
        layers.append(band.encode(x, below, alt.Y2("high:Q"), color, alt.Detail("series:N")))
    dash = alt.StrokeDash("dash:N", scale=None, legend=None)
    lines = drawn(data).mark_line(strokeWidth=2)
    layers.append(lines.encode(x, y, color, dash, alt.Detail("series:N")))
    if data["x"].nunique() <= _MANY:
        shape = alt.Shape("shape:N", scale=None, legend=None)
        points = drawn(data).mark_point(filled=True, size=46, opacity=1)
        tooltip = alt.Description("hover:N"), alt.Tooltip("hover:N", title="series")
        layers.append(points.encode(x, y, color, shape, *tooltip))
    return frame(
        [*layers, *series_legend(_by_end(data, looks), right)],
        title=title,
        subtitle=subtitle,
        description=f"{title}: {y_text} against {x_text}, {len(names)} lines.",
        width=width,
        height=max(height, ROW * len(names)),
        left=_LEFT,
        right=right,
        below=48 if x_title else 30,
    )


def _summary(found: npt.NDArray[np.float64], middle: str) -> tuple[Any, Any, Any]:
    """Return low, middle and high of the repeats at each place."""
    if middle == "median":
        low, y, high = np.quantile(found, [0.25, 0.5, 0.75], axis=1)
        return low, y, high
    mean, deviation = found.mean(axis=1), found.std(axis=1, ddof=min(1, found.shape[1] - 1))
    return mean - deviation, mean, mean + deviation


def _checked(table: pd.DataFrame, *, log_x: bool, log_y: bool) -> pd.DataFrame:
    """Return the table with low and high, or refuse what cannot be drawn."""
    spans = [name for name in ("low", "high") if name in table]
    table = require_columns(table, text="series", finite="x y", numbers=" ".join(spans))
    series = table["series"].nunique()
    if series > MOST_SERIES:
        msg = f"table has {series} series, and at most {MOST_SERIES} can be told apart; draw several charts"
        raise ValueError(msg)
    for name, log in (("x", log_x), ("y", log_y)):
        if log and (table[name] <= 0).any():
            msg = f"a logarithmic axis shows numbers above 0; found {name}={table[name].min():g}"
            raise ValueError(msg)
    data = table.assign(low=table.get("low", table["y"]), high=table.get("high", table["y"]))
    if log_y:
        # a deviation may reach below 0, where the axis has no place: the shade then ends at the least value
        positive = data[["low", "y"]].where(data[["low", "y"]] > 0).min().min()
        data["low"] = data["low"].clip(lower=positive)
    return data


def _scale(values: pd.Series, *, log: bool) -> alt.Scale:
    """Return a scale that shows all values: a logarithmic one by its factor, another with some room."""
    low, high = float(values.min()), float(values.max())
    if log:
        room = max((high / low) ** 0.03, 1.02)
        return alt.Scale(type="log", domain=[low / room, high * room], nice=False)
    room = 0.03 * (high - low) or 1.0
    start = 0.0 if 0 <= low < 0.35 * high else low - room
    return alt.Scale(domain=[start, high + room], nice=False, zero=False)


def _axis(title: str, values: pd.Series, most: int, *, log: bool) -> alt.Axis:
    """Return an axis with at most so many numbers, which do not overlap."""
    look: dict[str, Any] = {"title": title or None, "domain": False, "labelFlush": False}
    if log:
        ticks = _log_ticks(float(values.min()), float(values.max()), most)
        return alt.Axis(values=ticks, format=",~g", labelOverlap=False, **look)
    return alt.Axis(tickCount=max(2, most), format=",~r", labelOverlap=True, **look)


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers inside a range, as many as there is room for."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    decades = range(first, last + 1)
    best = [float(f"1e{j}") for j in decades[1 :: len(decades) // max(most, 2) + 1]]
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7), range(1, 10), np.arange(10, 100) / 10):
        ticks = [float(f"{m}e{j}") for j in decades for m in steps]
        inside = [tick for tick in ticks if low * 0.995 <= tick <= high * 1.005]
        if len(inside) > max(most, 2):
            break
        best = inside
        if len(best) >= 4:
            break
    return best


def _by_end(data: pd.DataFrame, looks: pd.DataFrame) -> pd.DataFrame:
    """Sort series from the one that ends highest to the one that ends lowest."""
    ends = data.sort_values("x", kind="stable").groupby("series", sort=False)["y"].last()
    rows = looks.assign(end=looks["series"].map(ends))
    return rows.sort_values("end", ascending=False, kind="stable")
