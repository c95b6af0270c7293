"""Long tables of which the browser gets one page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.tabs import Handler
from lvmkit_widgets.ui.widgets import Table


class Paging(NamedTuple):
    """Which page of a long table is seen, in which order, and what is searched for; part of a state."""

    page: int = 0
    sort: tuple[str, str] = ("", "asc")  # Column, and asc or desc
    search: str = ""

    def sorted(self, frame: pd.DataFrame, words: Sequence[str]) -> pd.DataFrame:
        """Return the rows of a table that are searched for, in order; `words` are its columns of text."""
        wanted = self.search.lower().split()
        if wanted:
            cells = frame[list(words)].astype(str).itertuples(index=False, name=None)
            texts = [" ".join(row).lower() for row in cells]
            fits = [all(word in text for word in wanted) for text in texts]
            frame = frame[np.array(fits, dtype=bool)]
        column, direction = self.sort
        if column not in frame:
            return frame
        key = None if column in words else _numbers
        return frame.sort_values(
            column, ascending=direction == "asc", kind="stable", na_position="last", key=key
        )

    def page_of(self, frame: pd.DataFrame, words: Sequence[str], size: int) -> dict[str, Any]:
        """Return the fields of a `Table` that shows this page of a table."""
        found = self.sorted(frame, words)
        page = self.page if self.page * size < max(len(found), 1) else 0
        here = found.iloc[page * size : (page + 1) * size]
        return {"rows": here.to_dict("records"), "total": len(found), "page": page}

    def rows(
        self, found: Sequence[Any], describe: Callable[[Any], Any], size: int
    ) -> dict[str, Any]:
        """Return the fields of a `Table` that shows this page of what was found, each row described."""
        page = self.page if self.page * size < max(len(found), 1) else 0
        here = found[page * size : (page + 1) * size]
        return {"rows": [describe(one) for one in here], "total": len(found), "page": page}


FIRST_PAGE = Paging()


def turning(component: str, field: str = "paging") -> dict[str, Handler]:
    """Return the events of a `Table` that is turned, sorted and searched; `field` of the state is its `Paging`."""

    def turn(name: str) -> Handler:
        def turned(state: Any, value: Any) -> Any:
            wanted = tuple(value) if name == "sort" else value
            return state.replace(**{field: getattr(state, field)._replace(**{name: wanted})})

        return turned

    return {f"{component}.{name}": turn(name) for name in ("page", "sort", "search")}


class PagedTable:
    """Sorts, searches and pages a table in Python."""

    def __init__(self, table: Table, words: Sequence[str]) -> None:
        self.table = table
        self.words = list(words)
        self.frame = pd.DataFrame()

    def show(self, frame: pd.DataFrame) -> None:
        """Show another table from its first page."""
        self.frame = frame
        self.table.page = 0
        self.turn()

    def connect(self, board: Dashboard, name: str) -> None:
        """Follow the reader."""
        for field in ("page", "sort", "search"):
            board.listen(name, field, lambda _: self.turn())

    def turn(self) -> None:
        """Show the page that is asked for."""
        table, frame = self.table, self.frame
        wanted = table.search.lower().split()
        if wanted:
            cells = frame[self.words].astype(str).itertuples(index=False, name=None)
            texts = [" ".join(row).lower() for row in cells]
            fits = [all(word in text for word in wanted) for text in texts]
            frame = frame[np.array(fits, dtype=bool)]
        column, direction = table.sort
        if column in frame:
            frame = frame.sort_values(
                column,
                ascending=direction == "asc",
                kind="stable",
                na_position="last",
                key=None if column in self.words else _numbers,
            )
        first = table.page * table.page_size
        rows = self._rows(frame.iloc[first : first + table.page_size])
        table.param.update(rows=rows, total=len(frame))

    def first(self, max_items: int) -> list[dict[str, Any]]:
        """Return the first rows of the whole table, for a page that no Python turns."""
        return self._rows(self.frame.head(max_items))

    def _rows(self, frame: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the columns that are shown, row by row."""
        keys = [key for column in self.table.columns if (key := column["key"]) in frame]
        return [dict(zip(keys, row, strict=True)) for row in frame[keys].itertuples(index=False)]


class RowPages:
    """Pages of rows that are described when they are turned to."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._shown: Any = None  # what the rows are of

    def clear(self) -> None:
        """Begin with the first page next time."""
        self._shown = None

    def show(
        self, of: Any, rows: Sequence[int], describe: Callable[[int], Any], selected: int | None
    ) -> None:
        """Describe the rows of the page that is asked for: the first one of something else."""
        table = self.table
        page = table.page if self._shown == of else 0
        self._shown = of
        here = rows[page * table.page_size : (page + 1) * table.page_size]
        table.param.update(
            rows=[describe(int(i)) for i in here],
            total=len(rows),
            page=page,
            selected=None if selected is None else selected + 1,
        )


def _numbers(values: pd.Series) -> pd.Series:
    """Return what is a number; hidden counts sort as missing."""
    return pd.to_numeric(values, errors="coerce")
