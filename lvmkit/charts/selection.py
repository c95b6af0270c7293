"""Small multiples of scores against the number of components."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._panels import Panels, number_chart
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.scores.selection import HIGHER_IS_BETTER

_PANELS = Panels("score", title=28, panel=76, rise=4)
_TITLES = {
    "coherence": "Coherence",
    "perplexity": "Perplexity of rows held out",
    "stability": "Stability",
    "description_length": "Description length (nats)",
}


@checked()
def selection_table(found: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the scores of each number of components, one row per score and number.

    Parameters
    ----------
    found : DataFrame
        As returned by `lvmkit.scores.select_n_components`.

    Returns
    -------
    DataFrame
        score, n_components, value (NaN where there is none), higher_is_better, best (of this score),
        recommended. ``attrs["why"]`` has the recommendation in words.

    Raises
    ------
    ValueError
        If columns are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> found = pd.DataFrame({"n_components": [2, 3], "stability": [0.8, 0.9]})
    >>> selection_table(found.assign(recommended=[False, True]))[["n_components", "value", "best"]]
       n_components  value   best
    0             2    0.8  False
    1             3    0.9   True
    """
    scores = [name for name in HIGHER_IS_BETTER if name in found]
    if not scores or not {"n_components", "recommended"} <= set(found.columns):
        msg = (
            "pass what select_n_components returned: n_components, recommended and a score or more; "
            f"found {', '.join(map(str, found.columns)) or 'no columns'}"
        )
        raise ValueError(msg)
    parts = []
    for name in scores:
        values = found[name].to_numpy(dtype=float)
        finite = values[np.isfinite(values)]
        goal = (finite.max() if HIGHER_IS_BETTER[name] else finite.min()) if finite.size else np.nan
        part = pd.DataFrame({"score": name, "n_components": found["n_components"].to_numpy()})
        part["value"], part["higher_is_better"] = values, HIGHER_IS_BETTER[name]
        part["best"] = np.arange(len(values)) == (np.argmax(values == goal) if finite.size else -1)
        part["recommended"] = found["recommended"].to_numpy(dtype=bool)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {"why": str(found.attrs.get("why", ""))}
    return table


@checked(width=1)
def selection_chart(table: pd.DataFrame, *, width: int = 560) -> alt.LayerChart:
    """Draw each score against the number of components, the best one large, the recommended one marked.

    Parameters
    ----------
    table : DataFrame
        As made by `selection_table`.
    width : int, default=560
        Width of the picture, in pixels.

    Returns
    -------
    altair.LayerChart
        One panel per score, each with its own scale.

    Examples
    --------
    >>> import pandas as pd
    >>> found = pd.DataFrame({"n_components": [2, 3], "stability": [0.8, 0.9]})
    >>> table = selection_table(found.assign(recommended=[False, True]))
    >>> selection_chart(table).to_dict()["title"]["text"]
    ['How many components?']
    """
    table = require_columns(
        table,
        text="score",
        whole="n_components",
        numbers="value",
        flags="higher_is_better best recommended",
        rows=1,
        choices={"score": _TITLES},
    )
    return number_chart(
        _PANELS,
        _with_positions(table),
        _panel_title,
        _number,
        axis={"title": "components", "labelOverlap": "greedy", "labelFlush": False},
        width=width,
        title="How many components?",
        subtitle=_subtitle(table),
        description="Line charts of scores against the number of components, one panel per score.",
    )


def _with_positions(table: pd.DataFrame) -> pd.DataFrame:
    """Add each value's height in pixels, its size, and what its tooltip says."""
    data = _PANELS.with_positions(table)
    data["size"] = np.where(data["best"], 130, 36)
    columns = (data[name] for name in ("score", "n_components", "value", "best"))
    data["hover"] = [
        f"{_TITLES[score]}, {n} components: {_number(value)}{' (best)' if best else ''}"
        for score, n, value, best in zip(*columns, strict=True)
    ]
    return data


def _panel_title(score: str, rows: pd.DataFrame) -> str:
    """Name a score, its best value and which way is better."""
    best = rows[rows["best"]]
    found = "none"
    if len(best):
        found = f"{_number(best['value'].iloc[0])} at {best['n_components'].iloc[0]}"
    way = "higher" if rows["higher_is_better"].iloc[0] else "lower"
    return f"{_TITLES[score]}: {found}, {way} is better"


def _subtitle(table: pd.DataFrame) -> str:
    """Subtitle: what is recommended, what the marks mean, what could not be scored."""
    text = str(table.attrs.get("why", ""))
    if not text:
        first = table[table["recommended"]]["n_components"][:1]
        text = "".join(f"{n}: recommended." for n in first)
    missing = sorted(set(table[table["value"].isna()]["n_components"]))
    failed = f" Not scored in full: {', '.join(map(str, missing))}." if missing else ""
    return f"{text} Dashed: recommended; large dot: best of its score.{failed}"


def _number(value: float) -> str:
    """Write a score for readers."""
    if np.isnan(value):
        return "–"
    return (
        f"{value:,.0f}"
        if abs(value) >= 1_000
        else f"{value:.3g}"
        if abs(value) < 1
        else f"{value:.4g}"
    )
