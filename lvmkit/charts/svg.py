"""Charts as pictures: SVG that follows the page's colors and whose marks are links, and PNG."""

import base64
import hashlib
import re
import struct
import zlib
from collections.abc import Iterator
from html import escape, unescape
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from lvmkit.charts._fonts import WIDEST, arial_width
from lvmkit.charts._tokens import Tokens
from lvmkit.charts.theme import FONT, INK, theme
from lvmkit.core.arguments import checked
from lvmkit.core.validation import unmasked

_LINK = re.compile(r'<a xlink:href="[^"#]*(#(?:code|cluster)=[^"]*)"([^>]*)>(?=<\w+ ([^>]*)>)')
_LABEL = re.compile(r'aria-label="([^"]*)"')
_INSIDE = re.compile(r'<g [^>]*transform="translate\(([\d.]+),')
_ROW_LABEL = re.compile(
    r'(<text [^>]*text-anchor="end" transform="translate\((-[\d.]+),[^>]*font-size="([\d.]+)px"[^>]*)>'
    r"([^<]*)(?=</text>)"
)


_MOST_SCALE = 100
"""Above it a picture asks for more memory than there is."""


@checked()
def svg(chart: alt.TopLevelMixin) -> str:
    """Draw a chart as SVG that fits the page it is put in.

    Parameters
    ----------
    chart : altair chart
        A chart of any kind; the theme is applied unless it has its own.

    Returns
    -------
    str
        An `<svg>` element: text in `currentColor`, transparent ground, ids of its own, `aria-label`
        from the chart's description; labels left of the rows stay inside in any
        font; marks with a link ("#code=…", "#cluster=…") are `<a>` with a `<title>`, and each target is
        one tab stop.

    Raises
    ------
    ImportError
        If vl-convert is not installed.

    Notes
    -----
    Measuring texts and checking links takes most of the time of vl-convert (about 0.1 ms a letter,
    twice, and 0.2 ms a link). Since the charts' margins are fixed, texts in data columns named
    "text…", titles, and links of described marks are replaced by short tokens for the layout and
    put back afterwards.

    Examples
    --------
    >>> import altair as alt
    >>> import pandas as pd
    >>> data = pd.DataFrame({"x": [1], "href": ["#code=428"]})
    >>> picture = svg(alt.Chart(data).mark_bar().encode(x="x:Q", href="href:N"))
    >>> 'href="#code=428"' in picture
    True
    """
    spec = _specification(chart)
    tokens = Tokens()
    picture = tokens.put_back(_converter().vegalite_to_svg(tokens.shortened(spec)))
    return _for_page(picture, str(spec.get("description", "")))


@checked(scale=0)
def png(chart: alt.TopLevelMixin, *, scale: float = 2.0) -> bytes:
    """Draw a chart as PNG on white, for slides and documents.

    Parameters
    ----------
    chart : altair chart
        A chart of any kind; the theme is applied unless it has its own.
    scale : float, default=2.0
        Pixels of the picture per pixel of the chart.

    Returns
    -------
    bytes
        The file's content.

    Raises
    ------
    ImportError
        If vl-convert is not installed.

    Examples
    --------
    >>> import altair as alt
    >>> png(alt.Chart().mark_bar().encode(x=alt.datum(1)))[1:4]
    b'PNG'
    """
    if not 0 < scale <= _MOST_SCALE:
        msg = f"scale must be above 0, and {_MOST_SCALE} at most; found {scale!r}"
        raise ValueError(msg)
    spec = _specification(chart)
    spec["config"] = {**spec["config"], "background": "white"}
    picture: bytes = _converter().vegalite_to_png(spec, scale=scale)
    return picture


