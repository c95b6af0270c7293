"""Validation of values, repeats and protocols of a stability study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lvmkit.core.validation import listed
from lvmkit.scores.stability.refits import PROTOCOLS

MOST_REPEATS = 100
MOST_VALUES = 40


def checked_values(values: Iterable[Any], *, name: str = "") -> list[int]:
    """Return values in ascending order."""
    given = list(values)
    wrong = [
        v for v in given if isinstance(v, bool) or not isinstance(v, int | np.integer) or v < 1
    ]
    if wrong or not given:
        start = f"{name}: n" if name else "N"
        found = f"{listed(wrong[:1])} was given" if wrong else "none was given"
        message = f"{start}umbers of clusters, or depths, are whole numbers of 1 or more; {found}."
        raise ValueError(message)
    if len(set(given)) > MOST_VALUES:
        message = (
            f"At most {MOST_VALUES} numbers are compared at a time; {len(set(given))} were given."
        )
        raise ValueError(message)
    return sorted({int(value) for value in given})


def checked_repeats(n_repeats: Any) -> int:
    """Return a number of repeats."""
    whole = isinstance(n_repeats, int | np.integer) and not isinstance(n_repeats, bool)
    if not whole or not 1 <= n_repeats <= MOST_REPEATS:
        message = (
            f"The number of repeats, n_repeats, is a whole number from 1 to {MOST_REPEATS}; "
            f"{n_repeats!r} was given."
        )
        raise ValueError(message)
    return int(n_repeats)


def checked_protocol(protocol: str) -> str:
    """Return what is compared."""
    if protocol not in PROTOCOLS:
        message = f"Compare by one of {', '.join(PROTOCOLS)}; {protocol!r} was given."
        raise ValueError(message)
    return protocol


def parsed_values(text: str) -> list[int]:
    """Read numbers from a text such as "2-8, 12"."""
    found: list[int] = []
    for part in re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text.strip())):
        ends = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if ends is None:
            message = f"Write numbers and ranges such as 2-8, 12; “{part or text}” is neither."
            raise ValueError(message)
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return checked_values(found)


def written_values(values: Sequence[int]) -> str:
    """Write numbers as `parsed_values` reads them."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts)
