"""Share of one code in each cluster, with its interval, against all records."""

import altair as alt
import numpy as np
import pandas as pd
from scipy import special

from lvmkit.charts._frame import ROW, drawn, frame, linked, margin, row_labels, rows_of, share_axis
from lvmkit.charts._labels import cluster_link, hidden_note, percent, weighted_share, whole
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import require_columns
from lvmkit.scores.counts import CodeCounts


@checked()
def code_profile_table(counts: CodeCounts, code: str, *, level: float = 0.05) -> pd.DataFrame:
    """Tabulate the share of each cluster's records that have a code.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.
    code : str
        The code.
    level : float, default=0.05
        The interval covers with probability 1 − `level`.

    Returns
    -------
    DataFrame (k rows)
        code, code_label, cluster, label, n, size, share, low, high (Wilson's interval of the
        share), overall (share of all records); of counts with weights also estimate (what the n
        records stand for).

    Raises
    ------
    ValueError
        If there is no such code or `level` is not between 0 and 1.

    Notes
    -----
    The score interval of Wilson 1927: with z the normal quantile, (2np + z² ± z √(z² + 4np(1 − p)))
    / (2(n + z²)). With weights, n is the effective size (Σw)² / Σw² (Kish 1965, section 11.7) and p the weighted share.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> counted = count_codes(np.array([[1], [1], [0], [0]]), [0, 0, 0, 1], feature_names=["428"])
    >>> code_profile_table(counted, "428")[["cluster", "n", "size", "low", "high"]].round(2)
       cluster    n  size   low  high
    0        0  2.0   3.0  0.21  0.94
    1        1  0.0   1.0  0.00  0.79
    """
    if not 0 < level < 1:
        msg = f"level is the interval's chance to miss, between 0 and 1; found {level!r}"
        raise ValueError(msg)
    column = counts.column(code)
    n = counts.counts[:, column]
    shares, weighted = counts.shares[:, column], counts.weighted
    known = n if weighted is None else shares * counts.effective_sizes
    low, high = wilson(known, counts.effective_sizes, level=level)
    table = pd.DataFrame(
        {
            "code": code,
            "code_label": counts.code_labels[column],
            "cluster": counts.clusters,
            "label": counts.cluster_labels,
            "n": n,
            "size": counts.sizes,
            "share": shares,
            "low": low,
            "high": high,
            "overall": counts.overall[column],
        }
    )
    return table if weighted is None else table.assign(estimate=weighted.counts[:, column])


def wilson(n: Array, size: Array, *, level: float) -> tuple[Array, Array]:
    """Score interval of a share, inside [0, 1]."""
    z = -special.ndtri(level / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = n / size
        reach = z * np.sqrt(z**2 + 4 * n * (1 - share))
        low = (2 * n + z**2 - reach) / (2 * (size + z**2))
        high = (2 * n + z**2 + reach) / (2 * (size + z**2))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


@checked(width=1)
def code_profile_chart(table: pd.DataFrame, *, width: int = 560) -> alt.LayerChart:
    """Draw a code's share in each cluster with its interval; a line marks the share of all records.

    Parameters
    ----------
    table : DataFrame
        As made by `code_profile_table`.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        Rows are links "#cluster=…".

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> counted = count_codes(np.array([[1], [0]]), [0, 1], feature_names=["428"])
    >>> code_profile_chart(code_profile_table(counted, "428")).to_dict()["title"]["text"]
    ['Where 428 sits']
    """
    table = require_columns(
        table, text="code_label label", whole="cluster", numbers="n size share low high overall"
    )
    data = table.assign(
        href=[cluster_link(cluster) for cluster in table["cluster"]],
        text_share=[percent(share) for share in table["share"]],
        text_n=[
            f"{whole(n)} / {whole(size)}" for n, size in zip(table["n"], table["size"], strict=True)
        ],
    )
    data["hover"] = [
        f"{label}: {share} ({n} records), interval {percent(low)} to {percent(high)}"
        for label, share, n, low, high in zip(
            table["label"],
            data["text_share"],
            data["text_n"],
            table["low"],
            table["high"],
            strict=True,
        )
    ]
    left = margin(table["label"], width * 0.42)
    y = rows_of(list(table["label"]))
    overall = float(table["overall"].iloc[0]) if len(table) else 0.0
    most = float(np.nanmax([*table["high"], overall, 0.01]))
    x = share_axis(most)
    base = linked(data[table["share"].notna()], y)
    hover = alt.Tooltip("hover:N", title="cluster")
    line = alt.X("overall:Q", scale=x["scale"], axis=x["axis"])
    mean = (
        drawn(table[["overall"]].drop_duplicates().dropna()).mark_rule(color=NEUTRAL).encode(line)
    )
    reach = base.mark_rule(color=PICKED, strokeWidth=2).encode(
        alt.X("low:Q", scale=x["scale"], axis=x["axis"]), alt.X2("high:Q")
    )
    dots = base.mark_point(color=PICKED, filled=True, size=60, opacity=1).encode(x, hover)
    texts = drawn(data).encode(y)
    inner = width - left - 150
    share = texts.mark_text(align="right", x=inner + 50, color=INK).encode(alt.Text("text_share:N"))
    number = texts.mark_text(align="right", x=inner + 142, color=INK).encode(alt.Text("text_n:N"))
    name = table["code_label"].iloc[0] if len(table) else ""
    return frame(
        [row_labels(data, y, left), mean, reach, dots, share, number],
        title=f"Where {name} sits",
        subtitle=(
            f"{weighted_share(table).capitalize()} of each cluster's records that have it, with its "
            "interval; gray line: all records, "
            f"{percent(overall)}.{hidden_note(table['share'])}"
        ),
        description=f"Dot chart of the share of {name} in each cluster.",
        width=width,
        height=max(len(table), 1) * ROW,
        left=left,
        right=150,
        below=28,
    )
