"""Fit against time of each method, for several numbers of components."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from lvmkit.charts._frame import drawn
from lvmkit.charts.curves import MOST_SERIES, curves_chart
from lvmkit.charts.theme import INK, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import listed, require_columns

_NEEDED = ("method", "n_components", "seconds", "fit")


@checked()
def fit_time_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Tabulate fit and time of each method and number of components; of repeats, the medians.

    Parameters
    ----------
    runs : DataFrame
        One row per run: method, n_components, seconds, fit. Other columns are left out.

    Returns
    -------
    DataFrame
        method, n_components, seconds, fit, runs (how many), and best (True where no other method of
        the same n_components is both faster and better); methods in their order, each by
        n_components.

    Raises
    ------
    ValueError
        If columns are missing, seconds are not above 0, a fit is missing, or there are more than 12 methods.

    Notes
    -----
    Perros 2018, section 4.1.3.

    Examples
    --------
    >>> rows = [("ours", 5, 1.0, 0.5), ("ours", 5, 3.0, 0.5), ("rounded", 5, 4.0, 0.3)]
    >>> runs = pd.DataFrame(rows, columns=["method", "n_components", "seconds", "fit"])
    >>> fit_time_table(runs)
        method  n_components  seconds  fit  runs   best
    0     ours             5      2.0  0.5     2   True
    1  rounded             5      4.0  0.3     1  False
    """
    runs = require_columns(runs, "runs", text="method", whole="n_components", finite="seconds fit")
    wrong = runs.loc[~(runs["seconds"] > 0), "seconds"]
    if len(wrong):
        msg = f"seconds of runs must be above 0, to be shown on a logarithmic axis; found {listed(wrong)}"
        raise ValueError(msg)
    if runs["fit"].isna().any():
        named = runs.loc[runs["fit"].isna(), "method"].unique()
        msg = f"fit of runs must be a number; {listed(named)} has runs without. Leave out runs that did not end."
        raise ValueError(msg)
    if runs["method"].nunique() > MOST_SERIES:
        msg = f"runs has {runs['method'].nunique()} methods, and at most {MOST_SERIES} can be told apart"
        raise ValueError(msg)
    order = list(dict.fromkeys(runs["method"]))
    groups = runs.groupby(["method", "n_components"], sort=False)
    table = groups[["seconds", "fit"]].median().assign(runs=groups.size()).reset_index()
    place = table["method"].map({method: i for i, method in enumerate(order)})
    table = table.assign(place=place).sort_values(["place", "n_components"], ignore_index=True)
    table["best"] = [
        not (
            (table["n_components"] == row.n_components)
            & (table["seconds"] <= row.seconds)
            & (table["fit"] >= row.fit)
            & ((table["seconds"] < row.seconds) | (table["fit"] > row.fit))
        ).any()
        for row in table.itertuples()
    ]
    return table[[*_NEEDED, "runs", "best"]]


@checked(width=1, height=1)
def fit_time_chart(
    table: pd.DataFrame,
    *,
    title: str = "Accuracy and time",
    subtitle: str = "",
    width: int = 640,
    height: int = 280,
) -> alt.LayerChart:
    """Draw the fit against the seconds, one point per method and number of components.

    Parameters
    ----------
    table : DataFrame
        As made by `fit_time_table`.
    title : str, default="Accuracy and time"
        The finding, or what is compared.
    subtitle : str, optional
        By default how to read the picture.
    width : int, default=640
        Width of the picture with its legend, in pixels.
    height : int, default=280
        Height of the inside, in pixels.

    Returns
    -------
    altair.LayerChart
        Lines connect the points of a method in the order of the numbers of components, which stand above them.

    Notes
    -----
    Perros 2018, figures 1 to 3.

    Examples
    --------
    >>> rows = [("ours", 5, 1.0, 0.5), ("ours", 10, 3.0, 0.6), ("rounded", 5, 4.0, 0.3)]
    >>> runs = pd.DataFrame(rows, columns=["method", "n_components", "seconds", "fit"])
    >>> fit_time_chart(fit_time_table(runs)).to_dict()["title"]["text"]
    ['Accuracy and time']
    """
    table = require_columns(table, text="method", whole="n_components", finite="seconds fit")
    text = "Upper left is better. Numbers: components; lines connect those of a method."
    if (table["fit"] < 0).any():
        text += " A fit below 0 is drawn at 0, with its value beside it."
    fit = table["fit"].clip(lower=0)  # rounding can be so bad that nothing else would be seen
    curves = table.assign(x=table["seconds"], y=fit, series=table["method"])
    chart = curves_chart(
        curves,
        title=title,
        subtitle=subtitle or text,
        x_title="seconds",
        y_title="fit",
        log_x=True,
        width=width,
        height=height,
    )
    lines = chart.layer[0]
    lines.encoding.order = alt.Order("n_components:Q")
    numbers = drawn(curves.assign(text_n=[_number(row) for row in table.to_dict("records")]))
    texts = numbers.mark_text(dy=-10, fontSize=TEXT_SIZE - 2, color=INK)
    axes = lines.encoding.x, lines.encoding.y
    chart.layer.append(texts.encode(*axes, alt.Text("text_n:N")))
    return chart


def _number(row: Mapping[Any, Any]) -> str:
    """Write the number of components, and a fit that is not drawn where it is."""
    number = f"{row['n_components']:g}"
    return number if row["fit"] >= 0 else f"{number}: −{-row['fit']:.2g}"
