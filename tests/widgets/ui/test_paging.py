"""Long tables are sorted, searched and paged in Python."""

import pandas as pd
import pytest

from lvmkit_widgets.ui.paging import Paging, turning
from lvmkit_widgets.ui.state import State
from lvmkit_widgets.ui.widgets import Table

FRAME = pd.DataFrame(
    {
        "code": ["250", "V58", "428"],
        "title": ["Insulin", "Insulin", "Heart failure"],
        "n": [20, "<11", 3],
    }
)
WORDS = ["code", "title"]


def codes(fields):
    return [row["code"] for row in fields["rows"]]


def test_the_browser_gets_one_page_and_the_number_of_rows():
    first = Paging().page_of(FRAME[["code"]], ["code"], 1)
    assert first == {"rows": [{"code": "250"}], "total": 3, "page": 0}
    last = Paging(page=1).page_of(FRAME[["code"]], ["code"], 2)
    assert last == {"rows": [{"code": "428"}], "total": 3, "page": 1}


def test_rows_hold_all_words_of_a_search_in_any_column():
    found = Paging(search="INSULIN v5").page_of(FRAME, WORDS, 15)
    assert (codes(found), found["total"]) == (["V58"], 1)
    assert codes(Paging(search="20").page_of(FRAME, WORDS, 15)) == []  # no column of words


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (("n", "asc"), ["428", "250", "V58"]),  # as numbers; a hidden one last
        (("n", "desc"), ["250", "428", "V58"]),
        (("title", "asc"), ["428", "250", "V58"]),  # equal ones stay as they were
        (("code", "desc"), ["V58", "428", "250"]),
        (("elsewhere", "asc"), ["250", "V58", "428"]),
    ],
)
def test_rows_are_sorted_as_numbers_or_as_words(sort, expected):
    assert codes(Paging(sort=sort).page_of(FRAME, WORDS, 15)) == expected


def test_a_page_that_no_python_turns_gets_the_first_rows():
    paging = Paging(page=1, search="V58")
    assert codes(paging.page_of(FRAME, WORDS, 1, first=2)) == ["250", "V58"]
    assert paging.page_of(FRAME, WORDS, 1, first=2)["total"] is None


def test_only_the_rows_of_the_page_are_described():
    described = []

    def describe(i):
        described.append(i)
        return {"row": i + 1}

    fields = Paging(page=1).rows(range(5), describe, 2)
    assert fields == {"rows": [{"row": 3}, {"row": 4}], "total": 5, "page": 1}
    assert described == [2, 3]


def test_rows_of_something_shorter_begin_at_the_first_page():
    fields = Paging(page=2).rows(range(3), lambda i: {"row": i + 1}, 2)
    assert fields == {"rows": [{"row": 1}, {"row": 2}], "total": 3, "page": 0}
    assert Paging(page=2).rows([], str, 2) == {"rows": [], "total": 0, "page": 0}


def test_readers_turn_sort_and_search_the_state():
    events, state = turning("table", "renewed"), State()
    assert set(events) == {"table.page", "table.sort", "table.search"}
    assert set(events) <= {f"table.{field}" for field in Table.sent}
    state = state.replace(renewed=Paging())
    turned = events["table.page"](state, 3)
    sorted_ = events["table.sort"](turned, ["n", "desc"])
    searched = events["table.search"](sorted_, "heart")
    assert searched.renewed == Paging(3, ("n", "desc"), "heart")
    assert state.renewed == Paging()  # states never change
