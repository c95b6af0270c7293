"""Structure plot: one bar per sample, divided by its posteriors, sorted by cluster."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, x_pixels, y_pixels
from lvmkit.charts.theme import CATEGORIES, INK, NEUTRAL, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_finite, require_columns

_HIGH, _LEGEND = 190, 20  # pixels: the bars, and the line of a legend


@checked()
def structure_plot_table(
    posteriors: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
) -> pd.DataFrame:
    """Tabulate the posterior of each sample, sorted for a picture, one row per sample and cluster.

    Parameters
    ----------
    posteriors : array (n, K)
        Such as `posteriors_` or `predict_proba(X)` of a `TensorNormalMixture`.
    names : sequence of str, optional
        What the clusters are called; by default "cluster 0" and so on.
    groups : sequence of length n, optional
        Known class of each sample; samples are sorted by it first, categories in their order.

    Returns
    -------
    DataFrame
        sample (row of the data), place (from left to right), group, cluster, label, posterior, below
        (sum of the clusters before), assigned (the most likely cluster).

    Raises
    ------
    ValueError
        If shapes do not fit.

    Notes
    -----
    Inside a group, samples are sorted by their most likely cluster, and there by how likely it is:
    doubtful ones of neighbors meet.

    Examples
    --------
    >>> table = structure_plot_table([[0.1, 0.9], [0.8, 0.2]])
    >>> table[["sample", "place", "label", "posterior"]].head(2)
       sample  place      label  posterior
    0       1      0  cluster 0        0.8
    1       1      0  cluster 1        0.2
    """
    theta = checked_posteriors(posteriors)
    n, k = theta.shape
    labels = cluster_labels(k, names)
    if groups is not None and len(groups) != n:
        msg = f"groups has {len(groups)} values for {n} samples; pass one for each"
        raise ValueError(msg)
    known = pd.Series([""] * n if groups is None else groups)
    text = np.array(["unknown" if pd.isna(value) else str(value) for value in known], dtype=object)
    ordered = isinstance(known.dtype, pd.CategoricalDtype)
    rank = known.cat.codes if ordered else pd.factorize(text, sort=True)[0]
    assigned = theta.argmax(axis=1)
    certainty = theta.max(axis=1)
    # sure ones first, except in the last cluster, so that its doubtful ones stand at its border too
    sign = np.where(assigned == k - 1, 1.0, -1.0) if k > 1 else np.ones(n)
    order = np.lexsort((sign * certainty, assigned, rank))
    table = pd.DataFrame(
        {
            "sample": np.repeat(order, k),
            "place": np.repeat(np.arange(n), k),
            "group": np.repeat(text[order], k),
            "cluster": np.tile(np.arange(k), n),
            "label": labels * n,
            "posterior": theta[order].ravel(),
        }
    )
    table["below"] = (theta[order].cumsum(axis=1) - theta[order]).ravel()
    return table.assign(assigned=np.repeat(assigned[order], k))


@checked(width=1)
def structure_plot_chart(
    table: pd.DataFrame, *, width: int = 760, picked: int | None = None, links: bool = True
) -> alt.LayerChart:
    """Draw each sample as a bar that its clusters share.

    Parameters
    ----------
    table : DataFrame
        As made by `structure_plot_table`; for some hundred samples. For more use `posterior_histogram_table`.
    width : int, default=760
        Width of the picture, in pixels.
    picked : int, optional
        The cluster that stands out where there are more than six; else every cluster has a color.
    links : bool, default=True
        Whether bars are links "#sample=…", up to 400 of them.

    Returns
    -------
    altair.LayerChart
        Known groups stand side by side, with their names below.

    Examples
    --------
    >>> structure_plot_chart(structure_plot_table([[0.1, 0.9], [0.8, 0.2]])).to_dict()["title"]["text"]
    ['Posteriors of 2 samples']
    """
    floats = "posterior below"
    table = require_columns(
        table, text="group label", whole="sample place cluster assigned", numbers=floats, rows=1
    )
    n = int(table["place"].max()) + 1
    clusters = table.drop_duplicates("cluster")
    k = len(clusters)
    colors = np.array(CATEGORIES[:k], dtype=object)
    if k > len(CATEGORIES):
        colors = np.where(clusters["cluster"] == (picked or 0), CATEGORIES[0], NEUTRAL)
    left, inner = 44, width - 44 - 12
    wide = inner / n
    gap = 1.0 if wide > 5 else -0.4  # narrow ones overlap: no light falls through their seams
    data = table.assign(
        x=table["place"] * wide,
        x2=(table["place"] + 1) * wide - gap,
        y=_HIGH * (1 - table["below"] - table["posterior"]),
        y2=_HIGH * (1 - table["below"]),
        color=colors[table["cluster"].to_numpy()],
    )
    bars = drawn(data[data["posterior"] > 0.002]).mark_rect(aria=False)
    place = (x_pixels("x", inner), y_pixels("y", _HIGH), alt.X2("x2:Q"), alt.Y2("y2:Q"))
    axis = drawn(
        pd.DataFrame({"y": [0.0, _HIGH / 2, float(_HIGH)], "text_share": ["100 %", "50 %", "0"]})
    )
    axis_text = axis.mark_text(align="right", x=-6, color=INK, fontSize=TEXT_SIZE - 1)
    layers: list[Any] = [
        bars.encode(*place, alt.Color("color:N", scale=None, legend=None)),
        axis_text.encode(y_pixels("y", _HIGH), alt.Text("text_share:N")),
        *_groups(table, inner, wide),
        *_legend(clusters["label"].tolist(), colors.tolist(), inner),
    ]
    if n <= 400:
        layers.append(_tooltips(data, place, links=links))
    grouped = " Sorted by known group." if table["group"].iloc[0] != "" else ""
    return frame(
        layers,
        title=f"Posteriors of {n:,} samples",
        subtitle=f"One bar for each sample: how likely it belongs to each cluster.{grouped}",
        description=f"Stacked bars of the posteriors of {n:,} samples in {k} clusters.",
        width=width,
        height=_HIGH,
        left=left,
        below=2 * _LEGEND + 14,
    )


def checked_posteriors(posteriors: npt.ArrayLike) -> Array:
    """Return posteriors as an array of samples by clusters."""
    theta: Array = as_finite(posteriors, "posteriors")
    if theta.ndim != 2 or not theta.size:
        msg = f"posteriors are samples by clusters (n, K); found shape {theta.shape}"
        raise ValueError(msg)
    return theta


def cluster_labels(k: int, names: Sequence[str] | None) -> list[str]:
    """Return what clusters are called."""
    if names is None:
        return [f"cluster {j}" for j in range(k)]
    if len(names) != k:
        msg = f"names has {len(names)} texts for {k} clusters; pass one for each"
        raise ValueError(msg)
    return [str(name) for name in names]


def _tooltips(data: pd.DataFrame, place: tuple[Any, ...], *, links: bool) -> alt.Chart:
    """Tell the posterior of each sample, as a link."""
    whole = data[data["cluster"] == data["assigned"]].assign(y=0.0, y2=float(_HIGH))
    whole["href"] = [f"#sample={sample}" for sample in whole["sample"]]
    whole["hover"] = [
        f"sample {sample}{f' ({group})' if group else ''}: {label} with {share:.1%}"
        for sample, group, label, share in zip(
            whole["sample"], whole["group"], whole["label"], whole["posterior"], strict=True
        )
    ]
    box = drawn(whole).mark_rect(color=NEUTRAL, opacity=0)
    box = box.encode(*place, alt.Description("hover:N"), alt.Tooltip("hover:N", title="sample"))
    return box.encode(alt.Href("href:N")) if links else box


def _groups(table: pd.DataFrame, inner: float, wide: float) -> list[alt.Chart]:
    """Draw a line between known groups, and their names below."""
    rows = table.drop_duplicates("place")
    spans = rows.groupby("group", sort=False)["place"].agg(["min", "max"])
    if len(spans) == 1 and spans.index[0] == "":
        return []
    data = pd.DataFrame({"x": spans["min"] * wide, "x2": (spans["max"] + 1) * wide})
    data["middle"] = (data["x"] + data["x2"]) / 2
    widths = (data["x2"] - data["x"]).tolist()
    data["text_group"] = [
        fitted(str(name), room) for name, room in zip(spans.index, widths, strict=True)
    ]
    lines = drawn(data.iloc[1:]).mark_rule(color=INK, y=0, y2=_HIGH + 6, aria=False)
    text = drawn(data).mark_text(y=_HIGH + 14, color=INK, fontSize=TEXT_SIZE - 1)
    return [
        lines.encode(x_pixels("x", inner)),
        text.encode(x_pixels("middle", inner), alt.Text("text_group:N")),
    ]


def _legend(labels: list[str], colors: list[str], inner: float) -> list[alt.Chart]:
    """Write which color is which cluster, as many as fit."""
    x, rows = 0.0, []
    for label, color in zip(labels, colors, strict=True):
        wide = margin([label], 150) + 18
        if x + wide > inner:
            break
        rows.append({"x": x + 5, "text_at": x, "text_label": fitted(label, 140), "color": color})
        x += wide
    data = pd.DataFrame(rows).rename(columns={"text_at": "from"})
    data["from"] += 14
    y = _HIGH + 24 + _LEGEND / 2
    dots = drawn(data).mark_point(filled=True, shape="square", size=90, opacity=1, y=y, aria=False)
    texts = drawn(data).mark_text(align="left", y=y, color=INK, fontSize=TEXT_SIZE - 1)
    return [
        dots.encode(x_pixels("x", inner), alt.Color("color:N", scale=None, legend=None)),
        texts.encode(x_pixels("from", inner), alt.Text("text_label:N")),
    ]
