"""Counts of nested groups are hidden, or estimated where they would follow."""

import numpy as np

from lvmkit.disclosure.trees import shown_counts


def test_a_count_that_would_follow_from_the_others_is_an_estimate():
    shown, hidden = shown_counts(np.array([[90], [4], [86]]), np.array([[0, 1, 2]]))
    assert shown.ravel().tolist()[::2] == [90.0, 84.5]
    assert np.isnan(shown[1, 0])
    assert hidden.ravel().tolist() == [False, True, True]
