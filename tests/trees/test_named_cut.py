"""Cuts with names of nodes, as models keep them."""

import pytest

import lvmkit
from lvmkit.datasets import load_discharges
from lvmkit.trees.layout import TreeLayout
from lvmkit.trees.named_cut import NamedCut


@pytest.fixture(scope="module", name="tree")
def two_levels():
    return lvmkit.SpectralTree(max_depth=2).fit(load_discharges()[:500]).tree_


@pytest.mark.parametrize(
    "notes",
    [
        {"node_names": {"77": "gone"}, "cut": [1]},
        {"node_names": None, "cut": None},
        {"node_names": {"x": "a word", "1": 5}, "cut": "abc"},
        {"node_names": ["Heart"], "cut": [1, 1.5]},
        {"cut": [0, 1]},
        ["Heart"],
    ],
)
def test_names_and_cuts_of_another_tree_are_left_out(notes, tree):
    found = NamedCut.kept_with(TreeLayout(tree), notes)
    assert found.names == ()
    assert list(found.frontier) == tree.leaves


def test_a_cut_and_its_names_come_back(tree):
    layout = TreeLayout(tree)
    cut = NamedCut.kept_with(layout, None).pruned(layout, 1).renamed(1, "Heart")
    assert 1 in cut.frontier
    assert NamedCut.kept_with(layout, cut.to_annotations()) == cut
    opened = cut.split(layout, 1)
    assert set(tree.nodes[1].children) <= set(opened.frontier)
    assert cut.renamed(1, "").names == ()
