"""Validation of options that all cohorts share."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


def check_titles(titles: Any, name: str = "titles") -> dict[str, str]:
    """Return titles by code; refuse what does not say which code a title belongs to, and titles that are no text."""
    if titles is None:
        return {}
    if not isinstance(titles, Mapping | pd.Series):
        msg = f"{name} must be a mapping of codes to titles, such as {{'428': 'Heart failure'}}; found {_kind(titles)}"
        raise TypeError(msg)
    wrong = next((item for item in titles.items() if not _is_title(item[1])), None)
    if wrong:
        msg = f"{name} must hold texts (str); the title of {wrong[0]!r} is {wrong[1]!r} ({_kind(wrong[1])})"
        raise TypeError(msg)
    return {str(code): title for code, title in titles.items() if isinstance(title, str)}


def _is_title(value: Any) -> bool:
    """Whether a value is text, or missing, as in tables that lack some titles."""
    return isinstance(value, str) or value is None or value is pd.NA or value != value


def _kind(value: Any) -> str:
    """Name the type of a value."""
    return type(value).__name__
