from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lvmkit.disclosure import (
    count_text,
    mask_shares,
    suppress,
    suppression,
    suppression_with_totals,
)
from lvmkit.disclosure.trees import shown_counts

SPLIT = np.array([[0, 1, 2]])
TABLES = arrays(np.int64, (4, 3), elements=st.integers(0, 9))


def could_be(cells: np.ndarray, hidden: np.ndarray, sizes: np.ndarray, t: int) -> list[set[int]]:
    """All values each hidden cell can have, to a reader who knows the total and each cell's kind."""
    ranges = []
    for x, n in zip(cells[hidden], sizes[hidden], strict=True):
        if 1 <= x < t:
            kind = [v for v in range(n + 1) if 1 <= v < t]
        elif 1 <= n - x < t:
            kind = [v for v in range(t, n + 1) if 1 <= n - v < t]
        elif x in (0, n):
            kind = [int(x)]
        else:
            kind = [v for v in range(t, n + 1) if n - v >= t]
        ranges.append(kind)
    total = cells[hidden].sum()
    fits = [values for values in product(*ranges) if sum(values) == total]
    return [set(column) for column in zip(*fits, strict=True)]


@given(TABLES, st.sampled_from([9, 14, 20]))
def test_no_hidden_count_can_be_recovered_from_a_known_total(cells: np.ndarray, size: int) -> None:
    t = 4
    sizes = np.full(4, size)
    found = suppression(cells, sizes=sizes, threshold=t)
    small = ((cells >= 1) & (cells < t)) | ((size - cells >= 1) & (size - cells < t))
    assert found.cells[small].all()
    for column in np.flatnonzero(~found.totals):
        hidden = found.cells[:, column]
        values = could_be(cells[:, column], hidden, sizes, t)
        for x, possible in zip(cells[hidden, column], values, strict=True):
            if 1 <= x < t:
                assert possible >= set(range(1, t))
            elif 1 <= size - x < t and size - x >= 1:
                assert len(possible) > 1


@given(TABLES)
def test_one_subtraction_from_a_table_recovers_nothing(cells: np.ndarray) -> None:
    t = 4
    table = pd.DataFrame(
        {"code": np.tile(list("abc"), 4), "cluster": np.repeat(range(4), 3), "n": cells.ravel()}
    )
    shown = suppress(table, counts="n", within="code", threshold=t)
    for code, group in shown.groupby("code"):
        if group["total_suppressed"].any():
            continue
        rest = table.loc[table["code"] == code, "n"].sum() - group["n"].sum()
        hidden = int(group["n"].isna().sum())
        assert hidden == 0 or hidden > 1
        assert hidden == 0 or rest > hidden + t - 3


@given(arrays(np.int64, (3, 4), elements=st.integers(0, 9)))
def test_no_row_of_a_table_with_totals_gives_a_small_count_away(cells: np.ndarray) -> None:
    t = 4
    found = suppression_with_totals(cells, threshold=t)
    rows = np.vstack([cells, cells.sum(axis=0)])
    for row, hidden in zip(rows, np.vstack([found.cells, found.totals]), strict=True):
        assert hidden[(row >= 1) & (row < t)].all()
        if not hidden[row > 0].all():
            values = could_be(row, hidden, np.full(4, row.sum() + 10), t)
            for x, possible in zip(row[hidden], values, strict=True):
                assert x >= t or possible >= set(range(1, t))
    whole = np.vstack([found.cells, found.totals])
    assert (whole.sum(axis=0) != 1).all()


def test_small_counts_are_hidden_and_zero_is_shown() -> None:
    found = suppression([[0, 1], [10, 11], [200, 300]])
    assert found.cells.tolist() == [[False, True], [True, False], [True, True]]


@pytest.mark.parametrize(("least", "hides"), [(10, True), (11, False)])
def test_counts_below_11_are_hidden_unless_another_threshold_is_asked_for(least, hides) -> None:
    table = np.array([[least, 400, 500], [300, 400, 500], [300, 400, 500]])
    assert suppression(table).cells[0, 0] == hides
    assert suppression_with_totals(table).cells[0, 0] == hides
    assert suppress(pd.DataFrame({"n": table[0]}), counts="n")["suppressed"][0] == hides
    assert np.isnan(mask_shares(table / 1000, [1000] * 3)[0, 0]) == hides
    assert (count_text(least) == "<11") == hides
    assert shown_counts(np.array([[500], [least], [500 - least]]), SPLIT)[1][1, 0] == hides


def test_the_smallest_cell_that_is_enough_is_hidden_too() -> None:
    cells = suppression([[3], [500], [12], [40], [90]]).cells[:, 0]
    assert cells.tolist() == [True, False, False, True, False]


