"""Stability against the number of clusters, or the depth: every repeat, its mean and spread, by method."""

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import ROW, drawn, frame, margin, series_legend
from lvmkit.charts.theme import CATEGORIES, INK, NEUTRAL, SHAPES
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns

_NEEDED = ("method", "value", "n_clusters", "repeat", "ari")
_LEFT = 58  # pixels: the margin of the vertical axis
_APART = 0.13  # of the distance between two values: how far methods stand beside each other


@checked()
def stability_curve_table(found: pd.DataFrame) -> pd.DataFrame:
    """Tabulate every repeat of each method and value, with its mean and spread.

    Parameters
    ----------
    found : DataFrame
        As returned by `lvmkit.scores.compare_stability`.

    Returns
    -------
    DataFrame
        method, value, n_clusters, repeat, ari, mean, low and high (one standard deviation down and up,
        at most 1), recommended, sampled (of fewer rows than there are; False unless given). Repeats
        that failed are left out. ``attrs["why"]`` has the recommendation in words.

    Raises
    ------
    ValueError
        If columns are missing, or there are more than 6 methods.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("k-means", 2, 2, 0, 0.9), ("k-means", 2, 2, 1, 0.7)]
    >>> found = pd.DataFrame(rows, columns=["method", "value", "n_clusters", "repeat", "ari"])
    >>> stability_curve_table(found)[["ari", "mean", "low"]].round(2)
       ari  mean   low
    0  0.9   0.8  0.66
    1  0.7   0.8  0.66
    """
    found = require_columns(
        found, "found", text="method", whole="n_clusters repeat", numbers="value ari"
    )
    methods = found["method"].nunique()
    if methods > len(CATEGORIES):
        msg = f"found has {methods} methods, and at most {len(CATEGORIES)} can be told apart; draw several charts"
        raise ValueError(msg)
    table = found.dropna(subset=["ari"]).reset_index(drop=True)
    groups = table.groupby(["method", "value"], sort=False)["ari"]
    spread = groups.transform("std").fillna(0.0)
    table["mean"] = groups.transform("mean")
    table["low"], table["high"] = table["mean"] - spread, (table["mean"] + spread).clip(upper=1.0)
    for name in ("recommended", "sampled"):
        given = table[name].to_numpy(dtype=bool) if name in table else np.zeros(len(table), bool)
        table[name] = given
    table.attrs = {"why": str(found.attrs.get("why", ""))}
    kept = [*_NEEDED, "mean", "low", "high", "recommended", "sampled"]
    return table[kept]


@checked(goal=0, width=1, height=1)
def stability_curve_chart(
    table: pd.DataFrame,
    *,
    goal: float = 0.9,
    x_title: str = "clusters asked for",
    width: int = 640,
    height: int = 260,
) -> alt.LayerChart:
    """Draw each repeat as a dot, a line through the means, and a shade for the spread.

    Parameters
    ----------
    table : DataFrame
        As made by `stability_curve_table`.
    goal : float, default=0.9
        Index to mark by a line; 0.9 is what Ruffini 2017, section 5.2, calls stable.
    x_title : str, default="clusters asked for"
        What the values are.
    width : int, default=640
        Width of the picture with its legend, in pixels.
    height : int, default=260
        Height of the inside, in pixels.

    Returns
    -------
    altair.LayerChart
        Hue, shape and place in the legend tell methods apart; a ring marks what is recommended, and
        the mean of a sample of the rows is hollow.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("k-means", k, k, r, 1 / k) for k in (2, 3) for r in range(2)]
    >>> found = pd.DataFrame(rows, columns=["method", "value", "n_clusters", "repeat", "ari"])
    >>> stability_curve_chart(stability_curve_table(found)).to_dict()["title"]["text"]
    ['Are the same clusters found again?']
    """
    table = require_columns(
        table, text="method", numbers="value ari mean low high", flags="recommended sampled"
    )
    data = _with_positions(table)
    names = list(dict.fromkeys(data["method"]))
    right = 34 + margin(names, width * 0.3)
    x, up = _axes(data, x_title, width - _LEFT - right)
    color = alt.Color("color:N", scale=None, legend=None)
    shape = alt.Shape("shape:N", scale=None, legend=None)
    detail = alt.Detail("method:N")
    means = data.drop_duplicates(["method", "value"])
    rings = means[means["recommended"]]
    hollow = drawn(means[means["sampled"]]).mark_point(filled=False, size=60, opacity=1)
    full = drawn(means[~means["sampled"]]).mark_point(filled=True, size=60, opacity=1)
    y = up("mean")
    tooltip = alt.Description("hover:N"), alt.Tooltip("hover:N", title="stability")
    rule = drawn(pd.DataFrame({"goal": [goal]})).mark_rule(color=NEUTRAL, strokeDash=[4, 3])
    band = drawn(means).mark_area(opacity=0.12, line=False)
    dots = drawn(data).mark_point(filled=True, size=16, opacity=0.55, aria=False)
    ring = drawn(rings).mark_point(filled=False, size=260, opacity=1, strokeWidth=2, color=INK)
    layers: list[Any] = [
        rule.encode(up("goal")),
        band.encode(x, up("low"), alt.Y2("high:Q"), color, detail),
        dots.encode(x, up("ari"), color, shape),
        drawn(means).mark_line(strokeWidth=2).encode(x, y, color, detail),
        hollow.encode(x, y, color, shape, *tooltip),
        full.encode(x, y, color, shape, *tooltip),
        ring.encode(x, y),
    ]
    looks = means.drop_duplicates("method").rename(columns={"method": "series"})
    return frame(
        [*layers, *series_legend(looks, right, gap=12)],
        title="Are the same clusters found again?",
        subtitle=_subtitle(table, goal),
        description=f"Adjusted Rand index of repeated fits against {x_title}, {len(names)} methods.",
        width=width,
        height=max(height, ROW * len(names)),
        left=_LEFT,
        right=right,
        below=48,
    )


