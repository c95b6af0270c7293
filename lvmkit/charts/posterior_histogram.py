"""Histograms of the largest posterior of each sample, one per cluster."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, y_pixels
from lvmkit.charts._labels import hidden_note
from lvmkit.charts.structure_plot import checked_posteriors, cluster_labels
from lvmkit.charts.theme import INK, NEUTRAL, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.disclosure.tensors import shown_with_sizes

_ROW, _GAP = 54, 10  # pixels: the bars of a cluster, and the space below them


@checked()
def posterior_histogram_table(
    posteriors: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    n_bins: int = 10,
    threshold: int | None = None,
) -> pd.DataFrame:
    """Count the samples of each cluster by how likely it is, one row per cluster and bin.

    Parameters
    ----------
    posteriors : array (n, K)
        Such as `posteriors_` or `predict_proba(X)` of a `TensorNormalMixture`.
    names : sequence of str, optional
        What the clusters are called; by default "cluster 0" and so on.
    n_bins : int, default=10
        Bins from 1/K, the least that the largest posterior can be, to 1.
    threshold : int, optional
        Smallest count that is shown, apart from 0, and what it could be found from; by default all are.

    Returns
    -------
    DataFrame
        cluster, label, size, low, high (of the bin), n; NaN where it must not be shown.

    Raises
    ------
    ValueError
        If shapes do not fit, or `n_bins` is below 1.

    Examples
    --------
    >>> table = posterior_histogram_table([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]], n_bins=5)
    >>> table.loc[table["n"] > 0, ["label", "low", "high", "n"]]
           label  low  high    n
    3  cluster 0  0.8   0.9  1.0
    7  cluster 1  0.7   0.8  1.0
    9  cluster 1  0.9   1.0  1.0
    """
    theta = checked_posteriors(posteriors)
    if n_bins < 1:
        msg = f"n_bins is {n_bins}; ask for one or more"
        raise ValueError(msg)
    k = theta.shape[1]
    labels = cluster_labels(k, names)
    least = 1 / k if k > 1 else 0.0
    assigned, certainty = theta.argmax(axis=1), theta.max(axis=1)
    # a value on the border of two bins, but for rounding, belongs to the upper one
    place = np.floor((certainty - least) / (1 - least) * n_bins + 1e-9).astype(np.int64)
    counts = np.zeros((k, n_bins))
    np.add.at(counts, (assigned, place.clip(0, n_bins - 1)), 1)
    sizes = counts.sum(axis=1)
    if threshold is not None:
        counts, sizes = shown_with_sizes(counts, threshold)
    edges = np.linspace(least, 1, n_bins + 1).round(12)
    return pd.DataFrame(
        {
            "cluster": np.repeat(np.arange(k), n_bins),
            "label": np.repeat(np.array(labels, dtype=object), n_bins),
            "size": np.repeat(sizes, n_bins),
            "low": np.tile(edges[:-1], k),
            "high": np.tile(edges[1:], k),
            "n": counts.ravel(),
        }
    )


@checked(width=1)
def posterior_histogram_chart(
    table: pd.DataFrame, *, width: int = 520, picked: int | None = None
) -> alt.LayerChart:
    """Draw a row of bars for each cluster: how many of its samples belong to it how surely.

    Parameters
    ----------
    table : DataFrame
        As made by `posterior_histogram_table`.
    width : int, default=520
        Width of the picture, in pixels.
    picked : int, optional
        The cluster that stands out.

    Returns
    -------
    altair.LayerChart
        The samples at the left of a row might as well belong elsewhere.

    Examples
    --------
    >>> posterior_histogram_chart(posterior_histogram_table([[0.1, 0.9], [0.8, 0.2]])).to_dict()["title"]["text"]
    ['How surely samples belong to their cluster']
    """
    table = require_columns(table, text="label", whole="cluster", numbers="size low high n")
    clusters = table.drop_duplicates("cluster").reset_index(drop=True)
    height = len(clusters) * (_ROW + _GAP)
    sizes = ["–" if np.isnan(size) else f"{size:,.0f}" for size in clusters["size"]]
    names = [f"{label} ({size})" for label, size in zip(clusters["label"], sizes, strict=True)]
    left = margin(names, width * 0.36)
    rows = pd.factorize(table["cluster"])[0]
    high = float(np.nanmax(table["n"].to_numpy(dtype=float), initial=1.0))
    most = f"; the highest bar has {high:,.0f}" if (table["n"] > 0).any() else ""
    data = table.assign(base=(rows + 1) * (_ROW + _GAP) - _GAP, color=NEUTRAL)
    data["y"] = data["base"] - _ROW * data["n"] / high
    data.loc[data["cluster"] == picked, "color"] = PICKED
    data["hover"] = [
        f"{label}, {low:.0%} to {high:.0%}: {'too few to show' if np.isnan(n) else f'{n:,.0f}'}"
        for label, low, high, n in table[["label", "low", "high", "n"]].itertuples(index=False)
    ]
    scale = alt.Scale(domain=[float(table["low"].min()), 1.0], nice=False, zero=False)
    axis = alt.Axis(format=".0%", title="largest posterior", tickCount=6, domain=False, grid=False)
    x, y = alt.X("low:Q", scale=scale, axis=axis), y_pixels("y", height)
    known, unknown = data[data["n"] > 0], data[data["n"].isna()].assign(text_n="–")
    bars = drawn(known).mark_rect(stroke="transparent", strokeWidth=0)
    tooltip = (alt.Description("hover:N"), alt.Tooltip("hover:N", title="samples"))
    feet = drawn(pd.DataFrame({"y": data["base"].unique()})).mark_rule(
        color=NEUTRAL, strokeWidth=0.5
    )
    side = pd.DataFrame({"y": data["base"].unique() - 8})
    side["text_label"] = [fitted(name, left - 12) for name in names]
    text = drawn(side).mark_text(align="right", x=-6, color=INK)
    dash = drawn(unknown.assign(y=unknown["base"] - 7, at=(unknown["low"] + unknown["high"]) / 2))
    return frame(
        [
            feet.encode(y),
            bars.encode(
                x, y, alt.X2("high:Q"), alt.Y2("base:Q"), *tooltip, alt.Color("color:N", scale=None)
            ),
            text.encode(y, alt.Text("text_label:N")),
            dash.mark_text(color=INK, fontSize=TEXT_SIZE - 1).encode(
                alt.X("at:Q", scale=scale, axis=axis), y, alt.Text("text_n:N")
            ),
        ],
        title="How surely samples belong to their cluster",
        subtitle=f"Samples by their largest posterior{most}.{hidden_note(table['n'])}",
        description=f"Histograms of the largest posterior of the samples of {len(clusters)} clusters.",
        width=width,
        height=height,
        left=left,
        below=44,
    )
