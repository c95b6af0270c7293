"""Two centers before and after whitening: oblique, then perpendicular."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, x_pixels, y_pixels
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_finite, require_columns
from lvmkit.moments.whitened import population

_STEPS = 121  # corners of an ellipse
_HEAD, _GAP, _ROOM = 40, 28, 16  # pixels: texts above a panel, between panels, around what is drawn
_LABEL, _TIP = 44, 6  # pixels: a state's label, from the middle of an arrow's head to its tip
_PANELS = ("before", "after")


@checked()
def whitening_table(
    centers: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    angle: float | None = None,
    feature_names: Sequence[str] = ("feature 0", "feature 1"),
) -> pd.DataFrame:
    """Tabulate two centers of two features before and after whitening.

    Parameters
    ----------
    centers : array (2, 2)
        Mean of each state, in rows.
    weights : array (2,)
        Probability of each state.
    angle : float, optional
        Adds the pair that whitening cannot tell from the true one: the whitened states turned by so many
        degrees, and what they are in the features.
    feature_names : sequence of two str, optional
        Names of the features.

    Returns
    -------
    DataFrame
        panel ("before" or "after"), what, state, x, y. Of each state: "center", and "arrow", the center
        times the root of its weight; "turned", the arrow of the pair turned by `angle`. "curve" goes round
        the arrows: of all pairs with the same second moment. `attrs["angles"]`: degrees between the
        arrows in each panel; `attrs["axes"]`: names of the axes.

    Raises
    ------
    ValueError
        If there are not two centers of two features, or `lvmkit.moments.population` refuses them.

    Notes
    -----
    Ruffini thesis, equations 1.11 and 2.3: MΩ^(1/2) = EO with O orthogonal, so that the arrows lie on the
    ellipse {Eu : ‖u‖ = 1}, and W = E⁺ᵀ takes it to the circle.

    Examples
    --------
    >>> table = whitening_table([[6, 1], [2, 5]], [0.7, 0.3])
    >>> {panel: round(angle, 6) for panel, angle in table.attrs["angles"].items()}
    {'before': 58.736268, 'after': 90.0}
    """
    C, w = as_finite(centers, "centers"), as_finite(weights, "weights", 1)
    if angle is not None and not np.isfinite(angle):
        msg = f"angle must be a finite number of degrees; found {angle!r}"
        raise ValueError(msg)
    if w.max(initial=0) > 1e12:
        msg = f"weights must be shares of the clusters; found {w.max():g}"
        raise ValueError(msg)
    if C.shape != (2, 2):
        msg = f"the picture shows two centers of two features; found centers of shape {C.shape}"
        raise ValueError(msg)
    moments = population(C, w)
    arrows = {"before": np.sqrt(w / w.sum())[:, None] * C}
    arrows["after"] = arrows["before"] @ moments.whitener
    round_ = np.linspace(0, 2 * np.pi, _STEPS)
    circle = np.column_stack([np.cos(round_), np.sin(round_)])
    curves = {"before": circle @ moments.image.T, "after": circle}
    means = {"before": C, "after": C @ moments.whitener}
    parts = []
    for panel in _PANELS:
        found = [("curve", curves[panel]), ("center", means[panel]), ("arrow", arrows[panel])]
        if angle is not None:
            turned = _turned(arrows["after"], angle)
            found.append(("turned", turned if panel == "after" else turned @ moments.image.T))
        for what, places in found:
            state = [-1] * len(places) if what == "curve" else [0, 1]
            part = {"panel": panel, "what": what, "state": state}
            parts.append(pd.DataFrame({**part, "x": places[:, 0], "y": places[:, 1]}))
    table = pd.concat(parts, ignore_index=True)
    table.attrs["angles"] = {panel: _between(*arrows[panel]) for panel in _PANELS}
    table.attrs["axes"] = {"before": list(feature_names), "after": ["direction 0", "direction 1"]}
    return table


@checked(width=1)
def whitening_chart(
    table: pd.DataFrame,
    *,
    title: str = "Whitening makes the centers perpendicular",
    subtitle: str = "",
    width: int = 720,
) -> alt.LayerChart:
    """Draw both panels beside each other.

    Parameters
    ----------
    table : DataFrame
        As made by `whitening_table`.
    title : str, optional
        The finding.
    subtitle : str, optional
        What the reader sees; by default, what the marks mean.
    width : int, default=720
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Two states in two hues; the turned pair in gray.

    Examples
    --------
    >>> table = whitening_table([[6, 1], [2, 5]], [0.7, 0.3])
    >>> whitening_chart(table).to_dict()["title"]["text"]
    ['Whitening makes the centers perpendicular']
    """
    table = require_columns(table, text="panel what", whole="state", finite="x y", rows=1)
    size = (width - 24 - _GAP) / 2
    marks = "Dots: centers. Arrows: centers times the root of their weights; they end on the curve."
    if (table["what"] == "turned").any():
        marks += " Gray: another pair with the same mean and second moment."
    layers: list[Any] = []
    for place, panel in enumerate(_PANELS):
        rows, left = table[table["panel"] == panel], place * (size + _GAP)
        layers += [*_panel_titles(table.attrs, panel, left, size), *_panel(rows, panel, left, size)]
    angles = table.attrs["angles"]
    return frame(
        layers,
        title=title,
        subtitle=subtitle or marks,
        description=(
            f"{title}: {angles['before']:.0f} degrees between the centers before, "
            f"{angles['after']:.0f} after."
        ),
        width=width,
        height=_height(size),
        left=12,
    )


def _turned(arrows: Array, angle: float) -> Array:
    """Turn two perpendicular arrows, given in rows, from the first towards the second."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turned: Array = np.array([[c, s], [-s, c]]) @ arrows
    return turned


