"""A tree of clusters as indented rows: sizes, splits, and the terms that mark each branch."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, linked, text_width, x_pixels, y_pixels
from lvmkit.charts._labels import cluster_link, hidden_note, percent
from lvmkit.charts.theme import INK, NEUTRAL, PICKED
from lvmkit.core import moved
from lvmkit.core.arguments import checked
from lvmkit.core.validation import require_columns
from lvmkit.trees import Tree

_ROW = 26
_INDENT = 18
_BARS = 120
_FIGURES = 118  # pixels for size and share
_WIDEST = 10_000  # of a picture: positions are pixels, so that the scale may be wider than any


@checked()
def tree_table(
    tree: Tree,
    *,
    frontier: Sequence[int] | None = None,
    names: Mapping[int, str] | None = None,
    titles: Mapping[str, str] | None = None,
    n_terms: int = 4,
    balance: float = 0.6,
) -> pd.DataFrame:
    """Tabulate a tree down to a cut.

    Parameters
    ----------
    tree : Tree
        As fitted: `SpectralTree(...).fit(X).tree_`.
    frontier : sequence of int, optional
        Where to stop, as `Tree.frontier` gives it; by default at the leaves.
    names : mapping of int to str, optional
        What nodes are called; shown beside their places.
    titles : mapping of str to str, optional
        What features mean; shown in their place.
    n_terms : int, default=4
        Relevant features to name.
    balance : float, default=0.6
        λ: 1 ranks features by frequency in the node, 0 by lift over all rows.

    Returns
    -------
    DataFrame
        One row per node, depth first: node, parent, depth, label, n (a text), share, strength, terms, cluster
        (number in the cut, as `Tree.regrouped` gives it; missing above it).

    Examples
    --------
    >>> from lvmkit import SpectralTree
    >>> X = np.repeat(np.eye(4), 5, axis=0)
    >>> table = tree_table(SpectralTree(max_depth=1).fit(X).tree_)
    >>> table[["label", "n", "cluster"]].values.tolist()[0]
    ['All', '20', <NA>]
    """
    cut = tree.leaves if frontier is None else list(frontier)
    place = {node: k for k, node in enumerate(cut)}
    shown, waiting = [], [0] if tree.nodes else []
    while waiting:
        shown.append(tree.nodes[waiting.pop()])
        if shown[-1].id not in place:
            waiting.extend(reversed(shown[-1].children))
    total = tree.nodes[0].size if tree.nodes else 0
    called, meaning = names or {}, titles or {}

    def terms(node: int) -> str:
        terms = tree.terms(node, n_terms=n_terms, balance=balance)
        return ("; " if meaning else ", ").join(meaning.get(term) or term for term in terms)

    return pd.DataFrame(
        {
            "node": [node.id for node in shown],
            "parent": pd.array([node.parent for node in shown], dtype="Int64"),
            "depth": [node.depth for node in shown],
            "label": [_label(tree.label(node.id), called.get(node.id, "")) for node in shown],
            "n": [f"{node.size:,}" for node in shown],
            "share": [node.size / total if total else np.nan for node in shown],
            "strength": [node.strength for node in shown],
            "terms": ["" if node.parent is None else terms(node.id) for node in shown],
            "cluster": pd.array([place.get(node.id) for node in shown], dtype="Int64"),
        }
    )


@moved.arguments(noun="row_name")
@checked(width=1)
def tree_chart(
    table: pd.DataFrame, *, width: int = 860, title: str = "", row_name: str = "rows"
) -> alt.LayerChart:
    """Draw a tree as indented rows.

    Parameters
    ----------
    table : DataFrame
        As made by `tree_table`: rows depth first.
    width : int, default=860
        Width of the picture, in pixels.
    title : str, default=""
        Heading; by default what the picture shows.
    row_name : str, default="rows"
        What is counted.

    Returns
    -------
    altair.LayerChart
        Rows are links "#cluster=…" with the number of the node. Bars are shares of all; lines to the parts of a
        split are the thicker the clearer it is.

    Examples
    --------
    >>> from lvmkit import SpectralTree
    >>> tree = SpectralTree(max_depth=1).fit(np.repeat(np.eye(4), 5, axis=0)).tree_
    >>> tree_chart(tree_table(tree)).to_dict()["title"]["text"]
    ['2 clusters of 20 rows']
    """
    floats = "share strength"
    table = require_columns(
        table, text="label n terms", whole="node depth", numbers=floats, gaps="parent cluster"
    )
    bars = min(_BARS, width // 6)
    room = width - 24 - bars - _FIGURES
    rows = _with_positions(table, room)
    n_cut = int(table["cluster"].notna().sum())
    whole = str(table["n"].iloc[0]) if len(table) else "0"
    heading = title or f"{n_cut} cluster{'' if n_cut == 1 else 's'} of {whole} {row_name}"
    height = max(len(table), 1) * _ROW
    layers = [_lines(rows, height), *_texts(rows, height, room)]
    layers += _bars(rows, height, room, bars)
    strong = table["strength"].notna().any()
    text = "Bars: share of all. " + ("Lines: the thicker, the clearer the split." if strong else "")
    return frame(
        layers,
        title=heading,
        subtitle=f"{text.strip()}{hidden_note(table['share'])}",
        description=f"Tree of {len(table)} branches with their sizes and the terms that mark them.",
        width=width,
        height=height,
        left=12,
    )


def _label(place: str, name: str) -> str:
    """Join place and name."""
    return f"{place} · {name}" if name else place


def _with_positions(table: pd.DataFrame, room: float) -> pd.DataFrame:
    """Find where everything stands, in pixels."""
    depth = table["depth"].to_numpy(dtype=float)
    depth = depth - depth.min(initial=depth[0] if len(depth) else 0)
    indent = min(_INDENT, room * 0.4 / max(depth.max(initial=1.0), 1.0))
    x = depth * indent + 10
    numbers = ["" if pd.isna(k) else str(int(k)) for k in table["cluster"]]
    badge = np.array([text_width(text) + 14 if text else 0.0 for text in numbers])
    labels = [
        fitted(text, room - at - gap - 8)
        for text, at, gap in zip(table["label"], x, badge, strict=True)
    ]
    used = x + badge + np.array([text_width(text) * 1.06 for text in labels]) + 16
    terms = [
        fitted(text, room - at - 12) if room - at > 60 else ""
        for text, at in zip(table["terms"], used, strict=True)
    ]
    n = [f"{n}  ({percent(s)})" if s == s else str(n) for n, s in _sizes(table)]
    return table.assign(
        x=x,
        y=(np.arange(len(table)) + 0.5) * _ROW,
        number=numbers,
        badge_x=x + badge / 2 - 5,
        label_x=x + badge,
        text_label=labels,
        terms_x=used,
        text_terms=terms,
        text_n=n,
        href=[cluster_link(node) for node in table["node"]],
        hover=[
            f"{label}: {n}. {terms}"
            for label, n, terms in zip(table["label"], n, table["terms"], strict=True)
        ],
    )


def _sizes(table: pd.DataFrame) -> list[tuple[Any, float]]:
    """Sizes and shares; a hidden share is NaN."""
    return list(zip(table["n"], table["share"].to_numpy(dtype=float), strict=True))


def _lines(rows: pd.DataFrame, height: float) -> alt.Chart:
    """Draw elbows from each node up to the one it is a part of."""
    place = {int(node): i for i, node in enumerate(rows["node"])}
    pieces = []
    parents = [-1 if pd.isna(parent) else int(parent) for parent in rows["parent"]]
    last = {parent: i for i, parent in enumerate(parents)}
    for i, parent in enumerate(parents):
        if parent not in place:
            continue
        above = place[parent]
        strength = rows["strength"].iloc[above]
        thick = 1.0 if np.isnan(strength) else 1 + 2.5 * float(strength)
        x, y = float(rows["x"].iloc[above]), float(rows["y"].iloc[i])
        top = float(rows["y"].iloc[above]) + 9
        if (
            last[parent] == i
        ):  # one line for all parts: where two lie on each other it would be darker
            pieces.append({"x": x, "x2": x, "y": top, "y2": y + thick / 2, "thick": thick})
        end = float(rows["x"].iloc[i]) - 4
        pieces.append({"x": x + thick / 2, "x2": end, "y": y, "y2": y, "thick": thick})
    empty = {"x": [0.0], "x2": [0.0], "y": [0.0], "y2": [0.0], "thick": [0.0]}
    base = drawn(pd.DataFrame(pieces if pieces else empty))
    return base.mark_rule(color=NEUTRAL, opacity=0.6, aria=False).encode(
        x_pixels("x", _WIDEST),
        y_pixels("y", height),
        alt.X2("x2:Q"),
        alt.Y2("y2:Q"),
        alt.StrokeWidth("thick:Q", scale=None),
    )


def _texts(rows: pd.DataFrame, height: float, room: float) -> list[alt.Chart]:
    """Draw numbers of clusters, places and names, and terms."""
    base = linked(rows, y_pixels("y", height))
    cut = drawn(rows[rows["number"] != ""]).encode(y_pixels("y", height))
    badge = cut.mark_point(
        shape="square", size=300, filled=True, color=PICKED, opacity=0.22, aria=False
    ).encode(x_pixels("badge_x", _WIDEST))
    numbers = cut.mark_text(color=INK, aria=False, fontSize=11)
    labels = base.mark_text(align="left", baseline="middle", color=INK, fontWeight="bold")
    terms = drawn(rows).mark_text(align="left", baseline="middle", color=INK, aria=False)
    figures = drawn(rows.assign(at=room + _FIGURES - 14)).mark_text(
        align="right", baseline="middle", color=INK, aria=False
    )
    return [
        badge,
        numbers.encode(x_pixels("badge_x", _WIDEST), alt.Text("number:N")),
        labels.encode(x_pixels("label_x", _WIDEST), alt.Text("text_label:N")),
        terms.encode(x_pixels("terms_x", _WIDEST), y_pixels("y", height), alt.Text("text_terms:N")),
        figures.encode(x_pixels("at", _WIDEST), y_pixels("y", height), alt.Text("text_n:N")),
    ]


def _bars(rows: pd.DataFrame, height: float, room: float, bars: float) -> list[alt.Chart]:
    """Draw the share of each node; those of the cut in color."""
    start = room + _FIGURES
    share = np.nan_to_num(rows["share"].to_numpy(dtype=float))
    data = rows.assign(start=start, end=start + share * bars, whole=start + bars)
    data["shade"] = np.where(data["number"] != "", PICKED, NEUTRAL)
    base = drawn(data).encode(y_pixels("y", height), x_pixels("start", _WIDEST))
    track = base.mark_bar(height=8, color=NEUTRAL, opacity=0.18, aria=False)
    fill = base.mark_bar(height=8, aria=False).encode(
        alt.X2("end:Q"), alt.Color("shade:N", scale=None)
    )
    return [track.encode(alt.X2("whole:Q")), fill]
