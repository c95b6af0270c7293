"""Long tables of which the browser gets one page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Table


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
