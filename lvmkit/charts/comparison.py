"""Codes whose shares differ most between two clusters, or between one and all others."""

from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import (
    ROW,
    frame,
    linked,
    margin,
    row_labels,
    rows_of,
    share_axis,
    text_width,
)
from lvmkit.charts._labels import code_link, percent
from lvmkit.charts.theme import INK, NEUTRAL, OTHER, PICKED
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import listed, require_columns
from lvmkit.disclosure.rule import THRESHOLD
from lvmkit.scores.counts import CodeCounts, WeightSums

_RIGHT = 66
_MARK = 8
_SIDES = (("first", PICKED), ("second", OTHER))


class _Side(NamedTuple):
    """Records of one side with each code: how many, and what a reader can know of hidden ones."""

    n: Array
    size: Any
    low: Array
    high: Array

    @property
    def shares(self) -> tuple[Array, Array, Array]:
        """Shares, and the bounds of hidden ones."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(self.n / self.size, 1.0)  # weights in another order of summation
            return share, self.low / self.size, self.high / self.size

    def at(self, columns: Any) -> "_Side":
        """Take some of the codes."""
        return _Side(self.n[columns], self.size, self.low[columns], self.high[columns])


@checked(top=0, threshold=0)
def comparison_table(
    counts: CodeCounts,
    first: int,
    second: int | None = None,
    *,
    top: int = 20,
    whole: CodeCounts | None = None,
    threshold: int = THRESHOLD,
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
    whole : CodeCounts, optional
        The same counts before `CodeCounts.suppress`. Codes with a small count on one side are then
        shown with what "1 to `threshold` − 1" says of it; without it they are left out.
    threshold : int, default=11
        As passed to `CodeCounts.suppress`.

    Returns
    -------
    DataFrame
        code, label, first_label, second_label, n_first, n_second, first and second (shares),
        difference (first − second), standardized_difference (these NaN where hidden), at_least (the
        smallest difference that hidden counts allow), first_low, first_high, second_low,
        second_high (bounds of the shares), first_text, second_text; from most above 0 to most
        below. Of counts with weights also estimate_first and estimate_second (what the n records stand
        for), and the shares are weighted.

    Raises
    ------
    ValueError
        If there is no such cluster or both are the same.

    Notes
    -----
    Order and bounds of hidden shares depend only on what `lvmkit.disclosure.suppression` takes as
    known to the reader: the shown counts, totals and sizes, and for hidden counts whether few have
    the code or few lack it. With weights, few records are taken to stand for anything from nothing to as many times the
    largest weight.

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
    for name, cluster in (("first", first), ("second", second)):
        if cluster is not None and cluster not in counts.clusters:
            known = listed(counts.clusters.tolist())
            msg = f"{name} must be a cluster; no cluster is numbered {cluster!r}; there are {known}"
            raise ValueError(msg)
    if first == second:
        msg = f"first and second must be two clusters; both are {first!r}"
        raise ValueError(msg)
    one, other = rows = _sides(
        counts, counts.n_rows, counts, first, second, _bounds(counts, whole, threshold)
    )
    sums = counts.weighted
    if sums is not None:
        bounds = _weight_bounds(counts, whole, threshold)
        one, other = _sides(sums, sums.total, counts, first, second, bounds)
    names = counts.cluster_labels
    against = "all others" if second is None else names[counts.row(second)]
    values = _differences(one, other)
    table = pd.DataFrame(
        {
            "code": counts.codes,
            "label": counts.code_labels,
            "first_label": names[counts.row(first)],
            "second_label": against,
            "n_first": rows[0].n,
            "n_second": rows[1].n,
            **values,
        }
    )
    unknown = np.isnan(values["difference"])
    certain = np.isfinite(values["at_least"]) & ~(
        np.isnan(one.n) & np.isnan(other.n) & unknown & (values["at_least"] == 0)
    )
    best = np.argsort(-np.abs(np.where(certain, values["at_least"], 0)), kind="stable")
    best = best[certain[best]][:top]
    best = best[np.argsort(-values["at_least"][best], kind="stable")]
    shown = table.iloc[best].reset_index(drop=True)
    for name, side, of_rows in (("first", one, rows[0]), ("second", other, rows[1])):
        shown[f"{name}_text"] = _texts(side.at(best), of_rows.at(best), threshold)
        if sums is not None:
            shown[f"estimate_{name}"] = side.n[best]
    return shown


def _bounds(counts: CodeCounts, whole: CodeCounts | None, threshold: int) -> tuple[Array, Array]:
    """Least and most records with each code (k, d); NaN where nothing is known."""
    n, size = counts.counts, counts.sizes[:, None]
    if whole is None:
        return n, n
    have, lack = whole.counts, size - whole.counts
    hidden = np.isnan(n) & ~np.isnan(size)
    few = hidden & (have >= 1) & (have < threshold)
    most = hidden & ~few & (lack >= 1) & (lack < threshold)
    low = np.where(few, 1, np.where(most, size - threshold + 1, n))
    high = np.where(few, np.minimum(threshold - 1, size), np.where(most, size - 1, n))
    return low, high


def _weight_bounds(
    counts: CodeCounts, whole: CodeCounts | None, threshold: int
) -> tuple[Array, Array]:
    """Least and most that the records with each code stand for (k, d): few ones for nothing, or all for the largest."""
    sums = counts.weighted
    assert sums is not None
    low, high = _bounds(counts, whole, threshold)
    n, size = sums.counts, sums.sizes[:, None]
    hidden = np.isnan(n) & ~np.isnan(low)
    most = (threshold - 1) * sums.largest
    few = hidden & (low == 1) & (high < threshold)
    return (
        np.where(few, 0.0, np.where(hidden, np.maximum(size - most, 0.0), n)),
        np.where(few, np.minimum(most, size), np.where(hidden, size, n)),
    )


def _sides(
    basis: CodeCounts | WeightSums,
    total: float,
    counts: CodeCounts,
    first: int,
    second: int | None,
    bounds: tuple[Array, Array],
) -> tuple[_Side, _Side]:
    """Take a cluster, and the one it is compared with or all others, in records or in what they stand for."""
    row, (low, high) = counts.row(first), bounds
    one = _Side(basis.counts[row], basis.sizes[row], low[row], high[row])
    if second is None:
        return one, _others(basis, total, row, low, high)
    row = counts.row(second)
    return one, _Side(basis.counts[row], basis.sizes[row], low[row], high[row])


def _others(
    basis: CodeCounts | WeightSums, total_size: float, row: int, low: Array, high: Array
) -> _Side:
    """Take all records but those of a cluster, by sum and by difference from the totals."""
    rest = np.arange(len(basis.sizes)) != row
    total, n = basis.totals, basis.counts[rest].sum(axis=0)
    n = np.where(np.isnan(n), total - basis.counts[row], n)
    least = np.fmax(low[rest].sum(axis=0), total - high[row])
    most = np.fmin(high[rest].sum(axis=0), total - low[row])
    return _Side(n, total_size - basis.sizes[row], least, most)


def _differences(one: _Side, other: _Side) -> dict[str, Array]:
    """Compare shares, and the bounds of hidden ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first, first_low, first_high = one.shares
        second, second_low, second_high = other.shares
        difference = first - second
        variance = first * (1 - first) + second * (1 - second)
        standardized = np.where(difference == 0, 0.0, difference / np.sqrt(variance / 2))
    least, most = first_low - second_high, first_high - second_low
    bound = np.where(least > 0, least, np.where(most < 0, most, 0 * (least + most)))
    return {
        "first": first,
        "second": second,
        "difference": difference,
        "standardized_difference": standardized,
        "at_least": np.where(np.isnan(difference), bound, difference),
        "first_low": first_low,
        "first_high": first_high,
        "second_low": second_low,
        "second_high": second_high,
    }


