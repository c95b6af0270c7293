"""Cuts of trees as clusterings that can be saved."""

import numpy as np
import pytest

import lvmkit
from lvmkit import SpectralTree
from lvmkit.datasets import load_discharges
from lvmkit_widgets import ClusterExplorer, TreeNavigator


@pytest.fixture(scope="module", name="cohort")
def patients():
    return load_discharges()[:1_500]


@pytest.fixture(name="cut")
def three_clusters(cohort):
    board = TreeNavigator(SpectralTree(max_depth=3, min_samples_leaf=20).fit(cohort), cohort)
    board.state = board.state.take_cut([board.state.tree.nodes[0].children[0], *children(board, 1)])
    return board.state.clustering()


def children(board, side):
    """Parts of a part of the root."""
    nodes = board.state.tree.nodes
    return nodes[nodes[0].children[side]].children


def test_a_cut_comes_back_the_same(cut, cohort, tmp_path):
    cut.annotations_["topic_names"] = {"0": "Heart"}
    again = lvmkit.load(lvmkit.save(cut, tmp_path / "cut"))
    assert again.nodes == cut.nodes
    assert again.annotations_ == cut.annotations_
    np.testing.assert_array_equal(again.predict(cohort), cut.labels_)
    np.testing.assert_array_equal(again.centers_, cut.centers_)
    np.testing.assert_array_equal(again.predict(cohort[:, ::-1]), cut.labels_)


def test_a_cut_opened_in_the_explorer_is_saved_from_there(cut, cohort, tmp_path):
    explorer = ClusterExplorer(cut, cohort)
    explorer.state.save(tmp_path / "cut.npz")
    again = ClusterExplorer(lvmkit.load(tmp_path / "cut.npz"), cohort)
    sizes = explorer.state.assignment.sizes
    np.testing.assert_array_equal(again.state.assignment.sizes, sizes)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("cut_nodes", lambda v: v[:2], "shape"),
        ("cut_nodes", lambda v: v * 0, "overlaps"),
        ("cut_nodes", lambda v: v + 10**6, "node"),
        ("weights_", lambda v: v * 2, "sum to 1"),
        ("centers_", lambda v: v[:, :3], "shape"),
        ("tree_mean", lambda v: v[:-1], "incomplete"),
    ],
)
def test_files_that_no_cut_wrote_are_refused(cut, key, change, message, tmp_path):
    path = lvmkit.save(cut, tmp_path / "cut")
    with np.load(path) as stored:
        arrays = dict(stored)
    with path.open("wb") as file:
        np.savez(file, **(arrays | {key: change(arrays[key])}))
    with pytest.raises(ValueError, match=message):
        lvmkit.load(path)
