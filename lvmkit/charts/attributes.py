"""Attributes of the records in each cluster: age, sex, length of stay, or any other."""

from collections.abc import Sequence
from decimal import Decimal
from math import isinf
from numbers import Real
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

from lvmkit import disclosure
from lvmkit.charts._frame import drawn, fitted, frame, margin, row_labels, text_width, y_pixels
from lvmkit.charts._labels import (
    cluster_link,
    hidden_note,
    of_records,
    percent,
    weighted_share,
    whole,
)
from lvmkit.charts.theme import CATEGORIES, INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import require_columns, sample_weights, unmasked, whole_numbers
from lvmkit.scores.counts import Names, cluster_ids, cluster_names, joined

_ALL = "all"
_MISSING = "not known"
_OTHERS = "other"
_ROW = 26
_FEW = 6
_LEGEND = 24
_SOFT = 0.6
_NUMBER = 22


@checked(bins=1, top=1, suppress_below=2)
def attributes_table(
    values: Any,
    labels: npt.ArrayLike,
    *,
    clusters: Sequence[int] | range | None = None,
    names: Names = None,
    bins: int = 20,
    top: int = _FEW,
    suppress_below: int | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Tabulate how an attribute is distributed in each cluster and in all records.

    Parameters
    ----------
    values : Series or array (n,)
        One value per record, for example `cohort.obs["age"]`. Numbers with more than six different
        values are cut into bins; anything else is taken as categories. Missing values are counted.
    labels : array (n,) of int
        Cluster of each record.
    clusters : sequence of int, optional
        Clusters to show, in this order; by default those in `labels`, ascending.
    names : mapping of int to str, or sequence of str, optional
        What the user calls the clusters.
    bins : int, default=20
        Number of bins at most, of equal and round width; beyond the 99th percentile values go in
        the last one.
    top : int, default=6
        Number of categories at most; the rarer ones become "other".
    suppress_below : int, optional
        Hide counts of 1 to this less one, and what would give them away.
    sample_weight : array (n,), optional
        How many of the population each record stands for, 0 or more. Shares and medians are then weighted; numbers of
        records are not, and suppression goes by them.

    Returns
    -------
    DataFrame
        Per cluster and bin or category, the last group being all records (cluster -1): cluster,
        label, then left, right (of the bin, in the attribute's unit; infinite for the last one if
        it holds all larger values) or value (the category); n, size (records with a known value;
        all of them where the number of unknown ones must be hidden), share (n / size); for numbers
        also median (NaN where counts are suppressed) and unknown (records without a value). With weights
        also estimate (what the n records stand for) and estimate_size.

    Raises
    ------
    ValueError
        If lengths disagree, a value is infinite, `bins` or `top` is below 1, or weights are negative or
        all 0.

    Examples
    --------
    >>> attributes_table(["f", "f", "m"], [0, 0, 1])[["label", "value", "n", "share"]].round(2)
      label value    n  share
    0     0     f  2.0   1.00
    1     0     m  0.0   0.00
    2     1     f  0.0   0.00
    3     1     m  1.0   1.00
    4   all     f  2.0   0.67
    5   all     m  1.0   0.33
    """
    series = _read(values)
    ids = cluster_ids(labels)
    if len(series) != len(ids) or not len(ids):
        msg = f"labels must be {len(series)}, one or more, and one for each of the values; found {len(ids)}"
        raise ValueError(msg)
    weight = sample_weights(sample_weight, len(ids))
    shown = np.unique(ids) if clusters is None else whole_numbers(list(clusters), "clusters")
    texts = [*joined(shown, cluster_names(shown, names)), _ALL]
    members = [ids == cluster for cluster in shown]
    members.append(np.logical_or.reduce(members) if members else np.ones(len(ids), dtype=bool))
    if _is_number(series):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
        table = _binned(numbers, members, bins, suppress_below, weight)
    else:
        table = _categories(series, members, top, weight)
    table.insert(0, "cluster", np.append(shown, -1)[table["group"]])
    table.insert(1, "label", np.asarray(texts, dtype=object)[table.pop("group")])
    table = table if suppress_below is None else _suppressed(table, suppress_below)
    return table.drop(columns="estimate_unknown", errors="ignore")


@checked(width=1)
def attributes_chart(
    table: pd.DataFrame, *, title: str = "Age", unit: str = "years", width: int = 560
) -> alt.LayerChart:
    """Draw an attribute's distribution in each cluster: a small histogram, or shares in one bar.

    Parameters
    ----------
    table : DataFrame
        As made by `attributes_table`.
    title : str, default="Age"
        Name of the attribute.
    unit : str, default="years"
        Unit of the numbers; "" for categories.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        One row per cluster, a link "#cluster=…"; the last row is all records.

    Examples
    --------
    >>> table = attributes_table(["f", "f", "m"], [0, 0, 1])
    >>> attributes_chart(table, title="Sex", unit="").to_dict()["title"]["text"]
    ['Sex in each cluster']
    """
    numeric = "left" in table
    numbers = "n size share" + " left right median unknown" * numeric
    text = "label" if numeric else "label value"
    table = require_columns(table, text=text, whole="cluster", numbers=numbers, rows=int(numeric))
    rows = table.drop_duplicates("label")
    left = margin(rows["label"], width * 0.42)
    inside = max(width - left - 12, 40)
    above = 0 if numeric else _LEGEND
    height = above + max(len(rows), 1) * _ROW
    placed = table.assign(top=above + _ROW * pd.factorize(table["label"])[0])
    linked = placed.drop_duplicates("label")
    linked = linked.assign(place=linked["top"] + _ROW / 2)
    clusters = linked["cluster"].tolist()
    linked["href"] = [cluster_link(number) if number >= 0 else None for number in clusters]
    layers = _histograms(placed, height, unit) if numeric else _bars(placed, height, inside)
    return frame(
        [row_labels(linked, y_pixels("place", height), left), *layers],
        title=f"{title} in each cluster",
        subtitle=_subtitle(table, rows, numeric=numeric),
        description=f"Distribution of {title.lower()} in each cluster, one row per cluster.",
        width=width,
        height=height,
        left=left,
        below=44 if numeric else 8,
    )


def _subtitle(table: pd.DataFrame, rows: pd.DataFrame, *, numeric: bool) -> str:
    """Subtitle: what is drawn, and what is not."""
    share = weighted_share(table).capitalize()
    if not numeric:
        return f"{share} of the cluster's records, in percent.{hidden_note(table['n'])}"
    text = f"{share} of the cluster's records by value, each row scaled to its own peak."
    if rows["median"].notna().any():
        text += " Upright mark: median."
    if np.isinf(table["right"]).any():
        text += " The last bar holds all larger values."
    unknown = rows["unknown"].iloc[-1] if len(rows) else 0
    return (
        text + (f" Not known: {whole(unknown)}." if unknown > 0 else "") + hidden_note(table["n"])
    )


def _read(values: Any) -> pd.Series:
    """Return what is known of each record (n,): numbers, or names of categories."""
    if not isinstance(values, pd.Series | pd.Index | ExtensionArray):
        values = np.asarray(unmasked(values, "values"), dtype=getattr(values, "dtype", None))
        if values.ndim != 1:
            msg = f"values must be one for each record, (n,); found shape {values.shape}"
            raise ValueError(msg)
    series = pd.Series(values).reset_index(drop=True)
    kind = getattr(series.dtype, "kind", "")
    if kind in ("c", "M", "m"):
        msg = f"values must be numbers or names of categories; found {series.dtype}. Convert them, dates to years"
        raise ValueError(msg)
    infinite: Any = []
    if kind == "f":
        infinite = np.flatnonzero(np.isinf(series.to_numpy(dtype=float, na_value=np.nan)))
    elif kind == "O":
        numbers = enumerate(series)
        infinite = [at for at, x in numbers if isinstance(x, Real | Decimal) and isinf(x)]
    if len(infinite):
        msg = f"values must be finite; found infinity for record {infinite[0]}. Write NaN for what is not known"
        raise ValueError(msg)
    return series


def _is_number(series: pd.Series) -> bool:
    """Tell numbers from categories."""
    return pd.api.types.is_numeric_dtype(series) and not (
        pd.api.types.is_bool_dtype(series) or series.nunique() <= _FEW
    )


def _binned(
    values: Array,
    members: list[npt.NDArray[np.bool_]],
    bins: int,
    suppress_below: int | None,
    weight: Array | None,
) -> pd.DataFrame:
    """Count values in round bins."""
    known = np.isfinite(values)
    edges = _edges(values[known], bins)
    inside = np.clip(values, edges[0], (edges[-2] + edges[-1]) / 2)
    right = np.append(edges[1:-1], np.inf if (values[known] >= edges[-1]).any() else edges[-1])
    parts = []
    for group, member in enumerate(members):
        n = np.histogram(inside[member & known], edges)[0].astype(float)
        size = n.sum()
        part = pd.DataFrame({"group": group, "left": edges[:-1], "right": right, "n": n})
        part["size"], part["share"] = size, n / size if size else np.nan
        chosen = member & known
        if weight is not None:
            sums = np.histogram(inside[chosen], edges, weights=weight[chosen])[0]
            _estimate(part, sums, float(weight[member & ~known].sum()))
        # a median is a value that some patient has
        part["median"] = (
            _median(values[chosen], None if weight is None else weight[chosen])
            if size and not suppress_below
            else np.nan
        )
        part["unknown"] = float((member & ~known).sum())
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _estimate(part: pd.DataFrame, sums: Array, unknown: float = 0.0) -> None:
    """Add what the records of a group stand for, and take the shares from it."""
    size = float(sums.sum())
    part["estimate"], part["estimate_size"] = sums, size
    part["share"] = sums / size if size else np.nan
    part["estimate_unknown"] = unknown


def _median(values: Array, weight: Array | None) -> float:
    """Return the middle value, every value repeated as often as its weight says."""
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    if not len(order):
        return float("nan")
    ends = np.cumsum(weight[order])
    # halves: with whole weights the two values in the middle of an even number of rows may differ
    half = ends[-1] / 2
    low = np.searchsorted(ends, half * (1 - 1e-12))
    high = min(np.searchsorted(ends, half * (1 + 1e-12), side="right"), len(order) - 1)
    return float(values[order[low]] + values[order[high]]) / 2


def _edges(values: Array, bins: int) -> Array:
    """Return edges of round width from the smallest value to the 99th percentile."""
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = float(values.min()), float(np.quantile(values, 0.99))
    raw = max((high - low) / bins, 1e-12)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= raw * (1 - 1e-9))
    if np.all(values == np.round(values)):
        step = max(step, 1.0)
    start = np.floor(low / step + 1e-9) * step
    count = max(int(np.floor((high - start) / step + 1e-9)) + 1, 1)
    return start + step * np.arange(count + 1)


def _categories(
    series: pd.Series, members: list[npt.NDArray[np.bool_]], top: int, weight: Array | None
) -> pd.DataFrame:
    """Count categories, the most frequent first, rare ones together."""
    texts = series.astype(object).where(series.notna(), _MISSING).map(str)
    texts = texts.where(texts.str.strip() != "", _MISSING)
    order = list(
        texts.value_counts().sort_index().sort_values(ascending=False, kind="stable").index
    )
    if len(order) > top:
        texts = texts.where(texts.isin(order[: top - 1]), _OTHERS)
        order = [*(value for value in order[: top - 1] if value != _OTHERS), _OTHERS]
    codes = pd.Categorical(texts, categories=order).codes
    parts = []
    for group, member in enumerate(members):
        n = np.bincount(codes[member], minlength=len(order)).astype(float)
        size = n.sum()
        part = pd.DataFrame({"group": group, "value": order, "n": n})
        part["size"], part["share"] = size, n / size if size else np.nan
        if weight is not None:
            sums = np.bincount(codes[member], weight[member], minlength=len(order))
            _estimate(part, sums.astype(float))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _suppressed(table: pd.DataFrame, threshold: int) -> pd.DataFrame:
    """Hide small counts within each cluster, and across clusters for each value."""
    value = "left" if "left" in table else "value"
    clusters, width = (table["cluster"] >= 0).to_numpy(), table[value].nunique()
    grid = table["n"].to_numpy()[clusters].reshape(-1, width)
    if (
        "unknown" in table
    ):  # clusters' sizes are known, so records without a value are one more cell
        grid = np.column_stack([grid, table["unknown"].to_numpy()[clusters][::width]])
    found = disclosure.suppression_with_totals(grid, threshold=threshold)
    mask = np.vstack([found.cells, found.totals])
    shown = table.copy()
    if mask[:, width:].any():
        shown["size"] += shown["unknown"]
        shown["share"] = shown["n"] / shown["size"]
        if "estimate" in shown:
            shown["estimate_size"] += shown["estimate_unknown"]
            shown["share"] = shown["estimate"] / shown["estimate_size"]
        shown["unknown"] = shown["unknown"].mask(np.repeat(mask[:, -1], width))
    estimates = ["estimate"] if "estimate" in table else []
    shown.loc[mask[:, :width].ravel(), ["n", "share", *estimates]] = np.nan
    whole_row = np.repeat((found.cells | (grid == 0)).all(axis=1), width)
    hidden_rows = np.append(whole_row, np.zeros(width, dtype=bool))
    shown.loc[hidden_rows, ["size", *(f"{name}_size" for name in estimates)]] = np.nan
    return shown


def _histograms(table: pd.DataFrame, height: int, unit: str) -> list[alt.Chart]:
    """Draw small histograms, one per row, each as high as the row."""
    step = float(table["right"].iloc[0] - table["left"].iloc[0])
    data = table[table["share"] > 0].copy()
    data["end"] = data["left"] + step
    data["base"] = data["top"] + _ROW - 2
    highest = data.groupby("label", sort=False)["share"].transform("max")
    data["peak"] = data["base"] - data["share"] / highest * (_ROW - 4)
    data["color"] = np.where(data["cluster"] < 0, NEUTRAL, PICKED)
    data["hover"] = [_bin_tooltip(row, unit) for row in data.to_dict("records")]
    axis = alt.Axis(title=unit or None, tickCount=8, domain=False, labelFlush=False)
    domain = [float(table["left"].min()), float(table["left"].max()) + step]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    across = alt.X("left:Q", scale=scale, axis=axis)
    columns = ["left", "end", "base", "peak", "color", "hover"]
    bars = _boxes(drawn(data[columns]).mark_rect(stroke=None), across, "peak", height)
    middles = table.drop_duplicates("label").dropna(subset=["median"])
    middles = middles.assign(peak=middles["top"] + 1, base=middles["top"] + _ROW - 1)
    marks = drawn(middles[["median", "peak", "base"]]).mark_rule(color=INK, strokeWidth=2)
    x = alt.X("median:Q", scale=scale, axis=axis)
    return [bars, marks.encode(x, y_pixels("peak", height), alt.Y2("base:Q"))]


def _boxes(rects: alt.Chart, x: alt.X, top: str, height: int) -> alt.Chart:
    """Place rectangles from x to `end`, and from `top` down to `base`."""
    return rects.encode(
        x,
        alt.X2("end:Q"),
        y_pixels(top, height),
        alt.Y2("base:Q"),
        alt.Color("color:N", scale=None),
        alt.Description("hover:N"),
        alt.Tooltip("hover:N", title="share"),
    )


def _bin_tooltip(row: dict[Any, Any], unit: str) -> str:
    """Tell one bin in words."""
    known = of_records(row["n"], row["size"], weighted="estimate" in row)
    until = " or more" if np.isinf(row["right"]) else f" to below {row['right']:g}"
    share = f"{percent(row['share'])} ({known})"
    return f"{row['label']}: {share} from {row['left']:g}{until} {unit}".strip()


def _bars(table: pd.DataFrame, height: int, room: int) -> list[alt.Chart]:
    """Draw one bar of shares per row, the share printed where there is room, and the legend."""
    data = table.copy()
    known = data["share"].fillna(0.0)
    data["end"] = known.groupby(data["label"], sort=False).cumsum()
    data["start"] = data["end"] - known
    data["middle"], data["base"] = (data["start"] + data["end"]) / 2, data["top"] + _ROW - 4
    data["place"] = data["top"] + _ROW / 2 - 2
    values = list(data["value"].unique())
    hues = _hues(values)
    data["color"] = [hues[value] for value in data["value"]]
    data["text"] = [
        f"{100 * share:.0f}" if share * room > _NUMBER else ("–" if np.isnan(share) else "")
        for share in data["share"]
    ]
    data["hover"] = [
        f"{label}: {value} {percent(share)} ({of_records(n, size, weighted='estimate' in data)})"
        for label, value, share, n, size in zip(
            *(data[name] for name in ("label", "value", "share", "n", "size")), strict=True
        )
    ]
    scale = alt.Scale(domain=[0, 1])
    base = drawn(data[known > 0])
    start = alt.X("start:Q", scale=scale, axis=None)
    bars = _boxes(base.mark_rect(opacity=_SOFT), start, "top", height)
    texts = base.mark_text(color=INK, aria=False)
    middle = alt.X("middle:Q", scale=scale, axis=None)
    numbers = texts.encode(middle, y_pixels("place", height), alt.Text("text:N"))
    return [bars, numbers, *_legend(values, hues, height, room)]


def _hues(values: list[str]) -> dict[str, str]:
    """Give each category a hue; what is unknown or put together is gray."""
    named = [value for value in values if value not in (_MISSING, _OTHERS)]
    hues = {value: CATEGORIES[i % len(CATEGORIES)] for i, value in enumerate(named)}
    return {value: hues.get(value, NEUTRAL) for value in values}


def _legend(values: list[str], hues: dict[str, str], height: int, room: int) -> list[alt.Chart]:
    """Draw the names of the categories above the bars, each beside its color."""
    most = room / max(len(values), 1) - 26
    texts = [fitted(str(value), most) for value in values]
    starts = np.cumsum([0.0, *(text_width(text) + 26 for text in texts)])[:-1]
    data = pd.DataFrame({"start": (starts + 6) / room, "text_label": texts, "hover": values})
    data["color"], data["place"] = [hues[value] for value in values], 8
    scale = alt.Scale(domain=[0, 1])
    base = drawn(data).encode(
        alt.X("start:Q", scale=scale, axis=None),
        y_pixels("place", height),
        alt.Description("hover:N"),
    )
    squares = base.mark_point(shape="square", filled=True, size=110, opacity=_SOFT)
    names = base.mark_text(align="left", dx=10, color=INK)
    return [
        squares.encode(alt.Color("color:N", scale=None)),
        names.encode(alt.Text("text_label:N")),
    ]