def _between(a: Array, b: Array) -> float:
    """Return the angle between two vectors, in degrees."""
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _panel(rows: pd.DataFrame, panel: str, left: float, size: float) -> list[Any]:
    """Draw one panel: its axes, the curve, arrows and centers, at one scale in both directions."""
    low, high = np.minimum(rows[["x", "y"]].min(), 0), np.maximum(rows[["x", "y"]].max(), 0)
    wide, tall = size - 2 * _ROOM - _LABEL, _height(size) - _HEAD - 2 * _ROOM
    unit = min(wide / (high["x"] - low["x"]), tall / (high["y"] - low["y"]))
    x0 = left + (size - _LABEL) / 2 - unit * (low["x"] + high["x"]) / 2
    y0 = _HEAD + _ROOM + tall / 2 + unit * (low["y"] + high["y"]) / 2
    data = rows.assign(px=x0 + unit * rows["x"], py=y0 - unit * rows["y"], x0=x0, y0=y0)
    curve = data[data["what"] == "curve"]
    line = drawn(curve.assign(order=range(len(curve)))).mark_line(color=NEUTRAL, strokeWidth=1.5)
    layers = [
        *_axes(x0, y0, unit, left, size),
        line.encode(_x_axis("px", size), _y_axis("py", size), alt.Order("order:O")),
    ]
    for what in ("turned", "arrow"):
        layers += _arrows(data[data["what"] == what], size)
    centers = data[data["what"] == "center"]
    centers = centers.assign(
        color=_colors(centers),
        text_state=[f"state {state}" for state in centers["state"]],
        hover=[
            f"{panel}: center {r.state} at ({r.x:.3g}, {r.y:.3g})" for r in centers.itertuples()
        ],
    )
    at = drawn(centers).encode(_x_axis("px", size), _y_axis("py", size))
    color = alt.Color("color:N", scale=None, legend=None)
    dots = at.mark_point(filled=True, size=80, opacity=1).encode(color, alt.Description("hover:N"))
    texts = at.mark_text(dx=10, align="left", baseline="middle", color=INK).encode(
        alt.Text("text_state:N")
    )
    return [*layers, dots, texts]


