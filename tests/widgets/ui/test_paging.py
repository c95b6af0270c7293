"""Long tables are sorted, searched and paged in Python."""

import pandas as pd

from lvmkit_widgets.ui.paging import FIRST_PAGE, Paging


def test_the_browser_gets_one_page_and_the_number_of_rows():
    shown = FIRST_PAGE.page_of(pd.DataFrame({"code": ["250", "428"]}), ["code"], 1)
    assert (shown["rows"], shown["total"]) == ([{"code": "250"}], 2)


def test_rows_hold_all_words_of_a_search_in_any_column():
    table = pd.DataFrame({"code": ["250", "V58", "428"], "title": ["Insulin", "Insulin", "X"]})
    shown = Paging(search="INSULIN v5").page_of(table, ["code", "title"], 15)
    assert (shown["rows"], shown["total"]) == ([{"code": "V58", "title": "Insulin"}], 1)


def test_a_page_that_is_no_longer_there_gives_way_to_the_first():
    second = Paging(page=1)
    shown = second.rows(range(5), lambda i: {"row": i + 1}, 2)
    assert (shown["rows"], shown["page"]) == ([{"row": 3}, {"row": 4}], 1)
    assert second.rows(range(2), lambda i: {"row": i + 1}, 2)["page"] == 0
    first = FIRST_PAGE.rows(range(3), lambda i: {"row": i + 1}, 2)
    assert first == {"rows": [{"row": 1}, {"row": 2}], "total": 3, "page": 0}
