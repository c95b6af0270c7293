"""Parse typed counts of a patient into a row that `transform` takes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.sustain.count_cohort import Cells
from lvmkit.sustain.phenotypes import FeatureMode, Phenotypes, undotted

MAX_COUNT = 1_000_000  # a larger count is a slip of the hand


def parse_entries(text: str, phenotypes: Phenotypes) -> tuple[Cells, list[str]]:
    """Parse typed entries; return cells and counts, and what was not understood."""
    found: dict[tuple[int, ...], int] = {}
    unknown = []
    for entry in filter(None, (part.strip() for part in re.split(r"[\n;]+", text))):
        codes, _, times = (
            entry.rpartition(":") if re.search(r":\s*\S+$", entry) else (entry, "", "1")
        )
        parts = [part.strip() for part in codes.split(" + ")]
        if len(parts) == 1 < len(phenotypes.modes):
            parts = [part.strip() for part in codes.split("+")]
        try:
            n = _parse_count(times)
            if len(parts) != len(phenotypes.modes):
                names = " + ".join(mode.name for mode in phenotypes.modes)
                message = f"an entry is {names}"
                raise ValueError(message)
            cell = tuple(_find_feature(p, m) for p, m in zip(parts, phenotypes.modes, strict=True))
        except ValueError as error:
            unknown.append(f"“{entry}”: {error}")
            continue
        found[cell] = found.get(cell, 0) + n
    cells = np.array(list(found), dtype=np.intp).reshape(len(found), len(phenotypes.modes))
    return (tuple(cells.T), np.array(list(found.values()), dtype=np.int64)), unknown


def counts_row(cells: Cells, phenotypes: Phenotypes) -> Any:
    """Return the counts of one patient as data for `transform`, (1, ...)."""
    places, counts = cells
    shape = (1, *(len(mode.codes) for mode in phenotypes.modes))
    first = np.zeros(len(counts), dtype=np.intp)
    row = sparse.coo_array((counts, (first, *places)), shape=shape)
    return row.tocsr() if len(shape) == 2 else row


def _parse_count(text: str) -> int:
    """Parse a count."""
    if not re.fullmatch(r"\d{1,7}", text.strip()) or not 1 <= int(text) <= MAX_COUNT:
        message = f"“{text.strip()}” is no whole number from 1 on"
        raise ValueError(message)
    return int(text)


def _find_feature(typed: str, mode: FeatureMode) -> int:
    """Find a feature by its code, with or without dots, by its category, or by its title."""
    if typed in mode.place:
        return mode.place[typed]
    code = undotted(typed)
    for n in range(len(code), 2, -1):
        if code[:n] in mode.undotted:
            return mode.undotted[code[:n]]
    titles = [title.casefold() for title in mode.titles]
    if typed and typed.casefold() in titles:
        return titles.index(typed.casefold())
    message = f"the model has no {mode.name} “{typed}”"
    raise ValueError(message)
