from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lvmkit import charts
from lvmkit.charts.path_curves import nu_text


def made(**changes: Any) -> SimpleNamespace:
    """Return a path of four solutions."""
    known: dict[str, Any] = {
        "nus": np.array([0.1, 1.0, 10.0, 100.0]),
        "n_clusters": np.array([4, 3, 2, 1]),
        "log_marginal_likelihoods": np.array([-30.0, -20.5, -21.0, -40.0]),
        "accuracies": np.array([0.99, 0.95, 0.9, 0.5]),
        "best": 1,
        "cross_validation": None,
    }
    return SimpleNamespace(**known | changes)


def layer_with(spec: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the rows of the layer that has a column."""
    for layer in spec["layer"]:
        rows = spec["datasets"][layer["data"]["name"]]
        if rows and field in rows[0]:
            return rows
    raise AssertionError(field)


def test_each_quantity_has_a_value_for_each_solution() -> None:
    table = charts.path_curves_table(made())
    assert table["quantity"].unique().tolist() == ["clusters", "marginal_likelihood", "accuracy"]
    assert table["value"].tolist() == [4, 3, 2, 1, -30, -20.5, -21, -40, 0.99, 0.95, 0.9, 0.5]
    assert table.loc[table["best"], ["quantity", "step"]].values.tolist() == [
        ["marginal_likelihood", 1]
    ]
    assert table.loc[table["selected"], "step"].tolist() == [1, 1, 1]


def test_other_data_and_cross_validation_are_added_where_known() -> None:
    tried = SimpleNamespace(mean=np.full(4, 0.8), std_error=np.full(4, 0.05), chosen=2)
    table = charts.path_curves_table(
        made(cross_validation=tried), selected=3, held_out=[0.9, 0.8, 0.7, 0.6]
    )
    assert table["quantity"].nunique() == 5
    crossed = table[table["quantity"] == "cross_validation"]
    np.testing.assert_allclose(crossed["low"], 0.75)
    np.testing.assert_allclose(crossed["high"], 0.85)
    assert crossed.loc[crossed["best"], "step"].tolist() == [2]
    assert table.loc[table["selected"], "nu"].unique().tolist() == [100]


def test_higher_values_stand_higher_and_the_selected_is_marked() -> None:
    spec = charts.path_curves_chart(charts.path_curves_table(made(), selected=2)).to_dict()
    rows = [row for row in layer_with(spec, "value") if row["quantity"] == "accuracy"]
    assert [row["y"] for row in rows] == sorted(row["y"] for row in rows)
    rules = layer_with(
        {**spec, "layer": [x for x in spec["layer"] if "rule" in str(x["mark"])]}, "at"
    )
    assert [row["at"] for row in rules] == [10.0] * 3
    assert spec["title"]["text"] == ["ν = 10: 2 clusters"]


def test_the_shade_goes_through_solutions_without_an_error() -> None:
    error = np.array([0.0, 0.1, 0.0, 0.1])
    tried = SimpleNamespace(mean=np.full(4, 0.8), std_error=error, chosen=2)
    spec = charts.path_curves_chart(
        charts.path_curves_table(made(cross_validation=tried))
    ).to_dict()
    areas = [layer for layer in spec["layer"] if "area" in str(layer["mark"])]
    rows = layer_with({**spec, "layer": areas}, "value")
    assert [(row["quantity"], row["step"]) for row in rows] == [
        ("cross_validation", step) for step in range(4)
    ]


def test_solutions_are_links_that_are_told() -> None:
    picture = charts.svg(charts.path_curves_chart(charts.path_curves_table(made())))
    for step, told in enumerate(["0.1: 4 clusters", "1: 3 clusters", "10: 2", "100: 1 cluster"]):
        assert f"#step={step}" in picture
        assert f"ν = {told}" in picture
    bare = charts.path_curves_chart(charts.path_curves_table(made()), links=False)
    assert "#step" not in charts.svg(bare)


def test_a_path_of_one_solution_zero_and_infinity_are_drawn() -> None:
    one = made(nus=[3.0], n_clusters=[2], log_marginal_likelihoods=[-1.0], accuracies=[1.0], best=0)
    assert "ν = 3: 2 clusters" in charts.svg(
        charts.path_curves_chart(charts.path_curves_table(one))
    )
    ends = made(
        nus=np.array([0.0, 1.0, 10.0, np.inf]),
        log_marginal_likelihoods=np.array([np.nan, -2.0, -3.0, -np.inf]),
    )
    picture = charts.svg(charts.path_curves_chart(charts.path_curves_table(ends, selected=3)))
    assert "ν = ∞: 1 cluster" in picture
    assert "NaN" not in picture


def test_nu_is_written_for_readers() -> None:
    assert [nu_text(nu) for nu in (0.0, 0.1234, 12.5, 1234.0, 1e-7, np.inf)] == [
        *("0", "0.123", "12.5", "1,234", "1e-07", "∞")
    ]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="selected=4; the path has solutions 0 to 3"):
        charts.path_curves_table(made(), selected=4)
    with pytest.raises(ValueError, match=r"one accuracy for each of the 4 solutions.*\(2,\)"):
        charts.path_curves_table(made(), held_out=[0.5, 0.6])
