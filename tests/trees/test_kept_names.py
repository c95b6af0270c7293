"""Names that are kept with a model are found whichever dashboard gave them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from lvmkit import SpectralTree
from lvmkit.trees import layout
from lvmkit.trees.kept_names import kept_names

ROWS = np.repeat(np.eye(4), 10, axis=0)


def test_a_model_without_notes_has_no_names():
    assert kept_names(SimpleNamespace()) == {}
    assert kept_names(SimpleNamespace(annotations_={"topic_names": ["no", "mapping"]})) == {}


def test_topics_are_named_by_their_numbers():
    notes = {"topic_names": {"0": "Heart", "3": "Rare", "x": "no number"}}
    assert kept_names(SimpleNamespace(annotations_=notes)) == {0: "Heart", 3: "Rare"}


def test_parts_of_a_merged_cluster_are_told_apart():
    clusters = [
        {"id": 5, "components": [0, 2], "name": "Heart"},
        {"id": 1, "components": [1], "name": ""},
    ]
    assert kept_names(SimpleNamespace(annotations_={"clusters": clusters})) == {
        0: "Heart (1 of 2)",
        2: "Heart (2 of 2)",
    }
    assert kept_names(SimpleNamespace()) == {}


def test_leaves_are_called_as_in_the_tree_navigator():
    tree = SpectralTree(max_depth=2).fit(ROWS)
    leaf = tree.tree_.leaves[2]
    tree.annotations_ = {"node_names": {"1": "not a leaf", str(leaf): "Childbirth"}}
    named = kept_names(tree)
    assert sorted(named) == list(range(tree.n_leaves_))
    assert named[2] == f"{tree.tree_.label(leaf)} · Childbirth"
    assert named[0] == tree.tree_.label(tree.tree_.leaves[0])


def test_leaves_far_down_are_called_by_their_number(monkeypatch):
    monkeypatch.setattr(layout, "DEEP", 1)
    tree = SpectralTree(max_depth=2).fit(ROWS)
    found = tree.tree_
    place, leaf = next((i, j) for i, j in enumerate(found.leaves) if found.nodes[j].depth == 2)
    tree.annotations_ = {"node_names": {str(leaf): "Childbirth"}}
    assert kept_names(tree)[place] == f"node {leaf} · Childbirth"
