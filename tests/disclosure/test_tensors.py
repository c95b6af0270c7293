"""Known groups by cluster, and means that two models share."""

import numpy as np
import pandas as pd

from lvmkit.disclosure.tensors import groups_table, same_means


def test_groups_are_counted_by_cluster_and_small_ones_hidden():
    labels = np.repeat([0, 0, 1, 1], [30, 4, 20, 25])
    groups = pd.Categorical(np.repeat(["a", "b", "a", "b"], [30, 4, 20, 25]))
    shown = groups_table(labels, groups, n_clusters=2, threshold=11, hide=False)
    assert shown[["c0", "c1", "total"]].to_numpy().tolist() == [[30, 20, 50], [4, 25, 29]]
    assert not shown.attrs["hidden"]
    hidden = groups_table(labels, groups, n_clusters=2, threshold=11, hide=True)
    assert hidden.attrs["hidden"]
    assert hidden.loc[1, "c0"] == "<11"
    assert hidden.loc[0, "c0"] == "hidden"  # it would tell the small one, with the size


def test_only_means_that_both_models_have_are_shown():
    first = np.arange(12.0).reshape(3, 2, 2)
    other = first.copy()
    other[1] += 0.5
    found = same_means(other, first)
    np.testing.assert_array_equal(found[[0, 2]], first[[0, 2]])
    assert np.isnan(found[1]).all()
    assert np.isnan(same_means(first[:2], first)).all()
