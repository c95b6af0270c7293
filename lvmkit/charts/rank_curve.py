"""How many phenotypes: reproducibility, fit and conciseness against their number, as small multiples."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, pixels
from lvmkit.charts.theme import INK, NEUTRAL, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns

_PANEL, _HEAD, _GAP = 68, 26, 14  # pixels: a panel, the line above it, the space below
_MODE = "nonzeros of "


@checked()
def rank_table(found: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what a study found for each number of components, one row per quantity and number.

    Parameters
    ----------
    found : DataFrame
        `RankStudy.table`.

    Returns
    -------
    DataFrame
        quantity ("dissimilarity", "fit", then "nonzeros of …" for each mode), n_components, value (NaN where there
        is none), low and high (a standard error down and up; of the fit, the mean over the starts and the best),
        recommended. ``attrs["why"]`` has the recommendation in words.

    Raises
    ------
    ValueError
        If columns are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> found = pd.DataFrame({"n_components": [2, 3], "dissimilarity": [0.1, 0.0], "standard_error": [0.02, 0.0]})
    >>> found = found.assign(fit=[0.3, 0.4], mean_fit=[0.2, 0.4], recommended=[False, True])
    >>> rank_table(found)[["quantity", "n_components", "value", "low"]].head(2)
            quantity  n_components  value   low
    0  dissimilarity             2    0.1  0.08
    1  dissimilarity             3    0.0  0.00
    """
    floats = "dissimilarity standard_error fit mean_fit"
    found = require_columns(
        found, "found", whole="n_components", numbers=floats, flags="recommended"
    )
    error = found["standard_error"].astype(float).fillna(0.0)
    unlike, fit = found["dissimilarity"], found["fit"]
    spans = {
        "dissimilarity": (unlike, (unlike - error).clip(lower=0), unlike + error),
        "fit": (fit, found["mean_fit"], fit),
        **{str(name): (found[name],) * 3 for name in found.columns if str(name).startswith(_MODE)},
    }
    parts = []
    for quantity, span in spans.items():
        value, low, high = (column.astype(float).to_numpy(na_value=np.nan) for column in span)
        part = {"quantity": quantity, "n_components": found["n_components"].to_numpy()}
        part |= {"value": value, "low": low, "high": high}
        parts.append(pd.DataFrame(part | {"recommended": found["recommended"].to_numpy(bool)}))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {"why": str(found.attrs.get("why", ""))}
    return table


@checked(width=1)
def rank_chart(table: pd.DataFrame, *, width: int = 560) -> alt.LayerChart:
    """Draw reproducibility, fit and non-zeros against the number of components, the recommended one marked.

    Parameters
    ----------
    table : DataFrame
        As made by `rank_table`.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        One panel for each quantity, each with its own scale.

    Notes
    -----
    SUSTain (document 001), section 4.4.

    Examples
    --------
    >>> import pandas as pd
    >>> found = pd.DataFrame({"n_components": [2, 3], "dissimilarity": [0.1, 0.0], "standard_error": [0.02, 0.0]})
    >>> found = found.assign(fit=[0.3, 0.4], mean_fit=[0.2, 0.4], recommended=[False, True])
    >>> rank_chart(rank_table(found)).to_dict()["title"]["text"]
    ['How many phenotypes?']
    """
    floats = "value low high"
    table = require_columns(
        table, text="quantity", whole="n_components", numbers=floats, flags="recommended", rows=1
    )
    data = _placed(table)
    height = data["quantity"].nunique() * (_HEAD + _PANEL + _GAP)
    ends = _ends(data)
    left = margin(ends["text_end"], width * 0.3, least=48)
    x, y = _across(table), pixels("y", height)
    base = drawn(data.dropna(subset=["value"]))
    marked = drawn(data.loc[data["recommended"], ["n_components", "top", "bottom"]])
    spans = base.mark_area(color=PICKED, opacity=0.16, line=False)
    dots = base.mark_point(filled=True, opacity=1, color=PICKED)
    heads = drawn(_heads(data, width - left - 16)).mark_text(align="left", x=0, color=INK)
    numbers = drawn(ends).mark_text(align="right", x=-8, fontSize=TEXT_SIZE - 1, color=INK)
    return frame(
        [
            marked.mark_rule(color=NEUTRAL, strokeDash=[4, 3]).encode(
                x, pixels("top", height), alt.Y2("bottom:Q")
            ),
            heads.encode(y, alt.Text("text_head:N")),
            numbers.encode(y, alt.Text("text_end:N")),
            spans.encode(x, pixels("y_low", height), alt.Y2("y_high:Q"), alt.Detail("quantity:N")),
            base.mark_line(color=PICKED, strokeWidth=1.5).encode(x, y, alt.Detail("quantity:N")),
            dots.encode(
                x,
                y,
                alt.Size("size:Q", scale=None),
                alt.Description("hover:N"),
                alt.Tooltip("hover:N", title="quantity"),
            ),
        ],
        title="How many phenotypes?",
        subtitle=_said(table),
        description="Line charts of reproducibility, fit and non-zeros against the number of components.",
        width=width,
        height=height,
        left=left,
        right=16,
        below=44,
    )


