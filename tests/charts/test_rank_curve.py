import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts.rank_curve import rank_chart, rank_table

FOUND = pd.DataFrame(
    {
        "n_components": [2, 3, 4, 9],
        "dissimilarity": [0.2, 0.01, 0.3, np.nan],
        "standard_error": [0.05, 0.02, np.nan, np.nan],
        "fit": [0.2, 0.3, 0.35, np.nan],
        "mean_fit": [0.15, 0.3, 0.3, np.nan],
        "nonzeros": pd.array([1021, 2030, 3040, pd.NA], dtype="Int64"),
        "nonzeros of patient": pd.array([1000, 2000, 3000, pd.NA], dtype="Int64"),
        "nonzeros of diagnosis": pd.array([21, 30, 40, pd.NA], dtype="Int64"),
        "recommended": [False, True, False, False],
        "remark": ["", "", "", "too many"],
    }
)
FOUND.attrs["why"] = "3: Υ = 0.01 over 20 starts, the smallest of all."


def test_each_quantity_has_its_values_and_spans() -> None:
    table = rank_table(FOUND)
    assert list(dict.fromkeys(table["quantity"])) == [
        *("dissimilarity", "fit", "nonzeros of patient", "nonzeros of diagnosis")
    ]
    part = table[table["quantity"] == "dissimilarity"]
    assert part["low"].round(3).tolist()[:3] == [0.15, 0.0, 0.3]
    assert part["high"].round(3).tolist()[:3] == [0.25, 0.03, 0.3]
    fits = table[table["quantity"] == "fit"]
    assert fits["low"].tolist()[:3] == [0.15, 0.3, 0.3]
    assert fits["high"].tolist()[:3] == fits["value"].tolist()[:3]
    codes = table[table["quantity"] == "nonzeros of diagnosis"]
    assert codes["value"].tolist()[:3] == [21, 30, 40]
    assert codes["value"].isna().tolist() == [False, False, False, True]
    assert table["recommended"].sum() == 4


def test_the_recommended_is_marked_in_every_panel() -> None:
    spec = rank_chart(rank_table(FOUND)).to_dict()
    rule, dots = spec["layer"][0], spec["layer"][-1]
    marked = spec["datasets"][rule["data"]["name"]]
    assert [row["n_components"] for row in marked] == [3] * 4
    shown = spec["datasets"][dots["data"]["name"]]
    assert len(shown) == 12
    assert [row["n_components"] for row in shown if row["size"] > 100] == [3] * 4
    assert shown[1]["hover"] == "Υ, unlikeness of starts, 3 phenotypes: 0.01"
    assert all(row["y_high"] <= row["y"] <= row["y_low"] for row in shown)


def test_ends_heads_and_the_reason_are_printed() -> None:
    picture = charts.svg(rank_chart(rank_table(FOUND), width=1_100))
    for text in ("0.3", "0.01", "0.35", "0.2", "3,000", "1,000", "40", "21"):
        assert f">{text}</text>" in picture, text
    assert "Scores other than 0, patient: fewer are easier to read" in picture
    assert "3: Υ = 0.01 over 20 starts" in picture
    assert "Without a result: 9." in picture


def test_one_number_and_a_table_from_a_file_are_drawn() -> None:
    bare = FOUND.iloc[[1]].drop(columns="nonzeros")
    bare.attrs = {}
    assert "Dashed: recommended" in charts.svg(rank_chart(rank_table(bare)))


def test_other_tables_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"found must have the columns .*there is no 'fit', 'mean_fit'"
    ):
        rank_table(FOUND.drop(columns=["fit", "mean_fit"]))
