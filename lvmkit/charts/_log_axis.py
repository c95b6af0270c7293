"""A logarithmic axis of penalties, and strips over it that pick one."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, y_pixels
from lvmkit.charts.theme import NEUTRAL
from lvmkit.core.typing import Array


def on_log_axis(values: Array) -> Array:
    """Return places on a logarithmic axis; 0 and what is infinite stand beside its ends."""
    inside = values[(values > 0) & np.isfinite(values)]
    low, high = (inside.min(), inside.max()) if inside.size else (1.0, 1.0)
    return np.clip(np.nan_to_num(values), low / 1.3, high * 1.3)


def log_axis(at: pd.Series, title: str) -> alt.X:
    """Return the horizontal axis of places as `on_log_axis` gives them."""
    low, high = float(at.min()), float(at.max())
    room = max((high / low) ** 0.02, 1.02)
    scale = alt.Scale(type="log", domain=[low / room, high * room], nice=False)
    axis = alt.Axis(
        title=title,
        format="~g",
        tickCount=5,
        labelOverlap="greedy",
        labelFlush=False,
        domain=False,
        grid=False,
    )
    return alt.X("at:Q", scale=scale, axis=axis)


def strips(places: pd.DataFrame, x: alt.X, height: float) -> alt.Chart:
    """Draw an unseen strip over each place, which can be picked; needs at, href and hover."""
    rows = places.sort_values("at", kind="stable")
    at = rows["at"].to_numpy(dtype=float)
    between = np.sqrt(at[1:] * at[:-1])
    data = rows[["href", "hover"]].assign(
        at=[at[0] / 1.02, *between], end=[*between, at[-1] * 1.02], low=0.0, high=float(height)
    )
    box = drawn(data).mark_rect(color=NEUTRAL, opacity=0)
    box = box.encode(x, y_pixels("low", height), alt.X2("end:Q"), alt.Y2("high:Q"))
    return box.encode(alt.Href("href:N"), alt.Description("hover:N"))
