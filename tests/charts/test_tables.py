import dataclasses
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.scores import CodeCounts, count_codes, lift, relevance


def test_sizes_are_the_records_of_each_cluster(counts: CodeCounts) -> None:
    table = charts.sizes_table(counts)
    assert table["n"].tolist() == [60, 60, 60]
    np.testing.assert_allclose(table["share"], 1 / 3)
    assert table["label"].iloc[0] == "0 · Childbirth"


def test_frequencies_are_the_most_frequent_codes_but_constant_ones(counts: CodeCounts) -> None:
    table = charts.frequencies_table(counts, top=3)
    assert table.attrs["left_out"] == ["428"]
    order = np.argsort(-counts.totals)
    expected = [counts.codes[i] for i in order if counts.codes[i] != "428"][:3]
    assert table["code"].drop_duplicates().tolist() == expected
    cell = table[(table["code"] == expected[1]) & (table["cluster"] == 2)].iloc[0]
    column = counts.column(expected[1])
    assert cell["n"] == counts.counts[2, column]
    np.testing.assert_allclose(cell["share"], counts.counts[2, column] / 60)
    np.testing.assert_allclose(cell["overall"], counts.totals[column] / 180)


def test_chosen_codes_come_as_chosen_even_if_constant(counts: CodeCounts) -> None:
    table = charts.frequencies_table(counts, codes=["V27", "428"])
    assert table["code"].drop_duplicates().tolist() == ["V27", "428"]
    assert table.attrs["left_out"] == []


def test_relevance_is_that_of_the_scores(counts: CodeCounts) -> None:
    table = charts.relevance_table(counts, 1, balance=0.3)
    scores = relevance(counts.shares, counts.weights, balance=0.3)[1]
    best = np.argsort(-scores)
    assert table["code"].tolist() == [counts.codes[i] for i in best if np.isfinite(scores[i])]
    np.testing.assert_allclose(table["relevance"], np.sort(scores[np.isfinite(scores)])[::-1])
    expected = lift(counts.shares, counts.weights)[1, best][: len(table)]
    np.testing.assert_allclose(table["lift"], expected)


def test_codes_no_record_of_the_cluster_has_are_not_relevant() -> None:
    counted = count_codes(np.array([[1, 0], [0, 1]]), [0, 1], feature_names=["a", "b"])
    assert charts.relevance_table(counted, 0)["code"].tolist() == ["a"]


def test_the_summary_names_titles_and_falls_back_on_codes(counts: CodeCounts) -> None:
    table = charts.relevance_summary(counts, top=6)
    assert "Heart failure" in table["codes"].iloc[0]
    assert "428" not in table["codes"].iloc[0]
    assert any("E849.0" in text or "V27" in text for text in table["codes"])


def test_a_comparison_runs_from_most_above_to_most_below(counts: CodeCounts) -> None:
    table = charts.comparison_table(counts, 0, 2, top=4)
    assert np.all(np.diff(table["difference"]) <= 0)
    largest = np.sort(np.abs(counts.shares[0] - counts.shares[2]))[::-1][:4]
    np.testing.assert_allclose(np.sort(table["difference"].abs())[::-1], largest)
    np.testing.assert_allclose(table["difference"], table["first"] - table["second"])


def test_a_cluster_against_all_others_counts_all_others(counts: CodeCounts) -> None:
    table = charts.comparison_table(counts, 1).set_index("code")
    others = counts.counts[[0, 2]].sum(axis=0)[counts.column("401")]
    assert table.loc["401", "n_second"] == others
    assert table.loc["401", "second"] == others / 120
    assert (table["second_label"] == "all others").all()


def test_a_code_hidden_on_one_side_is_compared_by_what_is_known(few_counts: CodeCounts) -> None:
    shown = few_counts.suppress()
    table = charts.comparison_table(shown, 0, 1, whole=few_counts)
    first = table.iloc[0]
    assert first[["code", "first_text", "second_text"]].tolist() == ["585", "94 %", "<11"]
    assert first[["n_second", "second", "difference"]].isna().all()
    assert first["at_least"] == pytest.approx(470 / 500 - 10 / 400)
    assert first[["second_low", "second_high"]].tolist() == [1 / 400, 10 / 400]
    assert "585" not in charts.comparison_table(shown, 0, 1)["code"].tolist()
    assert "V27" not in table["code"].tolist()  # small on both sides: nothing to tell
    turned = charts.comparison_table(shown, 1, 0, whole=few_counts).set_index("code")
    assert turned.loc["585", "at_least"] == pytest.approx(10 / 400 - 470 / 500)


