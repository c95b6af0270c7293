"""Rows are grouped by cluster and averaged without mixing clusters or showing small counts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lvmkit_widgets.ui.heatmap import heat_fields

CODES = ["401", "428", "V58"]


def cells_of(fields):
    return np.frombuffer(fields["cells"], np.uint8).reshape(-1, len(fields["columns"]))


def case(n, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 3)) < 0.4).astype(np.float32), rng.integers(0, 4, n)


@given(st.integers(1, 300), st.integers(1, 400))
def test_the_mean_of_a_cluster_survives_any_binning(n, max_rows):
    X, labels = case(n)
    fields = heat_fields(X, labels, codes=CODES, max_rows=max_rows)
    cells = cells_of(fields)
    assert len(cells) <= max_rows + 4
    for band in fields["bands"]:
        mine = X[labels == band["id"]]
        assert band["n"] == len(mine)
        rows = cells[band["start"] : band["stop"]] / 255
        assert len(rows) == band["stop"] - band["start"] >= 1
        assert np.abs(rows.mean(0) - mine.mean(0)).max() <= 0.5
        if len(mine) % len(rows) == 0:
            assert np.abs(rows.mean(0) - mine.mean(0)).max() <= 1 / 255


@pytest.mark.parametrize("max_rows", [1000, 20])
def test_sparse_and_dense_rows_give_the_same_picture(max_rows):
    X, labels = case(500)
    dense = heat_fields(X, labels, codes=CODES, max_rows=max_rows)
    assert heat_fields(sp.csr_array(X), labels, codes=CODES, max_rows=max_rows) == dense


def test_clusters_come_in_the_order_asked_for_and_rows_keep_theirs():
    X = np.eye(3, dtype=np.float32)[[0, 1, 2, 0]]
    fields = heat_fields(X, [1, 0, 1, 2], codes=CODES, ids=[1, 0], names=["b", "a"])
    assert cells_of(fields).tolist() == [[255, 0, 0], [0, 0, 255], [0, 255, 0]]
    assert [band["name"] for band in fields["bands"]] == ["b", "a"]


def test_a_shared_picture_shows_no_small_count():
    rng = np.random.default_rng(1)
    X = np.zeros((500, 3), np.float32)
    X[:5, 0] = 1
    X[:, 1] = rng.random(500) < 0.5
    labels = np.repeat([0, 1], [492, 8])
    fields = heat_fields(X, labels, codes=CODES, smallest=11)
    cells = cells_of(fields)
    assert [band["id"] for band in fields["bands"]] == [0]
    assert (cells[:, 0] == 0).all()
    assert len(cells) == 492 // 44
    assert (cells[:, 1] > 0).all()


def test_shapes_that_do_not_fit_are_told():
    with pytest.raises(ValueError, match=r"shape \(4, 3\), but there are 3 labels and 3 codes"):
        heat_fields(np.zeros((4, 3)), [0, 1, 1], codes=CODES)


def test_no_rows_give_an_empty_picture():
    fields = heat_fields(np.zeros((0, 3)), [], codes=CODES)
    assert fields["cells"] == b""
    assert fields["bands"] == []


def test_each_cluster_is_a_band_of_whole_rows():
    X = np.array([[1, 0], [0, 1], [1, 1]])
    fields = heat_fields(X, [1, 0, 1], codes=["428", "401"])
    bands = [(band["id"], band["start"], band["stop"]) for band in fields["bands"]]
    assert bands == [(0, 0, 1), (1, 1, 3)]
    assert list(fields["cells"]) == [0, 255, 255, 0, 255, 255]