def _with_positions(table: pd.DataFrame) -> pd.DataFrame:
    """Give each row its look, its place beside the other methods, and what is told of it."""
    data = table.copy()
    place, names = pd.factorize(data["method"])
    values = np.unique(table["value"])
    step = np.diff(values).min() if len(values) > 1 else 1.0
    data["x"] = data["value"] + (place - (len(names) - 1) / 2) * _APART * step
    data["color"] = [CATEGORIES[i] for i in place]
    data["shape"] = [SHAPES[i] for i in place]
    repeats = data.groupby(["method", "value"], sort=False)["ari"].transform("size")
    data["hover"] = [
        f"{row.method}, {row.value:g}: mean {row.mean:.2f} of {n}"
        + (" (on a sample of the rows)" if row.sampled else "")
        + (", recommended" if row.recommended else "")
        for row, n in zip(data.itertuples(), repeats, strict=True)
    ]
    return data


def _axes(data: pd.DataFrame, x_title: str, width: int) -> tuple[alt.X, Callable[[str], alt.Y]]:
    """Return the axes: every value that there is room for, and an index that shows differences."""
    values = np.unique(data["value"])
    step = max(1, -(-len(values) * 26 // max(width, 26)))
    pad = 0.4 * (np.diff(values).min() if len(values) > 1 else 1.0)
    low, high = (values[0] - pad, values[-1] + pad) if len(values) else (0.0, 1.0)
    look: dict[str, Any] = {"domain": False, "labelFlush": False}
    ticks = alt.Axis(
        values=values[::step].tolist(), format=",.12~r", title=x_title, grid=False, **look
    )
    across = alt.Scale(domain=[float(low), float(high)], nice=False, zero=False)
    least = float(min(data["ari"].min(), data["low"].min())) if len(data) else 0.0
    bottom = min(0.6, np.floor(least * 10) / 10) if least >= 0.2 else min(0.0, least)
    up = alt.Scale(domain=[max(float(bottom), -0.5), 1.02], nice=False, zero=False, clamp=True)
    axis = alt.Axis(format=".1f", tickCount=5, title="adjusted Rand index", **look)
    return alt.X("x:Q", scale=across, axis=ticks), lambda name: alt.Y(
        f"{name}:Q", scale=up, axis=axis
    )


def _subtitle(table: pd.DataFrame, goal: float) -> str:
    """Subtitle: what the marks are."""
    text = "Small dots: repeats; line: their mean; shade: one standard deviation."
    if table["recommended"].any():
        text += " Ring: recommended."
    if table["sampled"].any():
        text += " Hollow: of a sample of the rows."
    return f"{text} Dashed: {goal:g}."
