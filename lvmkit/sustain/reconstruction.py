"""A patient's counts as the sum of products of scores, beside the observed counts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from lvmkit.core.typing import Labels
from lvmkit.sustain.count_cohort import Cells
from lvmkit.sustain.phenotypes import Phenotypes

MAX_OBSERVED = 500  # cells of a patient that are told, the largest
MAX_TRIED = 2_000  # cells of a phenotype that are multiplied out where nothing was seen
MAX_UNOBSERVED = 20  # cells of these that are told


def explain_cells(phenotypes: Phenotypes, scores: Any, cells: Cells) -> list[dict[str, Any]]:
    """Return a table row per cell of a patient: observed and expected count, and how it comes about."""
    places, counts = cells
    rows = _rows(
        phenotypes, scores, tuple(axis[:MAX_OBSERVED] for axis in places), counts[:MAX_OBSERVED]
    )
    found = _unseen(phenotypes, np.asarray(scores), places)
    expected = phenotypes.expected(scores, found).sum(axis=1)
    order = np.argsort(-expected, kind="stable")[:MAX_UNOBSERVED]
    more = tuple(axis[order] for axis in found)
    return rows + _rows(phenotypes, scores, more, np.zeros(len(order), dtype=np.int64))


def describe_error(phenotypes: Phenotypes, scores: Any, cells: Cells) -> str:
    """Return a sentence on the fit of one patient: totals, and cells met exactly."""
    places, counts = cells
    seen = float(counts.sum())
    expected = phenotypes.expected(scores, places).sum(axis=1)
    near = int((np.asarray(expected) == counts).sum())
    return (
        f"{seen:,.0f} were counted, in {len(counts):,} {'entry' if len(counts) == 1 else 'entries'}; "
        f"of these the scores expect {float(expected.sum()):,.0f}. {near:,} of the entries are met exactly."
    )


def _rows(
    phenotypes: Phenotypes, scores: Any, places: tuple[Labels, ...], counts: Any
) -> list[dict[str, Any]]:
    """Return the table rows of some cells."""
    parts = phenotypes.expected(scores, places)
    return [
        {
            "what": " × ".join(
                mode.describe(int(axis[c]))
                for mode, axis in zip(phenotypes.modes, places, strict=True)
            ),
            "seen": _plain(counts[c]),
            "expected": int(parts[c].sum()),
            "how": _sum(phenotypes, scores, [int(axis[c]) for axis in places], parts[c]),
        }
        for c in range(len(counts))
    ]


def _sum(phenotypes: Phenotypes, scores: Any, features: list[int], parts: Any) -> str:
    """Write an expected count as a sum over phenotypes."""
    terms = []
    for r in np.flatnonzero(parts):
        own = [mode.scores[j, r] for mode, j in zip(phenotypes.modes, features, strict=True)]
        factors = " · ".join(_signed(x) for x in (phenotypes.weights[r], scores[r], *own))
        terms.append(f"{factors} (phenotype {r})")
    return " + ".join(terms) or "no phenotype of this patient has it"


def _unseen(phenotypes: Phenotypes, scores: Labels, seen: tuple[Labels, ...]) -> tuple[Labels, ...]:
    """Find cells with an expected count above 0 that were not observed."""
    known = set(zip(*(axis.tolist() for axis in seen), strict=True))
    most = max(2, int(MAX_TRIED ** (1 / len(phenotypes.modes))))  # of each mode
    found: dict[tuple[int, ...], None] = {}
    for r in np.flatnonzero(scores):
        first = [mode.best(int(r))[:most].tolist() for mode in phenotypes.modes]
        found |= dict.fromkeys(cell for cell in product(*first) if cell not in known)
    cells = np.array(list(found), dtype=np.intp).reshape(len(found), len(phenotypes.modes))
    positive = phenotypes.expected(scores, tuple(cells.T)).sum(axis=1) > 0
    return tuple(cells[positive].T)


def _signed(value: Any) -> str:
    """Write a factor; negative ones in brackets."""
    number = int(value)
    return f"{number}" if number >= 0 else f"(−{-number})"


def _plain(value: Any) -> int | float:
    """Write a count as a whole number where it is one."""
    number = float(value)
    return int(number) if number.is_integer() else number
