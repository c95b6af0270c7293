from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts import whitening_chart, whitening_table
from lvmkit.moments import population

CENTERS, WEIGHTS = np.array([[6.0, 1.0], [2.0, 5.0]]), np.array([0.7, 0.3])


def places(table: pd.DataFrame, panel: str, what: str) -> np.ndarray:
    rows = table[(table["panel"] == panel) & (table["what"] == what)]
    found: np.ndarray = rows[["x", "y"]].to_numpy()
    return found


def test_centers_are_as_given_before_and_whitened_after() -> None:
    table = whitening_table(CENTERS, WEIGHTS)
    np.testing.assert_array_equal(places(table, "before", "center"), CENTERS)
    whitened = CENTERS @ population(CENTERS, WEIGHTS).whitener
    np.testing.assert_allclose(places(table, "after", "center"), whitened, atol=1e-12)
    assert table[table["what"] == "center"]["state"].tolist() == [0, 1, 0, 1]


def test_arrows_are_perpendicular_after_and_their_outer_products_are_the_second_moment() -> None:
    table = whitening_table(CENTERS, WEIGHTS)
    after = places(table, "after", "arrow")
    np.testing.assert_allclose(after @ after.T, np.eye(2), atol=1e-12)
    before = places(table, "before", "arrow")
    np.testing.assert_allclose(before.T @ before, CENTERS.T @ np.diag(WEIGHTS) @ CENTERS)
    assert table.attrs["angles"]["after"] == pytest.approx(90)
    assert 0 < table.attrs["angles"]["before"] < 90


def test_the_curve_goes_through_every_arrow() -> None:
    table = whitening_table(CENTERS, WEIGHTS, angle=20)
    np.testing.assert_allclose(np.linalg.norm(places(table, "after", "curve"), axis=1), 1)
    inverse = np.linalg.inv(CENTERS.T @ np.diag(WEIGHTS) @ CENTERS)
    for what in ("curve", "arrow", "turned"):
        found = places(table, "before", what)
        np.testing.assert_allclose(np.einsum("ia,ab,ib->i", found, inverse, found), 1)


def test_the_turned_pair_has_the_same_second_moment() -> None:
    table = whitening_table(CENTERS, WEIGHTS, angle=12)
    turned, arrows = places(table, "before", "turned"), places(table, "before", "arrow")
    np.testing.assert_allclose(turned.T @ turned, arrows.T @ arrows)
    after = places(table, "after", "turned")
    cosines = (after * places(table, "after", "arrow")).sum(axis=1)
    np.testing.assert_allclose(cosines, np.cos(np.radians(12)))


def test_without_an_angle_nothing_is_turned() -> None:
    table = whitening_table(CENTERS, WEIGHTS)
    assert "turned" not in set(table["what"])
    assert "Gray" not in str(whitening_chart(table).to_dict()["title"]["subtitle"])
    other = whitening_table(CENTERS, WEIGHTS, angle=5)
    assert "Gray" in str(whitening_chart(other).to_dict()["title"]["subtitle"])


@pytest.mark.parametrize(
    ("centers", "told"),
    [(np.eye(3), r"two centers of two features; found centers of shape \(3, 3\)"),
     ([[1, 2], [2, 4]], "linearly")],
)  # fmt: skip
def test_what_the_picture_cannot_show_is_refused(centers: list, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        whitening_table(centers, WEIGHTS)


@pytest.mark.parametrize("width", [480, 720, 1100])
@pytest.mark.parametrize("centers", [CENTERS, [[0.01, 0.002], [0.0, 0.03]], [[900, 2], [3, 1]]])
def test_pictures_fit_a_page_whatever_the_units(width: int, centers: list) -> None:
    names = ("family doctor", "emergency")
    chart = whitening_chart(
        whitening_table(centers, WEIGHTS, angle=8, feature_names=names), width=width
    )
    picture = charts.svg(chart)
    root = ElementTree.fromstring(picture)
    assert float(root.attrib["width"]) == pytest.approx(width, abs=1)
    assert "90 after" in root.attrib["aria-label"]
    texts = [node.text for node in root.iter() if node.text]
    assert texts.count("state 0") == texts.count("state 1") == 2
    assert isinstance(alt.LayerChart.from_dict(chart.to_dict()), alt.LayerChart)


def test_everything_drawn_lies_inside_its_panel() -> None:
    spec = whitening_chart(whitening_table(CENTERS, WEIGHTS, angle=30)).to_dict()
    for rows in spec["datasets"].values():
        for row in rows:
            assert 0 <= row["px"] <= spec["width"] + 1
            assert 0 <= row.get("py", 0) <= spec["height"]
