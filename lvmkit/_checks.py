"""What lvmkit says when its input is wrong."""

from collections.abc import Iterable
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np


class DataWarning(UserWarning):
    """Data were repaired, left out or clipped; the message says what, how many and what to do."""


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Name at most `most` values, and how many more there are."""
    values = list(values)
    shown = ", ".join(repr(v.item() if isinstance(v, np.generic) else v) for v in values[:most])
    more = len(values) - most
    return f"{shown} and {more} more" if more > 0 else shown


def require_number(
    value: Any, name: str, *, least: float, whole: bool = False, above: bool = False
) -> None:
    """Refuse an option that is no number (or no whole one), or is smaller than allowed, or infinite."""
    kind = "a whole number" if whole else "a number"
    bound = f"greater than {least:g}" if above else f"at least {least:g}"
    fits = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not fits:
        msg = f"{name} must be {kind}, {bound}; found {value!r} ({type(value).__name__})"
        raise TypeError(msg)
    if not (least < value < inf if above else least <= value < inf):
        msg = f"{name} must be {kind}, {bound}; found {value!r}"
        raise ValueError(msg)
