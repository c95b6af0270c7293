from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from lvmkit import charts
from lvmkit.scores import StabilityStudy, stability_study

ROWS = np.arange(100.0)[:, None]


class Cut(BaseEstimator):
    """Cuts the line of rows in two places."""

    def fit(self, X: np.ndarray) -> "Cut":
        self.labels_ = np.searchsorted([20, 70], X[:, 0], side="right")
        return self


@pytest.fixture(scope="module")
def study() -> StabilityStudy:
    """Clusters of 20, 30, 20, 20 and 10; the second and third come as one, the last two as well."""
    reference = np.repeat([0, 1, 2, 3, 4], [20, 30, 20, 20, 10])
    return stability_study(
        Cut(), ROWS, reference=reference, names={2: "<b>", 1: "Heart"}, n_repeats=4
    )


def rows_of(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """Return the rows that a layer draws."""
    rows: list[dict[str, Any]] = spec["datasets"][spec["layer"][layer]["data"]["name"]]
    return rows


def test_the_table_says_what_reappears_and_what_swaps(study: StabilityStudy) -> None:
    table = charts.cluster_stability_table(study)
    assert table["label"].tolist() == ["0", "1 · Heart", "2 · <b>", "3", "4"]
    assert table["n"].tolist() == [20, 30, 20, 20, 10]
    np.testing.assert_allclose(table["jaccard"], [1, 0.6, 0.4, 2 / 3, 1 / 3], atol=0.06)
    words = ["reappears", "doubtful", "dissolves", "doubtful", "dissolves"]
    assert table["verdict"].tolist() == words
    assert table["partner"].tolist() == [pd.NA, 2, 1, 4, 3]
    assert table["exchanged"].iloc[1] == pytest.approx(20 / 50, abs=0.05)
    assert (table["low"] <= table["jaccard"]).all()
    assert (table["high"] >= table["jaccard"]).all()


def test_nothing_is_told_of_hidden_clusters(study: StabilityStudy) -> None:
    table = charts.cluster_stability_table(study, hidden=[4])
    row = table.iloc[4]
    assert row["verdict"] == "not shown"
    assert np.isnan(row[["jaccard", "low", "high", "exchanged"]].astype(float)).all()
    assert table["partner"].isna().tolist() == [True, False, False, True, True]
    assert table["n"].tolist() == [20, 30, 20, 20, pd.NA]
    spec = charts.cluster_stability_chart(table).to_dict()
    assert not any("n" in row for rows in spec["datasets"].values() for row in rows)


def test_the_chart_has_words_and_links(study: StabilityStudy) -> None:
    table = charts.cluster_stability_table(study, hidden=[4])
    spec = charts.cluster_stability_chart(table).to_dict()
    bars = rows_of(spec, 2)
    assert [row["color"] for row in bars] == ["#0072B2", "#8a8f98", "#D55E00", "#8a8f98", "#8a8f98"]
    assert bars[1]["text_words"].startswith("0.6")
    assert "doubtful, 4" in bars[1]["text_words"]
    assert bars[1]["text_words"].endswith("with 2")
    span = spec["layer"][3]
    assert span["mark"]["type"] == "rule"
    assert (span["encoding"]["x"]["field"], span["encoding"]["x2"]["field"]) == ("low", "high")
    picture = charts.svg(charts.cluster_stability_chart(table))
    assert picture.count('href="#cluster=') == 5
    assert "&lt;b&gt;" in picture


def test_of_many_clusters_the_least_stable_are_drawn(study: StabilityStudy) -> None:
    table = charts.cluster_stability_table(study)
    spec = charts.cluster_stability_chart(table, top=2).to_dict()
    assert [row["cluster"] for row in rows_of(spec, 2)] == [2, 4]
    assert "The 2 least stable of 5." in " ".join(spec["title"]["subtitle"])
    with pytest.raises(ValueError, match="found 0"):
        charts.cluster_stability_chart(table, top=0)
