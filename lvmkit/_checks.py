"""What lvmkit says when its input is wrong."""

from collections.abc import Iterable
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
