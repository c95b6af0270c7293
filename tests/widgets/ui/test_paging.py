"""Long tables are sorted, searched and paged in Python."""

import pandas as pd

from lvmkit_widgets.ui.paging import PagedTable, RowPages
from lvmkit_widgets.ui.widgets import Table


def test_the_browser_gets_one_page_and_the_number_of_rows():
    table = Table(columns=[{"key": "code", "kind": "code"}], page_size=1)
    pages = PagedTable(table, ["code"])
    pages.show(pd.DataFrame({"code": ["250", "428"]}))
    assert (table.rows, table.total) == ([{"code": "250"}], 2)


def test_rows_hold_all_words_of_a_search_in_any_column():
    table = Table(columns=[{"key": "code", "kind": "code"}])
    pages = PagedTable(table, ["code", "title"])
    pages.show(pd.DataFrame({"code": ["250", "V58", "428"], "title": ["Insulin", "Insulin", "X"]}))
    table.search = "INSULIN v5"
    pages.turn()
    assert (table.rows, table.total) == ([{"code": "V58"}], 1)


def test_rows_of_something_else_begin_at_the_first_page():
    table = Table(key="row", page_size=2, total=0)
    pages = RowPages(table)
    pages.show("a", range(5), lambda i: {"row": i + 1}, None)
    table.page = 1
    pages.show("a", range(5), lambda i: {"row": i + 1}, 3)
    assert (table.rows, table.page, table.selected) == ([{"row": 3}, {"row": 4}], 1, 4)
    pages.show("b", range(3), lambda i: {"row": i + 1}, None)
    assert (table.rows, table.page, table.total) == ([{"row": 1}, {"row": 2}], 0, 3)
