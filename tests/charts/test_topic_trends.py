import numpy as np
import pandas as pd
import pytest

from lvmkit.charts import svg, topic_trends_chart, topic_trends_table


def mixtures(n: int, k: int) -> np.ndarray:
    return np.random.default_rng(n).dirichlet(np.ones(k), n)


def test_documents_stand_in_their_order() -> None:
    theta = mixtures(5, 3)
    table = topic_trends_table(theta)
    assert table["group"].drop_duplicates().tolist() == ["1", "2", "3", "4", "5"]
    np.testing.assert_allclose(table["share"].to_numpy().reshape(5, 3), theta)


def test_a_year_has_the_mean_of_its_documents() -> None:
    theta = mixtures(4, 2)
    table = topic_trends_table(theta, [2000, 1990, 2000, np.nan])
    assert table["group"].drop_duplicates().tolist() == ["1990", "2000"]
    assert table["n"].tolist() == [1, 1, 2, 2]
    np.testing.assert_allclose(table["share"].iloc[2:], theta[[0, 2]].mean(axis=0))
    np.testing.assert_allclose(table.groupby("group")["share"].sum(), 1)


def test_dates_are_taken_by_year_or_within_three_years_by_month() -> None:
    theta = mixtures(3, 2)
    far = topic_trends_table(theta, pd.to_datetime(["1990-01-01", "1990-06-01", "2005-01-01"]))
    assert far["group"].drop_duplicates().tolist() == ["1990", "2005"]
    near = topic_trends_table(theta, pd.to_datetime(["1990-01-01", "1990-06-01", "1990-06-30"]))
    assert near["group"].drop_duplicates().tolist() == ["1990-01", "1990-06"]


def test_categories_keep_their_order_and_only_those_there() -> None:
    parts = pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"])
    table = topic_trends_table(mixtures(3, 2), parts)
    assert table["group"].drop_duplicates().tolist() == ["b", "a"]
    assert table.attrs["axis"] == "category"


def test_many_numbers_are_put_into_bins_that_hold_everyone() -> None:
    table = topic_trends_table(mixtures(1000, 2), np.arange(1000) ** 1.5)
    assert table["group"].nunique() <= 60
    assert table.drop_duplicates("group")["n"].sum() == 1000


def test_few_documents_of_a_value_are_left_out() -> None:
    table = topic_trends_table(mixtures(12, 2), [1] * 11 + [2], smallest=11)
    assert table["group"].unique().tolist() == ["1"]
    with pytest.raises(ValueError, match="no value has 13 documents or more"):
        topic_trends_table(mixtures(12, 2), smallest=13)


def test_stretches_of_a_second_attribute_are_named() -> None:
    table = topic_trends_table(mixtures(6, 2), bands=["Inferno"] * 3 + ["Paradiso"] * 3)
    assert table.drop_duplicates("group")["band"].tolist() == ["Inferno"] * 3 + ["Paradiso"] * 3
    picture = svg(topic_trends_chart(table, title="canto"))
    assert "Inferno" in picture
    assert "Topics by canto" in picture


@pytest.mark.parametrize("k", [1, 3, 6, 7, 18])
def test_each_topic_is_one_area_with_a_link(k: int) -> None:
    table = topic_trends_table(mixtures(40, k), names=["<b>war</b>"] + [""] * (k - 1))
    picture = svg(topic_trends_chart(table, picked=0))
    assert picture.count('aria-roledescription="area mark"') == k
    assert all(f'href="#cluster={j}"' in picture for j in range(k))
    assert "<b>" not in picture
    assert len(picture) < 150_000


def test_a_gap_between_years_stays_empty() -> None:
    table = topic_trends_table(mixtures(4, 2), [1990, 1991, 1999, 2000])
    spec = topic_trends_chart(table).to_dict()
    rows = next(rows for rows in spec["datasets"].values() if "low" in rows[0])
    inside = [row for row in rows if 1991.5 <= row["at"] <= 1998.5 and row["low"] == row["high"]]
    assert {row["at"] for row in inside} == {1991.5, 1998.5}


def test_one_document_can_be_drawn() -> None:
    assert svg(topic_trends_chart(topic_trends_table([[0.2, 0.8]])))


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="by has 2 values for 3 documents"):
        topic_trends_table(mixtures(3, 2), [1, 2])
    with pytest.raises(ValueError, match="documents by topics"):
        topic_trends_table([0.5, 0.5])
