"""Documents, or records of people, as the topic dashboard reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from anndata import AnnData

from lvmkit_widgets.cohort_view import CohortView
from lvmkit_widgets.subset import Subset

MOST_LEVELS = 60  # of an attribute that documents can be put in order by
PASSAGE = 2_000  # letters of a long document that are shown at first
LEAD = 160  # letters before the first word of a passage, at most
NAMES = ("id", "name", "title")  # attributes that name a document whose row only has a number
NOT_AN_ORDER = ("text", "n_words", "planted")


class Corpus:
    """Counts, texts and attributes of documents.

    Parameters
    ----------
    cohort : AnnData
        Documents by words, or people by codes.
    texts : sequence of str, or str, optional
        A text for each row, or the attribute that holds them; by default the attribute "text".
    private : bool, optional
        Whether rows stand for people, so that small counts are hidden and nothing of a row leaves
        the dashboard. By default rows with a text, or of words, are documents, and others people.
    name : str
        What it is called in headings.

    Raises
    ------
    TypeError
        When the cohort is not an AnnData table.
    ValueError
        When there is no such attribute, or not one text for each row.
    """

    def __init__(
        self, cohort: Any, *, texts: Any = None, private: bool | None = None, name: str = ""
    ) -> None:
        self.view = CohortView(cohort, binary=False)
        self.obs: pd.DataFrame = cohort.obs
        self.text_column = texts if isinstance(texts, str) else "text" if texts is None else ""
        self.texts = self._texts(texts)
        system = cohort.var["system"].iloc[0] if "system" in cohort.var else ""
        self.of_words = self.texts is not None or system == "word"
        self.private = not self.of_words if private is None else private
        self.name = name or self.view.source
        counted = list(self.obs.index[:3]) == ["0", "1", "2"][: len(self)]
        self._names = next((n for n in NAMES if counted and self._tells_apart(n)), None)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.view.n_patients

    @property
    def noun(self) -> str:
        """What a row is, in the plural."""
        return "documents" if self.of_words else "patients" if self.private else "records"

    @property
    def thing(self) -> str:
        """What a column is."""
        return "word" if self.of_words else "code"

    def matrix(self, words: Sequence[str]) -> Any:
        """Return the counts in the order of a model's words.

        Parameters
        ----------
        words : sequence of str
            A word that the corpus does not have counts 0.

        Returns
        -------
        sparse (n, d)
            Float32, CSR.
        """
        return self.view.matrix(Subset(), words)

    def labelled(self, words: Sequence[str]) -> AnnData:
        """Return the counts in a form every model takes.

        Parameters
        ----------
        words : sequence of str
            Of the model.

        Returns
        -------
        AnnData
            Rows by words.
        """
        table = pd.DataFrame(index=pd.Index(list(words), dtype=object))
        rows = pd.DataFrame(index=[str(i) for i in range(len(self))])
        return AnnData(self.matrix(words), obs=rows, var=table)

    def title(self, row: int) -> str:
        """Return what a document is called.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        str
            Its id; the place alone where ids only count.
        """
        if self._names is not None:
            return str(self.obs[self._names].iloc[row])
        name = str(self.obs.index[row])
        return f"Document {row + 1}" if name in (str(row), str(row + 1)) else name

    def about(self, row: int) -> str:
        """Return the attributes of a document in one line.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        str
            Short ones only.
        """
        record = self.obs.iloc[row]
        apart = (self.text_column, "text", "n_words", "id", self._names)
        names = [str(name) for name in self.obs.columns if name not in apart]
        told = [(name, _plain(record[name])) for name in names[:6]]
        return " · ".join(f"{_spoken(name)} {text}" for name, text in told if 0 < len(text) <= 40)

    def orders(self) -> dict[str, pd.Series]:
        """Return the attributes that rows can be put in order by.

        Returns
        -------
        dict of str to Series
            Numbers, dates, and texts with a few values.
        """
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

    def passage(self, row: int, words: Sequence[str]) -> tuple[str, bool]:
        """Return the part of a document in which a topic's words stand closest.

        Parameters
        ----------
        row : int
            From 0.
        words : sequence of str
            Of the topic.

        Returns
        -------
        text : str
            The whole text if it is short.
        cut : bool
            Whether there is more.
        """
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

    def _texts(self, texts: Any) -> list[str] | None:
        """Return a text for each row, if there are any."""
        if texts is None or isinstance(texts, str):
            if self.text_column in self.obs:
                return [_plain(text) for text in self.obs[self.text_column]]
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
    """Return what finds whole words in a text, whatever their case.

    Parameters
    ----------
    words : sequence of str
        Single words or several separated by blanks.

    Returns
    -------
    re.Pattern
        Longer words come first.
    """
    longest = sorted(words, key=len, reverse=True)
    parts = "|".join(re.escape(word).replace("\\ ", r"\W+") for word in longest)
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)


def runs(values: pd.Series, order: npt.NDArray[np.intp]) -> int:
    """Count the stretches of equal values.

    Parameters
    ----------
    values : Series
        One for each row.
    order : array of int
        In which to read them.

    Returns
    -------
    int
        1 if all are equal.
    """
    texts = values.astype(object).iloc[order].astype(str).to_numpy()
    return 1 + int((texts[1:] != texts[:-1]).sum())


def _start_before(text: str, place: int) -> int:
    """Find where a sentence or line begins, not far before a place."""
    first = max(0, place - LEAD)
    starts = [text.rfind(mark, first, place) + len(mark) for mark in ("\n", ". ", "! ", "? ")]
    best = max(start for start in starts) if any(s > first for s in starts) else 0
    return best if best > first else (0 if first == 0 else text.find(" ", first) + 1)


def _plain(value: Any) -> str:
    """Write a value of an attribute; nothing for a missing one."""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:g}"
    return "" if value is None or value is pd.NaT or value is pd.NA else str(value)


def _spoken(name: str) -> str:
    """Write the name of an attribute for readers."""
    return name.replace("_", " ")
