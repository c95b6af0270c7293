"""Most relevant codes of a cluster (Ruffini 2017, tables 1 and 2)."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import ROW, frame, linked, margin, row_labels, rows_of, share_axis
from lvmkit.charts._labels import code_link, hidden_note, of_records, percent, weighted_share
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.scores.counts import CodeCounts
from lvmkit.scores.relevance import lift_over, relevance_to


@checked(top=1)
def relevance_table(
    counts: CodeCounts, cluster: int, *, balance: float = 0.6, top: int = 20
) -> pd.DataFrame:
    """Tabulate the most relevant codes of a cluster, best first.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.
    cluster : int
        Number of the cluster.
    balance : float, default=0.6
        1 ranks by share in the cluster, 0 by lift (`lvmkit.scores.relevance`).
    top : int, default=20
        Number of codes at most; codes that no record of the cluster has are left out.

    Returns
    -------
    DataFrame
        cluster, cluster_label, code, label, n, size, share (in the cluster), overall (share of all
        records), lift, relevance (nats); of counts with weights also estimate (what the n records
        stand for), and the shares are weighted.

    Raises
    ------
    ValueError
        If there is no such cluster or `balance` is outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> counted = count_codes(np.array([[1, 1], [1, 0], [1, 0]]), [0, 1, 1], feature_names=["a", "b"])
    >>> relevance_table(counted, 0, balance=0.2)[["code", "share", "lift"]].round(1)
      code  share  lift
    0    b    1.0   3.0
    1    a    1.0   1.0
    """
    if not 0 <= balance <= 1:
        msg = f"balance weighs share (1) against lift (0) and lies in [0, 1]; found {balance!r}"
        raise ValueError(msg)
    row = counts.row(cluster)
    share, overall = counts.shares[row], counts.overall
    score = relevance_to(share, overall, balance=balance)
    seen = np.flatnonzero(np.isfinite(score))
    best = seen[np.argsort(-score[seen], kind="stable")][:top]
    labels = counts.code_labels
    table = pd.DataFrame(
        {
            "cluster": counts.clusters[row],
            "cluster_label": counts.cluster_labels[row],
            "code": [counts.codes[column] for column in best],
            "label": [labels[column] for column in best],
            "n": counts.counts[row, best],
            "size": counts.sizes[row],
            "share": share[best],
            "overall": overall[best],
            "lift": lift_over(share, overall)[best],
            "relevance": score[best],
        }
    )
    if counts.weighted is not None:
        table["estimate"] = counts.weighted.counts[row, best]
    return table


@checked(top=1)
def relevance_summary(counts: CodeCounts, *, balance: float = 0.6, top: int = 5) -> pd.DataFrame:
    """Tabulate the most relevant codes of every cluster in words, as table 1 of Ruffini 2017.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.
    balance : float, default=0.6
        1 ranks by share in the cluster, 0 by lift.
    top : int, default=5
        Codes named for each cluster.

    Returns
    -------
    DataFrame (k rows)
        cluster, label, n, share, codes ("title; title; …", codes where they have no title); of counts
        with weights also estimate (what the n records stand for).

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> counted = count_codes(np.array([[1, 0], [0, 1]]), [0, 1], titles=["Anemia", "Asthma"])
    >>> relevance_summary(counted)["codes"].tolist()
    ['Anemia', 'Asthma']
    """
    meaning = dict(zip(counts.codes, counts.titles, strict=True))
    named = [
        "; ".join(
            meaning[code] or code
            for code in relevance_table(counts, int(cluster), balance=balance, top=top)["code"]
        )
        for cluster in counts.clusters
    ]
    table = pd.DataFrame(
        {
            "cluster": counts.clusters,
            "label": counts.cluster_labels,
            "n": counts.sizes,
            "share": counts.weights,
            "codes": named,
        }
    )
    return table if counts.weighted is None else table.assign(estimate=counts.weighted.sizes)


@checked(width=1)
def relevance_chart(
    table: pd.DataFrame, *, noun: str = "cluster", unit: str = "records", width: int = 560
) -> alt.LayerChart:
    """Draw the share of each code in the cluster over its share in all records.

    Parameters
    ----------
    table : DataFrame
        As made by `relevance_table`.
    noun, unit : str, default="cluster", "records"
        What is described, and what the shares are shares of (plural).
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Rows are links "#code=…".

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> table = relevance_table(count_codes(np.array([[1, 0], [0, 1]]), [0, 1], names=["A", "B"]), 1)
    >>> relevance_chart(table).to_dict()["title"]["text"]
    ['What sets cluster 1 · B apart']
    """
    table = require_columns(
        table, text="cluster_label code label", numbers="n size share overall lift"
    )
    data = table.assign(
        href=[code_link(code) for code in table["code"]],
        text_share=[percent(share) for share in table["share"]],
        text_lift=["–" if np.isnan(lift) else f"× {lift:.1f}" for lift in table["lift"]],
        hover=[_tooltip(row, noun) for row in table.to_dict("records")],
    )
    left = margin(table["label"], width * 0.46)
    y = rows_of(list(table["label"]))
    x = share_axis(
        float(np.nanmax(table[["share", "overall"]].to_numpy(dtype=float))) if len(table) else 1.0
    )
    base = linked(data, y)
    hover = alt.Tooltip("hover:N", title="code")
    behind = base.mark_bar(color=NEUTRAL, opacity=0.55).encode(
        alt.X("overall:Q", scale=x["scale"], axis=x["axis"]), hover
    )
    inside = base.mark_bar(color=PICKED, size=8).encode(x, hover)
    share = base.mark_text(align="right", color=INK, x=width - left - 66).encode(
        alt.Text("text_share:N")
    )
    lift = base.mark_text(align="right", color=INK, x=width - left - 12).encode(
        alt.Text("text_lift:N")
    )
    name = table["cluster_label"].iloc[0] if len(table) else ""
    return frame(
        [row_labels(data, y, left), behind, inside, share, lift],
        title=f"What sets {noun} {name} apart",
        subtitle=(
            f"Thin blue: {weighted_share(table)} of the {noun}'s {unit}; wide gray: of all {unit}; "
            f"×: their ratio (lift)."
            f"{hidden_note(table['share'])}"
        ),
        description=f"Bar chart of what is most relevant for {noun} {name}, most relevant first.",
        width=width,
        height=max(len(table), 1) * ROW,
        left=left,
        right=116,
        below=28,
    )


def _tooltip(row: dict[Any, Any], noun: str) -> str:
    """Tell one code in words."""
    known = of_records(row["n"], row["size"], weighted="estimate" in row)
    inside = f"{percent(row['share'])} of the {noun} ({known})"
    return f"{row['label']}: {inside}, {percent(row['overall'])} of all, lift {row['lift']:.2f}"
