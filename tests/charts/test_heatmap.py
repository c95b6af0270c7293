import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from lvmkit.charts import heatmap_chart, heatmap_matrix
from lvmkit.charts._frame import apart

RANDOM = np.random.default_rng(0)
DATA = (RANDOM.random((200, 12)) < RANDOM.random(12) * 0.8).astype(np.float32)
LABELS = RANDOM.integers(0, 4, 200) * 3


def test_rows_are_the_records_named_by_the_order() -> None:
    found = heatmap_matrix(sparse.csr_array(DATA), LABELS, top=5)
    columns = np.argsort(-DATA.sum(axis=0), kind="stable")[:5]
    assert found.codes == tuple(map(str, columns))
    np.testing.assert_array_equal(found.matrix, DATA[found.order][:, columns] * 255)
    assert sorted(found.order) == list(range(200))


def test_each_cluster_has_its_band() -> None:
    found = heatmap_matrix(DATA, LABELS)
    assert found.clusters.tolist() == [0, 3, 6, 9]
    for j, cluster in enumerate(found.clusters):
        rows = found.order[found.bounds[j] : found.bounds[j + 1]]
        assert (LABELS[rows] == cluster).all()
        assert found.sizes[j] == len(rows)


def test_neighbors_differ_in_fewer_codes_than_in_any_order() -> None:
    found = heatmap_matrix(DATA, np.zeros(200, dtype=int))
    steps = np.abs(np.diff(found.matrix.astype(int), axis=0)).sum()
    shuffled = np.abs(np.diff(RANDOM.permutation(found.matrix).astype(int), axis=0)).sum()
    assert steps < 0.6 * shuffled


def test_records_with_the_leading_code_come_first() -> None:
    found = heatmap_matrix(DATA, np.zeros(200, dtype=int))
    assert np.all(np.diff(found.matrix[:, 0].astype(int)) <= 0)


def test_all_gray_words_are_one_step_apart() -> None:
    words = np.array([[i >> b & 1 for b in range(4)] for i in range(16)])
    found = heatmap_matrix(words, np.zeros(16, dtype=int))
    assert (np.abs(np.diff(found.matrix.astype(int), axis=0)).sum(axis=1) == 255).all()


@given(st.permutations(range(20)))
def test_the_order_of_the_data_does_not_change_the_image(order: list[int]) -> None:
    data, labels = DATA[:20], LABELS[:20]
    one = heatmap_matrix(data, labels)
    np.testing.assert_array_equal(one.matrix, heatmap_matrix(data[order], labels[order]).matrix)


def test_codes_of_every_record_are_left_out_and_said() -> None:
    data = DATA.copy()
    data[:, 4] = 1
    found = heatmap_matrix(data, LABELS, feature_names=[f"c{i}" for i in range(12)])
    assert "c4" not in found.codes
    assert found.left_out == ("c4",)
    assert "Every record has c4" in str(heatmap_chart(found).to_dict()["title"]["subtitle"])


@given(st.integers(1, 60), arrays(np.int64, 40, elements=st.integers(0, 3)))
def test_blocks_average_the_records_they_name(max_rows: int, labels: np.ndarray) -> None:
    data = DATA[:40]
    found = heatmap_matrix(data, labels, max_rows=max_rows)
    k = len(found.clusters)
    assert len(found.matrix) <= max_rows + k
    assert found.bounds[-1] == len(found.matrix) == len(found.starts) - 1
    columns = [int(code) for code in found.codes]
    for row in range(len(found.matrix)):
        rows = found.order[found.starts[row] : found.starts[row + 1]]
        assert len(set(labels[rows])) == 1
        expected = np.rint(data[rows][:, columns].mean(axis=0) * 255)
        np.testing.assert_allclose(found.matrix[row], expected, atol=1)


def test_an_empty_cluster_has_an_empty_band() -> None:
    found = heatmap_matrix(DATA, LABELS, clusters=[0, 1, 9], max_rows=10)
    assert found.sizes[1] == 0
    assert found.bounds[1] == found.bounds[2]
    assert heatmap_chart(found).to_dict()["layer"]


def test_no_records_draw_an_empty_chart() -> None:
    found = heatmap_matrix(np.zeros((0, 3)), np.zeros(0, dtype=int))
    assert heatmap_chart(found).to_dict()["layer"]


def test_labels_are_moved_apart_and_stay_in_order_and_inside() -> None:
    places = apart(np.array([1.0, 2, 3, 150, 290, 299, 299.5]), 300)
    assert np.all(np.diff(places) >= 14 - 1e-9)
    assert places.min() >= 7
    assert places.max() <= 293


def test_limits_below_1_are_refused() -> None:
    with pytest.raises(ValueError, match=r"top must be at least 1"):
        heatmap_matrix(DATA, LABELS, top=0)
