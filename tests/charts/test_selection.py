import re

import numpy as np
import pandas as pd
import pytest

from lvmkit import charts

FOUND = pd.DataFrame(
    {
        "n_components": [2, 4, 5, 50],
        "coherence": [-171.1, -176.8, -196.0, np.nan],
        "perplexity": [132.0, 98.0, 98.4, np.nan],
        "recommended": [False, False, True, False],
    }
)
FOUND.attrs["why"] = "5: best mean rank of all scores."


def test_each_score_has_its_best_number() -> None:
    table = charts.selection_table(FOUND)
    best = table[table["best"]].set_index("score")["n_components"]
    assert best.to_dict() == {"coherence": 2, "perplexity": 4}
    assert table["recommended"].sum() == 2
    assert table.loc[table["score"] == "coherence", "value"].tolist()[:3] == [-171.1, -176.8, -196]
    assert table.attrs["why"] == "5: best mean rank of all scores."


def test_a_score_that_all_lack_has_no_best() -> None:
    table = charts.selection_table(FOUND.assign(stability=np.nan))
    assert not table.loc[table["score"] == "stability", "best"].any()
    picture = charts.svg(charts.selection_chart(table))
    assert "Stability: none, higher is better" in picture


def test_the_best_are_large_and_the_recommended_is_marked_in_each_panel() -> None:
    spec = charts.selection_chart(charts.selection_table(FOUND)).to_dict()
    rule, _, _, _, dots = spec["layer"]
    assert rule["mark"]["type"] == "rule"
    rows = spec["datasets"][rule["data"]["name"]]
    assert [row["n_components"] for row in rows] == [5, 5]
    shown = spec["datasets"][dots["data"]["name"]]
    assert [row["n_components"] for row in shown if row["size"] > 100] == [2, 4]
    assert len(shown) == 6


def test_the_ends_of_each_panel_are_printed_and_missing_scores_said() -> None:
    picture = charts.svg(charts.selection_chart(charts.selection_table(FOUND), width=1100))
    for text in ("-171.1", "-196", "132", "98"):
        assert re.search(f">{text}</text>", picture)
    assert "Coherence: -171.1 at 2, higher is better" in picture
    assert "5: best mean rank of all scores." in picture
    assert "Not scored in full: 50." in picture


def test_one_candidate_and_tables_from_a_file_are_drawn() -> None:
    one = FOUND.iloc[[2]].reset_index(drop=True)
    one.attrs = {}
    picture = charts.svg(charts.selection_chart(charts.selection_table(one)))
    assert "5: recommended." in picture


def test_other_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pass what select_n_components returned.*found n_comp"):
        charts.selection_table(FOUND[["n_components", "coherence"]])
    with pytest.raises(ValueError, match="found no columns"):
        charts.selection_table(pd.DataFrame())