def test_few_that_lack_a_code_are_told_as_such(few_counts: CodeCounts) -> None:
    table = charts.comparison_table(few_counts.suppress(), 0, 1, whole=few_counts)
    row = table.set_index("code").loc["401"]
    assert row[["first_text", "second_text"]].tolist() == ["all but <11", "50 %"]
    assert row["at_least"] == pytest.approx(490 / 500 - 200 / 400)


def test_all_others_are_known_as_far_as_totals_tell(few_counts: CodeCounts) -> None:
    table = charts.comparison_table(few_counts.suppress(), 1, whole=few_counts)
    row = table.set_index("code").loc["585"]
    assert row[["first_text", "second_text"]].tolist() == ["<11", "about 59 %"]
    total = 481
    assert row["second_low"] == pytest.approx((total - 10) / 800)
    assert row["second_high"] == pytest.approx((total - 1) / 800)


def test_hidden_counts_do_not_show_in_a_comparison(few_counts: CodeCounts) -> None:
    other = few_counts.counts.copy()
    other[1:, 0] = (9, 2)  # the same total, each still 1 to 10
    changed = dataclasses.replace(few_counts, counts=other)
    for pair in ((0, 1), (1, 2), (2, 0), (0, None), (1, None)):
        tables = [
            charts.comparison_table(whole.suppress(), *pair, whole=whole)
            for whole in (few_counts, changed)
        ]
        pd.testing.assert_frame_equal(*tables)


def test_bounds_hold_the_hidden_shares(make_counts: Callable[..., CodeCounts]) -> None:
    whole = make_counts(8)
    for second in (1, None):
        table = charts.comparison_table(whole.suppress(), 0, second, whole=whole, top=9)
        real = charts.comparison_table(whole, 0, second, top=9).set_index("code").loc[table["code"]]
        for side in ("first", "second"):
            assert (table[f"{side}_low"].to_numpy() <= real[side].to_numpy() + 1e-12).all()
            assert (table[f"{side}_high"].to_numpy() >= real[side].to_numpy() - 1e-12).all()
        assert (table["at_least"].abs().to_numpy() <= real["difference"].abs() + 1e-12).all()


def test_a_profile_has_wilsons_interval(counts: CodeCounts) -> None:
    table = charts.code_profile_table(counts, "428", level=0.1)
    assert (table["share"] == 1).all()
    z2 = 1.6448536269514722**2
    np.testing.assert_allclose(table["low"], 60 / (60 + z2), rtol=1e-12)
    np.testing.assert_allclose(table["high"], 1)


def test_stability_has_a_row_per_repeat() -> None:
    table = charts.stability_table({"ours": [0.9, 1.0], "other": 0.5})
    assert table["mean"].tolist() == [0.95, 0.95, 0.5]


def test_hidden_counts_are_hidden_in_every_table(counts: CodeCounts) -> None:
    shown = counts.suppress()
    hidden = {
        (int(shown.clusters[j]), shown.codes[i]) for j, i in np.argwhere(np.isnan(shown.counts))
    }
    assert hidden
    table = charts.frequencies_table(shown, top=9)
    found = table[table["n"].isna()]
    assert set(zip(found["cluster"], found["code"], strict=True)) <= hidden
    assert found["share"].isna().all()
    for cluster, code in hidden:
        profile = charts.code_profile_table(shown, code).set_index("cluster").loc[cluster]
        assert profile[["n", "share", "low", "high"]].isna().all()
        assert code not in charts.relevance_table(shown, cluster)["code"].tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: charts.frequencies_table(c, top=0), r"found 0"),
        (lambda c: charts.frequencies_table(c, codes=["999"]), r"no code is '999'"),
        (lambda c: charts.relevance_table(c, 0, balance=2), r"found 2"),
        (lambda c: charts.relevance_table(c, 9), r"no cluster is numbered 9; there are 0, 1, 2"),
        (lambda c: charts.comparison_table(c, 1, 1), r"both are 1"),
        (lambda c: charts.code_profile_table(c, "428", level=0), r"found 0"),
        (lambda c: charts.stability_table({"m": [np.nan]}), r"'m' has \[nan\]"),
    ],
)
def test_bad_arguments_are_named(call, message: str, counts: CodeCounts) -> None:
    with pytest.raises(ValueError, match=message):
        call(counts)
