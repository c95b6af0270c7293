from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lvmkit.charts import attributes_chart, attributes_table

LABELS = np.repeat([0, 4], [300, 500])
AGE = np.random.default_rng(0).normal(60, 12, 800).round().clip(18)


def test_every_record_is_in_one_bin() -> None:
    table = attributes_table(AGE, LABELS, names={4: "Old"})
    n = table.groupby("label", sort=False)["n"].sum()
    assert n.to_dict() == {"0": 300, "4 · Old": 500, "all": 800}
    np.testing.assert_allclose(table.groupby("label")["share"].sum(), 1)
    bins = table[table["cluster"] == 4]
    for row in bins.itertuples():
        inside = (AGE[LABELS == 4] >= row.left) & (AGE[LABELS == 4] < row.right)
        assert row.n == inside.sum()


def test_bins_are_round_and_few() -> None:
    bins = attributes_table(AGE, LABELS, bins=20).drop_duplicates("left")
    assert len(bins) <= 21
    assert set(np.diff(bins["left"])) == {5.0}
    assert np.isinf(bins["right"].iloc[-1]) == (bins["left"].iloc[-1] + 5 <= AGE).any()


def test_long_tails_go_into_an_open_last_bin() -> None:
    stay = np.r_[np.arange(1, 800) % 12, 365]
    table = attributes_table(stay, LABELS)
    last = table[table["cluster"] == -1].iloc[-1]
    assert np.isinf(last["right"])
    assert last["left"] < 15
    subtitle = " ".join(attributes_chart(table).to_dict()["title"]["subtitle"])
    assert "The last bar holds all larger values." in subtitle


def test_the_median_is_the_median_and_is_not_shared() -> None:
    table = attributes_table(AGE, LABELS).set_index("cluster")
    assert table.loc[4, "median"].iloc[0] == np.median(AGE[LABELS == 4])
    assert attributes_table(AGE, LABELS, suppress_below=11)["median"].isna().all()


def test_missing_numbers_are_counted_and_said() -> None:
    values = pd.Series(AGE).mask(np.arange(800) < 30)
    table = attributes_table(values, LABELS)
    assert table[table["cluster"] == 0]["size"].iloc[0] == 270
    subtitle = " ".join(attributes_chart(table).to_dict()["title"]["subtitle"])
    assert "Not known: 30." in subtitle


def test_missing_categories_are_a_category() -> None:
    values = pd.Series(["f"] * 400 + ["m"] * 380 + [None] * 10 + [""] * 10)
    table = attributes_table(values, LABELS)
    counts = table[table["cluster"] == -1].set_index("value")["n"]
    assert counts.to_dict() == {"f": 400, "m": 380, "not known": 20}


def test_rare_categories_are_put_together() -> None:
    values = np.array(list("aaaabbbcccdde" * 61 + "fghijkl"))
    table = attributes_table(values, LABELS, top=4)
    assert table["value"].drop_duplicates().tolist() == ["a", "b", "c", "other"]
    assert table[table["cluster"] == -1]["n"].sum() == 800


def test_few_numbers_and_booleans_are_categories() -> None:
    assert attributes_table(np.arange(800) % 3, LABELS)["value"].nunique() == 3
    assert set(attributes_table(AGE > 60, LABELS)["value"]) == {"True", "False"}
    categorical = pd.Series(["x", "y"] * 400, dtype="category", index=range(5, 805))
    assert set(attributes_table(categorical, LABELS)["value"]) == {"x", "y"}


def test_an_attribute_that_nobody_has_and_one_value_only_are_drawn() -> None:
    for values in (np.full(800, np.nan), np.full(800, 7.0), pd.Series([None] * 800, dtype=object)):
        assert attributes_chart(attributes_table(values, LABELS)).to_dict()["layer"]


def test_an_empty_cluster_is_kept() -> None:
    table = attributes_table(AGE, LABELS, clusters=[0, 2, 4])
    assert table[table["cluster"] == 2]["share"].isna().all()
    assert attributes_chart(table).to_dict()["layer"]


@settings(max_examples=25)
@given(
    arrays(np.int64, 60, elements=st.integers(0, 3)),
    arrays(np.int64, 60, elements=st.integers(0, 2)),
)
def test_no_small_count_can_be_recovered(values: np.ndarray, labels: np.ndarray) -> None:
    full = attributes_table(values.astype(str), labels)
    shown = attributes_table(values.astype(str), labels, suppress_below=5)
    small = (full["n"] >= 1) & (full["n"] < 5)
    assert shown.loc[small, ["n", "share"]].isna().all(axis=None)
    hidden = shown["n"].isna().to_numpy().reshape(-1, shown["value"].nunique())
    known = shown.drop_duplicates("label")["size"].notna().to_numpy()
    assert (hidden.sum(axis=1)[known] != 1).all()
    assert (hidden.sum(axis=0) != 1).all()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"labels must be 800"):
        attributes_table(AGE, LABELS[:5])
    with pytest.raises(ValueError, match=r"bins must be at least 1"):
        attributes_table(AGE, LABELS, bins=0)


def test_few_without_a_value_cannot_be_found_from_the_size_of_the_cluster() -> None:
    values = pd.Series(AGE).mask(np.arange(800) < 4)
    table = attributes_table(values, LABELS, suppress_below=11)
    first = table[table["cluster"] == 0]
    assert first["unknown"].isna().all()
    assert (first["size"].isna() | (first["size"] == 300)).all()
    shares = first["n"] / 300
    pd.testing.assert_series_equal(first["share"], shares, check_names=False)
    assert first["n"].isna().sum() >= 1  # else the rest of the 300 would be those without a value
    many = attributes_table(pd.Series(AGE).mask(np.arange(800) < 60), LABELS, suppress_below=11)
    assert many.loc[many["cluster"] == 0, "unknown"].iloc[0] == 60


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.inf, 2.0],
        ["a", -np.inf, None],
        np.array([1, np.inf, 2], dtype=np.float32),
        pd.array([1, np.inf, None], dtype="Float64"),
        pd.Series([1, np.float32(np.inf), 2], dtype=object),
        pd.Series([1, Decimal("Infinity"), 2], dtype=object),
    ],
)
def test_infinite_values_are_neither_known_nor_missing(values) -> None:
    with pytest.raises(ValueError, match="values must be finite; found infinity for record 1"):
        attributes_table(values, [0, 0, 1])


def test_categories_need_no_series() -> None:
    table = attributes_table(pd.Categorical(["f", "m", "f"]), [0, 0, 1])
    assert table["n"].tolist() == attributes_table(["f", "m", "f"], [0, 0, 1])["n"].tolist()
