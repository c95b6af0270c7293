"""Hidden counts are written as far as they may be known."""

import numpy as np

from lvmkit.disclosure.text import coarse, shown_count


def test_a_hidden_count_tells_no_more_than_that_it_is_small_or_hidden():
    shown = [shown_count(25.0, 25, 11), shown_count(np.nan, 3, 11), shown_count(np.nan, 25, 11)]
    assert shown == [25, "<11", "hidden"]


def test_numbers_are_rounded_to_a_part_of_their_span():
    assert coarse([1234.5678, 1734.5]).tolist() == [1235.0, 1734.0]
