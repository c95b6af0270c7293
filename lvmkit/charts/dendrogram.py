"""Dendrogram of covariates along ν: from single covariates to the clusters of a solution."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, text_width, x_pixels, y_pixels
from lvmkit.charts._merges import (
    covariate_names,
    members_of,
    merge_rows,
    shown_leaves,
    visible_rows,
)
from lvmkit.charts.path_curves import nu_text
from lvmkit.charts.theme import CATEGORIES, INK, NEUTRAL, TEXT_SIZE
from lvmkit.core import moved
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns, require_parts

_ROW = 20
_SMALL = TEXT_SIZE - 2
_LEGEND = 22  # pixels: a line of it
_ODDS = 44  # pixels for the odds ratio of a covariate
_WIDEST = 10_000  # of a picture: positions are pixels, so that the scale may be wider than any


@moved.arguments(most="max_items")
@checked(max_items=1, min_odds_ratio=0)
def dendrogram_table(
    path: Any,
    step: int | None = None,
    *,
    cluster: int | None = None,
    covariates: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    min_odds_ratio: float = 1.0,
    max_items: int = 60,
) -> pd.DataFrame:
    """Tabulate how clusters of covariates arise along ν, up to a solution.

    Covariates join at the smallest ν from which on, up to the solution, they are in one cluster. So it is a tree even
    where a covariate leaves a cluster for a while. Covariates that the solution leaves out are not in it.

    Parameters
    ----------
    path : CovariateClusterPath
        As made by `lvmkit.models.covariate_path`.
    step : int, optional
        Place of the solution in the path; by default that with the highest marginal likelihood.
    cluster : int, optional
        The only cluster of the solution to tabulate; by default all.
    covariates : sequence of int, optional
        The only covariates to show.
    names : sequence of str (d,), optional
        What covariates are called; by default as in the path, or x0, x1, …
    min_odds_ratio : float, default=1.0
        Covariates whose own odds ratio is smaller are not shown.
    max_items : int, default=60
        Covariates to show at most: those with the largest odds ratios.

    Returns
    -------
    DataFrame
        One row per covariate that is shown and per set of them that arises, depth first: node, parent (missing for
        clusters of the solution), step and nu (of a set: at which it arises; of a covariate: the smallest in which
        it has a weight), size (number of covariates, shown or not), covariate (missing for a set), label, class
        (with the highest weight), class_index, odds_ratio (exp of its weight less the second highest), whole (False
        where the cluster at this ν holds more covariates, which leave it later), cluster (its number at this ν),
        order (place from top). ``attrs["left_out"]`` counts the covariates that are not shown.

    Raises
    ------
    ValueError
        If there is no such solution, cluster or covariate, or the number of names is wrong.

    Notes
    -----
    Andrade 2021, section 5 and figures 5 to 10: classes and odds ratios are those of the logistic regression on the
    clusters' sums.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> at = lambda nu, labels, coef: SimpleNamespace(nu=nu, labels=np.array(labels), cluster_coef=np.array(coef))
    >>> class Path(list):
    ...     best, classes, feature_names = 1, np.array(["bad", "good"]), None
    >>> path = Path([at(0.1, [0, 1], [[1.0, 0.5], [0.0, 0.0]]), at(1.0, [0, 0], [[0.7], [0.0]])])
    >>> dendrogram_table(path)[["label", "size", "class", "odds_ratio"]].round(2)
      label  size class  odds_ratio
    0           2   bad        2.01
    1    x0     1   bad        2.72
    2    x1     1   bad        1.65
    """
    require_parts(path, "path", "covariate_path", "best classes feature_names")
    at = int(path.best) if step is None else int(step)
    if not 0 <= at < len(path):
        msg = f"step={step}; the path has solutions 0 to {len(path) - 1}"
        raise ValueError(msg)
    labels = np.asarray(path[at].labels)
    texts = covariate_names(path, names, len(labels))
    members = members_of(labels, cluster, covariates)
    rows = merge_rows(path, at, members)
    shown = shown_leaves(rows, covariates, min_odds_ratio, max_items)
    table = visible_rows(rows, shown)
    table["nu"] = [float(path[s].nu) for s in table["step"]]
    table["label"] = ["" if pd.isna(j) else texts[int(j)] for j in table["covariate"]]
    classes = [str(name) for name in np.asarray(path.classes).tolist()]
    table["class"] = [classes[k] for k in table["class_index"]]
    n_wanted = len(members) if covariates is None else int(np.isin(members, list(covariates)).sum())
    table.attrs = {
        "left_out": n_wanted - len(shown),
        "nu": float(path[at].nu),
        "classes": classes,
    }
    columns = ["node", "parent", "step", "nu", "size", "covariate", "label", "class", "class_index"]
    return table[[*columns, "odds_ratio", "whole", "cluster", "order"]]


@checked(width=1)
def dendrogram_chart(
    table: pd.DataFrame, *, width: int = 720, title: str = "", links: bool = True
) -> alt.LayerChart:
    """Draw how clusters arise: covariates on the left, the sets they join to further right.

    Parameters
    ----------
    table : DataFrame
        As made by `dendrogram_table`.
    width : int, default=720
        Width of the picture, in pixels.
    title : str, default=""
        Heading; by default what the picture shows.
    links : bool, default=True
        Whether covariates link to "#covariate=…" and sets to "#set=step-cluster".

    Returns
    -------
    altair.LayerChart
        Colors are classes. Beside each set stands its size, and below it its odds ratio.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> at = lambda nu, labels, coef: SimpleNamespace(nu=nu, labels=np.array(labels), cluster_coef=np.array(coef))
    >>> class Path(list):
    ...     best, classes, feature_names = 1, np.array(["bad", "good"]), None
    >>> path = Path([at(0.1, [0, 1], [[1.0, 0.5], [0.0, 0.0]]), at(1.0, [0, 0], [[0.7], [0.0]])])
    >>> dendrogram_chart(dendrogram_table(path)).to_dict()["title"]["text"]
    ['How 2 covariates come together up to ν = 1']
    """
    floats = "odds_ratio order"
    table = require_columns(
        table, text="label class", whole="node step size", numbers=floats, gaps="parent covariate"
    )
    colors = _colors(table)
    lines = _legend_lines([*colors], width)
    above = len(lines) * _LEGEND + 4
    leaves = table["covariate"].notna()
    n = int(leaves.sum())
    height = above + max(n, 1) * _ROW + 4
    left = margin(table.loc[leaves, "label"], width * 0.34, least=60) + _ODDS
    rows = _with_positions(table, colors, above, width - left - 40, links=links)
    heading = (
        title
        or f"How {n} covariate{'' if n == 1 else 's'} come together up to ν = {nu_text(table.attrs.get('nu', np.nan))}"
    )
    layers = [
        *_key(lines, colors, left),
        _branches(rows, height),
        *_leaves(rows, height, left),
        *_sets(rows, height),
    ]
    return frame(
        layers,
        title=heading,
        subtitle=_subtitle(table),
        description=f"Tree of {n} covariates and the {len(table) - n} sets that they join to as ν grows.",
        width=width,
        height=height,
        left=left,
        right=40,
        below=12,
    )


def _colors(table: pd.DataFrame) -> dict[str, str]:
    """Give hues to the classes that most nodes have; all others are gray."""
    often = table["class"].value_counts(sort=True).index.tolist()
    known = table.attrs.get("classes", often)
    first = often if len(often) > len(CATEGORIES) else sorted(often, key=known.index)
    hues = {str(name): hue for name, hue in zip(first, CATEGORIES, strict=False)}
    return hues if len(often) <= len(CATEGORIES) else {**hues, "other classes": NEUTRAL}


def _legend_lines(names: list[str], width: float) -> list[list[tuple[str, float]]]:
    """Break the names of classes into lines, with their places."""
    lines: list[list[tuple[str, float]]] = [[]]
    x = 0.0
    for name in names:
        text = fitted(name, 180)
        room = text_width(text) + 34
        if lines[-1] and x + room > width - 16:
            lines.append([])
            x = 0.0
        lines[-1].append((name, x))
        x += room
    return lines


def _with_positions(
    table: pd.DataFrame, colors: dict[str, str], above: float, room: float, *, links: bool
) -> pd.DataFrame:
    """Find where everything stands: every ν at which a set arises is one place further right."""
    leaves = table["covariate"].notna().to_numpy()
    steps = np.unique(table.loc[~leaves, "step"])
    level = np.where(leaves, 0, np.searchsorted(steps, table["step"]) + 1)
    data = table.assign(
        x=level * (room / max(len(steps), 1)),
        y=above + (table["order"] + 0.5) * _ROW,
        color=[colors.get(str(name), NEUTRAL) for name in table["class"]],
        size_of=np.where(leaves, 34, 70),
        text_odds=[_odds(odds) for odds in table["odds_ratio"]],
    )
    place = dict(zip(data["node"], zip(data["x"], data["y"], strict=True), strict=True))
    ends = [(x, y) if pd.isna(p) else place[p] for x, y, p in data[["x", "y", "parent"]].to_numpy()]
    data["x_end"], data["y_end"] = zip(*ends, strict=True) if ends else ([], [])
    data["hover"] = [_tooltip(row) for row in data.to_dict("records")]
    if links:
        data["href"] = [_link(row) for row in data.to_dict("records")]
    return data


def _odds(ratio: float) -> str:
    """Write an odds ratio for readers."""
    if np.isinf(ratio):
        return "∞"
    return f"{ratio:.3f}" if ratio < 1.1 else f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _link(row: Mapping[Any, Any]) -> str:
    """Address that the dashboard understands as finding a covariate, or as going to where a set arises."""
    if pd.isna(row["covariate"]):
        return f"#set={row['step']}-{row['cluster']}"
    return f"#covariate={row['covariate']}"


def _tooltip(row: Mapping[Any, Any]) -> str:
    """Say what there is to know of a node."""
    points = f"{row['class']}, odds ratio {row['text_odds']}"
    if not pd.isna(row["covariate"]):
        return f"{row['label']}: {points}"
    more = "" if row["whole"] else "; with covariates that leave it later"
    return f"{row['size']} covariates from ν = {nu_text(row['nu'])} on: {points}{more}"


def _branches(rows: pd.DataFrame, height: float) -> alt.Chart:
    """Draw the lines from each node to the set that it joins."""
    flat = rows.assign(x0=rows["x"], x1=rows["x_end"], y0=rows["y"], y1=rows["y"])
    steep = rows.assign(x0=rows["x_end"], x1=rows["x_end"], y0=rows["y"], y1=rows["y_end"])
    data = pd.concat([flat, steep])[["x0", "x1", "y0", "y1"]]
    rules = drawn(data).mark_rule(color=NEUTRAL, strokeWidth=1.2, aria=False)
    return rules.encode(
        x_pixels("x0", _WIDEST), y_pixels("y0", height), alt.X2("x1:Q"), alt.Y2("y1:Q")
    )


def _dots(rows: pd.DataFrame, height: float) -> alt.Chart:
    """Draw the nodes in the colors of their classes."""
    dots = drawn(rows).mark_point(filled=True, opacity=1, stroke=INK, strokeWidth=0.5)
    dots = dots.encode(
        x_pixels("x", _WIDEST),
        y_pixels("y", height),
        alt.Fill("color:N", scale=None),
        alt.Size("size_of:Q", scale=None),
        alt.Description("hover:N"),
        alt.Tooltip("hover:N", title="node"),
    )
    return dots.encode(alt.Href("href:N")) if "href" in rows else dots


def _leaves(rows: pd.DataFrame, height: float, left: float) -> list[alt.Chart]:
    """Draw covariates with their names and odds ratios."""
    data = rows[rows["covariate"].notna()]
    data = data.assign(text_label=[fitted(label, left - _ODDS - 12) for label in data["label"]])
    base = drawn(data)
    names = base.mark_text(align="right", x=-_ODDS, color=INK)
    odds = base.mark_text(align="right", x=-9, color=INK, fontSize=_SMALL, aria=False)
    named = names.encode(
        y_pixels("y", height), alt.Text("text_label:N"), alt.Description("hover:N")
    )
    if "href" in data:
        named = named.encode(alt.Href("href:N"))
    return [
        named,
        odds.encode(y_pixels("y", height), alt.Text("text_odds:N")),
        _dots(data, height),
    ]


def _sets(rows: pd.DataFrame, height: float) -> list[alt.Chart]:
    """Draw sets with their sizes and odds ratios, where there is room for them."""
    data = rows[rows["covariate"].isna()]
    room = np.where(data["parent"].isna(), 60.0, data["x_end"] - data["x"]) - 8
    sizes = [str(size) for size in data["size"]]
    data = data.assign(
        text_size=[
            t if text_width(t, _SMALL) <= r else "" for t, r in zip(sizes, room, strict=True)
        ],
        text_ratio=[
            t if text_width(t, _SMALL) <= r else ""
            for t, r in zip(data["text_odds"], room, strict=True)
        ],
    )
    base = drawn(data)
    above = base.mark_text(
        align="left", dx=7, dy=-6, color=INK, fontSize=_SMALL, fontWeight="bold", aria=False
    )
    below = base.mark_text(align="left", dx=7, dy=7, color=INK, fontSize=_SMALL, aria=False)
    place = x_pixels("x", _WIDEST), y_pixels("y", height)
    return [
        above.encode(*place, alt.Text("text_size:N")),
        below.encode(*place, alt.Text("text_ratio:N")),
        _dots(data, height),
    ]


def _key(
    lines: list[list[tuple[str, float]]], colors: dict[str, str], left: float
) -> list[alt.Chart]:
    """Draw which color is which class."""
    found = []
    for number, line in enumerate(lines):
        for name, x in line:
            at: dict[str, Any] = {"x": x - left + 14, "y": 8 + number * _LEGEND}
            base = drawn(pd.DataFrame({"text_class": [fitted(name, 180)]}))
            found.append(
                base.mark_point(
                    filled=True,
                    size=70,
                    opacity=1,
                    fill=colors[name],
                    stroke=INK,
                    strokeWidth=0.5,
                    **at,
                )
            )
            text = base.mark_text(align="left", dx=9, color=INK, **at)
            found.append(text.encode(alt.Text("text_class:N")))
    return found


def _subtitle(table: pd.DataFrame) -> str:
    """Subtitle: what the marks mean, and what is not shown."""
    text = (
        "From left to right ν grows, one place for each change. Color: the class a covariate or set speaks for; bold: "
        "number of covariates; below it, and beside names (at the smallest ν): odds ratio against the next class."
    )
    n = int(table.attrs.get("left_out", 0))
    if n:
        text += f" {n} covariate{' is' if n == 1 else 's are'} not shown."
    return text
