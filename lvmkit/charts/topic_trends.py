"""Shares of topics along an order, a date, or the values of an attribute."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, linked, margin, text_width, y_pixels
from lvmkit.charts._groups import commonest, grouped
from lvmkit.charts._labels import cluster_link, percent
from lvmkit.charts.theme import CATEGORIES, INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_finite, require_columns

_HIGH, _STACKED, _BAND = 30, 260, 18  # pixels: a topic's row, all stacked topics, names of bands
_NAME = 150  # of a value under the picture


@checked(smallest=1)
def topic_trends_table(
    mixtures: Any,
    by: Any = None,
    *,
    names: Sequence[str] | None = None,
    bands: Any = None,
    smallest: int = 1,
) -> pd.DataFrame:
    r"""Tabulate the mean share of each topic for each value of an attribute, in its order.

    Parameters
    ----------
    mixtures : array (n, k)
        Share of each topic in each document, such as `model.transform(X)`.
    by : sequence of length n, optional
        Number, date or category of each document; by default its place among the documents. Dates
        are taken by year (by month within three years); more than 400 numbers are put into bins.
    names : sequence of str, length k, optional
        What the topics are called; the number always stands before the name.
    bands : sequence of length n, optional
        A second attribute, such as the part of a book, whose stretches are marked.
    smallest : int, default=1
        Values with fewer documents than this are left out.

    Returns
    -------
    DataFrame
        group (as text), start and stop (where it lies on the axis), n (documents), band, topic,
        label, share; topics of a group follow each other. `attrs["axis"]` is "number" or
        "category". Documents without a value are left out.

    Raises
    ------
    ValueError
        If the lengths do not agree, or no value has enough documents.

    Notes
    -----
    As figures 3.3 and 3.4 of the Ruffini thesis: topics of the canti of a poem, of a year's address.

    Examples
    --------
    >>> table = topic_trends_table([[1, 0], [0.5, 0.5], [0, 1]], [1990, 1990, 1991], names=["war", ""])
    >>> table[["group", "n", "label", "share"]].to_string(index=False, header=False).split("\n")
    ['1990  2 0 · war   0.75', '1990  2       1   0.25', '1991  1 0 · war   0.00', '1991  1       1   1.00']
    """
    theta = as_finite(mixtures, "mixtures")
    if theta.ndim != 2 or not theta.size:
        msg = f"mixtures are documents by topics (n, k); found shape {theta.shape}"
        raise ValueError(msg)
    places = np.arange(1, len(theta) + 1) if by is None else by
    for name, values in (("by", places), ("bands", bands)):
        if values is not None and not hasattr(values, "__len__"):
            msg = f"{name} must hold a value for each document; found {type(values).__name__}"
            raise TypeError(msg)
        if values is not None and len(values) != len(theta):
            msg = f"{name} has {len(values)} values for {len(theta)} documents of mixtures; pass one for each"
            raise ValueError(msg)
    which, groups, axis = grouped(pd.Series(np.asarray(places)) if by is None else pd.Series(by))
    size = np.bincount(which[which >= 0], minlength=len(groups))
    enough = np.flatnonzero(size >= max(smallest, 1))
    if not len(enough):
        msg = f"no value has {max(smallest, 1)} documents or more; choose a lower smallest, or another attribute"
        raise ValueError(msg)
    known = which >= 0
    sums = np.zeros((len(groups), theta.shape[1]))
    np.add.at(sums, which[known], theta[known])
    means = sums[enough] / size[enough, None]
    labels = [str(j) for j in range(theta.shape[1])]
    if names is not None:
        labels = [f"{j} · {name}" if name else j for j, name in zip(labels, names, strict=True)]
    chosen = groups.iloc[enough].assign(
        n=size[enough], band=commonest(bands, which, len(groups))[enough]
    )
    table = chosen.loc[chosen.index.repeat(len(labels))].reset_index(drop=True)
    table["topic"] = np.tile(np.arange(len(labels)), len(enough))
    table["label"] = labels * len(enough)
    table["share"] = means.ravel()
    table.attrs["axis"] = axis
    return table


@checked(width=1)
def topic_trends_chart(
    table: pd.DataFrame, *, title: str = "", picked: int | None = None, width: int = 760
) -> alt.LayerChart:
    """Draw the shares: up to six topics stacked, more of them in a row each.

    Parameters
    ----------
    table : DataFrame
        As made by `topic_trends_table`.
    title : str, optional
        What the shares are drawn along, such as "year".
    picked : int, optional
        The topic to stand out where each has a row.
    width : int, default=760
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Topics are links "#cluster=…".

    Examples
    --------
    >>> table = topic_trends_table([[1, 0], [0.5, 0.5], [0, 1]], [1990, 1990, 1991])
    >>> topic_trends_chart(table, title="year").to_dict()["title"]["text"]
    ['Topics by year']
    """
    table = require_columns(
        table, text="group band label", whole="topic", numbers="start stop n share", rows=1
    )
    topics = table.drop_duplicates("topic")[["topic", "label"]]
    stacked = len(topics) <= len(CATEGORIES)
    most = 1.0 if stacked else max(float(table["share"].max()), 1e-9)
    height = _STACKED if stacked else _HIGH * len(topics)
    left = 48 if stacked else margin(topics["label"], width * 0.3)
    right = 24 + margin(topics["label"], width * 0.26) if stacked else 52
    inner = width - left - right
    top = _BAND if table["band"].ne("").any() else 0
    x = _axis(table, inner)
    layers = [*_stretches(table, x, top + height, inner)]
    if stacked:
        layers += _stack(table, topics, x, top, right)
    else:
        layers += _rows(table, topics, x, top, most, left, picked)
    order = f"Topics by {title}" if title else "Topics in the order of the documents"
    scale = "" if stacked else f" All rows have one scale, up to {percent(most)}."
    return frame(
        layers,
        title=order,
        subtitle=f"Mean share of each topic.{scale}",
        description=f"{order}: {len(topics)} topics over {table['start'].nunique()} values.",
        width=width,
        height=top + height,
        left=left,
        right=right,
        below=_below(table, inner),
    )


def _axis(table: pd.DataFrame, inner: int) -> alt.X:
    """Return the horizontal axis: numbers, or one place for each category."""
    low, high = float(table["start"].min()), float(table["stop"].max())
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    if table.attrs.get("axis") != "category":
        axis = alt.Axis(format="d", tickCount=max(2, inner // 80), grid=False, title=None)
        if high - low < 8 and (table["start"] % 1 % 0.5 != 0).any():
            axis = alt.Axis(tickCount=5, grid=False, title=None)
        return alt.X("at:Q", scale=scale, axis=axis)
    groups = table.drop_duplicates("start")
    middles = ((groups["start"] + groups["stop"]) / 2).tolist()
    names = [fitted(name, _NAME) for name in groups["group"]]
    cases = " : ".join(
        f"datum.value == {m} ? {_quoted(n)}" for m, n in zip(middles, names, strict=True)
    )
    tilt = -40 if _tilted(names, inner) else 0
    axis = alt.Axis(
        values=middles,
        labelExpr=f"{cases} : ''",
        labelAngle=tilt,
        labelAlign="right" if tilt else "center",
        labelLimit=_NAME,
        labelOverlap=False,
        grid=False,
        title=None,
    )
    return alt.X("at:Q", scale=scale, axis=axis)


def _quoted(text: str) -> str:
    """Write a text as a string of Vega's expressions."""
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{plain}'"


