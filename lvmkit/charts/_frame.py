"""Layout shared by the charts: fixed margins, texts cut to fit, rows with labels that are links."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lvmkit.charts.theme import INK, TEXT_SIZE, TITLE_SIZE
from lvmkit.core.typing import Array

ROW = 20
"""Height of a row of text and bar, in pixels."""
LINE = 14
"""Distance of labels that are moved apart, in pixels."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]/- ·\u00a0"), frozenset("mwMWO@%…—")


def frame(
    layers: Sequence[Any],
    *,
    title: str,
    subtitle: str = "",
    description: str,
    width: int,
    height: int,
    left: int,
    right: int = 12,
    below: int = 8,
) -> alt.LayerChart:
    """Lay charts over each other inside fixed margins; width is of the whole, height of the inside."""
    # Margins are given, not found from the texts, because measuring texts takes vl-convert 4 ms each.
    titles = wrapped(title, width - 8, TITLE_SIZE, bold=True)
    subtitles = wrapped(subtitle, width - 8, TEXT_SIZE) if subtitle else []
    top = len(titles) * (TITLE_SIZE + 4) + len(subtitles) * (TEXT_SIZE + 4) + 12
    heading = alt.TitleParams(
        titles,
        subtitle=subtitles or alt.Undefined,  # an empty one would still take room
        anchor="start",
        frame="group",
        dx=4 - left,
        offset=8,
        subtitlePadding=4,
        lineHeight=TITLE_SIZE + 4,
        subtitleLineHeight=TEXT_SIZE + 4,
    )
    return alt.LayerChart(
        layer=list(layers),
        width=max(width - left - right, 40),
        height=height,
        title=heading,
        description=description,
        autosize=alt.AutoSizeParams(type="none"),
        padding={"left": left, "right": right, "top": top, "bottom": below},
    )


def text_width(text: str, size: float = TEXT_SIZE) -> float:
    """Estimate the width of a text in pixels, for Arial and fonts like it."""
    return sum(_units(text)) * size


def _units(text: str) -> Iterator[float]:
    """Yield the estimated width of each character, as a share of the size."""
    for c in text:
        yield 0.31 if c in _NARROW else 0.86 if c in _WIDE else 0.68 if c.isupper() else 0.56


def fitted(text: str, pixels: float, size: float = TEXT_SIZE) -> str:
    """Cut a text to a width; an ellipsis says that it was cut."""
    if text_width(text, size) <= pixels:
        return text
    end = text_width("…", 1)
    kept = takewhile(lambda units: (units + end) * size <= pixels, accumulate(_units(text)))
    return text[: sum(1 for _ in kept)].rstrip(" ·,;") + "…"


