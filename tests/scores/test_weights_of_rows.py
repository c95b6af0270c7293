"""Counts of rows that have weights: laws, and tests that are no more certain than the rows allow."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from lvmkit.scores import CodeCounts, association, association_of_counts, count_codes

ESTIMATES = [
    "share_in", "share_out", "lift", "difference", "standardized_difference", "estimate_in", "estimate_out",
]  # fmt: skip


def made(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, n)
    X = random.random((n, 8)) < np.array([0.5, 0.3, 0.1, 0.05, 0.01, 0.6, 0.2, 1.0])
    X[:, 0] &= labels != 1
    return X.astype(np.float32), labels, random.integers(0, 5, n).astype(float)


def test_weights_of_1_are_no_weights() -> None:
    X, labels, _ = made()
    plain, counted = count_codes(X, labels), count_codes(X, labels, sample_weight=np.ones(len(X)))
    for name in ("counts", "sizes", "totals", "shares", "overall", "weights", "effective_sizes"):
        np.testing.assert_array_equal(getattr(counted, name), getattr(plain, name))
    found, bare = association_of_counts(counted), association_of_counts(plain)
    pd.testing.assert_frame_equal(found[list(bare)], bare, check_exact=True)
    np.testing.assert_array_equal(found["estimate_in"], bare["n_in"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_whole_weights_are_repeated_rows(form: Callable[[np.ndarray], object]) -> None:
    X, labels, weight = made()
    counted = count_codes(form(X), labels, sample_weight=weight)
    times = weight.astype(int)
    repeated = count_codes(np.repeat(X, times, axis=0), np.repeat(labels, times))
    for name in ("shares", "overall", "weights"):
        np.testing.assert_allclose(getattr(counted, name), getattr(repeated, name), rtol=1e-12)
    found, truth = association_of_counts(counted), association_of_counts(repeated)
    truth = truth.assign(estimate_in=truth["n_in"], estimate_out=truth["n_out"])
    np.testing.assert_allclose(found[ESTIMATES], truth[ESTIMATES], rtol=1e-9, atol=1e-12)


def test_numbers_of_rows_stay_numbers_of_rows() -> None:
    X, labels, weight = made()
    plain, counted = count_codes(X, labels), count_codes(X, labels, sample_weight=weight)
    np.testing.assert_array_equal(counted.counts, plain.counts)
    np.testing.assert_array_equal(counted.sizes, plain.sizes)
    numbers = ["n_in", "n_out", "size_in", "size_out"]
    found = association_of_counts(counted)[numbers]
    pd.testing.assert_frame_equal(found, association_of_counts(plain)[numbers])


@given(st.floats(1e-3, 1e6))
def test_what_weights_are_counted_in_does_not_make_tests_more_certain(scale: float) -> None:
    X, labels, weight = made()
    found = association(X, labels, sample_weight=weight)
    scaled = association(X, labels, sample_weight=scale * weight)
    columns = ["share_in", "odds_ratio", "low", "high", "p", "q", "effective_in", "effective_out"]
    np.testing.assert_allclose(scaled[columns], found[columns], rtol=1e-6)


def test_tests_are_those_of_tables_of_the_effective_sizes() -> None:
    X, labels, _ = made(4000)
    weight = np.random.default_rng(1).lognormal(0, 1, len(X))
    found = association(X, labels, sample_weight=weight)
    seen = 0
    for row in found.itertuples():
        inside, code = labels == row.cluster, X[:, int(row.code)] > 0
        table = []
        for part in (inside, ~inside):
            w = weight[part]
            size = w.sum() ** 2 / (w**2).sum()
            share = np.average(code[part], weights=w)
            table.append([share * size, (1 - share) * size])
        cells = np.array(table)
        np.testing.assert_allclose(row.effective_in, cells[0].sum(), rtol=1e-9)
        np.testing.assert_allclose(row.effective_out, cells[1].sum(), rtol=1e-9)
        assert row.effective_in < row.size_in
        raised = np.log(cells + 0.5)
        log_odds = raised[0, 0] - raised[0, 1] - raised[1, 0] + raised[1, 1]
        reach = stats.norm.isf(0.025) * np.sqrt((1 / (cells + 0.5)).sum())
        np.testing.assert_allclose(
            [row.odds_ratio, row.low, row.high],
            np.exp([log_odds, log_odds - reach, log_odds + reach]),
            rtol=1e-9,
        )
        if (cells.sum(axis=0) > 1e-6).all() and stats.contingency.expected_freq(cells).min() >= 5:
            seen += 1
            expected = stats.chi2_contingency(cells, correction=False).pvalue
            np.testing.assert_allclose(row.p, expected, rtol=1e-7)
    assert seen >= 15


def test_small_tables_of_effective_sizes_are_tested_exactly_in_whole_rows() -> None:
    X = np.array([[1], [1], [1], [0], [0], [0], [0], [0]], dtype=float)
    labels = np.repeat([0, 1], 4)
    weight = np.array([3.0, 1, 1, 1, 1, 1, 1, 1])
    found = association(X, labels, sample_weight=weight).iloc[0]
    # 3 of 12 weights squared: 36 / 12 = 3 rows, of which 5 / 6 have the code: 2.5, rounded to even
    assert found["effective_in"] == pytest.approx(3)
    assert found["p"] == pytest.approx(stats.fisher_exact([[2, 0], [0, 4]]).pvalue)


def test_a_code_of_one_cluster_or_of_all_rows_leaves_no_rounding_error() -> None:
    X, labels, _ = made()
    X[:, 1] = labels == 2
    weight = np.random.default_rng(3).random(len(X)) * 1e5
    found = association(X, labels, sample_weight=weight).set_index(["cluster", "code"])
    assert found.loc[(2, "1"), "share_out"] == 0
    assert found.loc[(0, "7"), ["share_in", "share_out", "p"]].tolist() == [1, 1, 1]
    assert found.notna().all(axis=None)


def test_suppression_goes_by_rows_and_hides_estimates_in_the_same_places() -> None:
    X, labels, weight = made()
    plain = count_codes(X, labels).suppress()
    hidden = count_codes(X, labels, sample_weight=1e6 * weight).suppress()
    assert np.isnan(plain.counts).any()
    for shown in (hidden.counts, hidden.weighted.counts, hidden.shares):  # type: ignore[union-attr]
        np.testing.assert_array_equal(np.isnan(shown), np.isnan(plain.counts))
    np.testing.assert_array_equal(np.isnan(hidden.overall), np.isnan(plain.overall))
    few = labels == 0
    small = count_codes(X, np.where(few & (np.cumsum(few) > 5), 1, labels), sample_weight=weight)
    assert np.isnan(small.suppress().weights).tolist() == np.isnan(small.suppress().sizes).tolist()
    assert np.isnan(small.suppress().effective_sizes[0])
    table = association_of_counts(small.suppress())
    assert (
        table.loc[table["cluster"] == 0, ["estimate_in", "effective_in", "share_in"]]
        .isna()
        .all(axis=None)
    )


def test_a_column_of_the_cohort_tells_the_weights() -> None:
    X, labels, weight = made()
    cohort = AnnData(X, obs=pd.DataFrame({"w": weight}, index=[str(i) for i in range(len(X))]))
    by_name: CodeCounts = count_codes(cohort, labels, sample_weight="w")
    np.testing.assert_array_equal(
        by_name.shares, count_codes(X, labels, sample_weight=weight).shares
    )


def test_weights_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 0; found -1 for row 1"):
        count_codes(np.eye(2), [0, 1], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="one weight for each"):
        count_codes(np.eye(2), [0, 1], sample_weight=[1])
