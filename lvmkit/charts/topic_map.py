"""Map of topics: near ones use similar words, circles are as large as shares."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from scipy import special

from lvmkit.charts._frame import drawn, fitted, frame, linked
from lvmkit.charts._labels import cluster_link, percent
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, require_columns

_LARGEST = 0.16  # radius of a circle for the whole, in widths of the map
_NUMBER = 8.0  # radius that a number of two digits needs, in pixels
_LETTER = 6.2  # width of a letter of a name, about


@checked()
def topic_map_table(
    centers: Any, weights: Any, *, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Place topics so that those with similar words lie together.

    Parameters
    ----------
    centers : array (k, d)
        One row per topic, nothing negative; rows are compared as distributions.
    weights : array (k,)
        Share of each topic.
    names : sequence of str, length k, optional
        What the topics are called; the number always stands before the name.

    Returns
    -------
    DataFrame (k rows)
        topic, label, x, y, share, empty. A topic without weight or without words is empty: it has
        no place, x and y are NaN.

    Raises
    ------
    ValueError
        If the shapes do not agree or a center is negative.

    Notes
    -----
    Distances are square roots of the Jensen-Shannon divergence (Lin 1991), which embed in a
    Euclidean space (Endres 2003); so classical scaling (Torgerson 1952) has no negative
    eigenvalue and no coordinate is complex. In each direction the farthest topic lies on the
    positive side, so that the map does not flip between runs.

    Examples
    --------
    >>> table = topic_map_table([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]], [0.5, 0.3, 0.2])
    >>> table["x"].round(2).tolist()
    [-0.28, -0.28, 0.56]
    """
    rows, share = as_numbers(centers, "centers"), as_numbers(weights, "weights")
    for name, given in (("centers", rows), ("weights", share)):
        if np.isinf(given).any():
            msg = f"{name} must be finite, or NaN where hidden; found infinity"
            raise ValueError(msg)
    if rows.ndim != 2 or share.shape != rows.shape[:1]:
        msg = (
            "centers (k, d) and weights (k,) must agree; found shapes "
            f"{rows.shape} and {share.shape}. Pass model.centers_ and model.weights_."
        )
        raise ValueError(msg)
    if (rows < 0).any():
        msg = f"centers must be shares of words, 0 or more; found {rows.min():g}"
        raise ValueError(msg)
    rows = np.nan_to_num(rows)
    empty = ~((rows.sum(axis=1) > 0) & (share > 0))
    places = np.full((len(rows), 2), np.nan)
    places[~empty] = _scaled(_divergences(rows[~empty]))
    labels = [str(j) for j in range(len(rows))]
    if names is not None:
        labels = [f"{j} · {name}" if name else j for j, name in zip(labels, names, strict=True)]
    return pd.DataFrame(
        {
            "topic": np.arange(len(rows)),
            "label": labels,
            "x": places[:, 0],
            "y": places[:, 1],
            "share": np.nan_to_num(share),
            "empty": empty,
        }
    )


@checked(width=1)
def topic_map_chart(table: pd.DataFrame, *, width: int = 460) -> alt.LayerChart:
    """Draw the map of the topics.

    Parameters
    ----------
    table : DataFrame
        As made by `topic_map_table`.
    width : int, default=460
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Circles are links "#cluster=…". Circles that would cover each other are moved apart; the name
        of a topic stands below or above its circle where it covers nothing, else its number on it.

    Examples
    --------
    >>> table = topic_map_table([[1, 0], [0, 1]], [0.5, 0.5], names=["war", "peace"])
    >>> topic_map_chart(table).to_dict()["title"]["text"]
    ['Which topics are alike']
    """
    table = require_columns(table, text="label", whole="topic", finite="x y share", flags="empty")
    size = max(width - 24, 60)
    shown = table[~table["empty"]].sort_values("share", ascending=False, kind="stable")
    spread = float(shown[["x", "y"]].abs().max().max()) if len(shown) else 0.0
    reach = max(spread, 1e-9) * 1.25 + (0.0 if spread else 1.0)
    radius = _LARGEST * size * np.sqrt(np.nan_to_num(shown["share"].to_numpy(float)))
    radius = np.maximum(radius, 4)
    true_places = size * (shown[["x", "y"]].to_numpy(float) / (2 * reach) + 0.5)
    places = _apart(true_places, np.maximum(radius, _NUMBER) + 1, size)
    texts = [fitted(label, size / 3) for label in shown["label"]]
    lift = _name_places(texts, places, radius, size)
    tooltips = [
        f"{label}: {percent(share)}"
        for label, share in zip(shown["label"], shown["share"].to_numpy(float), strict=True)
    ]
    data = shown.assign(
        href=[cluster_link(j) for j in shown["topic"]],
        hover=tooltips,
        area=np.pi * radius**2,
        x=places[:, 0],
        y=places[:, 1],
        text_topic=np.where(lift != 0, texts, shown["topic"].astype(str)),
        text_y=places[:, 1] + lift,
    )
    scale = alt.Scale(domain=[0, size], nice=False, zero=False)
    x, y = (alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=scale, axis=None))
    base = linked(data, x)
    circles = base.mark_circle(color=PICKED, opacity=0.45, stroke=INK, strokeWidth=1).encode(
        y, alt.Size("area:Q", scale=None, legend=None), alt.Tooltip("hover:N", title="topic")
    )
    named = base.mark_text(color=INK, baseline="middle").encode(
        alt.Y("text_y:Q", scale=scale, axis=None), alt.Text("text_topic:N")
    )
    zero = pd.DataFrame({"zero": [size / 2]})
    lines = [
        drawn(zero).mark_rule(color=NEUTRAL, opacity=0.3).encode(line)
        for line in (
            alt.X("zero:Q", scale=scale, axis=None),
            alt.Y("zero:Q", scale=scale, axis=None),
        )
    ]
    without = int(table["empty"].sum())
    rest = f" {without} empty {'topic is' if without == 1 else 'topics are'} left out."
    return frame(
        [*lines, circles, named],
        title="Which topics are alike",
        subtitle=f"The closer, the more alike their words; area: share of the topic.{rest if without else ''}",
        description="Map of the topics: near ones use similar words, larger ones are more frequent.",
        width=width,
        height=size,
        left=12,
    )


