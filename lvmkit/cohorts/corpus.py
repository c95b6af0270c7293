"""A corpus: counts, texts and attributes of documents or patients' records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from anndata import AnnData

from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.view import CohortView
from lvmkit.core import moved
from lvmkit.core.validation import listed

MOST_LEVELS = 60  # of an attribute that documents can be put in order by
PASSAGE = 2_000  # letters of a long document that are shown at first
LEAD = 160  # letters before the first word of a passage, at most
NAMES = ("id", "name", "title")  # attributes that name a document whose row only has a number
NOT_AN_ORDER = ("text", "n_words", "planted")


class Corpus:
    """Counts, texts and attributes of documents."""

    def __init__(
        self, cohort: Any, *, texts: Any = None, private: bool | None = None, name: str = ""
    ) -> None:
        self.obs: pd.DataFrame = _checked(cohort).obs
        self.text_column = texts if isinstance(texts, str) else "text" if texts is None else ""
        self.texts = self._texts(texts)
        system = [*cohort.var.get("system", ""), ""][0]
        self.of_words = self.texts is not None or system == "word"
        self.private = not self.of_words if private is None else private
        if not cohort.n_obs or not cohort.n_vars:
            size = f"{cohort.n_obs} {self.row_name} and {cohort.n_vars} {self.column_name}s"
            message = f"The cohort is empty: {size}; pass one with some of both."
            raise ValueError(message)
        self.view = CohortView(cohort, binary=False)
        self.name = name or self._called()
        counted = list(self.obs.index[:3]) == ["0", "1", "2"][: len(self)]
        self._names = next((n for n in NAMES if counted and self._tells_apart(n)), None)

    noun, thing = moved.OldName("row_name"), moved.OldName("column_name")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.obs)

    @property
    def row_name(self) -> str:
        """Name of the rows, in the plural: documents, patients or records."""
        return "documents" if self.of_words else "patients" if self.private else "records"

    @property
    def column_name(self) -> str:
        """Name of a column: word or code."""
        return "word" if self.of_words else "code"

    def matrix(self, words: Sequence[str], *, binary: bool = False) -> Any:
        """Return the counts in the order of a model's words, (n, d)."""
        X = self.view.matrix(Subset(), words)
        return (X > 0).astype(np.float32) if binary else X

    def labelled(self, words: Sequence[str], *, binary: bool = False) -> AnnData:
        """Return the counts in a form every model takes."""
        table = pd.DataFrame(index=pd.Index(list(words), dtype=object))
        rows = pd.DataFrame(index=[str(i) for i in range(len(self))])
        return AnnData(self.matrix(words, binary=binary), obs=rows, var=table)

    def require_known(self, words: Sequence[str]) -> None:
        """Refuse a model that knows none of the words."""
        codes = self.view.codes
        if set(words).isdisjoint(codes):
            message = (
                f"none of the {len(codes):,} {self.column_name}s of the cohort ({listed(codes)}) is known to "
                f"the model, which was fitted with {listed(words)}. Check that both are of one "
                f"language and made in the same way."
            )
            raise ValueError(message)

    def left_out(self, words: Sequence[str]) -> str:
        """Say what a model leaves out of the corpus."""
        codes, column, told = self.view.codes, self.column_name, []
        known = set(words)
        unknown = [code for code in codes if code not in known]
        absent = len(known.difference(codes))
        read = self.matrix(words)
        if unknown:
            all_of_them = float(self.matrix(codes).sum())
            part = 1 - float(read.sum()) / all_of_them if all_of_them else 0.0
            told.append(
                f"{len(unknown):,} of the {len(codes):,} {column}s of the cohort are unknown to the model "
                f"and left out ({part:.0%} of all occurrences): {listed(unknown)}."
            )
        if absent:
            told.append(f"{absent:,} of the model's {len(words):,} {column}s do not occur in it.")
        silent = 0 if self.private else int((read.sum(axis=1) <= 0).sum())
        if silent:
            told.append(f"{silent:,} of {len(self):,} {self.row_name} have none of its {column}s.")
        return " ".join(told)

    def title(self, row: int) -> str:
        """Return the title of a document."""
        if self._names is not None:
            return str(self.obs[self._names].iloc[row])
        name = str(self.obs.index[row])
        return f"Document {row + 1}" if name in (str(row), str(row + 1)) else name

    def about(self, row: int) -> str:
        """Return the attributes of a document in one line."""
        record = self.obs.iloc[row]
        apart = (self.text_column, "text", "n_words", "id", self._names)
        names = [str(name) for name in self.obs.columns if name not in apart]
        told = [(name, value_text(record[name])) for name in names[:6]]
        return " · ".join(f"{_spoken(name)} {text}" for name, text in told if 0 < len(text) <= 40)

    def orders(self) -> dict[str, pd.Series]:
        """Return the attributes that rows can be put in order by."""
        found: dict[str, pd.Series] = {}
        for name in map(str, self.obs.columns):
            values = self.obs[name]
            if name in (*NOT_AN_ORDER, self.text_column) or values.nunique() < 2:
                continue
            number = pd.api.types.is_numeric_dtype(values) and values.dtype != bool
            dated = pd.api.types.is_datetime64_any_dtype(values)
            if number or dated or values.nunique() <= MOST_LEVELS:
                found[name] = values
        return found

    def first_order(self) -> str:
        """Choose an attribute to put rows in order by: a date, else a year, else any of people; "" without one."""
        orders = self.orders()
        dates = [n for n, v in orders.items() if pd.api.types.is_datetime64_any_dtype(v)]
        years = [name for name in orders if name.lower() in ("year", "date", "time", "anno")]
        people = list(orders) if self.private else []
        return next(iter([*dates, *years, *people]), "")

    def first_bands(self, order: str) -> str:
        """Choose an attribute whose stretches can be marked along an order; "" without one."""
        orders = self.orders()
        if order and not pd.api.types.is_numeric_dtype(orders[order]):
            return ""
        along = orders[order] if order else np.arange(len(self))
        by, found = np.argsort(np.asarray(along), kind="stable"), {}
        for name, values in orders.items():
            levels = values.nunique()
            if name == order or pd.api.types.is_numeric_dtype(values) or levels > len(self) / 3:
                continue
            stretches = runs(values, by)
            if stretches <= 1.25 * levels:
                found[name] = stretches
        return min(found, key=lambda name: found[name], default="")

    def passage(self, row: int, words: Sequence[str]) -> tuple[str, bool]:
        """Return the part of a document in which a topic's words stand closest."""
        text = "" if self.texts is None else self.texts[row]
        if len(text) <= PASSAGE:
            return text, False
        found = [match.start() for match in word_pattern(words).finditer(text)] if words else []
        places = np.array(found or [0])
        near = np.searchsorted(places, places + 400) - np.arange(len(places))
        first = int(places[int(near.argmax())])
        start = _start_before(text, first)
        stop = min(len(text), start + PASSAGE)
        before, after = ("… " if start else ""), (" …" if stop < len(text) else "")
        return f"{before}{text[start:stop].strip()}{after}", True

    def _tells_apart(self, name: str) -> bool:
        """Tell whether an attribute holds a text of its own for each row."""
        if name not in self.obs or pd.api.types.is_numeric_dtype(self.obs[name]):
            return False
        return bool(self.obs[name].nunique() == len(self))

    def _called(self) -> str:
        """Return the cohort's source, or its size where that says nothing."""
        told = self.view.cohort.uns.get("cohort", {})
        source = str(told.get("source", "")) if isinstance(told, Mapping) else ""
        listed_texts = source.removeprefix("a list of ")
        if source.startswith(("a ", "the ")) and listed_texts == source:
            source = ""
        return listed_texts if source else f"{len(self):,} {self.row_name}"

    def _texts(self, texts: Any) -> list[str] | None:
        """Return a text for each row, if there are any."""
        if texts is None or isinstance(texts, str):
            if self.text_column in self.obs:
                return [value_text(text) for text in self.obs[self.text_column]]
            if texts is None:
                return None
            known = ", ".join(map(str, self.obs.columns[:8])) or "none"
            message = f"texts names the attribute {texts!r}, but the cohort has {known}."
            raise ValueError(message)
        given = list(texts)
        if len(given) != len(self):
            message = f"texts has {len(given)} texts for {len(self)} rows; pass one for each."
            raise ValueError(message)
        if not all(isinstance(text, str) for text in given):
            bad = next(i for i, text in enumerate(given) if not isinstance(text, str))
            message = f"texts holds {type(given[bad]).__name__} at place {bad}; pass strings."
            raise TypeError(message)
        return given


