"""The look of all charts: one place for colors and type."""

from typing import Any, TypeVar

import altair as alt

from lvmkit.core.arguments import checked

INK = "#1f2328"
"""Color of text and axes; `svg` replaces it by `currentColor`, so that a page's CSS decides."""
NEUTRAL = "#8a8f98"
"""Gray that is seen on white and on black: bars that nobody picked, grid lines, all records."""
PICKED = "#0072B2"
"""Okabe-Ito blue: what the reader picked; hue means nothing else."""
OTHER = "#D55E00"
"""Okabe-Ito vermillion: the second of two things compared."""
SHADE = "#56B4E9"
"""Okabe-Ito sky blue: ground of numbers, by opacity; text on it is read on white and on black."""
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe-Ito hues for the few values of a category, always beside a legend and printed shares."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
"""Shapes of points, beside hues."""
FONT = "Arial, Helvetica, sans-serif"
_MEASURED = "sans-serif"  # vl-convert looks up each named font anew for each text
TEXT_SIZE = 12
TITLE_SIZE = 14

AnyChart = TypeVar("AnyChart", bound=alt.TopLevelMixin)


def theme() -> dict[str, Any]:
    """Return the configuration of all charts.

    Returns
    -------
    dict
        A Vega-Lite specification with the key "config", as `altair.theme.register` wants it.

    Examples
    --------
    >>> sorted(theme()["config"])[:3]
    ['arc', 'area', 'axis']
    """
    marks = {name: {"color": NEUTRAL} for name in ("arc", "area", "bar", "line", "point", "rect")}
    axis = {
        "labelFontSize": TEXT_SIZE - 1,
        "titleFontSize": TEXT_SIZE,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": NEUTRAL,
        "tickColor": NEUTRAL,
        "gridColor": NEUTRAL,
        "gridOpacity": 0.25,
    }
    title = {
        "fontSize": TITLE_SIZE,
        "subtitleFontSize": TEXT_SIZE,
        "color": INK,
        "subtitleColor": INK,
        "anchor": "start",
    }
    config = {
        **marks,
        "background": "transparent",
        "font": _MEASURED,
        "axis": axis,
        "title": title,
        "text": {"fontSize": TEXT_SIZE, "color": INK},
        "view": {"stroke": None},
        "range": {"category": list(CATEGORIES), "heatmap": {"scheme": "cividis"}},
    }
    return {"config": config}


@checked()
def themed(chart: AnyChart) -> AnyChart:
    """Return a chart that carries the theme, to be shown by Altair itself.

    Parameters
    ----------
    chart : altair chart
        A chart of any kind.

    Returns
    -------
    altair chart
        A copy; the one passed is unchanged.

    Examples
    --------
    >>> import altair as alt
    >>> bare = alt.Chart().mark_bar()
    >>> themed(bare).to_dict()["config"]["background"]
    'transparent'
    """
    if not isinstance(chart, alt.TopLevelMixin):
        msg = f"chart must be an Altair chart; found {type(chart).__name__}"
        raise TypeError(msg)
    copy: Any = chart
    copy = copy.copy(deep=False)
    copy["config"] = theme()["config"]
    themed_copy: AnyChart = copy
    return themed_copy