def _divergences(rows: Array) -> Array:
    """Jensen-Shannon divergence of every pair of rows, in nats."""
    p = rows / rows.sum(axis=1, keepdims=True)
    own = special.xlogy(p, p).sum(axis=1)
    found = np.zeros((len(p), len(p)))
    for i in range(len(p) - 1):
        middle = (p[i] + p[i + 1 :]) / 2
        joint = special.xlogy(middle, middle).sum(axis=1)
        found[i, i + 1 :] = np.maximum((own[i] + own[i + 1 :]) / 2 - joint, 0)
    return found + found.T


def _scaled(squares: Array) -> Array:
    """Classical scaling of squared distances to two dimensions, with fixed signs."""
    places = np.zeros((len(squares), 2))
    if len(squares) < 2:
        return places
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(inner)
    order = np.argsort(-values, kind="stable")[:2]
    found = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    found[:, values[order] < 1e-12] = 0
    found = found.round(9)
    farthest = np.abs(found).argmax(axis=0)
    signs = np.where(found[farthest, np.arange(found.shape[1])] < 0, -1.0, 1.0)
    places[:, : found.shape[1]] = found * signs + 0.0
    return places


def _apart(places: Array, reach: Array, size: float) -> Array:
    """Move circles that cover each other apart, small ones more, until none does or for a while."""
    places, i, j = places.copy(), *np.triu_indices(len(places), 1)
    reach = np.minimum(reach, max(size / np.sqrt(8 * max(len(places), 1)), _NUMBER / 2))
    part = (reach[j] ** 2 / (reach[i] ** 2 + reach[j] ** 2))[:, None]
    for _ in range(300):
        way = places[i] - places[j]
        far = np.hypot(*way.T)
        over = np.maximum(reach[i] + reach[j] - far, 0)
        if not (over > 0.5).any():
            break
        turn = np.stack([np.cos(2.4 * i + j), np.sin(2.4 * i + j)], axis=1)
        way = np.where(far[:, None] > 1e-6, way / np.maximum(far, 1e-6)[:, None], turn)
        step = 0.5 * over[:, None] * way
        np.add.at(places, i, part * step)
        np.add.at(places, j, (part - 1) * step)
        places = np.clip(places, reach[:, None], size - reach[:, None])
    return places


def _name_places(texts: Sequence[str], places: Array, radius: Array, size: float) -> Array:
    """Find how far above a circle its name covers no circle and no other name; 0 for nowhere."""
    half = np.minimum(_LETTER * np.array([len(text) for text in texts], dtype=float), size / 3) / 2
    x, middle, lift = places[:, 0], places[:, 1].copy(), np.zeros(len(places))
    for i in range(len(places)):
        for way in (-radius[i] - 10, radius[i] + 10):
            y = places[i, 1] + way
            circles = (np.abs(x - x[i]) < radius + half[i]) & (
                np.abs(places[:, 1] - y) < radius + 7
            )
            circles[i] = False
            names = (lift != 0) & (np.abs(x - x[i]) < half + half[i]) & (np.abs(middle - y) < 14)
            inside = half[i] <= x[i] <= size - half[i] and 7 <= y <= size - 7
            if inside and not (circles | names).any():
                lift[i], middle[i] = way, y
                break
    return lift