def wrapped(text: str, pixels: float, size: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines of a width; "3 · Name" stays together around its dot."""
    room = pixels / (1.07 if bold else 1.0)
    lines: list[str] = []
    for word in text.replace(" · ", "\u00a0·\u00a0").split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [fitted(line, pixels, size).replace("\u00a0", " ") for line in lines]


def margin(
    labels: Iterable[str], most: float, *, least: float = 24, size: float = TEXT_SIZE
) -> int:
    """Return the margin that labels need, up to a limit."""
    widest = max((text_width(label, size) for label in labels), default=0.0)
    return int(min(max(widest + 16, least), most))


def rows_of(
    labels: Sequence[str], *, padding: float = 0.2, span: tuple[float, float] | None = None
) -> alt.Y:
    """Return one band per label, from top to bottom, without an axis; span is in pixels."""
    place: dict[str, Any] = {} if span is None else {"range": list(span)}
    scale = alt.Scale(domain=list(labels), paddingInner=padding, paddingOuter=padding / 2, **place)
    return alt.Y("label:N", scale=scale, axis=None, sort=None)


class _Rows(alt.InlineData):
    """Rows of a chart that Altair passes on as they are; it would check and copy them five times."""

    _class_is_valid_at_instantiation = False

    def __deepcopy__(self, _: Any) -> "_Rows":
        """Return the same rows: charts do not change them."""
        return self


def drawn(table: pd.DataFrame) -> alt.Chart:
    """Start a chart of a table; plain rows, because Altair's inspection of frames takes longer."""
    columns = [table[name].tolist() for name in table]
    known = (table.notna() & ~table.isin([np.inf, -np.inf])).to_numpy().tolist()
    rows: list[dict[str, Any]] = [
        {
            str(name): value if shown else None
            for name, value, shown in zip(table, row, there, strict=True)
        }
        for row, there in zip(zip(*columns, strict=True), known, strict=True)
    ]
    return alt.Chart(_Rows(values=rows))


def x_pixels(field: str, width: float) -> alt.X:
    """Return a horizontal position in pixels from the left, without an axis."""
    return alt.X(f"{field}:Q", scale=_pixel_scale(width), axis=None)


def y_pixels(field: str, height: float) -> alt.Y:
    """Return a vertical position in pixels from the top, without an axis."""
    return alt.Y(f"{field}:Q", scale=_pixel_scale(height), axis=None)


def _pixel_scale(size: float) -> alt.Scale:
    """Scale on which a value is a number of pixels."""
    return alt.Scale(domain=[0, size], range=[0, size], nice=False, zero=False)


def row_labels(table: pd.DataFrame, y: alt.Y, left: int) -> alt.Chart:
    """Draw the label of each row left of the bars, as a link where the table has `href`."""
    rows = table.drop_duplicates("label")
    data = pd.DataFrame({"label": rows["label"], "hover": rows["label"]})
    data["text_label"] = [fitted(label, left - 14) for label in rows["label"]]
    more = {name: rows[name] for name in ("href", "place") if name in rows}
    base = drawn(data.assign(**more))
    texts = base.mark_text(align="right", x=-8, baseline="middle", color=INK)
    texts = texts.encode(y, alt.Text("text_label:N"), alt.Description("hover:N"))
    return texts.encode(alt.Href("href:N")) if "href" in rows else texts


def share_axis(most: float, *, title: str | None = None, orient: Any = "bottom") -> alt.X:
    """Return a horizontal axis for shares from 0 to `most`."""
    axis = alt.Axis(
        format=".0%",
        tickCount=5,
        orient=orient,
        title=title,
        domain=False,
        labelOverlap=False,
        labelFlush=False,
    )
    return alt.X("share:Q", scale=alt.Scale(domain=[0, max(most, 0.01)], nice=False), axis=axis)


def apart(middles: Array, height: int) -> Array:
    """Move label positions apart to one line each, as little as one pass down and up allows."""
    gap = min(LINE, height / max(len(middles), 1))
    places = middles.astype(float).copy()
    floor = gap / 2
    for i in range(len(places)):
        places[i] = floor = max(places[i], floor)
        floor += gap
    ceiling = height - gap / 2
    for i in range(len(places) - 1, -1, -1):
        places[i] = ceiling = min(places[i], ceiling)
        ceiling -= gap
    return places


def linked(table: pd.DataFrame, *channels: Any) -> alt.Chart:
    """Start a chart of rows that tell their `hover` and link to their `href`."""
    return drawn(table).encode(*channels, alt.Description("hover:N"), alt.Href("href:N"))


def series_legend(looks: pd.DataFrame, right: int, *, gap: int = 10) -> list[alt.Chart]:
    """Name series beside the picture, in their order; needs series, color and shape."""
    layers = []
    for place, (name, color, shape) in enumerate(looks[["series", "color", "shape"]].to_numpy()):
        base = drawn(pd.DataFrame({"text_series": [fitted(str(name), right - 30 - gap)]}))
        at: dict[str, Any] = {"x": {"expr": "width + 18"}, "y": 12 + ROW * place}
        mark = base.mark_point(filled=True, size=64, opacity=1, color=color, shape=shape, **at)
        text = base.mark_text(align="left", dx=gap, baseline="middle", color=INK, **at)
        layers += [mark, text.encode(alt.Text("text_series:N"))]
    return layers
