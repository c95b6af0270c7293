from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts import curves_chart, curves_table
from lvmkit.charts.curves import MOST_SERIES

N = [1_000, 3_000, 10_000]
ERRORS = {
    "power": np.array([[1.0, 2.0, 9.0], [0.5, 0.7, 0.6], [0.2, 0.3, 0.1]]),
    "ours": np.array([0.9, 0.4, 0.25]),
}


def rows_of(chart: alt.LayerChart, mark: str) -> list[dict]:
    spec = chart.to_dict()
    layer = next(part for part in spec["layer"] if part["mark"]["type"] == mark)
    return spec["datasets"][layer["data"]["name"]]


def test_the_middle_of_repeats_is_their_median_between_quartiles() -> None:
    table = curves_table(N, ERRORS)
    assert table["series"].tolist() == ["power"] * 3 + ["ours"] * 3
    assert table["y"].tolist() == [2.0, 0.6, 0.2, 0.9, 0.4, 0.25]
    assert table["low"].tolist()[:1] == [1.5]
    assert table["high"].tolist()[:1] == [5.5]


def test_or_their_mean_with_one_standard_deviation() -> None:
    table = curves_table(N, ERRORS, middle="mean")
    first = table.iloc[0]
    assert first["y"] == 4.0
    np.testing.assert_allclose(first["high"] - first["y"], np.std([1, 2, 9], ddof=1))
    np.testing.assert_allclose(first["y"] - first["low"], np.std([1, 2, 9], ddof=1))


@pytest.mark.parametrize("middle", ["mean", "median"])
def test_single_measurements_have_no_spread(middle: str) -> None:
    table = curves_table(N, {"ours": ERRORS["ours"]}, middle=middle)  # type: ignore[arg-type]
    assert (table["low"] == table["y"]).all()
    assert (table["high"] == table["y"]).all()


def test_places_are_sorted_with_their_values() -> None:
    table = curves_table([3, 1, 2], {"a": [30, 10, 20]})
    assert table[["x", "y"]].to_numpy().tolist() == [[1, 10], [2, 20], [3, 30]]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"a": [1, 2]}, r"values\['a'\] needs one row for each of the 3 places.*\(2,\)"),
        ({"a": [[], [], []]}, "one row for each"),
        ({"a": [1, np.nan, 2]}, r"finite; found \[nan\] at x=3000"),
    ],
)
def test_values_that_do_not_fit_are_refused(values: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        curves_table(N, values)


def test_an_unknown_middle_is_refused() -> None:
    with pytest.raises(ValueError, match="middle='mode'"):
        curves_table(N, ERRORS, middle="mode")  # type: ignore[arg-type]


def test_the_legend_runs_from_the_line_that_ends_highest_to_the_lowest() -> None:
    picture = charts.svg(curves_chart(curves_table(N, ERRORS), title="Error"))
    texts = [node.text for node in ElementTree.fromstring(picture).iter() if node.text]
    assert texts.index("ours") < texts.index("power")


def test_every_series_looks_different() -> None:
    values = {f"series {i}": [i, i + 1, i + 2] for i in range(MOST_SERIES)}
    chart = curves_chart(curves_table(N, values), title="Many")
    looks = {(row["color"], row["shape"]) for row in rows_of(chart, "point")}
    assert len(looks) == MOST_SERIES
    too_many = curves_table(N, {**values, "last": [0, 1, 2]})
    with pytest.raises(ValueError, match="13 series, and at most 12"):
        curves_chart(too_many, title="Too many")


def test_a_shade_is_drawn_where_repeats_vary_and_only_there() -> None:
    def marks(table: pd.DataFrame) -> list[str]:
        spec = curves_chart(table, title="Error").to_dict()
        return [layer["mark"]["type"] for layer in spec["layer"]]

    assert "area" in marks(curves_table(N, ERRORS))
    assert "area" not in marks(curves_table(N, {"ours": ERRORS["ours"]}))
    assert "area" not in marks(curves_table(N, ERRORS)[["x", "y", "series"]])


def test_curves_through_many_places_have_no_points() -> None:
    angles = np.linspace(0, 90, 181)
    spec = curves_chart(curves_table(angles, {"sine": np.sin(angles)}), title="Turn").to_dict()
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    points = [layer for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    assert (len(lines), len(points)) == (1, 1)  # the legend's


def test_logarithmic_axes_refuse_zero_and_clip_shades() -> None:
    with pytest.raises(ValueError, match="above 0; found y=0"):
        curves_chart(curves_table(N, {"a": [0, 1, 2]}), title="a", log_y=True)
    with pytest.raises(ValueError, match="above 0; found x=-1"):
        curves_chart(curves_table([-1, 1, 2], {"a": [1, 1, 2]}), title="a", log_x=True)
    table = curves_table(N, ERRORS, middle="mean")
    assert table["low"].min() < 0
    chart = curves_chart(table, title="a", log_x=True, log_y=True)
    assert min(row["low"] for row in rows_of(chart, "area")) > 0


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", [390, 640, 1100])
def test_pictures_fit_a_page(width: int, log: bool) -> None:
    chart = curves_chart(
        curves_table(N, ERRORS), title="Error", x_title="rows", log_x=log, log_y=log, width=width
    )
    root = ElementTree.fromstring(charts.svg(chart))
    assert float(root.attrib["width"]) == pytest.approx(width, abs=1)
    assert root.attrib["aria-label"] == "Error: y against rows, 2 lines."
    assert isinstance(alt.LayerChart.from_dict(chart.to_dict()), alt.LayerChart)


def test_a_title_without_subtitle_is_not_cut_off() -> None:
    spec = curves_chart(curves_table(N, ERRORS), title="Error").to_dict()
    assert "subtitle" not in spec["title"]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (100, 1e5, [100, 1_000, 10_000, 1e5]),
        (1_000, 10_000, [1_000, 2_000, 5_000, 10_000]),
        (0.43, 0.9, [0.5, 0.6, 0.7, 0.8, 0.9]),
        (5, 5, [5]),
    ],
)
def test_numbers_of_a_logarithmic_axis_are_round_and_few(
    low: float, high: float, ticks: list[float]
) -> None:
    chart = curves_chart(
        curves_table([low, high], {"a": [low, high]}), title="a", log_x=True, log_y=True
    )
    axes = chart.to_dict()["layer"][0]["encoding"]
    assert axes["x"]["axis"]["values"] == axes["y"]["axis"]["values"] == ticks