def word_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of whole words, whatever their case."""
    longest = sorted(words, key=len, reverse=True)
    parts = "|".join(re.escape(word).replace("\\ ", r"\W+") for word in longest)
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)


def runs(values: pd.Series, order: npt.NDArray[np.intp]) -> int:
    """Count the stretches of equal values."""
    texts = values.astype(object).iloc[order].astype(str).to_numpy()
    return 1 + int((texts[1:] != texts[:-1]).sum())


def _checked(cohort: Any) -> Any:
    """Refuse anything but a cohort."""
    if all(hasattr(cohort, name) for name in ("X", "obs", "var", "var_names")):
        return cohort
    message = (
        f"TopicRelevance needs a cohort (an AnnData table); found {type(cohort).__name__}. Make one of "
        "texts with lvmkit.cohorts.from_texts, of counts or tables with from_counts, from_wide or "
        "from_events."
    )
    raise TypeError(message)


def _start_before(text: str, place: int) -> int:
    """Find where a sentence or line begins, not far before a place."""
    first = max(0, place - LEAD)
    starts = [text.rfind(mark, first, place) + len(mark) for mark in ("\n", ". ", "! ", "? ")]
    best = max(start for start in starts) if any(s > first for s in starts) else 0
    return best if best > first else (0 if first == 0 else text.find(" ", first) + 1)


def value_text(value: Any) -> str:
    """Write a value of an attribute; nothing for a missing one."""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:g}"
    return "" if value is None or value is pd.NaT or value is pd.NA else str(value)


def _spoken(name: str) -> str:
    """Write the name of an attribute for readers."""
    return name.replace("_", " ")
