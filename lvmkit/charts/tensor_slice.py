"""A slice of a tensor as a heat map: a cluster's mean or discriminant, selected entries outlined."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.charts._frame import drawn, fitted, frame, margin, text_width, x_pixels, y_pixels
from lvmkit.charts._image import BLUE, ORANGE, UNKNOWN, image, lines_of_pixels
from lvmkit.charts._labels import number_text
from lvmkit.charts._modes import Labels, named_modes, strongest
from lvmkit.charts.svg import png_data_uri
from lvmkit.charts.theme import INK, NEUTRAL, TEXT_SIZE
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import as_numbers, require_columns

_TALL, _CELL, _LINE = 480, 30, 13  # pixels: a picture, a cell and a label at most or least
_TOOLTIPS = 400  # cells with a tooltip of their own at most; more take too long to draw
_PRINTED = (34, 18)  # pixels of a cell that has room for its number


@checked()
def tensor_slice_table(
    values: npt.ArrayLike,
    axes: Sequence[int] | None = None,
    at: Mapping[int, int] | None = None,
    *,
    selected: npt.ArrayLike | None = None,
    mode_names: Sequence[str] | None = None,
    labels: Sequence[Labels | None] | None = None,
) -> pd.DataFrame:
    """Tabulate one slice of a tensor, one row per entry.

    Parameters
    ----------
    values : array (p1, …, pM)
        For example `means_[k]` or `discriminants_[k - 1]` of a `TensorNormalMixture`.
    axes : (int, int), optional
        Modes that run down and across; by default the first two. A vector runs across.
    at : mapping of int to int, optional
        Place along each of the other modes; by default 0.
    selected : array of bool (p1, …, pM), optional
        Entries to outline, such as `selected_`.
    mode_names : sequence of str, optional
        What the modes are called.
    labels : sequence of (sequence of str or None), optional
        For each mode, what its places are called.

    Returns
    -------
    DataFrame
        row, column (places), row_label, column_label, entry (number in the whole tensor, the last
        mode counted fastest), value, selected. `attrs` has "axes" (names of the two modes), "fixed"
        (the slice in words) and "limit" (largest size of a value in the whole tensor).

    Raises
    ------
    ValueError
        If modes, places, names or `selected` do not fit the tensor.

    Notes
    -----
    Mutoh 2023, section 2: an entry is selected if it is not 0 in some discriminant.

    Examples
    --------
    >>> import numpy as np
    >>> table = tensor_slice_table(np.arange(8.0).reshape(2, 2, 2), axes=(0, 2), at={1: 1})
    >>> table["value"].tolist(), table.attrs["fixed"]
    ([2.0, 3.0, 6.0, 7.0], 'mode 1 = 1')
    """
    tensor = as_numbers(values, "values")
    if np.isinf(tensor).any():
        msg = "values must be finite, or NaN where hidden; found infinity"
        raise ValueError(msg)
    if not tensor.size:
        msg = f"values must hold one entry or more; found shape {tensor.shape}"
        raise ValueError(msg)
    modes = named_modes(tensor.shape, mode_names, labels)
    down, across = _axes(tensor.ndim, axes)
    place = _places(tensor.shape, (down, across), at or {})
    marks = np.zeros(tensor.shape, dtype=bool) if selected is None else np.asarray(selected)
    if marks.shape != tensor.shape:
        msg = f"selected has shape {marks.shape}, values {tensor.shape}; pass one for each entry"
        raise ValueError(msg)
    number = np.arange(tensor.size).reshape(tensor.shape)
    cut = tuple(slice(None) if m in (down, across) else place[m] for m in range(tensor.ndim))
    parts = [np.atleast_2d(_turned(part[cut], down, across)) for part in (tensor, marks, number)]
    rows, columns = parts[0].shape
    names = ("",) if down is None else modes.labels[down]
    others = [m for m in range(tensor.ndim) if m not in (down, across)]
    table = pd.DataFrame(
        {
            "row": np.repeat(np.arange(rows), columns),
            "column": np.tile(np.arange(columns), rows),
            "row_label": np.repeat(np.array(names, dtype=object), columns),
            "column_label": np.tile(np.array(modes.labels[across], dtype=object), rows),
            "entry": parts[2].ravel(),
            "value": parts[0].ravel(),
            "selected": parts[1].ravel().astype(bool),
        }
    )
    table.attrs = {
        "axes": ["" if down is None else modes.names[down], modes.names[across]],
        "fixed": ", ".join(f"{modes.names[m]} = {modes.labels[m][place[m]]}" for m in others),
        "limit": strongest(tensor),
    }
    return table


@checked(limit=0, width=1)
def tensor_slice_chart(
    table: pd.DataFrame,
    *,
    limit: float | None = None,
    title: str = "",
    width: int = 620,
    links: bool = True,
) -> alt.LayerChart:
    """Draw a slice: blue above 0, orange below, stronger for larger values, selected entries outlined.

    Parameters
    ----------
    table : DataFrame
        As made by `tensor_slice_table`.
    limit : float, optional
        Size of a value that has the strongest color; by default the largest of the whole tensor, so
        that slices can be compared. Pass one number to compare clusters too.
    title : str, default=""
        Heading; by default the modes.
    width : int, default=620
        Width of the picture, in pixels.
    links : bool, default=True
        Whether entries are links "#entry=…", as far as there are no more than 400.

    Returns
    -------
    altair.LayerChart
        The slice is one image, so that large ones are drawn at once. Of entries that share a pixel the
        strongest is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> table = tensor_slice_table(np.eye(3), mode_names=["gene", "tissue"])
    >>> tensor_slice_chart(table).to_dict()["title"]["text"]
    ['gene by tissue']
    """
    floats = "value"
    text = "row_label column_label"
    table = require_columns(
        table, text=text, whole="row column entry", numbers=floats, flags="selected", rows=1
    )
    rows, columns = int(table["row"].max()) + 1, int(table["column"].max()) + 1
    if len(table) != rows * columns:
        msg = f"table must have a row for each of {rows} x {columns} entries; found {len(table)}"
        raise ValueError(msg)
    matrix = table["value"].to_numpy(dtype=float).reshape(rows, columns)
    top = float(table.attrs.get("limit", strongest(matrix))) if limit is None else float(limit)
    names = table["row_label"].iloc[::columns].tolist()
    feet = table["column_label"].iloc[:columns].tolist()
    left = margin(names, width * 0.34)
    inner = int(min(max(width - left - 12, 40), columns * 3 * _CELL))
    height = int(np.clip(_TALL / rows, 3, _CELL) * rows) if rows < _TALL / 3 else _TALL
    wide, tall = inner / columns, height / rows
    flat = max(map(text_width, feet)) <= wide - 4
    below = 22 if flat else int(min(max(map(text_width, feet)), 120)) + 14
    layers: list[Any] = [
        image(_picture(matrix / top, inner, height), inner, height),
        _outline(table["selected"].to_numpy(dtype=bool).reshape(rows, columns), wide, tall),
        _sides(names, left, height),
        _feet(feet, inner, height, flat=flat, room=below),
    ]
    if rows * columns <= _TOOLTIPS:
        layers += _cells(table, matrix / top, (wide, tall), links=links)
    down, across = table.attrs.get("axes", ["", ""])
    named = f"{down} by {across}" if down else str(across)
    crowded = " Of entries that share a pixel, the strongest." if min(wide, tall) < 1 else ""
    marked = " Outlined: selected entries." if table["selected"].any() else ""
    unknown = " Gray: not shown." if np.isnan(matrix).any() else ""
    fixed = f" {table.attrs['fixed']}." if table.attrs.get("fixed") else ""
    return frame(
        layers,
        title=title or named,
        subtitle=f"Blue: above 0; orange: below; full color: ±{number_text(top)}.{fixed}{marked}{unknown}{crowded}",
        description=f"Heat map of {rows} by {columns} values. {title or named}.{fixed}",
        width=left + inner + 12,
        height=height,
        left=left,
        below=below,
    )


def _axes(order: int, axes: Sequence[int] | None) -> tuple[int | None, int]:
    """Check which modes run down and across."""
    if order < 1:
        msg = "values is a single number; pass a tensor with at least one mode"
        raise ValueError(msg)
    if order == 1:
        return None, 0
    found = tuple(axes) if axes is not None else (0, 1)
    if len(found) != 2 or found[0] == found[1] or not all(0 <= m < order for m in found):
        msg = f"axes are two different modes of 0 to {order - 1}; found {axes!r}"
        raise ValueError(msg)
    return int(found[0]), int(found[1])


def _places(
    shape: tuple[int, ...], shown: tuple[int | None, int], at: Mapping[int, int]
) -> dict[int, int]:
    """Check the places of the modes that are not shown."""
    place = {m: int(at.get(m, 0)) for m in range(len(shape)) if m not in shown}
    for m, j in place.items():
        if not 0 <= j < shape[m]:
            msg = f"at has place {j} for mode {m}, which has 0 to {shape[m] - 1}"
            raise ValueError(msg)
    return place


def _turned(part: npt.NDArray[Any], down: int | None, across: int) -> npt.NDArray[Any]:
    """Let the first mode run down."""
    return part.T if down is not None and down > across else part


def _picture(shares: Array, width: int, height: int) -> str:
    """Color the matrix: hue is the sign, opacity the size."""
    shares = _thinned(_thinned(shares, height).T, width).T
    rows, columns = shares.shape
    shares = shares[np.ix_(lines_of_pixels(height, rows), lines_of_pixels(width, columns))]
    colors = np.empty((height, width, 4), dtype=np.uint8)
    colors[..., :3] = np.where((shares < 0)[..., None], ORANGE, BLUE)
    colors[..., 3] = np.rint(255 * np.abs(np.nan_to_num(shares)).clip(max=1))
    colors[np.isnan(shares)] = UNKNOWN
    return png_data_uri(colors)


def _thinned(shares: Array, most: int) -> Array:
    """Take the strongest of the lines that share a pixel."""
    if len(shares) <= most:
        return shares
    starts = np.linspace(0, len(shares), most + 1).astype(np.int64)[:-1]
    low, high = np.fmin.reduceat(shares, starts), np.fmax.reduceat(shares, starts)
    return np.where(-low > high, low, high)


def _outline(marks: npt.NDArray[np.bool_], wide: float, tall: float) -> alt.Chart:
    """Draw the border of the selected entries as one path, however many they are."""
    padded = np.pad(marks, 1).astype(np.int8)
    path = "".join(
        [
            *_runs(np.diff(padded[:, 1:-1], axis=0) != 0, wide, tall, "M{a:.1f},{at:.1f}H{b:.1f}"),
            *_runs((np.diff(padded[1:-1], axis=1) != 0).T, tall, wide, "M{at:.1f},{a:.1f}V{b:.1f}"),
        ]
    )
    # a symbol's own path is scaled by half the square root of its size
    return drawn(pd.DataFrame({"x": [0]})).mark_point(
        x=0,
        y=0,
        shape=path or "M0,0",
        size=4,
        stroke=INK,
        strokeWidth=1.5 if min(wide, tall) > 8 else 0.8,
        filled=False,
        opacity=1,
        aria=False,
    )


def _runs(edges: npt.NDArray[np.bool_], along: float, between: float, text: str) -> list[str]:
    """Write each run of edges in a line as one stroke."""
    strokes = []
    for line, edge in enumerate(edges):
        ends = np.flatnonzero(np.diff(np.pad(edge, 1).astype(np.int8)))
        for start, stop in ends.reshape(-1, 2).tolist():
            strokes.append(text.format(a=start * along, b=stop * along, at=line * between))
    return strokes


def _sides(names: list[str], left: int, height: int) -> alt.Chart:
    """Write the names of the rows, as many as fit."""
    tall = height / len(names)
    every = max(1, int(np.ceil(_LINE / tall)))
    data = pd.DataFrame({"y": (np.arange(len(names))[::every] + 0.5) * tall})
    data["text_label"] = [fitted(name, left - 12) for name in names[::every]]
    text = drawn(data).mark_text(align="right", baseline="middle", x=-6, color=INK)
    return text.encode(y_pixels("y", height), alt.Text("text_label:N"))


def _feet(names: list[str], width: int, height: int, *, flat: bool, room: int) -> alt.Chart:
    """Write the names of the columns, as many as fit, upright where they are long."""
    wide = width / len(names)
    every = max(1, int(np.ceil(_LINE / wide)))
    data = pd.DataFrame({"x": (np.arange(len(names))[::every] + 0.5) * wide})
    data["text_label"] = [fitted(name, wide if flat else room - 10) for name in names[::every]]
    if flat:
        text = drawn(data).mark_text(align="center", baseline="top", y=height + 6, color=INK)
    else:
        text = drawn(data).mark_text(
            angle=270, align="right", baseline="middle", y=height + 6, color=INK
        )
    return text.encode(x_pixels("x", width), alt.Text("text_label:N"))


def _cells(
    table: pd.DataFrame, shares: Array, cell: tuple[float, float], *, links: bool
) -> list[alt.Chart]:
    """Tell every entry, as a link, and print its value where there is room."""
    rows, columns = shares.shape
    wide, tall = cell
    data = pd.DataFrame({"x": table["column"] * wide, "y": table["row"] * tall})
    data["x2"], data["y2"] = data["x"] + wide, data["y"] + tall
    shown = table[["row_label", "column_label", "value", "selected"]].itertuples(index=False)
    data["hover"] = [
        f"{' · '.join(filter(None, (row, column)))}: {number_text(value)}{', selected' if marked else ''}"
        for row, column, value, marked in shown
    ]
    data["href"] = [f"#entry={entry}" for entry in table["entry"]]
    height, width = rows * tall, columns * wide
    box = drawn(data).mark_rect(color=NEUTRAL, opacity=0)
    box = box.encode(x_pixels("x", width), y_pixels("y", height), alt.X2("x2:Q"), alt.Y2("y2:Q"))
    box = box.encode(alt.Description("hover:N"), alt.Tooltip("hover:N", title="entry"))
    layers = [box.encode(alt.Href("href:N")) if links else box]
    if wide >= _PRINTED[0] and tall >= _PRINTED[1]:
        digits = int(
            np.clip(1 - np.floor(np.log10(strongest(table["value"].to_numpy(dtype=float)))), 0, 3)
        )
        data["text_value"] = [_printed(value, digits) for value in table["value"]]
        data["color"] = np.where(np.abs(np.nan_to_num(shares.ravel())) > 0.6, "#ffffff", INK)
        data["x"], data["y"] = data["x"] + wide / 2, data["y"] + tall / 2
        text = drawn(data).mark_text(
            align="center", baseline="middle", fontSize=TEXT_SIZE - 1, aria=False
        )
        color = alt.Color("color:N", scale=None, legend=None)
        place = (x_pixels("x", width), y_pixels("y", height))
        layers.append(text.encode(*place, alt.Text("text_value:N"), color))
    return layers


def _printed(value: float, digits: int) -> str:
    """Write a value with as many decimals as all others."""
    return "–" if np.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
