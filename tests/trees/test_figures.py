"""Codes counted in the nodes of a tree."""

import numpy as np

from lvmkit.trees import figures


def test_of_too_many_columns_the_most_frequent_are_counted(monkeypatch):
    monkeypatch.setattr(figures, "MOST_CELLS", 6)
    assert figures.kept_columns(np.array([5, 1, 9, 3]), 3).tolist() == [0, 2]
