"""Names, notes and marks of phenotypes, as they are kept with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

PHENOTYPES = "phenotypes"  # of annotations_
MARKS = {"": "undecided", "yes": "meaningful", "no": "not meaningful"}


@dataclass(frozen=True)
class Annotation:
    """Name, note and mark of one phenotype."""

    name: str = ""  # As typed
    note: str = ""  # As typed
    mark: str = ""  # Undecided, meaningful, or not meaningful
    by: str = ""  # Who marked it, if that was told
    on: str = ""  # The day of the mark


NOTHING = Annotation()


@dataclass(frozen=True)
class Annotations:
    """Annotations of all phenotypes."""

    items: Mapping[int, Annotation] = field(default_factory=dict)  # Where anything is said

    @classmethod
    def saying(cls, items: Mapping[int, Annotation]) -> Annotations:
        """Return annotations without those that say nothing."""
        return cls({number: items[number] for number in sorted(items) if items[number] != NOTHING})

    def of(self, phenotype: int) -> Annotation:
        """Return what is said of a phenotype."""
        return self.items.get(phenotype, NOTHING)

    def replaced(self, phenotype: int, annotation: Annotation) -> Annotations:
        """Say something else of a phenotype."""
        return self.saying({**self.items, phenotype: annotation})

    def carried_over(self, partners: Mapping[int, int]) -> Annotations:
        """Say the same of other phenotypes, but for marks."""
        kept = {new: self.of(old) for old, new in partners.items()}
        return self.saying({r: replace(one, mark="", by="", on="") for r, one in kept.items()})

    def to_annotations(self) -> dict[str, Any]:
        """Return everything as JSON values, to keep with the model."""
        said = {number: asdict(annotation).items() for number, annotation in self.items.items()}
        return {PHENOTYPES: {str(n): {key: x for key, x in one if x} for n, one in said.items()}}

    @classmethod
    def kept_with(cls, n: int, notes: Any) -> Annotations:
        """Read what `to_annotations` wrote; what cannot be understood is left out."""
        known = notes.get(PHENOTYPES) if isinstance(notes, Mapping) else None
        told = known if isinstance(known, Mapping) else {}
        return cls.saying({r: _annotation(told.get(str(r))) for r in range(n)})


def _annotation(known: Any) -> Annotation:
    """Read what was said of one phenotype."""
    told = known if isinstance(known, Mapping) else {}
    texts = {name: told[name] for name in asdict(NOTHING) if isinstance(told.get(name), str)}
    mark = texts.get("mark", "")
    return Annotation(**{**texts, "mark": mark if mark in MARKS else ""})
