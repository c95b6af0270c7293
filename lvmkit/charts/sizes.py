"""Number of records in each cluster."""

from collections.abc import Collection

import altair as alt
import pandas as pd

from lvmkit.charts._frame import ROW, frame, linked, margin, row_labels, rows_of
from lvmkit.charts._labels import cluster_link, hidden_note, percent, weighted_share, whole
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.scores.counts import CodeCounts


@checked()
def sizes_table(counts: CodeCounts) -> pd.DataFrame:
    """Tabulate the size of each cluster.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.

    Returns
    -------
    DataFrame (k rows)
        cluster, label, n (records), share (of all records, in [0, 1]); of counts with weights also
        estimate (what the records stand for).

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> sizes_table(count_codes(np.eye(4), [0, 0, 0, 1], names=["Heart", "Kidney"]))
       cluster       label    n  share
    0        0   0 · Heart  3.0   0.75
    1        1  1 · Kidney  1.0   0.25
    """
    table = pd.DataFrame(
        {
            "cluster": counts.clusters,
            "label": counts.cluster_labels,
            "n": counts.sizes,
            "share": counts.weights,
        }
    )
    return table if counts.weighted is None else table.assign(estimate=counts.weighted.sizes)


@checked(width=1)
def sizes_chart(
    table: pd.DataFrame, *, selected: int | Collection[int] | None = None, width: int = 560
) -> alt.LayerChart:
    """Draw the size of each cluster as a bar, with the numbers printed.

    Parameters
    ----------
    table : DataFrame
        As made by `sizes_table`.
    selected : int or collection of int, optional
        Clusters to draw in color.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Bars are links "#cluster=…".

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cluster": [0], "label": ["0"], "n": [5.0], "share": [1.0]})
    >>> sizes_chart(table).to_dict()["title"]["text"]
    ['Records in each cluster']
    """
    table = require_columns(table, text="label", whole="cluster", numbers="n share")
    picked = {selected} if isinstance(selected, int) else set(selected or ())
    data = table.assign(
        href=[cluster_link(cluster) for cluster in table["cluster"]],
        text_n=[
            f"{whole(n)} · {percent(s)}" for n, s in zip(table["n"], table["share"], strict=True)
        ],
        color=[PICKED if cluster in picked else NEUTRAL for cluster in table["cluster"]],
        share=table["share"].fillna(0),
    )
    data["hover"] = [
        f"{label}: {text} of all records"
        for label, text in zip(data["label"], data["text_n"], strict=True)
    ]
    left = margin(table["label"], width * 0.45)
    y = rows_of(list(table["label"]))
    x = alt.X("share:Q", scale=alt.Scale(domain=[0, max(data["share"].max(), 1e-9)]), axis=None)
    base = linked(data, x, y)
    hover = alt.Tooltip("hover:N", title="cluster")
    bars = base.mark_bar().encode(alt.Color("color:N", scale=None), hover)
    numbers = base.mark_text(align="left", dx=5, color=INK).encode(alt.Text("text_n:N"))
    return frame(
        [row_labels(data, y, left), bars, numbers],
        title="Records in each cluster",
        subtitle=f"Number and {weighted_share(table)} of all records.{hidden_note(table['n'])}",
        description="Bar chart of the number of records in each cluster.",
        width=width,
        height=max(len(table), 1) * ROW,
        left=left,
        right=110,
    )
