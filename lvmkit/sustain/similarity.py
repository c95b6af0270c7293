"""How alike phenotypes are: cosines of integer vectors, duplicates, and which new one is which old one."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.sustain.phenotypes import Phenotypes

ALIKE = 0.9  # from here on two phenotypes are told to be nearly the same
SAME = 0.7  # from here on a phenotype of another fit gets the name


def cosine_similarities(a: Phenotypes, b: Phenotypes) -> Array:
    """Compare every phenotype with every other, (r, s)."""
    found = np.ones((len(a), len(b)))
    for mine, other in zip(a.modes, b.modes, strict=True):
        found = found * (_unit(mine.scores).T @ _unit(other.scores))
    return np.asarray(found.clip(-1, 1))


def near_duplicates(cosines: Array) -> list[list[tuple[int, float]]]:
    """Find phenotypes that are nearly the same."""
    found = []
    for r, row in enumerate(cosines):
        near = [int(s) for s in np.argsort(-row, kind="stable") if s != r and row[s] >= ALIKE]
        found.append([(s, float(row[s])) for s in near])
    return found


def match_phenotypes(old: Phenotypes, new: Phenotypes) -> dict[int, int]:
    """Find which phenotype of a new fit is which of an old one, where that is clear."""
    if [mode.codes for mode in old.modes] != [mode.codes for mode in new.modes]:
        return {}
    cosines = cosine_similarities(old, new)
    nearest, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    return {r: int(s) for r, s in enumerate(nearest) if back[s] == r and cosines[r, s] >= SAME}


def _unit(scores: Labels) -> Any:
    """Scale columns to length 1; empty ones stay 0."""
    values = np.asarray(scores, dtype=float)
    length = np.sqrt((values**2).sum(axis=0))
    return np.asarray(values / np.where(length > 0, length, 1.0))
