"""Similarity of phenotypes: cosines, near duplicates, matching between two fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.sustain.phenotypes import Phenotypes

DUPLICATE_COSINE = 0.9  # from here on two phenotypes are told to be nearly the same
MATCH_COSINE = 0.7  # from here on a phenotype of another fit gets the name


def cosine_similarities(a: Phenotypes, b: Phenotypes) -> Array:
    """Cosine similarity of every phenotype with every other, (r, s)."""
    found = np.ones((len(a), len(b)))
    for mine, other in zip(a.modes, b.modes, strict=True):
        found = found * (_unit(mine.scores).T @ _unit(other.scores))
    return np.asarray(found.clip(-1, 1))


def near_duplicates(cosines: Array) -> list[list[tuple[int, float]]]:
    """Find phenotypes with a cosine of 0.9 or more to another."""
    found = []
    for r, row in enumerate(cosines):
        near = [
            int(s) for s in np.argsort(-row, kind="stable") if s != r and row[s] >= DUPLICATE_COSINE
        ]
        found.append([(s, float(row[s])) for s in near])
    return found


def match_phenotypes(old: Phenotypes, new: Phenotypes) -> dict[int, int]:
    """Match phenotypes of two fits: mutual nearest, cosine 0.7 or more."""
    if [mode.codes for mode in old.modes] != [mode.codes for mode in new.modes]:
        return {}
    cosines = cosine_similarities(old, new)
    nearest, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    return {
        r: int(s) for r, s in enumerate(nearest) if back[s] == r and cosines[r, s] >= MATCH_COSINE
    }


def _unit(scores: Labels) -> Any:
    """Scale columns to length 1; empty ones stay 0."""
    values = np.asarray(scores, dtype=float)
    length = np.sqrt((values**2).sum(axis=0))
    return np.asarray(values / np.where(length > 0, length, 1.0))
