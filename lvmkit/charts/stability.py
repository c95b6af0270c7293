"""Agreement of repeated fits, by method."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, frame, margin, row_labels, rows_of
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns

_ROW = 30


@checked()
def stability_table(values: Mapping[str, npt.ArrayLike]) -> pd.DataFrame:
    """Tabulate the agreement of repeated fits of each method.

    Parameters
    ----------
    values : mapping of str to array
        Adjusted Rand indices by name of the method, as `lvmkit.scores.stability` returns them.

    Returns
    -------
    DataFrame
        method, repeat, ari, mean (of the method).

    Raises
    ------
    ValueError
        If a method has no value, or one that is not a number.

    Examples
    --------
    >>> stability_table({"k-means": [0.5, 0.7]})
        method  repeat  ari  mean
    0  k-means       0  0.5   0.6
    1  k-means       1  0.7   0.6
    """
    rows = []
    for method, given in values.items():
        found = np.atleast_1d(np.asarray(given, dtype=float))
        if not found.size or not np.isfinite(found).all():
            msg = f"each method needs one finite index or more; {method!r} has {found.tolist()[:5]}"
            raise ValueError(msg)
        mean = float(found.mean())
        rows += [(str(method), repeat, float(ari), mean) for repeat, ari in enumerate(found)]
    return pd.DataFrame(rows, columns=["method", "repeat", "ari", "mean"])


@checked(goal=0, width=1)
def stability_chart(table: pd.DataFrame, *, goal: float = 0.9, width: int = 560) -> alt.LayerChart:
    """Draw each repeat as a dot and each method's mean as a tick with its number.

    Parameters
    ----------
    table : DataFrame
        As made by `stability_table`.
    goal : float, default=0.9
        Index to mark by a line; 0.9 is what Ruffini 2017, section 5.2, calls stable.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        One row per method.

    Examples
    --------
    >>> table = stability_table({"ours": [0.95], "k-means": [0.6]})
    >>> stability_chart(table).to_dict()["title"]["text"]
    ['Do two fits on overlapping data agree?']
    """
    table = require_columns(table, text="method", numbers="ari mean")
    data = table.assign(label=table["method"])
    data["hover"] = [f"{m}: {ari:.3f}" for m, ari in zip(data["method"], data["ari"], strict=True)]
    means = data.drop_duplicates("method")
    means = means.assign(text_mean=[f"{mean:.3f}" for mean in means["mean"]])
    left = margin(table["method"], width * 0.4)
    y = rows_of(list(means["label"]))
    low = min(0.0, float(data["ari"].min()))
    scale = alt.Scale(domain=[low, 1])
    axis = alt.Axis(
        format=".1f", tickCount=5, title="adjusted Rand index", domain=False, labelFlush=False
    )
    line = drawn(pd.DataFrame({"goal": [goal]})).mark_rule(color=NEUTRAL, strokeDash=[4, 3])
    dots = drawn(data).mark_point(filled=True, size=60, opacity=0.55, color=PICKED)
    ticks = drawn(means).mark_tick(color=INK, thickness=2, size=_ROW * 0.6)
    numbers = drawn(means).mark_text(align="right", x=width - left - 12, color=INK)
    return frame(
        [
            row_labels(means, y, left),
            line.encode(alt.X("goal:Q", scale=scale, axis=axis)),
            dots.encode(
                alt.X("ari:Q", scale=scale, axis=axis),
                y,
                alt.Description("hover:N"),
                alt.Tooltip("ari:Q", format=".3f"),
            ),
            ticks.encode(alt.X("mean:Q", scale=scale, axis=axis), y),
            numbers.encode(y, alt.Text("text_mean:N")),
        ],
        title="Do two fits on overlapping data agree?",
        subtitle=f"Each dot: one pair of fits; upright mark and number: mean. Dashed: {goal:g}.",
        description="Strip chart of the adjusted Rand index of repeated fits, one row per method.",
        width=width,
        height=max(len(means), 1) * _ROW,
        left=left,
        right=70,
        below=44,
    )
