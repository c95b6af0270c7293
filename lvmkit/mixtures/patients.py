"""Typical and borderline patients of a cluster, and patients typed by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array
from lvmkit.mixtures.assignment import Assignment


def typical(
    assignment: Assignment, position: int, centers: Array, *, count: int = 10
) -> npt.NDArray[np.intp]:
    """Find the patients that look most like their cluster."""
    members = np.flatnonzero(assignment.positions == position)
    codes = assignment.X[members]
    length = np.sqrt(np.maximum(np.asarray(codes.sum(axis=1)).ravel(), 1.0))
    center = centers[position]
    likeness = np.asarray(codes @ center).ravel() / (length * max(np.linalg.norm(center), 1e-12))
    score = assignment.posterior[members, position] * likeness
    return members[np.argsort(-score, kind="stable")[:count]]


def borderline(assignment: Assignment, position: int, *, count: int = 10) -> npt.NDArray[np.intp]:
    """Find the patients that nearly belong to another cluster."""
    members = np.flatnonzero(assignment.positions == position)
    second = assignment.posterior[members, assignment.runner_up[members]]
    lead = assignment.certainty[members] - second
    return members[np.argsort(lead, kind="stable")[:count]]


@dataclass(frozen=True)
class TypedCodes:
    """Codes parsed from typed text."""

    known: tuple[str, ...]  # Codes of the model
    unknown: tuple[str, ...]  # What the model has no code for, as typed
    shortened: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The parsed codes in words."""
        parts = []
        if self.shortened:
            pairs = ", ".join(f"{typed} as {code}" for typed, code in self.shortened)
            parts.append(f"Read by category: {pairs}.")
        if self.unknown:
            parts.append(
                f"Not among the codes of this model, so left out: {', '.join(self.unknown)}."
            )
        return " ".join(parts)


def read_codes(text: str, codes: Sequence[str]) -> TypedCodes:
    """Understand codes typed by hand, in any order, with or without dots."""
    plain = {_plain(code): code for code in codes}
    known: dict[str, None] = {}
    unknown, shortened = [], []
    for typed in re.split(r"[\s,;|]+", text.strip()):
        if not typed:
            continue
        code = _plain(typed)
        shorter = next((code[:n] for n in range(len(code) - 1, 2, -1) if code[:n] in plain), None)
        if code in plain:
            known[plain[code]] = None
        elif shorter is not None:
            known[plain[shorter]] = None
            shortened.append((typed, plain[shorter]))
        else:
            unknown.append(typed)
    return TypedCodes(tuple(known), tuple(unknown), tuple(shortened))


def present(codes: Sequence[str], known: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Mark codes in the order of the model, (d,)."""
    return np.isin(np.array(codes, dtype=str), np.array(list(known), dtype=str))


def codes_of(row: Any, codes: Sequence[str]) -> list[str]:
    """List the codes of one patient."""
    return [codes[j] for j in np.sort(row.indices[row.data > 0])]


def _plain(code: str) -> str:
    """Write a code without dots, in capitals."""
    return code.replace(".", "").upper()