def _tilted(names: Sequence[str], inner: float) -> bool:
    """Tell whether names are too wide to stand beside each other."""
    return max(map(text_width, names), default=0) > inner / max(len(names), 1) - 6


def _below(table: pd.DataFrame, inner: float) -> int:
    """Return the room that the texts under the axis need."""
    names = [fitted(name, _NAME) for name in table.drop_duplicates("start")["group"]]
    if table.attrs.get("axis") != "category" or not _tilted(names, inner):
        return 28
    return int(min(26 + 0.62 * max(map(text_width, names)), 130))


def _stretches(table: pd.DataFrame, x: alt.X, height: int, inner: float) -> Iterator[alt.Chart]:
    """Shade every second stretch of groups of one band, and name those that have room."""
    groups = table.drop_duplicates("start")
    if not groups["band"].ne("").any():
        return
    run = groups["band"].ne(groups["band"].shift()).cumsum()
    runs = groups.groupby(run).agg(at=("start", "min"), end=("stop", "max"), band=("band", "first"))
    wide = float(groups["stop"].max() - groups["start"].min()) or 1.0
    room = (runs["end"] - runs["at"]) / wide * inner - 6
    runs["text_band"] = [
        fitted(band, space) if space > min(40, text_width(band)) else ""
        for band, space in zip(runs["band"], room, strict=True)
    ]
    edge = alt.X2("end:Q")
    shaded = drawn(runs.iloc[::2]).encode(x, edge)
    yield shaded.mark_rect(color=NEUTRAL, opacity=0.13, y=0, y2=height).encode()
    middle = runs.assign(at=(runs["at"] + runs["end"]) / 2)
    yield (
        drawn(middle)
        .mark_text(color=INK, y=9, baseline="middle")
        .encode(x, alt.Text("text_band:N"))
    )


def _outline(rows: pd.DataFrame, low: Array, high: Array) -> pd.DataFrame:
    """Return the corners of a topic's area, which falls to nothing where groups leave a gap."""
    start, stop = rows["start"].to_numpy(float), rows["stop"].to_numpy(float)
    at = np.column_stack([start, stop]).ravel()
    below, above = np.repeat(low, 2), np.repeat(high, 2)
    gaps = np.flatnonzero(start[1:] - stop[:-1] > 1e-9)
    if len(gaps):
        where = np.repeat(2 * gaps + 2, 2)
        ends = np.column_stack([stop[gaps], start[gaps + 1]]).ravel()
        floor = np.column_stack([low[gaps], low[gaps + 1]]).ravel()
        at, below, above = (
            np.insert(values, where, more)
            for values, more in ((at, ends), (below, floor), (above, floor))
        )
    return pd.DataFrame({"at": at, "low": below, "high": above})