def _texts(side: _Side, rows: _Side, threshold: int) -> list[str]:
    """Write the shares; of hidden ones what is known of the records."""
    size = float(rows.size)
    texts = []
    for share, low, high, least, most in zip(
        side.shares[0], side.low, side.high, rows.low, rows.high, strict=True
    ):
        if not np.isnan(share):
            texts.append(percent(share))
        elif least == 1 and most == min(threshold - 1, size):
            texts.append(f"<{threshold}")
        elif least == size - threshold + 1 and most == size - 1:
            texts.append(f"all but <{threshold}")
        else:
            texts.append(f"about {percent((low + high) / 2 / float(side.size))}")
    return texts


@checked(width=1)
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
        A filled circle for the first, an open square for the second, "<11" in place of the one that
        is hidden; rows are links "#code=…".

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit.scores import count_codes
    >>> table = comparison_table(count_codes(np.array([[1, 0], [0, 1]]), [0, 1]), 0, 1)
    >>> comparison_chart(table).to_dict()["title"]["text"]
    ['Codes that tell 0 from 1']
    """
    floats = "first second difference at_least first_low first_high second_low second_high"
    table = require_columns(
        table, text="code label first_label second_label first_text second_text", numbers=floats
    )
    left = margin(table["label"], width * 0.48)
    inside = max(width - left - _RIGHT, 40)
    data, hidden, most = _with_positions(table, inside)
    one, other = _labels(table)
    y = rows_of(list(table["label"]))
    x = share_axis(most)
    first, second, start = (
        alt.X(f"{name}:Q", scale=x["scale"], axis=x["axis"])
        for name in ("first", "second", "start")
    )
    base = linked(data, y)
    hover = alt.Tooltip("hover:N", title="code")
    lines = base.mark_rule(color=NEUTRAL, strokeWidth=2).encode(start, alt.X2("end:Q"))
    squares = base.mark_point(shape="square", color=OTHER, size=50, strokeWidth=2, opacity=1)
    dots = base.mark_point(filled=True, color=PICKED, size=60, opacity=1)
    numbers = base.mark_text(align="right", color=INK, x=width - left - 16)
    few = linked(hidden, y, first, alt.Text("text_few:N"))
    layers = [
        row_labels(data, y, left),
        lines,
        squares.encode(second, hover),
        dots.encode(first, hover),
        numbers.encode(alt.Text("text_difference:N")),
        *([few.mark_text().encode(alt.Color("hue:N", scale=None))] if len(hidden) else []),
    ]
    small = next((text for text in hidden["text_few"] if text.startswith("<")), "")
    note = f" {small}: too few records to show." if small else ""
    return frame(
        layers,
        title=f"Codes that tell {one} from {other}",
        subtitle=(
            f"{'Weighted share' if 'estimate_first' in table else 'Share'} of records with the code. "
            f"● blue: {one}; □ red: {other}; right: difference in "
            f"percentage points.{note}"
        ),
        description=f"Dumbbell chart of code shares in {one} and {other}.",
        width=width,
        height=max(len(table), 1) * ROW,
        left=left,
        right=_RIGHT,
        below=28,
    )


def _with_positions(table: pd.DataFrame, inside: int) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Place marks, lines and the texts of hidden shares; the largest share that is drawn."""
    data = pd.DataFrame({"label": table["label"]})
    data["href"] = [code_link(code) for code in table["code"]]
    data["text_difference"] = [
        _points(100 * value, exact=not np.isnan(difference))
        for value, difference in zip(table["at_least"], table["difference"], strict=True)
    ]
    data["hover"] = [
        f"{label}: {one} against {other}, difference {text} points"
        for label, one, other, text in zip(
            table["label"],
            table["first_text"],
            table["second_text"],
            data["text_difference"],
            strict=True,
        )
    ]
    place = {name: _position(table, name) for name, _ in _SIDES}
    most = max([0.01, *place["first"], *place["second"]]) if len(table) else 1.0
    texts = []
    for (name, hue), end in zip(_SIDES, ("start", "end"), strict=True):
        few = np.array(["<" in text for text in table[f"{name}_text"]], dtype=bool)
        other = place["second" if name == "first" else "first"]
        half = np.array([text_width(text) / 2 + 1 for text in table[f"{name}_text"]])
        middle, edge = _beside(
            place[name], other, half * most / inside, _MARK * most / inside, most
        )
        data[name] = np.where(few, np.nan, place[name])
        data[end] = np.where(few, edge, place[name])
        shown = data.loc[few, ["label", "href", "hover"]]
        texts.append(
            shown.assign(first=middle[few], text_few=table.loc[few, f"{name}_text"], hue=hue)
        )
    return data, pd.concat(texts), most


