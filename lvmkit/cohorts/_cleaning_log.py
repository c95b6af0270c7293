"""Cleaning log: what was changed or left out, kept with the cohort and warned of."""

import warnings
from dataclasses import dataclass, field

from lvmkit.core.validation import DataWarning


@dataclass
class Repairs:
    """Sentences on what was repaired, and numbers of what was dropped and why."""

    told: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)

    def tell(self, sentence: str) -> None:
        """Add one sentence to the log."""
        self.told.append(sentence)

    def drop(self, why: str, n: int, sentence: str = "") -> None:
        """Count what was dropped for one reason; say it if there is a sentence and anything to say."""
        self.dropped[why] = n
        if n and sentence:
            self.tell(sentence)

    def absorb(self, part: "Repairs", name: str) -> None:
        """Add the log of a part, its numbers under the part's name."""
        self.told += part.told
        self.dropped |= {f"{name}: {why}": n for why, n in part.dropped.items()}

    def announce(self, stacklevel: int = 3) -> None:
        """Raise each sentence as a DataWarning at the caller of the public function."""
        for sentence in self.told:
            warnings.warn(sentence, DataWarning, stacklevel=stacklevel)


def number_of(n: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
