from importlib import import_module

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.stats import contingency

from lvmkit.scores import CodeCounts, association, association_of_counts, count_codes
from lvmkit.scores.association import _fisher, two_sided_p


def made_counts() -> CodeCounts:
    random = np.random.default_rng(1)
    shares = np.array([0.5, 0.2, 0.02, 0.005, 0.0, 1.0])
    labels = np.repeat([0, 1, 2], [150, 400, 30])
    data = random.random((580, 6)) < shares * np.where(labels == 1, 0.6, 1)[:, None]
    data[:, 5] = True
    return count_codes(sparse.csr_array(data.astype(np.float32)), labels)


def tables(counts: CodeCounts) -> list[np.ndarray]:
    found = association_of_counts(counts)
    return [
        np.array([[r.n_in, r.n_out], [r.size_in - r.n_in, r.size_out - r.n_out]])
        for r in found.itertuples()
    ]


def test_p_is_fisher_for_small_cells_and_chi2_for_large_ones() -> None:
    counts = made_counts()
    found = association_of_counts(counts)
    kinds = set()
    for table, p in zip(tables(counts), found["p"], strict=True):
        constant = (table.sum(axis=1) == 0).any()
        small = constant or stats.contingency.expected_freq(table).min() < 5
        kinds.add((constant, small))
        if constant:
            expected = 1.0
        elif small:
            expected = stats.fisher_exact(table).pvalue
        else:
            expected = stats.chi2_contingency(table, correction=False).pvalue
        np.testing.assert_allclose(p, expected, rtol=1e-9)
    assert len(kinds) == 3


def test_where_each_cell_is_expected_to_be_just_5_p_is_chi2() -> None:
    p = two_sided_p(*(np.array([n]) for n in (7.0, 3.0, 10.0, 10.0)))
    expected = stats.chi2_contingency([[7, 3], [3, 7]], correction=False).pvalue
    np.testing.assert_allclose(p, expected, rtol=1e-9)


def test_fisher_agrees_with_scipy_on_many_tables() -> None:
    random = np.random.default_rng(2)
    cells = random.integers(0, 25, (120, 4))
    cells[:20, 0] = 0
    a, b, c, d = cells.T
    p = _fisher(a, a + b, a + c, a + b + c + d)
    expected = [stats.fisher_exact([[w, x], [y, z]]).pvalue for w, x, y, z in cells]
    np.testing.assert_allclose(p, expected, rtol=1e-9)


def test_fisher_in_blocks_is_fisher_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.random.default_rng(3).integers(0, 30, (50, 4))
    a, b, c, _ = cells.T
    whole = _fisher(a, a + b, a + c, cells.sum(axis=1))
    monkeypatch.setattr(import_module("lvmkit.scores.association"), "_BLOCK", 40)
    np.testing.assert_array_equal(_fisher(a, a + b, a + c, cells.sum(axis=1)), whole)


def test_odds_ratios_are_the_sample_ones_where_cells_are_large() -> None:
    random = np.random.default_rng(4)
    labels = np.repeat([0, 1], 40_000)
    data = random.random((80_000, 3)) < np.where(labels, 0.5, 0.4)[:, None]
    counts = count_codes(data, labels)
    found = association_of_counts(counts, level=0.1)
    for table, row in zip(tables(counts), found.itertuples(), strict=True):
        sample = contingency.odds_ratio(table, kind="sample")
        interval = sample.confidence_interval(0.9)
        np.testing.assert_allclose(
            [row.odds_ratio, row.low, row.high], [sample.statistic, *interval], rtol=2e-4
        )


def test_odds_ratios_and_intervals_are_finite_and_ordered_at_zero_cells() -> None:
    found = association_of_counts(made_counts())
    assert np.isfinite(found[["odds_ratio", "low", "high"]]).all(axis=None)
    assert (found["low"] < found["odds_ratio"]).all()
    assert (found["odds_ratio"] < found["high"]).all()


def test_half_is_added_to_each_cell() -> None:
    found = association(np.array([[1], [1], [0], [0], [0]]), [0, 0, 0, 1, 1]).iloc[0]
    np.testing.assert_allclose(found["odds_ratio"], (2.5 * 2.5) / (1.5 * 0.5))


def test_effect_sizes_are_the_formulas() -> None:
    found = association(np.array([[1], [1], [0], [1], [0], [0], [0]]), [0, 0, 0, 1, 1, 1, 1]).iloc[
        0
    ]
    inside, outside = 2 / 3, 1 / 4
    spread = np.sqrt((inside * (1 - inside) + outside * (1 - outside)) / 2)
    np.testing.assert_allclose(found["difference"], inside - outside)
    np.testing.assert_allclose(found["standardized_difference"], (inside - outside) / spread)
    np.testing.assert_allclose(found["lift"], inside / (3 / 7))


def test_q_is_benjamini_hochberg_by_hand() -> None:
    found = association_of_counts(made_counts())
    p = found["p"].to_numpy()
    order = np.argsort(p)
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    expected = np.empty(len(p))
    expected[order] = np.minimum.accumulate(raised[::-1])[::-1].clip(max=1)
    np.testing.assert_allclose(found["q"], expected, rtol=1e-12)


def test_nothing_is_found_in_labels_that_know_nothing_of_the_codes() -> None:
    random = np.random.default_rng(5)
    data = random.random((3_000, 80)) < random.random(80) * 0.3
    found = association(data, random.integers(0, 5, 3_000))
    assert (found["q"] > 0.05).all()
    assert 0.02 < (found["p"] < 0.05).mean() < 0.07


def test_relabelling_clusters_moves_rows_and_changes_no_number() -> None:
    data = np.random.default_rng(6).random((90, 4)) < 0.4
    labels = np.arange(90) % 3
    one, other = association(data, labels), association(data, 2 - labels)
    keys = ["cluster", "code"]
    other["cluster"] = 2 - other["cluster"]
    np.testing.assert_allclose(
        one.set_index(keys), other.set_index(keys).loc[list(one.set_index(keys).index)], rtol=1e-12
    )


def test_one_cluster_and_an_empty_one_say_nothing() -> None:
    only = association(np.array([[1, 0], [1, 1]]), [0, 0])
    assert (only["p"] == 1).all()
    assert only["share_out"].isna().all()
    counts = count_codes(np.array([[1], [0]]), [0, 0], clusters=[0, 1])
    assert association_of_counts(counts)["p"].tolist() == [1, 1]


def test_hidden_cells_stay_hidden() -> None:
    counts = made_counts()
    shown = association_of_counts(counts.suppress())
    hidden = shown["n_in"].isna()
    assert hidden.any()
    assert (
        shown.loc[hidden, ["n_out", "share_in", "lift", "odds_ratio", "p", "q"]]
        .isna()
        .all(axis=None)
    )


def test_a_level_outside_0_and_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"level .* found 95"):
        association(np.eye(2), [0, 1], level=95)