def _height(size: float) -> int:
    """Return the height of a panel that is so wide."""
    return int(0.8 * size) + _HEAD


def _panel_titles(attrs: dict[Any, Any], panel: str, left: float, size: float) -> list[Any]:
    """Say above a panel what it shows, the angle, and what its axes are."""
    across, up = attrs["axes"][panel]
    named = {"before": "Before", "after": "After whitening"}[panel]
    texts = [
        f"{named}: {attrs['angles'][panel]:.0f}° between the arrows",
        f"across: {across}; up: {up}",
    ]
    layers = []
    for line, text in enumerate(texts):
        row = drawn(pd.DataFrame({"px": [left], "text_head": [fitted(text, size)]}))
        style = "italic" if line else "normal"
        mark = row.mark_text(
            align="left", baseline="middle", y=8 + 17 * line, fontStyle=style, color=INK
        )
        layers.append(mark.encode(_x_axis("px", size), alt.Text("text_head:N")))
    return layers


def _arrows(data: pd.DataFrame, size: float) -> list[Any]:
    """Draw arrows from the origin of a panel."""
    if not len(data):
        return []
    right, up = data["px"] - data["x0"], data["y0"] - data["py"]
    length = np.hypot(right, up)
    # the head is drawn around its middle, and its tip has to touch the place
    data = data.assign(
        color=_colors(data),
        turn=np.degrees(np.arctan2(right, up)),
        px=data["px"] - _TIP * right / length,
        py=data["py"] + _TIP * up / length,
    )
    base = drawn(data).encode(alt.Color("color:N", scale=None, legend=None))
    x, y = _x_axis("px", size), _y_axis("py", size)
    shafts = base.mark_rule(strokeWidth=2.5).encode(x, y, alt.X2("x0:Q"), alt.Y2("y0:Q"))
    tips = base.mark_point(shape="triangle", filled=True, size=110, opacity=1)
    return [shafts, tips.encode(x, y, alt.Angle("turn:Q", scale=None))]


def _colors(data: pd.DataFrame) -> list[str]:
    """Return a hue for each state, gray for the turned ones."""
    hues = (PICKED, OTHER)
    return [
        NEUTRAL if what == "turned" else hues[state]
        for what, state in zip(data["what"], data["state"], strict=True)
    ]


def _axes(x0: float, y0: float, unit: float, left: float, size: float) -> list[Any]:
    """Draw the two axes through the origin, with one number each."""
    bottom = float(_height(size))
    lines = pd.DataFrame(
        {"px": [left, x0], "py": [y0, bottom], "x1": [left + size, x0], "y1": [y0, float(_HEAD)]}
    )
    ruled = drawn(lines).mark_rule(color=NEUTRAL, opacity=0.5)
    ruled = ruled.encode(_x_axis("px", size), _y_axis("py", size), alt.X2("x1:Q"), alt.Y2("y1:Q"))
    room = min(left + size - _ROOM - x0, y0 - _HEAD) / unit
    step = 10.0 ** np.floor(np.log10(room))
    step *= max(m for m in (1, 2, 5) if m * step <= room)
    numbers = pd.DataFrame(
        {
            "px": [x0 + step * unit + 8, x0 - 9],
            "py": [y0 + 10, y0 - step * unit - 9],
            "text_step": [f"{step:g}"] * 2,
        }
    )
    texts = drawn(numbers[numbers["py"] > _HEAD]).mark_text(
        baseline="middle", fontSize=11, color=INK, opacity=0.8
    )
    texts = texts.encode(_x_axis("px", size), _y_axis("py", size), alt.Text("text_step:N"))
    return [ruled, texts]


def _x_axis(field: str, size: float) -> alt.X:
    """Return a horizontal position in pixels from the left, without an axis."""
    return x_pixels(field, 2 * size + _GAP)


def _y_axis(field: str, size: float) -> alt.Y:
    """Return a vertical position in pixels from the top, without an axis."""
    return y_pixels(field, _height(size))
