"""Diagnosis codes: category, title and chapter in ICD-9-CM and ICD-10-CM."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.cohorts import _tables
from lvmkit.cohorts._icd import category_of, spell, system_name
from lvmkit.core.validation import listed, require_text

__all__ = ["categories", "category", "chapter", "chapters", "title"]

NO_CHAPTER = "Not in the table"


def _known(system: str) -> str:
    """Check the name of a system that has tables."""
    require_text(system, "system")
    name = system_name(system)
    if name not in _tables.SYSTEMS:
        msg = f"system={system!r} has no table; expected 'icd9' or 'icd10'."
        raise ValueError(msg)
    return name


def category(codes: Iterable[str], system: str) -> npt.NDArray[np.str_]:
    """Return the category of each code: 3 characters, 4 for the E codes of ICD-9.

    Dots and blanks are removed and leading zeros that a spreadsheet lost are restored: "8" is 008 and
    "38.9" is 038. A code need not be in the tables, only have the form of its system.

    Parameters
    ----------
    codes : iterable of str
        Codes with or without dot.
    system : {"icd9", "icd10"}
        Their coding system.

    Returns
    -------
    array of str
        One category per code.

    Raises
    ------
    ValueError
        If a text does not have the form of a code of `system`.
    TypeError
        If a code is no text.

    Examples
    --------
    >>> category(["428.21", "25000", "8", "V58.61", "E849.0"], "icd9").tolist()
    ['428', '250', '008', 'V58', 'E849']
    >>> category(["I50.9", "E119"], "icd10").tolist()
    ['I50', 'E11']
    """
    name = _known(system)
    if isinstance(codes, (bytes, Mapping)) or not isinstance(codes, Iterable):
        msg = f"codes must be texts; found {codes!r:.60} ({type(codes).__name__})."
        raise TypeError(msg)
    texts = [codes] if isinstance(codes, str) else list(codes)
    for text in texts:
        if not isinstance(text, str):
            advice = "leave them out first"
            if not pd.isna(text):
                advice = "numbers have lost zeros, so read them as text"
            msg = f"codes must be texts; found {listed([text])} ({type(text).__name__}): {advice}."
            raise TypeError(msg)
    spelled = [spell(text, name).code for text in texts]
    wrong = [text for text, code in zip(texts, spelled, strict=True) if not code]
    if wrong:
        msg = f"codes: {listed(wrong)} do not have the form of {name} codes; leave them out first."
        raise ValueError(msg)
    return np.array([category_of(code, name) for code in spelled], dtype=np.str_)


def title(code: str, system: str) -> str:
    """Return the title of a code, or of the nearest code above it that has one.

    Parameters
    ----------
    code : str
        A code with or without dot, of any length.
    system : {"icd9", "icd10"}
        Its coding system.

    Returns
    -------
    str
        The title; the code itself where the tables know nothing above it.

    Raises
    ------
    ValueError
        If the text does not have the form of a code of `system`.

    Examples
    --------
    >>> title("428", "icd9")
    'Heart failure'
    >>> title("I50.1", "icd10")
    'Left ventricular failure, unspecified'
    """
    name = _known(system)
    require_text(code, "code")
    stem = str(category([code], name)[0])
    full = spell(code, name).code
    titles = _tables.code_titles(name)
    for length in range(len(full), len(stem) - 1, -1):
        if full[:length] in titles:
            return titles[full[:length]]
    return full


def chapter(code: str, system: str) -> str:
    """Return the title of the chapter that a code belongs to.

    Parameters
    ----------
    code : str
        A code with or without dot, of any length.
    system : {"icd9", "icd10"}
        Its coding system.

    Returns
    -------
    str
        The chapter's title; "Not in the table" for a category that the tables do not have.

    Raises
    ------
    ValueError
        If the text does not have the form of a code of `system`.

    Examples
    --------
    >>> chapter("428.0", "icd9")
    'Diseases Of The Circulatory System'
    >>> chapter("E11", "icd10")
    'Endocrine, nutritional and metabolic diseases'
    """
    name = _known(system)
    require_text(code, "code")
    stem = category([code], name)[0]
    table = _tables.category_table(name)
    return str(table.at[stem, "chapter"]) if stem in table.index else NO_CHAPTER


def categories(system: str) -> pd.DataFrame:
    """Return the categories of a system.

    Parameters
    ----------
    system : {"icd9", "icd10"}
        ICD-9-CM (1,234 categories, as of version 32) or ICD-10-CM (1,918, as of April 2026).

    Returns
    -------
    DataFrame
        By category: title, block, chapter_number, chapter.

    Examples
    --------
    >>> len(categories("icd9"))
    1234
    """
    return _tables.category_table(_known(system)).copy()


def chapters(system: str) -> pd.DataFrame:
    """Return the chapters of a system.

    Parameters
    ----------
    system : {"icd9", "icd10"}
        ICD-9-CM (19 chapters with V and E codes) or ICD-10-CM (22).

    Returns
    -------
    DataFrame
        By number: title, start, end (first and last category).

    Examples
    --------
    >>> chapters("icd9").loc[7].tolist()
    ['Diseases Of The Circulatory System', '390', '459']
    """
    return _tables.chapter_table(_known(system)).copy()
