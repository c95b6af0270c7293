"""Disease-frequency chart: the most frequent codes in each cluster (Ruffini 2017, figure 1a)."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import (
    drawn,
    fitted,
    frame,
    linked,
    margin,
    row_labels,
    rows_of,
    text_width,
)
from lvmkit.charts._labels import cluster_link, code_link, hidden_note, of_records, percent
from lvmkit.charts.theme import INK, SHADE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.scores.counts import CodeCounts

_ALL = "all"
_DEEPEST = 0.72
_ROW = 22
_SLOPE = 0.72


@checked()
def frequencies_table(
    counts: CodeCounts, *, top: int = 20, codes: Sequence[str] | None = None
) -> pd.DataFrame:
    """Tabulate the share of each cluster's records that have each of the most frequent codes.

    Parameters
    ----------
    counts : CodeCounts
        As counted by `lvmkit.scores.count_codes`.
    top : int, default=20
        Number of codes, the most frequent of all records first. Codes that every record has are
        left out: they tell nothing of clusters.
    codes : sequence of str, optional
        Show these codes instead, in this order.

    Returns
    -------
    DataFrame (codes · k rows)
        code, label, cluster, cluster_label, n (records of the cluster with the code), size (records
        of the cluster), share (n / size), overall (share of all records); of counts with weights also
        estimate (what the n records stand for), and shares are of these; `attrs["left_out"]` lists
        codes left out.

    Raises
    ------
    ValueError
        If `top` is below 1 or a code is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> X = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1]])
    >>> table = frequencies_table(count_codes(X, [0, 0, 1], feature_names=["428", "401", "585"]))
    >>> table[["code", "cluster", "share", "overall"]].head(2).round(2)
      code  cluster  share  overall
    0  401        0    1.0     0.67
    1  401        1    0.0     0.67
    >>> table.attrs["left_out"]
    ['428']
    """
    if top < 1:
        msg = f"top is the number of codes to show, 1 or more; found {top!r}"
        raise ValueError(msg)
    constant = (counts.totals == counts.n_rows) & (codes is None)
    if codes is None:
        order = np.argsort(-np.nan_to_num((counts.weighted or counts).totals), kind="stable")
        columns = [int(column) for column in order if not constant[column]][:top]
    else:
        columns = [counts.column(code) for code in codes]
    labels = counts.code_labels
    k = len(counts.clusters)
    table = pd.DataFrame(
        {
            "code": [counts.codes[column] for column in columns for _ in range(k)],
            "label": [labels[column] for column in columns for _ in range(k)],
            "cluster": np.tile(counts.clusters, len(columns)),
            "cluster_label": counts.cluster_labels * len(columns),
            "n": counts.counts[:, columns].T.ravel(),
            "size": np.tile(counts.sizes, len(columns)),
            "share": counts.shares[:, columns].T.ravel(),
            "overall": np.repeat(counts.overall[columns], k),
        }
    )
    if counts.weighted is not None:
        table["estimate"] = counts.weighted.counts[:, columns].T.ravel()
    table.attrs["left_out"] = [
        code for code, out in zip(counts.codes, constant, strict=True) if out
    ]
    return table


@checked(width=1)
def frequencies_chart(table: pd.DataFrame, *, width: int = 1100) -> alt.LayerChart:
    """Draw codes by clusters, each share printed (in percent) and shaded.

    Parameters
    ----------
    table : DataFrame
        As made by `frequencies_table`.
    width : int, default=1100
        Width of the picture, in pixels. Shares are printed where a column has 20 pixels.

    Returns
    -------
    altair.LayerChart
        Rows are links "#code=…", heads of columns "#cluster=…".

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> table = frequencies_table(count_codes(np.array([[1, 0], [0, 1]]), [0, 1]))
    >>> len(frequencies_chart(table).to_dict()["layer"])
    4
    """
    table = require_columns(
        table, text="code label cluster_label", whole="cluster", numbers="n size share overall"
    )
    labels, clusters = list(table["label"].unique()), list(table["cluster_label"].unique())
    columns = [*clusters, _ALL]
    left = margin(labels, width * 0.34)
    short, angle, right = _fitted_titles(columns, width - left, min(max(0.2 * width, 130), 220))
    slope = {0: 0.0, 270: 1.0}.get(angle, _SLOPE)
    above = int(max(text_width(text) for text in short) * slope + 16)
    height = above + max(len(labels), 1) * _ROW
    cell = (width - left - right) / len(columns)
    y = rows_of(labels, padding=0.06, span=(above, height))
    scale = alt.Scale(domain=columns, paddingInner=0.04, paddingOuter=0)
    x = alt.X("column:N", scale=scale, axis=None)
    rows = table.assign(href=[code_link(code) for code in table["code"]])
    upright: dict[str, Any] = {"baseline": "bottom"}
    turned: dict[str, Any] = {"angle": angle, "align": "left", "baseline": "middle"}
    titles = _column_titles(table, columns, short).mark_text(
        y=above - 6, color=INK, fontSize=min(12, cell + 1), **(turned if angle else upright)
    )
    weighted = "Weighted percent" if "estimate" in table else "Percent"
    unit = f"{weighted} of the records of each cluster that have the code"
    left_out = table.attrs.get("left_out") or []
    note = f" Every record has {', '.join(left_out)}: left out." if left_out else ""
    return frame(
        [
            row_labels(rows, y, left),
            titles.encode(x, alt.Text("text_label:N")),
            *_shades(table, x, y, cell),
        ],
        title=f"The {len(labels)} most frequent codes in each cluster",
        subtitle=f"{unit}; {_ALL}: of all records.{note}{hidden_note(table['share'])}",
        description=f"Table of shades: {unit.lower()}.",
        width=width,
        height=height,
        left=left,
        right=right,
    )


def _cells(table: pd.DataFrame, *, printed: bool) -> pd.DataFrame:
    """One rectangle per code and cluster, and one for all records."""
    overall = table.drop_duplicates("label").assign(cluster_label=_ALL, n=np.nan, size=np.nan)
    overall["share"] = overall["overall"]
    cells = pd.concat([table, overall], ignore_index=True)
    share = cells["share"].to_numpy()
    figures = [_figure(value) for value in share] if printed else [""] * len(cells)
    return pd.DataFrame(
        {
            "label": cells["label"],
            "column": cells["cluster_label"],
            "text": figures,
            "shade": np.nan_to_num(share) * _DEEPEST,
            "href": [code_link(code) for code in cells["code"]],
            "hover": [
                _tooltip(*row, weighted="estimate" in table)
                for row in zip(*_tooltip_columns(cells), strict=True)
            ],
        }
    )


def _tooltip_columns(cells: pd.DataFrame) -> list[pd.Series]:
    """Columns that the hover text tells."""
    return [cells[name] for name in ("label", "cluster_label", "share", "n", "size", "overall")]


def _tooltip(
    label: str, where: str, share: float, n: float, size: float, overall: float, *, weighted: bool
) -> str:
    """Tell one cell in words."""
    if where == _ALL:
        return f"{label}: {percent(share)} of all records"
    within = f"{percent(share)} of cluster {where} ({of_records(n, size, weighted=weighted)})"
    return f"{label}: {within}; {percent(overall)} of all"


def _figure(share: float) -> str:
    """Print a share in percent, as short as it goes."""
    if np.isnan(share):
        return "–"
    return f"{100 * share:.0f}" if share >= 0.005 or share == 0 else "<1"


def _shades(table: pd.DataFrame, x: alt.X, y: alt.Y, cell: float) -> list[alt.Chart]:
    """Draw the shares as shades, with numbers where there is room."""
    printed = cell >= 20
    cells = _cells(table, printed=printed)
    shade, tooltip = alt.FillOpacity("shade:Q", scale=None), alt.Tooltip("hover:N", title="share")
    rects = linked(cells, x, y).mark_rect(fill=SHADE).encode(shade, tooltip)
    numbers = (
        drawn(cells).encode(x, y).mark_text(color=INK, fontSize=min(12, cell * 0.48), aria=False)
    )
    return [rects, numbers.encode(alt.Text("text:N"))] if printed else [rects]


def _fitted_titles(columns: list[str], room: float, most: float) -> tuple[list[str], int, int]:
    """Cut the heads of columns to fit; the angle that takes, and the right margin."""
    cell = (room - 12) / len(columns)
    if all(text_width(column) <= cell - 2 for column in columns):
        return columns, 0, 12
    short = [fitted(column, most) for column in columns]
    if cell < 13:
        return short, 270, 12
    after = (len(columns) - np.arange(len(columns)) - 0.5) * cell
    over = [text_width(text) * _SLOPE + 14 - rest for text, rest in zip(short, after, strict=True)]
    return short, 315, int(max(12, *over))


def _column_titles(table: pd.DataFrame, columns: list[str], short: list[str]) -> alt.Chart:
    """Start the labels of the columns, links but for the last."""
    ids = table.drop_duplicates("cluster_label")["cluster"]
    links = [*(cluster_link(cluster) for cluster in ids), None]
    data = {"column": columns, "text_label": short, "hover": columns, "href": links}
    return linked(pd.DataFrame(data))
