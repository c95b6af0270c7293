"""Stability of each cluster: the mean Jaccard index with its best match in repeated fits."""

from collections.abc import Hashable
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, frame, margin, row_labels, rows_of
from lvmkit.charts._labels import cluster_link
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns, whole_numbers
from lvmkit.scores import StabilityStudy
from lvmkit.scores.stability.verdict import DISSOLVES, REAPPEARS, SWAPS

_ROW = 26
_WORDS = ("reappears", "doubtful", "dissolves", "not shown")
_COLORS = (PICKED, NEUTRAL, OTHER, NEUTRAL)


@checked()
def cluster_stability_table(study: StabilityStudy, *, hidden: npt.ArrayLike = ()) -> pd.DataFrame:
    """Tabulate the stability of each cluster of a study, and with which other one it swaps members.

    Parameters
    ----------
    study : StabilityStudy
        As made by `lvmkit.scores.stability_study`.
    hidden : array of int, optional
        Numbers of clusters of which nothing but the name is told, because too few rows are in them.

    Returns
    -------
    DataFrame
        cluster, label, n (<NA> where hidden), jaccard (mean over the repeats), low, high (least and
        largest), verdict ("reappears" from 0.75 on, "dissolves" below 0.5, "doubtful" between, "not
        shown"), partner (number of the cluster with which it swaps most members; <NA> below a tenth)
        and exchanged (share of the members of both that change sides).

    Notes
    -----
    The limits are those of Hennig 2007, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from lvmkit.scores import stability_study
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> study = stability_study(KMeans(2, n_init=1), X, names={1: "right"}, n_repeats=2)
    >>> cluster_stability_table(study)[["label", "n", "jaccard", "verdict"]]
           label   n  jaccard    verdict
    0          0  50      1.0  reappears
    1  1 · right  50      1.0  reappears
    """
    shown = np.isin(study.clusters, whole_numbers(hidden, "hidden"), invert=True)
    jaccard = np.where(shown, study.cluster_stability, np.nan)
    known = np.isfinite(study.jaccard) & shown
    low = np.where(known, study.jaccard, 2.0).min(axis=0, initial=2.0)
    high = np.where(known, study.jaccard, -1.0).max(axis=0, initial=-1.0)
    parts = study.exchanged * shown[None, :] * shown[:, None]
    partner = parts.argmax(axis=1)
    exchanged = parts.max(axis=1)
    numbers = pd.array(study.clusters[partner], dtype="Int64")
    numbers[exchanged < SWAPS] = pd.NA
    sizes = pd.array(study.sizes, dtype="Int64")
    sizes[~shown] = pd.NA
    place = np.select(
        [~np.isfinite(jaccard), jaccard >= REAPPEARS, jaccard < DISSOLVES], [3, 0, 2], 1
    )
    return pd.DataFrame(
        {
            "cluster": study.clusters,
            "label": study.cluster_labels,
            "n": sizes,
            "jaccard": jaccard,
            "low": np.where(low > 1, np.nan, low),
            "high": np.where(high < 0, np.nan, high),
            "verdict": [_WORDS[i] for i in place],
            "partner": numbers,
            "exchanged": np.where(exchanged < SWAPS, np.nan, exchanged),
        }
    )


@checked(width=1)
def cluster_stability_chart(
    table: pd.DataFrame, *, top: int = 40, width: int = 640
) -> alt.LayerChart:
    """Draw a bar for each cluster, with the span of its repeats and what it means.

    Parameters
    ----------
    table : DataFrame
        As made by `cluster_stability_table`.
    top : int, default=40
        Of more clusters than this only the least stable are drawn.
    width : int, default=640
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        One row per cluster; labels are links "#cluster=…".

    Raises
    ------
    ValueError
        If `top` is below 1.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"cluster": 3, "label": "3 · Heart", "n": 90, "jaccard": 0.8, "low": 0.7, "high": 0.9}
    >>> row |= {"verdict": "reappears", "partner": None, "exchanged": None}
    >>> cluster_stability_chart(pd.DataFrame([row])).to_dict()["title"]["text"]
    ['Which clusters reappear?']
    """
    floats = "jaccard low high exchanged"
    table = require_columns(
        table, text="label verdict", whole="cluster", numbers=floats, gaps="n partner"
    )
    if top < 1:
        msg = f"top is the number of clusters to draw, 1 or more; found {top!r}"
        raise ValueError(msg)
    data = _with_marks(table, top)
    left, right = margin(data["label"], width * 0.38), 190
    y = rows_of(list(data["label"]))
    axis = alt.Axis(
        format=".2f", values=[0, 0.5, 0.75, 1], title="mean Jaccard index", domain=False
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    color = alt.Color("color:N", scale=None, legend=None)
    bars = drawn(data).mark_bar(height=_ROW * 0.5, opacity=0.85)
    spans = drawn(data.dropna(subset=["low"])).mark_rule(color=INK, strokeWidth=1.5, aria=False)
    limits = drawn(pd.DataFrame({"limit": [DISSOLVES, REAPPEARS]}))
    words = drawn(data).mark_text(align="left", x=width - left - right + 10, color=INK)
    few = f" The {top} least stable of {len(table)}." if len(table) > top else ""
    return frame(
        [
            row_labels(data, y, left),
            limits.mark_rule(color=NEUTRAL, strokeDash=[4, 3]).encode(
                alt.X("limit:Q", scale=scale, axis=axis)
            ),
            bars.encode(
                alt.X("jaccard:Q", scale=scale, axis=axis), y, color, alt.Description("hover:N")
            ),
            spans.encode(alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q"), y),
            words.encode(y, alt.Text("text_words:N")),
        ],
        title="Which clusters reappear?",
        subtitle="Bar: likeness to the best match in other fits; line: its least and largest; from 0.75 on a "
        f"cluster reappears, below 0.5 it dissolves.{few}",
        description=f"Bar chart of the mean Jaccard index of {len(data)} clusters.",
        width=width,
        height=max(len(data), 1) * _ROW,
        left=left,
        right=right,
        below=44,
    )


def _with_marks(table: pd.DataFrame, top: int) -> pd.DataFrame:
    """Choose the rows, and give each its color, link and words."""
    # sizes are not drawn, and those of hidden clusters could be found from them
    data = table.drop(columns="n")
    if len(table) > top:
        data = data.sort_values("jaccard", kind="stable").head(top).sort_index()
    data = data.assign(href=[cluster_link(cluster) for cluster in data["cluster"]])
    data["color"] = data["verdict"].map(dict(zip(_WORDS, _COLORS, strict=True)))
    data["text_words"] = [_words(row) for row in data.to_dict("records")]
    data["hover"] = data["label"] + ": " + data["text_words"]
    return data


def _words(row: dict[Hashable, Any]) -> str:
    """Say what the index of a cluster means."""
    jaccard, exchanged = row["jaccard"], row["exchanged"]
    text = str(row["verdict"])
    if isinstance(jaccard, float) and np.isfinite(jaccard):
        text = f"{jaccard:.2f} {text}"
    if isinstance(exchanged, float) and np.isfinite(exchanged):
        text += f", {exchanged:.0%} with {row['partner']}"
    return text
