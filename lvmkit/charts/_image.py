"""Matrices as one image each, so that large ones are drawn at once, and the clusters marked beside it."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import apart, drawn, fitted, linked, x_pixels, y_pixels
from lvmkit.charts._labels import cluster_link
from lvmkit.charts.theme import INK, NEUTRAL
from lvmkit.core.typing import Array

BLUE, ORANGE, GRAY = (0, 114, 178), (213, 94, 0), (138, 143, 152)  # as PICKED, OTHER, NEUTRAL
UNKNOWN = (*GRAY, 70)  # of what must not be shown, with its opacity


def image(uri: str, width: float, height: float) -> alt.Chart:
    """Draw an image from the upper left corner on."""
    look: dict[str, Any] = {"align": "left", "baseline": "top", "aspect": False, "aria": False}
    picture = drawn(pd.DataFrame({"url": [uri]}))
    return picture.mark_image(x=0, y=0, width=width, height=height, **look).encode(alt.Url("url:N"))


def lines_of_pixels(size: int, n: int) -> npt.NDArray[np.intp]:
    """Return which of n lines each pixel shows, (size,)."""
    # whole pixels for each line: a browser blurs what it must enlarge
    return np.arange(size) * n // size


def cluster_marks(
    spans: Array,
    labels: Sequence[str],
    clusters: Iterable[Any],
    left: int,
    *,
    width: int,
    height: int,
) -> list[alt.Chart]:
    """Draw a line below each cluster and its label left of it, moved apart; spans (k, 2) in pixels."""
    data = pd.DataFrame({"start": spans[:, 0], "end": spans[:, 1], "hover": list(labels)})
    data["middle"] = spans.mean(axis=1)
    data["place"] = apart(spans.mean(axis=1), height)
    data["text_label"] = [fitted(label, left - 16, 11) for label in labels]
    data["href"] = [cluster_link(cluster) for cluster in clusters]
    data["zero"], data["right"], data["near"], data["far"] = 0, width, -4, -10
    base = drawn(data[data["end"] > data["start"]])
    lines = base.mark_rule(color=NEUTRAL, strokeWidth=0.5, aria=False)
    leads = base.mark_rule(color=NEUTRAL, aria=False)
    text = linked(data, y_pixels("place", height), alt.Text("text_label:N"))
    return [
        lines.encode(x_pixels("zero", width), alt.X2("right:Q"), y_pixels("end", height)),
        leads.encode(
            x_pixels("near", width), alt.X2("far:Q"), y_pixels("middle", height), alt.Y2("place:Q")
        ),
        text.mark_text(align="right", x=-12, color=INK, fontSize=11),
    ]
