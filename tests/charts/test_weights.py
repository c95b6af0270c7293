"""Tables of charts where records have weights: laws, and words that say so."""

import numpy as np
import pandas as pd
import pytest

from lvmkit.charts import (
    attributes_chart,
    attributes_table,
    code_profile_chart,
    code_profile_table,
    comparison_chart,
    comparison_table,
    frequencies_chart,
    frequencies_table,
    relevance_chart,
    relevance_summary,
    relevance_table,
    sizes_chart,
    sizes_table,
)
from lvmkit.scores import CodeCounts, count_codes

N = 300
TABLES = {
    "sizes": sizes_table,
    "frequencies": lambda counts: frequencies_table(counts, top=5),
    "profile": lambda counts: code_profile_table(counts, "1"),
    "relevance": lambda counts: relevance_table(counts, 2),
    "summary": relevance_summary,
    "compared": lambda counts: comparison_table(counts, 0, 1),
    "compared with others": lambda counts: comparison_table(counts, 0),
}
CHARTS = {
    "sizes": sizes_chart,
    "frequencies": frequencies_chart,
    "profile": code_profile_chart,
    "relevance": relevance_chart,
    "compared": comparison_chart,
}


def data():
    random = np.random.default_rng(5)
    X = (random.random((N, 6)) < [0.6, 0.4, 0.3, 0.2, 0.1, 0.05]).astype(float)
    return X, random.integers(0, 3, N), random.integers(0, 4, N).astype(float)


def counted(weight: object = None, times: object = 1) -> CodeCounts:
    X, labels, _ = data()
    return count_codes(np.repeat(X, times, axis=0), np.repeat(labels, times), sample_weight=weight)


@pytest.mark.parametrize("name", TABLES)
def test_weights_of_1_change_no_number(name):
    plain, weighted = TABLES[name](counted()), TABLES[name](counted(np.ones(N)))
    pd.testing.assert_frame_equal(weighted[list(plain)], plain, check_exact=True)
    assert [c for c in weighted if c not in plain]


@pytest.mark.parametrize("name", TABLES)
def test_shares_are_those_of_repeated_rows(name):
    weight = data()[2]
    found = TABLES[name](counted(weight))
    truth = TABLES[name](counted(times=weight.astype(int)))
    keys = [k for k in ("cluster", "code", "label") if k in truth]
    assert found[keys].equals(truth[keys])
    same = [
        "share",
        "overall",
        "lift",
        "relevance",
        "first",
        "second",
        "difference",
        "standardized_difference",
    ]
    for column in [c for c in same if c in truth]:
        np.testing.assert_allclose(found[column], truth[column], rtol=1e-9, atol=1e-12)
    for estimate, n in (
        ("estimate", "n"),
        ("estimate_first", "n_first"),
        ("estimate_second", "n_second"),
    ):
        if n in truth:
            np.testing.assert_allclose(found[estimate], truth[n], rtol=1e-12)


@pytest.mark.parametrize("name", CHARTS)
def test_charts_say_that_shares_are_weighted(name):
    for weight, said in ((None, False), (data()[2], True)):
        subtitle = CHARTS[name](TABLES[name](counted(weight))).to_dict()["title"]["subtitle"]
        assert ("eighted" in " ".join(subtitle)) is said


def test_intervals_of_shares_go_by_the_effective_size():
    X, labels, _ = data()
    weight = np.random.default_rng(6).lognormal(size=N)
    found = code_profile_table(counted(weight), "1").set_index("cluster").loc[1]
    w, has = weight[labels == 1], X[labels == 1, 1]
    p, n, z = np.average(has, weights=w), w.sum() ** 2 / (w**2).sum(), 1.959963984540054
    reach = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    ends = (p + z**2 / (2 * n) + np.array([-1, 1]) * reach) / (1 + z**2 / n)
    np.testing.assert_allclose(found[["low", "high"]].astype(float), ends, rtol=1e-9)
    assert n < len(w)


def test_bounds_of_hidden_shares_hold_whatever_the_few_records_stand_for():
    sizes, n_hidden = (500, 400, 300), 0
    rows = np.concatenate([np.arange(size) for size in sizes])
    labels = np.repeat([0, 1, 2], sizes)
    table = {"585": (470, 5, 6), "401": (495, 200, 150), "428": (100, 120, 90), "V27": (3, 2, 6)}
    X = np.column_stack([rows < np.repeat(n, sizes) for n in table.values()])
    random = np.random.default_rng(7)
    for _ in range(10):
        weight = random.lognormal(sigma=0.7, size=len(X))
        whole = count_codes(X, labels, feature_names=list(table), sample_weight=weight)
        shown = whole.suppress()
        for first, second in ((0, None), (0, 1), (1, None), (2, 0)):
            found = comparison_table(shown, first, second, whole=whole).set_index("code")
            truth = comparison_table(whole, first, second).set_index("code").loc[found.index]
            n_hidden += found["difference"].isna().sum()
            for side in ("first", "second"):
                assert (found[f"{side}_low"] <= truth[side] + 1e-12).all()
                assert (truth[side] <= found[f"{side}_high"] + 1e-12).all()
            assert (found["at_least"].abs() <= truth["difference"].abs() + 1e-12).all()
    assert n_hidden == 50  # weights change nothing of what is hidden
    found = comparison_table(shown, 0, 1, whole=whole).set_index("code")
    assert (found.loc["401", "first_text"], found.loc["585", "second_text"]) == (
        "all but <11",
        "<11",
    )


@pytest.mark.parametrize("kind", ["number", "category"])
def test_attributes_are_those_of_repeated_rows(kind):
    _, labels, weight = data()
    random = np.random.default_rng(8)
    values = random.integers(0, 40, N) if kind == "number" else random.choice(list("abc"), N)
    values = pd.Series(values).mask(random.random(N) < 0.1)
    times = weight.astype(int)
    found = attributes_table(values, labels, sample_weight=weight, bins=8)
    truth = attributes_table(
        values.repeat(times).reset_index(drop=True), np.repeat(labels, times), bins=8
    )
    key = "left" if kind == "number" else "value"
    pairs = found.merge(truth, on=["cluster", key], suffixes=("", "_true"))
    assert len(pairs) == len(found) == len(truth)
    np.testing.assert_allclose(pairs["share"], pairs["share_true"], rtol=1e-9)
    np.testing.assert_allclose(pairs["estimate"], pairs["n_true"])
    np.testing.assert_allclose(pairs["estimate_size"], pairs["size_true"])
    if kind == "number":
        np.testing.assert_allclose(pairs["median"], pairs["median_true"])
    chart = attributes_chart(found).to_dict()
    assert chart["title"]["subtitle"][0].startswith("Weighted share")


def test_attributes_with_weights_of_1_or_none_are_the_same():
    _, labels, weight = data()
    values = np.random.default_rng(9).normal(size=N)
    for hide in (None, 11):
        plain = attributes_table(values, labels, suppress_below=hide)
        found = attributes_table(values, labels, suppress_below=hide, sample_weight=np.ones(N))
        pd.testing.assert_frame_equal(found[list(plain)], plain)
        other = attributes_table(values, labels, suppress_below=hide, sample_weight=weight)
        for column in ("n", "size"):
            assert other[column].equals(plain[column])
        assert other["estimate"].isna().tolist() == plain["n"].isna().tolist()
        assert other["share"].isna().tolist() == plain["share"].isna().tolist()