def _tooltip(rows: pd.DataFrame) -> str:
    """Tell one topic in words."""
    best = rows.iloc[int(rows["share"].to_numpy().argmax())]
    mean = float(np.average(rows["share"], weights=rows["n"]))
    return f"{best['label']}: {percent(mean)} on average, most at {best['group']} ({percent(best['share'])})"


def _areas(parts: Sequence[pd.DataFrame], x: alt.X, height: float) -> alt.Chart:
    """Draw areas given in pixels, one per topic."""
    data = pd.concat(parts, ignore_index=True)
    y = y_pixels("high", height)
    return (
        drawn(data)
        .mark_area(interpolate="linear", line=False)
        .encode(
            x,
            y,
            alt.Y2("low:Q"),
            alt.Detail("topic:N"),
            alt.OrderValue(0),  # corners come in order; sorted by place they would not
            alt.Color("color:N", scale=None, legend=None),
            alt.Opacity("opacity:Q", scale=None, legend=None),
            alt.Description("hover:N"),
            alt.Href("href:N"),
            alt.Tooltip("hover:N", title="topic"),
        )
    )


def _stack(table: pd.DataFrame, topics: pd.DataFrame, x: alt.X, top: int, right: int) -> list[Any]:
    """Draw all topics on top of each other, each in a color, named beside the last group."""
    parts, base = [], None
    for color, (topic, rows) in zip(CATEGORIES, table.groupby("topic", sort=False), strict=False):
        low = np.zeros(len(rows)) if base is None else base
        base = low + rows["share"].to_numpy(float)
        corners = _outline(rows, top + _STACKED * (1 - low), top + _STACKED * (1 - base))
        link = {"hover": _tooltip(rows), "href": cluster_link(topic), "color": color}
        parts.append(corners.assign(topic=topic, opacity=0.8, **link))
    height = top + _STACKED
    lines = pd.DataFrame({"y": [top + _STACKED * s for s in (0, 0.25, 0.5, 0.75, 1)]})
    lines["text_share"] = ["100 %", "75 %", "50 %", "25 %", "0 %"]
    marks = drawn(lines).mark_text(color=INK, x=-8, align="right", baseline="middle", fontSize=11)
    legend = topics.assign(
        y=[top + 10 + 20 * i for i in range(len(topics))],
        href=[cluster_link(j) for j in topics["topic"]],
        hover=topics["label"],
        color=list(CATEGORIES[: len(topics)]),
        text_label=[fitted(label, right - 30) for label in topics["label"]],
    )
    base_of = linked(legend, y_pixels("y", height))
    beside: dict[str, Any] = {"x": {"expr": "width + 14"}}
    squares = base_of.mark_square(size=90, opacity=0.8, **beside).encode(
        alt.Color("color:N", scale=None, legend=None)
    )
    names = base_of.mark_text(align="left", dx=10, baseline="middle", color=INK, **beside).encode(
        alt.Text("text_label:N")
    )
    shares = marks.encode(y_pixels("y", height), alt.Text("text_share:N"))
    return [_areas(parts, x, height), shares, squares, names]


def _rows(
    table: pd.DataFrame,
    topics: pd.DataFrame,
    x: alt.X,
    top: int,
    most: float,
    left: int,
    picked: int | None,
) -> list[Any]:
    """Draw each topic in a row of its own, with its name before and its highest share behind."""
    parts, labels = [], []
    height = top + _HIGH * len(topics)
    for place, (topic, rows) in enumerate(table.groupby("topic", sort=False)):
        floor = top + _HIGH * (place + 1) - 3.0
        share = rows["share"].to_numpy(float)
        corners = _outline(rows, np.full(len(rows), floor), floor - (_HIGH - 6) * share / most)
        color = PICKED if topic == picked else NEUTRAL
        link = {"hover": _tooltip(rows), "href": cluster_link(topic)}
        parts.append(corners.assign(topic=topic, color=color, opacity=0.9, **link))
        label, largest = str(rows["label"].iloc[0]), percent(float(share.max()))
        row = {"y": floor - _HIGH / 2 + 5, "text_label": fitted(label, left - 14), **link}
        labels.append({**row, "text_most": largest, "floor": floor})
    lines = drawn(pd.DataFrame(labels)).encode(alt.Description("hover:N"), alt.Href("href:N"))
    names = lines.mark_text(align="right", x=-8, baseline="middle", color=INK)
    most_of = lines.mark_text(
        align="left", x={"expr": "width + 8"}, baseline="middle", color=INK, fontSize=11
    )
    ground = drawn(pd.DataFrame(labels)).mark_rule(color=NEUTRAL, opacity=0.4)
    return [
        ground.encode(y_pixels("floor", height)),
        _areas(parts, x, height),
        names.encode(y_pixels("y", height), alt.Text("text_label:N")),
        most_of.encode(y_pixels("y", height), alt.Text("text_most:N")),
    ]
