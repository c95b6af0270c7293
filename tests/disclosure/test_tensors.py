"""Known groups by cluster, and means that two models share."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lvmkit.disclosure.tensors import groups_table, hidden_groups, same_means, shown_with_sizes

TABLES = arrays(int, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.integers(0, 40))


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


def test_of_a_cluster_whose_size_is_hidden_nothing_is_told():
    counts = np.array([[4, 3], [40, 20], [30, 50]])
    shown, sizes = shown_with_sizes(counts, 11)
    assert np.isnan(sizes[0])
    assert np.isnan(sizes).sum() == 2  # the small one, and one that keeps it from being the rest
    assert np.isnan(shown[np.isnan(sizes)]).all()
    hidden = hidden_groups(counts, 11)
    assert hidden[:3][np.isnan(sizes)].all()
    assert hidden[3].all()  # totals, of which its size could be made
    assert not hidden_groups(counts[1:], 11).any()


@given(TABLES)
def test_one_subtraction_gives_no_small_group_away(counts):
    hidden = hidden_groups(counts, 11)
    cells, totals = hidden[:-1], hidden[-1]
    sizes = np.isnan(shown_with_sizes(counts.sum(axis=1)[:, None], 11)[1])
    values = [*counts, *counts.T]
    unknown = [*(np.append(c, s) for c, s in zip(cells, sizes, strict=True))]
    unknown += [np.append(c, t) for c, t in zip(cells.T, totals, strict=True)]
    for numbers, gone in zip(values, unknown, strict=True):
        told = np.append(numbers, numbers.sum())  # parts, and what they sum to
        assert not ((told[~gone] > 0) & (told[~gone] < 11)).any()
        if gone.sum() == 1:
            assert not 0 < told[gone][0] < 11


def test_only_means_that_both_models_have_are_shown():
    first = np.arange(12.0).reshape(3, 2, 2)
    other = first.copy()
    other[1] += 0.5
    found = same_means(other, first)
    np.testing.assert_array_equal(found[[0, 2]], first[[0, 2]])
    assert np.isnan(found[1]).all()
    assert np.isnan(same_means(first[:2], first)).all()
