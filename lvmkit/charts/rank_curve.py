"""Small multiples against the number of phenotypes: reproducibility, fit and conciseness."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._panels import Panels, number_chart
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns

_PANELS = Panels("quantity", title=26, panel=68, rise=2)
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
    Perros 2018, section 4.4.

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
    return number_chart(
        _PANELS,
        _with_positions(table),
        _panel_title,
        _number,
        axis={"title": "phenotypes", "labelFlush": False},
        width=width,
        spread=True,
        title="How many phenotypes?",
        subtitle=_subtitle(table),
        description="Line charts of reproducibility, fit and non-zeros against the number of components.",
    )


def _with_positions(table: pd.DataFrame) -> pd.DataFrame:
    """Add heights in pixels, the size of each value's dot, and what its tooltip says."""
    data = _PANELS.with_positions(table, spread=True)
    data["size"] = np.where(data["recommended"], 130, 36)
    columns = (data[name] for name in ("quantity", "n_components", "value"))
    data["hover"] = [
        f"{_title(quantity)}, {n} phenotypes: {_number(value)}"
        for quantity, n, value in zip(*columns, strict=True)
    ]
    return data


def _title(quantity: str) -> str:
    """Name a quantity for readers."""
    names = {"dissimilarity": "Υ, unlikeness of starts", "fit": "Fit"}
    return names.get(quantity, quantity.replace(_MODE, "Scores other than 0, ").capitalize())


def _panel_title(quantity: str, _: pd.DataFrame) -> str:
    """Name a quantity, and which way is better."""
    hints = {"dissimilarity": "lower is more reproducible", "fit": "higher is closer to the data"}
    return f"{_title(quantity)}: {hints.get(quantity, 'fewer are easier to read')}"


def _subtitle(table: pd.DataFrame) -> str:
    """Subtitle: what is recommended, what the marks mean, what failed."""
    text = str(table.attrs.get("why", ""))
    hint = " Dashed: recommended. Shade: a standard error of Υ; of the fit, from the mean over the starts to the best."
    missing = sorted({int(n) for n in table.loc[table["value"].isna(), "n_components"]})
    failed = f" Without a result: {', '.join(map(str, missing))}." if missing else ""
    return (text + hint + failed).strip()


def _number(value: float) -> str:
    """Write a value for readers."""
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