@checked()
def png_data_uri(pixels: npt.NDArray[np.uint8]) -> str:
    """Encode pixels as a PNG that can stand in an address.

    Parameters
    ----------
    pixels : array (height, width, 4) of uint8
        Red, green, blue and opacity.

    Returns
    -------
    str
        "data:image/png;base64,…"

    Raises
    ------
    ValueError
        If `pixels` has another shape or type.

    Notes
    -----
    PNG specification (ISO/IEC 15948), color type 6, no filter.

    Examples
    --------
    >>> import numpy as np
    >>> png_data_uri(np.zeros((2, 3, 4), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    pixels = np.asarray(unmasked(pixels, "pixels"))
    if not pixels.size or pixels.ndim != 3 or pixels.shape[2] != 4 or pixels.dtype != np.uint8:
        msg = f"pixels must be (height, width, 4) of uint8; found {pixels.shape} of {pixels.dtype}"
        raise ValueError(msg)
    height, width = pixels.shape[:2]
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)])
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 6)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", body), _chunk(b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    """One part of a PNG file."""
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _converter() -> Any:
    """Import vl-convert, which only pictures need."""
    try:
        import vl_convert
    except ImportError as error:
        msg = "pictures of charts need vl-convert: pip install 'lvmkit[notebooks]'"
        raise ImportError(msg) from error
    return vl_convert


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the chart as Vega-Lite with a theme."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    own = spec.get("config", {})
    # Altair adds a default view size to charts without a theme
    if set(own) <= {"view"}:
        spec["config"] = theme()["config"]
    return spec


def _for_page(picture: str, description: str) -> str:
    """Adapt vl-convert's SVG to a page: its colors, links inside the page, ids that clash with none."""
    picture = re.sub(
        r'<rect width="[\d.]+" height="[\d.]+" fill="(?:white|transparent)"/>', "", picture, count=1
    )
    picture = picture.replace(f'"{INK}"', '"currentColor"')
    mark = hashlib.blake2b(picture.encode(), digest_size=4).hexdigest()
    picture = re.sub(r'(id="|url\(#)((?:clip|gradient)[\w-]*)', rf"\g<1>m{mark}-\2", picture)
    # a number printed over a mark must not take its click
    picture = re.sub(
        r'(<g class="mark-text role-mark(?:(?! pointer-)[^>])*)(>(?=<text))',
        r'\1 pointer-events="none"\2',
        picture,
    )
    picture = re.sub(r' aria-label="(?:Title|Subtitle) text \'[^"]*"', "", picture)
    picture = re.sub(r'<a xlink:href="[^"]*/null"[^>]*>(.*?)</a>', r"\1", picture)
    picture = re.sub(r' font-family="[^"]*"', "", picture)
    picture = _with_held_labels(picture)
    named = f'<svg role="group" aria-label="{escape(description)}" font-family="{FONT}" '
    return "".join(_linked(picture)).replace("<svg ", named, 1)


def _with_held_labels(picture: str) -> str:
    """Give labels of rows that could leave the picture in a wide font the width that they have in Arial."""
    inside = _INSIDE.search(picture)
    if inside is None:
        return picture

    def held(found: re.Match[str]) -> str:
        room = float(inside[1]) + float(found[2])
        width = arial_width(unescape(found[4]), float(found[3]))
        if width * WIDEST <= room:
            return found[0]
        drawn = max(min(width, room - 1), 0.9 * width)
        return f'{found[1]} textLength="{drawn:.0f}" lengthAdjust="spacingAndGlyphs">{found[4]}'

    return _ROW_LABEL.sub(held, picture)


def _linked(picture: str) -> Iterator[str]:
    """Make links local, give them a hover text, and one tab stop to each target."""
    seen: set[str] = set()
    end = 0
    for found in _LINK.finditer(picture):
        yield picture[end : found.start()]
        end = found.end()
        target, label = found[1], _LABEL.search(found[3])
        again = ' tabindex="-1"' if target in seen else ""
        seen.add(target)
        yield f'<a href="{target}"{found[2]}{again}>'
        yield f"<title>{label[1]}</title>" if label else ""
    yield picture[end:]