def test_two_small_counts_that_leave_room_need_no_third() -> None:
    assert suppression([[5], [6], [400]]).cells[:, 0].tolist() == [True, True, False]
    assert suppression([[1], [1], [400]]).cells[:, 0].tolist() == [True, True, True]


def test_a_total_that_gives_the_cell_away_is_hidden() -> None:
    assert suppression([[2, 2], [0, 12]]).totals.tolist() == [True, True]


def test_few_without_the_code_are_as_small_as_few_with_it() -> None:
    cells = suppression([[95], [30], [0]], sizes=[100, 80, 50]).cells[:, 0]
    assert cells.tolist() == [True, True, False]


def test_a_table_hides_what_is_derived_and_marks_the_rows() -> None:
    table = pd.DataFrame({"n": [250, 7, 90], "size": [300, 300, 300], "share": [0.8, 0.02, 0.3]})
    shown = suppress(table, counts=["n"], derived=["share"])
    assert shown["suppressed"].tolist() == [False, True, False]
    assert shown[["n", "share"]].isna().all(axis=1).tolist() == [False, True, False]
    assert table["n"].tolist() == [250, 7, 90]


def test_all_counts_of_a_row_are_hidden_together() -> None:
    shown = suppress(pd.DataFrame({"n_in": [4, 40], "n_out": [900, 80]}), counts=["n_in", "n_out"])
    assert shown.loc[0, ["n_in", "n_out"]].isna().all()
    assert shown.loc[1, ["n_in", "n_out"]].tolist() == [40, 80]


def test_text_tells_small_from_hidden_for_the_others() -> None:
    table = pd.DataFrame({"g": [1, 1, 1], "n": [3, 40, 1500]})
    shown = suppress(table, counts="n", within="g", text=True)
    assert shown["n"].tolist() == ["<11", "hidden", "1,500"]


def test_the_rest_of_a_size_counts_too() -> None:
    shown = suppress(pd.DataFrame({"n": [45, 45], "size": [50, 90]}), counts="n", out_of="size")
    assert shown["suppressed"].tolist() == [True, False]


def test_a_table_without_small_counts_is_unchanged() -> None:
    table = pd.DataFrame({"n": [11, 0, 400], "share": [0.1, 0.0, 0.9]})
    shown = suppress(table, counts="n", derived=["share"])
    pd.testing.assert_frame_equal(shown.drop(columns="suppressed"), table)


def test_shares_of_small_counts_are_masked_with_their_protection() -> None:
    shares = np.array([[0.5, 0.02, 0.0], [0.5, 0.3, 0.1], [0.5, 0.4, 0.2]])
    hidden = np.isnan(mask_shares(shares, [100, 1000, 400]))
    assert hidden.tolist() == [[False, True, False], [False, False, False], [False, True, False]]
    assert (mask_shares(shares, [100, 1000, 400], fill=0)[hidden] == 0).all()


def test_shares_of_a_small_cluster_are_masked() -> None:
    hidden = np.isnan(mask_shares([[0.5], [0.5], [0.5]], [8, 1000, 400]))
    assert hidden[:, 0].tolist() == [True, False, True]


def test_counts_are_written_for_sharing() -> None:
    assert [count_text(n) for n in (0, 1, 10, 11, 12_345)] == ["0", "<11", "<11", "11", "12,345"]
    assert count_text(3, threshold=5) == "<5"
    assert count_text(float("nan")) == "hidden"


@pytest.mark.parametrize(
    ("counts", "sizes", "threshold", "message"),
    [
        ([[1.5]], None, 11, r"whole numbers of 0 or more; found 1.5"),
        ([[-1]], None, 11, r"found -1.0"),
        ([[5]], [4], 11, r"found 5 of 4 in row 0"),
        ([[5]], None, 1, r"2 or more; found 1"),
        ([5], None, 11, r"found shape \(1,\)"),
    ],
)
def test_bad_counts_are_named(
    counts: list[list[float]], sizes: list[int] | None, threshold: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        suppression(counts, sizes=sizes, threshold=threshold)


def test_missing_columns_and_bad_shares_are_named() -> None:
    with pytest.raises(ValueError, match=r"no column 'n'; it has 'm'"):
        suppress(pd.DataFrame({"m": [1]}), counts="n")
    with pytest.raises(ValueError, match=r"found 1.5"):
        mask_shares([[1.5]], [10])
    for fill in (0.3, 1, float("inf")):
        with pytest.raises(ValueError, match="fill must be NaN, 0 or a finite number outside"):
            mask_shares([[0.5]], [10], fill=fill)