def _beside(
    place: Array, other: Array, half: Array, mark: float, most: float
) -> tuple[Array, Array]:
    """Middle of a text in place of a mark, clear of the other mark; where the line to it ends."""
    middle = np.clip(place, half, np.maximum(most - half, half))
    near = np.abs(other - middle) < half + mark
    after = np.where(other + 2 * half + mark <= most, 1, -1) * (half + mark)
    clear = np.where(near, other + after, middle)
    return clear, np.where(near, other, clear + np.clip(other - clear, -half, half))


def _position(table: pd.DataFrame, name: str) -> Array:
    """Where a share stands; a hidden one at the most it can be, or in the middle of its bounds."""
    low, high = (table[f"{name}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
    share = table[name].to_numpy(dtype=float)
    few = np.array([text.startswith("<") for text in table[f"{name}_text"]], dtype=bool)
    return np.where(np.isnan(share), np.where(few, high, (low + high) / 2), share)


def _points(value: float, *, exact: bool) -> str:
    """Write a difference in percentage points; of a hidden one what is known."""
    digits = 0 if abs(value) >= 0.95 else 1
    if exact:
        return f"{value:+.{digits}f}"
    if value == 0:
        return "–"
    # cut, not rounded: a bound must stay true
    bound = np.trunc(value * 10**digits) / 10**digits
    return f"{'≥' if value > 0 else '≤'} {bound:+.{digits}f}"


def _labels(table: pd.DataFrame) -> tuple[str, str]:
    """Names of the two that are compared."""
    if not len(table):
        return "one", "the other"
    return str(table["first_label"].iloc[0]), str(table["second_label"].iloc[0])
