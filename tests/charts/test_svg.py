import base64
import struct
import sys
import zlib

import altair as alt
import numpy as np
import pandas as pd
import pytest

from lvmkit import charts


def bar(texts: list[str]) -> alt.LayerChart:
    data = pd.DataFrame({"x": range(len(texts)), "text_it": texts, "axis": texts})
    base = alt.Chart(data).encode(x="x:Q")
    return alt.layer(base.mark_bar(), base.mark_text().encode(text="text_it:N")).properties(
        title=alt.TitleParams(["A title & more"], subtitle=["b < c"])
    )


def test_texts_are_all_there_and_escaped() -> None:
    texts = [f"text <{i}> & 'more' é" for i in range(150)]
    picture = charts.svg(bar(texts))
    for i in range(150):
        assert f"text &lt;{i}&gt; &amp; 'more' é</text>" in picture
    assert "A title &amp; more" in picture
    assert "b &lt; c" in picture


def test_texts_that_look_like_tokens_are_left_as_they_are() -> None:
    picture = charts.svg(bar(["À", "é", "ÀÁ", "plain text"]))
    for text in ("À", "é", "ÀÁ", "plain text"):
        assert f">{text}</text>" in picture


def test_the_chart_itself_is_not_changed() -> None:
    chart = bar(["some long text"])
    before = chart.to_dict()
    charts.svg(chart)
    assert chart.to_dict() == before


def test_ids_differ_between_pictures() -> None:
    data = pd.DataFrame({"x": [1, 2], "c": [1.0, 2.0]})

    def ids(color: str) -> set[str]:
        chart = (
            alt.Chart(data).mark_bar(clip=True).encode(x="x:Q", color=alt.Color("c:Q", title=color))
        )
        return {part.split('"')[0] for part in charts.svg(chart).split('id="')[1:]}

    assert ids("one")
    assert not ids("one") & ids("two")


def test_a_theme_of_its_own_is_kept_and_none_is_global() -> None:
    chart = bar(["a"])
    assert "config" not in alt.Chart().mark_bar().to_dict() or alt.theme.active == "default"
    assert charts.themed(chart).to_dict()["config"]["background"] == "transparent"
    own = bar(["a"]).configure_text(color="#123456")
    assert "#123456" in charts.svg(own)


def test_png_is_png() -> None:
    picture = charts.png(bar(["a"]), scale=1.0)
    assert picture[:4] == b"\x89PNG"


def test_pixels_come_back_from_the_address() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 4)).astype(np.uint8)
    data = base64.b64decode(charts.png_data_uri(pixels).split(",")[1])
    width, height = struct.unpack(">II", data[16:24])
    body = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)
    assert (width, height) == (7, 5)
    np.testing.assert_array_equal(lines[:, 1:].reshape(5, 7, 4), pixels)


def test_pixels_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found \(2, 2\) of float64"):
        charts.png_data_uri(np.zeros((2, 2)))  # type: ignore[arg-type]


def test_a_missing_converter_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=r"pip install 'lvmkit\[notebooks\]'"):
        charts.svg(bar(["a"]))
