"""Long tables of which the browser gets one page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lvmkit_widgets.ui.tabs import Handler


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

    def page_of(
        self, frame: pd.DataFrame, words: Sequence[str], size: int, *, first: int | None = None
    ) -> dict[str, Any]:
        """Return the fields of a `Table` of this page of a table; of its `first` rows where nothing turns pages."""
        if first is not None:
            return {"rows": frame.head(first).to_dict("records"), "total": None}
        found = self.sorted(frame, words)
        fields = self.rows(range(len(found)), int, size)
        return fields | {"rows": found.iloc[fields["rows"]].to_dict("records")}

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

    def turn(name: str, state: Any, value: Any) -> Any:
        wanted = tuple(value) if name == "sort" else value
        return state.replace(**{field: getattr(state, field)._replace(**{name: wanted})})

    return {f"{component}.{name}": partial(turn, name) for name in ("page", "sort", "search")}


def _numbers(values: pd.Series) -> pd.Series:
    """Return what is a number; hidden counts sort as missing."""
    return pd.to_numeric(values, errors="coerce")
