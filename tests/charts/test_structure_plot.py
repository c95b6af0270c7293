import numpy as np
import pandas as pd
import pytest

from lvmkit import charts

SURE = np.array([[0.9, 0.1], [0.2, 0.8], [0.55, 0.45], [0.4, 0.6], [0.99, 0.01]])


def test_samples_are_sorted_so_that_doubtful_ones_meet() -> None:
    table = charts.structure_plot_table(SURE)
    order = table.drop_duplicates("place")["sample"].tolist()
    assert order == [4, 0, 2, 3, 1]
    assert table.groupby("place")["posterior"].sum().round(9).tolist() == [1.0] * 5
    second = table[table["cluster"] == 1]
    np.testing.assert_allclose(second["below"], SURE[order, 0])


def test_groups_stand_side_by_side() -> None:
    table = charts.structure_plot_table(SURE, groups=["b", "a", None, "a", "b"])
    rows = table.drop_duplicates("place")
    assert rows["group"].tolist() == ["a", "a", "b", "b", "unknown"]
    picture = charts.svg(charts.structure_plot_chart(table))
    assert "Sorted by known group" in picture
    assert "#sample=3" in picture
    assert "sample 3 (a): cluster 1 with 60.0%" in picture


def test_groups_that_have_an_order_keep_it() -> None:
    groups = pd.Categorical(["mild", "none", "mild", "none"], ["none", "mild"], ordered=True)
    table = charts.structure_plot_table(np.tile([0.9, 0.1], (4, 1)), groups=groups)
    assert table["group"].iloc[::2].tolist() == ["none", "none", "mild", "mild"]
    picture = charts.svg(charts.structure_plot_chart(table))
    assert picture.index(">none<") < picture.index(">mild<")


def test_many_clusters_many_samples_and_hostile_names_are_drawn() -> None:
    theta = np.random.default_rng(0).dirichlet(np.ones(9), size=500)
    names = [f"<i>{k}" for k in range(9)]
    picture = charts.svg(
        charts.structure_plot_chart(charts.structure_plot_table(theta, names=names), picked=3)
    )
    assert "<i>" not in picture
    assert "#sample" not in picture  # too many to be told one by one
    one = charts.structure_plot_table(np.ones((3, 1)))
    assert "Posteriors of 3 samples" in charts.svg(charts.structure_plot_chart(one))


def test_samples_are_counted_by_cluster_and_largest_posterior() -> None:
    table = charts.posterior_histogram_table(SURE, n_bins=5)
    counts = table["n"].to_numpy().reshape(2, 5)
    assert counts.tolist() == [[1, 0, 0, 0, 2], [0, 1, 0, 1, 0]]
    assert table["size"].tolist()[::5] == [3, 2]
    assert "cluster 0 (3)" in charts.svg(charts.posterior_histogram_chart(table, picked=0))


def test_small_counts_are_hidden_with_what_they_could_be_found_from() -> None:
    sure = np.repeat([[0.98, 0.02], [0.6, 0.4], [0.75, 0.25], [0.1, 0.9]], [40, 4, 30, 50], axis=0)
    table = charts.posterior_histogram_table(sure, threshold=11)
    first = table[table["cluster"] == 0]
    shown = first.loc[first["n"].notna() & (first["n"] > 0), "n"]
    assert first["size"].iloc[0] == 74
    # 4 are few; one more count is hidden, so that 4 does not follow from the sum
    assert len(shown) == 1
    assert "too few to show" in charts.svg(charts.posterior_histogram_chart(table))
    few = np.repeat([[0.98, 0.02], [0.1, 0.9]], [5, 50], axis=0)
    hidden = charts.posterior_histogram_table(few, threshold=11)
    assert hidden["size"].isna().all()
    assert "NaN" not in charts.svg(charts.posterior_histogram_chart(hidden))


def test_one_cluster_is_sure_of_all() -> None:
    table = charts.posterior_histogram_table(np.ones((20, 1)), n_bins=4)
    assert table["n"].tolist() == [0, 0, 0, 20]


def test_what_does_not_fit_is_refused() -> None:
    for made in (charts.structure_plot_table, charts.posterior_histogram_table):
        with pytest.raises(ValueError, match=r"found shape \(3,\)"):
            made([1.0, 0.0, 0.0])
        with pytest.raises(ValueError, match="1 texts for 2 clusters"):
            made(SURE, names=["a"])
    with pytest.raises(ValueError, match="groups has 2 values for 5 samples"):
        charts.structure_plot_table(SURE, groups=[0, 1])
    with pytest.raises(ValueError, match="n_bins is 0"):
        charts.posterior_histogram_table(SURE, n_bins=0)
