import anndata
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lvmkit.scores import count_codes

X = np.array([[1, 0, 2], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
LABELS = [4, 4, 1, 4]


def test_counts_are_those_of_a_loop() -> None:
    random = np.random.default_rng(0)
    data = (random.random((60, 7)) < 0.3).astype(np.float32)
    labels = random.integers(0, 5, 60)
    counted = count_codes(sparse.csr_array(data), labels)
    for row, cluster in enumerate(counted.clusters):
        np.testing.assert_array_equal(counted.counts[row], data[labels == cluster].sum(axis=0))
    np.testing.assert_array_equal(counted.totals, data.sum(axis=0))
    np.testing.assert_allclose(counted.weights @ counted.shares, counted.overall, rtol=1e-12)


def test_clusters_keep_their_numbers_and_names() -> None:
    counted = count_codes(X, LABELS, names={4: "Kidney", 9: "unused"})
    assert counted.clusters.tolist() == [1, 4]
    assert counted.cluster_labels == ["1", "4 · Kidney"]
    assert counted.rename(["a", "b"]).cluster_labels == ["1 · a", "4 · b"]
    assert counted.row(4) == 1


def test_more_than_one_counts_once() -> None:
    assert count_codes(X, LABELS).counts[1].tolist() == [2, 1, 2]


def test_chosen_clusters_come_in_the_order_chosen_and_may_be_empty() -> None:
    counted = count_codes(X, LABELS, clusters=[4, 7])
    assert counted.sizes.tolist() == [3, 0]
    assert counted.n_rows == 3
    assert counted.counts[0].tolist() == [2, 1, 2]
    assert np.isnan(counted.shares[1]).all()


def test_a_cohort_brings_its_codes_and_titles() -> None:
    var = pd.DataFrame({"title": ["Heart failure", "", "Anemia"]}, index=["428", "585", "285"])
    cohort = anndata.AnnData(sparse.csr_array(X.astype(np.float32)), var=var)
    counted = count_codes(cohort, LABELS)
    assert counted.code_labels == ["428 · Heart failure", "585", "285 · Anemia"]
    assert counted.column("285") == 2


def test_sparse_dense_and_frames_agree_and_input_is_left_alone() -> None:
    rows = sparse.csr_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    before = rows.copy()
    frame = pd.DataFrame(rows.toarray(), columns=["a", "b"])
    for data in (rows, rows.toarray(), frame, sparse.csc_array(rows)):
        assert count_codes(data, [0, 1]).counts.tolist() == [[0, 1], [1, 0]]
    assert (rows != before).nnz == 0
    assert count_codes(frame, [0, 1]).codes == ("a", "b")


@given(arrays(np.int8, (12, 4), elements=st.integers(0, 1)), st.permutations(range(12)))
def test_the_order_of_rows_does_not_matter(data: np.ndarray, order: list[int]) -> None:
    labels = np.arange(12) % 3
    one, other = count_codes(data, labels), count_codes(data[order], labels[order])
    np.testing.assert_array_equal(one.counts, other.counts)


def test_suppressed_counts_hide_small_cells_everywhere() -> None:
    counts = np.repeat([0, 1, 2], [300, 200, 100])
    data = np.zeros((600, 2))
    data[:100, 0] = data[300:305, 0] = data[500:550, 0] = 1
    data[:150, 1] = data[300:400, 1] = data[500:560, 1] = 1
    shown = count_codes(data, counts).suppress()
    assert np.isnan(shown.counts).tolist() == [[False, False], [True, False], [True, False]]
    assert np.isnan(shown.shares[1, 0])
    assert shown.totals.tolist() == [155, 310]


@pytest.mark.parametrize(("size", "hides"), [(10, True), (11, False)])
def test_clusters_below_11_are_small(size: int, hides: bool) -> None:
    shown = count_codes(np.ones((size + 500, 1)), np.repeat([0, 1, 2], [300, size, 200])).suppress()
    assert np.isnan(shown.sizes[1]) == hides


def test_a_small_cluster_is_hidden_with_all_its_codes() -> None:
    shown = count_codes(np.ones((505, 1)), np.repeat([0, 1, 2], [300, 5, 200])).suppress()
    assert np.isnan(shown.sizes).tolist() == [False, True, True]
    assert np.isnan(shown.counts[:, 0]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("data", "labels", "options", "message"),
    [
        (X, [0, 1], {}, r"labels must be 4, one per row of X; found shape \(2,\)"),
        (X, [0, 1, 0.5, 1], {}, r"whole numbers; found 0.0, 1.0, 0.5, 1.0 of type float64"),
        (-X, LABELS, {}, r"found -1, -2, -1, -1, -1 and 1 more"),
        (np.full((1, 1), np.nan), [0], {}, r"X holds NaN .*in row 0, column 0"),
        (
            X,
            LABELS,
            {"feature_names": ["a"]},
            r"feature_names must name the 3 columns of X; found 1",
        ),
        (X, LABELS, {"titles": ["a"]}, r"titles must name the 3 columns of X; found 1"),
        (X, LABELS, {"names": ["a"]}, r"names must name all clusters \(1, 4\); found 1"),
    ],
)
def test_bad_input_is_named(
    data: np.ndarray, labels: list[float], options: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        count_codes(data, labels, **options)  # type: ignore[arg-type]


def test_unknown_clusters_and_codes_are_named() -> None:
    counted = count_codes(X, LABELS)
    with pytest.raises(ValueError, match=r"no cluster is numbered 2; there are 1, 4"):
        counted.row(2)
    with pytest.raises(ValueError, match=r"no code is '428'; there are '0', '1', '2'"):
        counted.column("428")