def _across(table: pd.DataFrame) -> alt.X:
    """Return the horizontal axis: the numbers tried, those that there is room for."""
    numbers = sorted({int(number) for number in table["n_components"]})
    low, high = numbers[0], numbers[-1]
    pad = max((high - low) * 0.03, 0.25)
    axis = alt.Axis(
        values=numbers[:: -(-len(numbers) // 16)],
        format="d",
        title="phenotypes",
        domain=False,
        grid=False,
        labelFlush=False,
    )
    scale = alt.Scale(domain=[low - pad, high + pad], nice=False, zero=False)
    return alt.X("n_components:Q", scale=scale, axis=axis)


def _placed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every value its height in pixels and what is told of it."""
    data = table.copy()
    data["top"] = _HEAD + (_HEAD + _PANEL + _GAP) * pd.factorize(data["quantity"])[0]
    data["bottom"] = data["top"] + _PANEL
    groups = data.groupby("quantity", sort=False)
    low, high = groups["low"].transform("min"), groups["high"].transform("max")
    span = (high - low).where(high > low, 1.0)
    middle = np.where(high > low, 0.0, 0.5)
    for name, value in (("y", "value"), ("y_low", "low"), ("y_high", "high")):
        data[name] = data["top"] + _PANEL * (1 - middle - (data[value] - low) / span)
    data["size"] = np.where(data["recommended"], 130, 36)
    columns = (data[name] for name in ("quantity", "n_components", "value"))
    data["hover"] = [
        f"{_title(quantity)}, {n} phenotypes: {_number(value)}"
        for quantity, n, value in zip(*columns, strict=True)
    ]
    return data


def _title(quantity: object) -> str:
    """Name a quantity for readers."""
    names = {"dissimilarity": "Υ, unlikeness of starts", "fit": "Fit"}
    return names.get(
        str(quantity), str(quantity).replace(_MODE, "Scores other than 0, ").capitalize()
    )


def _heads(data: pd.DataFrame, room: float) -> pd.DataFrame:
    """Return the line above each panel: what it shows, and which way is better."""
    hints = {"dissimilarity": "lower is more reproducible", "fit": "higher is closer to the data"}
    rows = [
        (
            float(part["top"].iloc[0]) - _HEAD / 2 - 2,
            fitted(f"{_title(name)}: {hints.get(str(name), 'fewer are easier to read')}", room),
        )
        for name, part in data.groupby("quantity", sort=False)
    ]
    return pd.DataFrame(rows, columns=["y", "text_head"])


def _ends(data: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest value of each panel, at their heights."""
    rows = []
    for _, part in data.dropna(subset=["value"]).groupby("quantity", sort=False):
        shown = part.loc[[part["value"].idxmin(), part["value"].idxmax()]]
        shown = shown.drop_duplicates("value")
        rows += [(y, _number(value)) for y, value in zip(shown["y"], shown["value"], strict=True)]
    return pd.DataFrame(rows, columns=["y", "text_end"])


def _said(table: pd.DataFrame) -> str:
    """Say what is recommended, what the marks mean and what failed."""
    said = str(table.attrs.get("why", ""))
    hint = " Dashed: recommended. Shade: a standard error of Υ; of the fit, from the mean over the starts to the best."
    missing = sorted({int(n) for n in table.loc[table["value"].isna(), "n_components"]})
    failed = f" Without a result: {', '.join(map(str, missing))}." if missing else ""
    return (said + hint + failed).strip()


def _number(value: float) -> str:
    """Write a value for readers."""
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
