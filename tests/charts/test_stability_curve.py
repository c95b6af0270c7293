import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lvmkit import charts

ROWS = [
    *[
        ("ours", k, k, r, ari)
        for k, found in ((2, (1.0, 0.9)), (4, (0.5, 0.7)))
        for r, ari in enumerate(found)
    ],
    ("k-means", 2, 2, 0, 0.4),
    ("k-means", 4, 4, 0, np.nan),
]
FOUND = pd.DataFrame(ROWS, columns=["method", "value", "n_clusters", "repeat", "ari"])
FOUND["recommended"] = (FOUND["method"] == "ours") & (FOUND["value"] == 2)
FOUND.attrs["why"] = "ours: 2"


def rows_of(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """Return the rows that a layer draws."""
    rows: list[dict[str, Any]] = spec["datasets"][spec["layer"][layer]["data"]["name"]]
    return rows


def test_the_table_has_mean_and_spread_and_leaves_out_what_failed() -> None:
    table = charts.stability_curve_table(FOUND)
    assert table["mean"].round(3).tolist() == [0.95, 0.95, 0.6, 0.6, 0.4]
    spread = np.std([0.5, 0.7], ddof=1)
    assert table["low"].iloc[2] == pytest.approx(0.6 - spread)
    assert table["high"].iloc[2] == pytest.approx(0.6 + spread)
    assert table["high"].max() == 1.0
    assert table["low"].iloc[4] == table["high"].iloc[4] == 0.4
    assert table.attrs["why"] == "ours: 2"
    assert not table["sampled"].any()


def test_the_chart_shows_repeats_means_and_what_is_recommended() -> None:
    spec = charts.stability_curve_chart(charts.stability_curve_table(FOUND), goal=0.8).to_dict()
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks[:4] == ["rule", "area", "point", "line"]
    rows = [rows_of(spec, i) for i in range(7)]
    assert rows[0] == [{"goal": 0.8}]
    assert [row["ari"] for row in rows[2]] == [1.0, 0.9, 0.5, 0.7, 0.4]
    assert [row["mean"] for row in rows[6]] == [0.95]  # the ring
    assert {row["x"] for row in rows[5]} == {1.87, 2.13, 3.87}  # methods beside each other
    assert "Ring: recommended." in " ".join(spec["title"]["subtitle"])
    assert rows[5][0]["hover"] == "ours, 2: mean 0.95 of 2, recommended"
    legend = [rows_of(spec, i)[0] for i in range(7, 11)]
    assert [row["text_series"] for row in legend] == ["ours", "ours", "k-means", "k-means"]


def test_what_rests_on_a_sample_is_hollow() -> None:
    sampled = charts.stability_curve_table(FOUND.assign(sampled=FOUND["method"] == "k-means"))
    spec = charts.stability_curve_chart(sampled).to_dict()
    hollow = spec["layer"][4]
    assert hollow["mark"]["filled"] is False
    assert [row["method"] for row in rows_of(spec, 4)] == ["k-means"]
    assert "Hollow: of a sample" in " ".join(spec["title"]["subtitle"])


def test_nothing_one_value_and_strange_names_are_drawn() -> None:
    strange = FOUND.iloc[:1].assign(method="<script>alert(1)</script>")
    for found in (FOUND.iloc[:0], FOUND.iloc[:1], strange):
        picture = charts.svg(charts.stability_curve_chart(charts.stability_curve_table(found)))
        assert "<script" not in picture


def test_each_value_stands_at_its_tick() -> None:
    """A format without digits would take theirs from the distance of ticks, and write 10 for 12."""
    rows = [("ours", k, k, r, 0.9 + r / 100) for k in (4, 8, 12, 1016) for r in range(2)]
    table = charts.stability_curve_table(pd.DataFrame(rows, columns=FOUND.columns[:5]))
    for values in ((4, 8, 12), (4, 12, 1016)):
        drawn = charts.svg(charts.stability_curve_chart(table[table["value"].isin(values)]))
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
        assert texts[:3] == [f"{value:,}" for value in values]


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found must have the columns .*there is no 'ari'"):
        charts.stability_curve_table(FOUND.drop(columns="ari"))
    many = pd.concat([FOUND.assign(method=str(i)) for i in range(7)])
    with pytest.raises(ValueError, match="found has 7 methods, and at most 6"):
        charts.stability_curve_table(many)
