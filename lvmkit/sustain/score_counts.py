"""Patients per score and phenotype, with small counts suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array, Labels
from lvmkit.disclosure import suppression
from lvmkit.disclosure.text import shown_count

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Patients by score."""

    n: int  # Patients in all
    levels: range  # Scores that a patient can have; 0 is among them
    counts: npt.NDArray[np.int64]  # Patients with each score, for each phenotype
    both: npt.NDArray[np.int64]  # (r, r): Patients with a score other than 0 in both phenotypes

    @classmethod
    def of(cls, scores: Labels, levels: range) -> ScoreCounts:
        """Count patients."""
        n, r = scores.shape
        counts = np.zeros((r, len(levels)), dtype=np.int64)
        for phenotype in range(r):
            places = scores[:, phenotype].astype(np.intp) - levels.start
            counts[phenotype] = np.bincount(places, minlength=len(levels))
        has = (scores != 0).astype(np.float32)
        return cls(n, levels, counts, (has.T @ has).round().astype(np.int64))

    @property
    def zero(self) -> int:
        """Place of the score 0 among the levels."""
        return -self.levels.start


@dataclass(frozen=True, eq=False)
class DisclosedCounts:
    """Counts of patients after suppression."""

    counted: ScoreCounts  # All numbers
    threshold: int  # Smaller counts are hidden; 0 hides nothing

    @cached_property
    def _hidden(self) -> Mask:
        """Counts that are not shown (r, levels): small ones, and those from which these could be found."""
        counts, n = self.counted.counts, self.counted.n
        if not self.threshold:
            return np.zeros(counts.shape, dtype=bool)
        sizes = np.full(counts.shape[1], n)
        found = suppression(counts.T, sizes=sizes, threshold=self.threshold)
        return np.asarray(found.cells.T | found.totals[:, None])

    @property
    def total(self) -> int | str:
        """Patients in all; text if they are few."""
        n = self.counted.n
        return f"<{self.threshold}" if 1 <= n < self.threshold else n

    def counts(self, phenotype: int) -> list[int | str]:
        """Return the patients at each score."""
        whole = self.counted.counts[phenotype]
        shown = np.where(self._hidden[phenotype], np.nan, whole)
        return [
            shown_count(x, n, self.threshold) for x, n in zip(shown, whole.tolist(), strict=True)
        ]

    def cutoffs(self, phenotype: int) -> list[int]:
        """Score levels at which cumulated counts give no suppressed one away."""
        levels, found, start = self.counted.levels, [], 0
        for cut in range(1, len(levels)):
            if self._safe(phenotype, slice(start, cut)) and self._safe(phenotype, slice(cut, None)):
                found.append(levels[cut] if levels[cut] > 0 else levels[cut - 1])
                start = cut
        return found

    def n_with_score(self, phenotype: int) -> int | str:
        """Return how many patients have a score other than 0."""
        counted = self.counted
        if self._hidden[phenotype, counted.zero]:
            return "hidden"
        return counted.n - int(counted.counts[phenotype, counted.zero])

    def _safe(self, phenotype: int, part: slice) -> bool:
        """Return whether the sum of some levels may be shown: no suppressed count follows from it."""
        if not self.threshold:
            return True
        counts, hidden = self.counted.counts[phenotype, part, None], self._hidden[phenotype, part]
        sizes = np.full(len(counts), self.counted.n)
        found = suppression(counts, sizes=sizes, hidden=hidden[:, None], threshold=self.threshold)
        return bool((found.cells[:, 0] == hidden).all() and not found.totals[0])

    @cached_property
    def prevalence(self) -> Array:
        """Share of the patients whose score is not 0 (r,); NaN where hidden."""
        found = [self.n_with_score(r) for r in range(len(self.counted.counts))]
        n = max(self.counted.n, 1)
        return np.array([np.nan if isinstance(x, str) else x / n for x in found])

    @cached_property
    def both(self) -> list[list[int | None]]:
        """Patients with two phenotypes (r, r); None where that, or one without the other, is hidden."""
        c = self.counted
        one = np.diag(c.both)
        rest = [c.both, one[:, None] - c.both, one[None, :] - c.both]
        four = np.stack([*rest, c.n - one[:, None] - rest[2]])
        few = ((four >= 1) & (four < self.threshold)).any(axis=0)
        gone = np.isnan(self.prevalence)
        hidden = few | gone[:, None] | gone[None, :]
        return [
            [None if h else int(x) for x, h in zip(line, hide, strict=True)]
            for line, hide in zip(c.both, hidden, strict=True)
        ]
