import pytest

from lvmkit_widgets.ui.words import counted, small_counts


@pytest.mark.parametrize(
    ("n", "told"),
    [(0, "0 patients"), (1, "1 patient"), (2, "2 patients"), (1234, "1,234 patients")],
)
def test_things_are_counted_in_words(n, told):
    assert counted(n, "patient") == told


def test_what_is_hidden_ends_below_the_threshold():
    assert small_counts(11, hidden=True).startswith("Counts of 1 to 10 are hidden (<11), and some")


def test_what_is_shown_is_for_this_screen_alone():
    told = small_counts(11, hidden=False, saved="Reports")
    assert told == "Small counts are shown: keep this screen to yourself. Reports hide them."
