"""Two clusters side by side, or one against all others: the codes that differ most."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import (
    ROW,
    code_link,
    drawn,
    frame,
    hidden_note,
    margin,
    percent,
    row_labels,
    rows_of,
    share_axis,
)
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED
from lvmkit.scores.counts import CodeCounts


def comparison_table(
    counts: CodeCounts, first: int, second: int | None = None, *, top: int = 20
) -> pd.DataFrame:
    """Tabulate the codes whose shares differ most between two clusters.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.
    first : int
        Number of a cluster.
    second : int, optional
        Number of another one; by default all other records.
    top : int, default=20
        Number of codes, those with the largest difference either way.

    Returns
    -------
    DataFrame
        code, label, first_label, second_label, n_first, n_second, first and second (shares),
        difference (first − second), standardized_difference; from most above 0 to most below.

    Raises
    ------
    ValueError
        If there is no such cluster or both are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> counted = count_codes(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1], feature_names=["a", "b"])
    >>> comparison_table(counted, 0)[["code", "first", "second", "difference"]]
      code  first  second  difference
    0    a    1.0     0.0         1.0
    1    b    0.5     1.0        -0.5
    """
    if first == second:
        msg = f"first and second must be two clusters; both are {first!r}"
        raise ValueError(msg)
    one = counts.row(first)
    n_first, size_first = counts.counts[one], counts.sizes[one]
    if second is None:
        n_second, size_second = counts.totals - n_first, counts.n_rows - size_first
    else:
        other = counts.row(second)
        n_second, size_second = counts.counts[other], counts.sizes[other]
    with np.errstate(divide="ignore", invalid="ignore"):
        share_first, share_second = n_first / size_first, n_second / size_second
        difference = share_first - share_second
        variance = share_first * (1 - share_first) + share_second * (1 - share_second)
        standardized = np.where(difference == 0, 0.0, difference / np.sqrt(variance / 2))
    size = np.nan_to_num(np.abs(difference), nan=-1.0)
    best = np.argsort(-size, kind="stable")[:top]
    best = best[size[best] >= 0]
    best = best[np.argsort(-difference[best], kind="stable")]
    return pd.DataFrame(
        {
            "code": [counts.codes[column] for column in best],
            "label": [counts.code_labels[column] for column in best],
            "first_label": counts.cluster_labels[one],
            "second_label": "all others"
            if second is None
            else counts.cluster_labels[counts.row(second)],
            "n_first": n_first[best],
            "n_second": n_second[best],
            "first": share_first[best],
            "second": share_second[best],
            "difference": difference[best],
            "standardized_difference": standardized[best],
        }
    )


def comparison_chart(table: pd.DataFrame, *, width: int = 560) -> alt.LayerChart:
    """Draw two shares of each code and the line between them.

    Parameters
    ----------
    table : DataFrame
        As made by `comparison_table`.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        A filled circle for the first, an open square for the second; rows are links "#code=…".

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> table = comparison_table(count_codes(np.array([[1, 0], [0, 1]]), [0, 1]), 0, 1)
    >>> comparison_chart(table).to_dict()["title"]["text"]
    ['Codes that tell 0 from 1']
    """
    points = 100 * table["difference"]
    data = table.assign(
        href=[code_link(code) for code in table["code"]],
        text_difference=[
            f"{value:+.0f}" if abs(value) >= 0.95 else f"{value:+.1f}" for value in points
        ],
    )
    data["hover"] = [
        f"{label}: {percent(one)} against {percent(other)}, difference {text} points"
        for label, one, other, text in zip(
            data["label"], data["first"], data["second"], data["text_difference"], strict=True
        )
    ]
    one, other = _labels(table)
    left = margin(table["label"], width * 0.48)
    y = rows_of(list(table["label"]))
    x = share_axis(
        float(np.nanmax(table[["first", "second"]].to_numpy(dtype=float))) if len(table) else 1.0
    )
    first, second = (
        alt.X(f"{name}:Q", scale=x["scale"], axis=x["axis"]) for name in ("first", "second")
    )
    base = drawn(data).encode(y, alt.Description("hover:N"), alt.Href("href:N"))
    hover = alt.Tooltip("hover:N", title="code")
    lines = base.mark_rule(color=NEUTRAL, strokeWidth=2).encode(first, alt.X2("second:Q"))
    squares = base.mark_point(shape="square", color=OTHER, size=50, strokeWidth=2, opacity=1)
    dots = base.mark_point(filled=True, color=PICKED, size=60, opacity=1)
    numbers = base.mark_text(align="right", color=INK, x=width - left - 16)
    return frame(
        [
            row_labels(data, y, left),
            lines,
            squares.encode(second, hover),
            dots.encode(first, hover),
            numbers.encode(alt.Text("text_difference:N")),
        ],
        title=f"Codes that tell {one} from {other}",
        subtitle=(
            f"Share of records with the code. ● blue: {one}; □ red: {other}; right: difference in "
            f"percentage points.{hidden_note(table['difference'])}"
        ),
        description=f"Dumbbell chart of code shares in {one} and {other}.",
        width=width,
        height=max(len(table), 1) * ROW,
        left=left,
        right=60,
        below=28,
    )


def _labels(table: pd.DataFrame) -> tuple[str, str]:
    """Names of the two that are compared."""
    if not len(table):
        return "one", "the other"
    return str(table["first_label"].iloc[0]), str(table["second_label"].iloc[0])
