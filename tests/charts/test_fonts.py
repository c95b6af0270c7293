"""Labels left of the rows keep their first letters, which are the code, in whatever font is there."""

import re

import altair as alt
import pandas as pd
import pytest

from lvmkit.charts import svg
from lvmkit.charts._fonts import arial_width
from lvmkit.charts._frame import drawn, frame, margin, row_labels, rows_of

LABELS = ["428 · Heart failure", "276 · Disorders of fluid, electrolyte, and acid-base balance"]
LETTERS = re.compile(r"<text [^>]*?(?:textLength=\"(\d+)\"[^>]*)?>([^<]*)</text>")


def picture(labels, most):
    """Draw bars with labels in a margin."""
    table = pd.DataFrame({"label": labels, "share": [0.5] * len(labels)})
    left = margin(labels, most)
    y = rows_of(labels)
    bars = drawn(table).mark_bar().encode(x=alt.X("share:Q", axis=None), y=y)
    layers = [bars, row_labels(table, y, left)]
    made = frame(layers, title="T", description="D", width=600, height=80, left=left)
    return left, dict(reversed(found) for found in LETTERS.findall(svg(made)))


@pytest.mark.parametrize("most", [120, 200, 260, 600])
def test_labels_that_a_wide_font_would_push_out_have_a_width(most):
    left, widths = picture(LABELS, most)
    for text, width in widths.items():
        if "·" not in text:
            continue
        room, arial = left - 8, arial_width(text, 12)
        assert arial <= room
        if 1.25 * arial > room:
            assert abs(float(width) - arial) <= 1  # as in Arial itself
        else:
            assert not width


def test_widths_are_those_of_arial():
    assert arial_width("Other disorders of fluid, 0123456789 ABCDEFG", 100) == pytest.approx(
        2134, abs=1
    )
