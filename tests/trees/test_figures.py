"""Codes counted in the nodes of a tree."""

import numpy as np

from lvmkit import SpectralTree
from lvmkit.datasets import load_discharges
from lvmkit.trees import figures
from lvmkit_widgets import TreeNavigator


def test_of_too_many_columns_the_most_frequent_are_counted(monkeypatch):
    monkeypatch.setattr(figures, "MOST_CELLS", 6)
    assert figures.kept_columns(np.array([5, 1, 9, 3]), 3).tolist() == [0, 2]


def test_columns_that_lead_are_the_most_relevant_of_some_nodes_then_the_most_frequent():
    cohort = load_discharges()[:1500]
    tree = SpectralTree(max_depth=2, min_samples_leaf=50).fit(cohort)
    found = TreeNavigator(tree, cohort).state.figures
    nodes = [int(leaf) for leaf in tree.tree_.leaves]
    relevant = set()
    for balance in (0.0, 0.3, 0.6, 1.0):
        for score in np.nan_to_num(found.scores(nodes, balance), nan=-np.inf):
            relevant |= set(np.flatnonzero(score > np.sort(score)[-6]))  # ties may go either way
    kept = found.leading(nodes, top=5, room=90)  # four leaves need 80 at most
    assert relevant <= set(kept)
    assert len(kept) == 90
    frequent = np.argsort(-np.nan_to_num(found.overall), kind="stable")
    assert set(frequent[:10]) <= set(kept)
    assert not relevant <= set(frequent[:90])
