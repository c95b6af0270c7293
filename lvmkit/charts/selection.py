"""How many components: each score against their number, as small multiples."""

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, pixels
from lvmkit.charts.theme import INK, NEUTRAL, PICKED, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.scores.selection import HIGHER_IS_BETTER

_PANEL = 76
_HEAD = 28
_GAP = 14
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
    data = _placed(table)
    scores = list(dict.fromkeys(table["score"]))
    height = len(scores) * (_HEAD + _PANEL + _GAP)
    ends = _ends(data)
    left = margin(ends["text_end"], width * 0.3, least=48)
    x = _across(table)
    base = drawn(data.dropna(subset=["value"]))
    y = pixels("y", height)
    dots = base.mark_point(filled=True, opacity=1, color=PICKED)
    return frame(
        [
            _marked(data, height),
            drawn(_heads(data, width - left - 16))
            .mark_text(align="left", x=0, color=INK)
            .encode(y, alt.Text("text_head:N")),
            drawn(ends)
            .mark_text(align="right", x=-8, fontSize=TEXT_SIZE - 1, color=INK)
            .encode(y, alt.Text("text_end:N")),
            base.mark_line(color=PICKED, strokeWidth=1.5).encode(x, y, alt.Detail("score:N")),
            dots.encode(
                x,
                y,
                alt.Size("size:Q", scale=None),
                alt.Description("hover:N"),
                alt.Tooltip("hover:N", title="score"),
            ),
        ],
        title="How many components?",
        subtitle=_said(table),
        description="Line charts of scores against the number of components, one panel per score.",
        width=width,
        height=height,
        left=left,
        right=16,
        below=44,
    )


def _across(table: pd.DataFrame) -> alt.X:
    """Return the horizontal axis: the numbers tried, those that there is room for."""
    numbers = sorted({int(number) for number in table["n_components"]})
    step = -(-len(numbers) // 16)
    low, high = numbers[0], numbers[-1]
    pad = max((high - low) * 0.03, 0.25)
    scale = alt.Scale(domain=[low - pad, high + pad], nice=False, zero=False)
    axis = alt.Axis(
        values=numbers[::step],
        format="d",
        title="components",
        domain=False,
        grid=False,
        labelOverlap="greedy",
        labelFlush=False,
    )
    return alt.X("n_components:Q", scale=scale, axis=axis)


def _placed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every value its height in pixels and what is told of it."""
    data = table.copy()
    data["top"] = _HEAD + (_HEAD + _PANEL + _GAP) * pd.factorize(data["score"])[0]
    groups = data.groupby("score", sort=False)["value"]
    low, high = groups.transform("min"), groups.transform("max")
    span = (high - low).where(high > low, 1.0)
    middle = np.where(high > low, 0.0, 0.5)
    data["y"] = data["top"] + _PANEL * (1 - middle - (data["value"] - low) / span)
    data["size"] = np.where(data["best"], 130, 36)
    columns = (data[name] for name in ("score", "n_components", "value", "best"))
    data["hover"] = [
        f"{_TITLES[score]}, {n} components: {_number(value)}{' (best)' if best else ''}"
        for score, n, value, best in zip(*columns, strict=True)
    ]
    return data


def _heads(data: pd.DataFrame, room: float) -> pd.DataFrame:
    """Return the line above each panel: which score, its best value and which way is better."""
    rows = []
    for score, part in data.groupby("score", sort=False):
        best = part[part["best"]]
        told = f"{_TITLES[str(score)]}: "
        if len(best):
            told += f"{_number(best['value'].iloc[0])} at {best['n_components'].iloc[0]}"
        else:
            told += "none"
        told += ", higher is better" if part["higher_is_better"].iloc[0] else ", lower is better"
        rows.append((float(part["top"].iloc[0]) - _HEAD / 2 - 4, fitted(told, room)))
    return pd.DataFrame(rows, columns=["y", "text_head"])


def _ends(data: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest value of each panel, at their heights."""
    rows = []
    for _, part in data.dropna(subset=["value"]).groupby("score", sort=False):
        shown = part.loc[[part["value"].idxmin(), part["value"].idxmax()]]
        shown = shown.drop_duplicates("value")
        rows += [(y, _number(value)) for y, value in zip(shown["y"], shown["value"], strict=True)]
    return pd.DataFrame(rows, columns=["y", "text_end"])


def _marked(data: pd.DataFrame, height: int) -> alt.Chart:
    """Draw a dashed line through each panel at the recommended number."""
    rule = data[data["recommended"]][["n_components", "top"]].rename(columns={"top": "y"})
    marks = drawn(rule.assign(y_end=rule["y"] + _PANEL))
    marks = marks.mark_rule(color=NEUTRAL, strokeDash=[4, 3])
    return marks.encode(_across(data), pixels("y", height), alt.Y2("y_end:Q"))


def _said(table: pd.DataFrame) -> str:
    """Say what is recommended, what the marks mean and what could not be scored."""
    said = str(table.attrs.get("why", ""))
    if not said:
        said = "".join(
            f"{n}: recommended." for n in table[table["recommended"]]["n_components"][:1]
        )
    missing = sorted(set(table[table["value"].isna()]["n_components"]))
    hint = " Dashed: recommended; large dot: best of its score."
    return (
        said + hint + (f" Not scored in full: {', '.join(map(str, missing))}." if missing else "")
    )


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
