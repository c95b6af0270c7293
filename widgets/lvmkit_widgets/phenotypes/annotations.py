"""Names, notes and marks of phenotypes, as values: every change returns a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

PHENOTYPES = "phenotypes"  # of annotations_
LONGEST = {"name": 200, "note": 4_000, "by": 100}  # letters
MARKS = {"": "undecided", "yes": "meaningful", "no": "not meaningful"}


@dataclass(frozen=True)
class Annotation:
    """Name, note and mark of one phenotype."""

    name: str = ""  # As typed
    note: str = ""  # As typed
    mark: str = ""  # Undecided, meaningful, or not meaningful
    by: str = ""  # Who marked it, if that was told, and the day
    on: str = ""  # Who marked it, if that was told, and the day


NOTHING = Annotation()


@dataclass(frozen=True)
class Annotations:
    """Annotations of all phenotypes: the unit of undo and redo."""

    items: tuple[tuple[int, Annotation], ...] = ()

    def of(self, phenotype: int) -> Annotation:
        """Return what is said of a phenotype."""
        return dict(self.items).get(phenotype, NOTHING)

    def replaced(self, phenotype: int, annotation: Annotation) -> Annotations:
        """Say something else of a phenotype."""
        known = {number: old for number, old in self.items if number != phenotype}
        known |= {phenotype: annotation} if annotation != NOTHING else {}
        return Annotations(tuple(sorted(known.items())))

    def carried_over(self, partners: Mapping[int, int]) -> Annotations:
        """Say the same of other phenotypes."""
        kept = [
            (partners[number], replace(annotation, mark="", by="", on=""))
            for number, annotation in self.items
            if number in partners
        ]
        return Annotations(tuple(sorted(pair for pair in kept if pair[1] != NOTHING)))

    def to_annotations(self) -> dict[str, Any]:
        """Return everything as JSON values, to keep with the model."""
        told = {
            str(number): {key: value for key, value in asdict(annotation).items() if value}
            for number, annotation in self.items
        }
        return {PHENOTYPES: told}

    @classmethod
    def kept_with(cls, n: int, notes: Any) -> Annotations:
        """Read what `to_annotations` wrote; what cannot be understood is left out."""
        known = notes.get(PHENOTYPES) if isinstance(notes, Mapping) else None
        told = known if isinstance(known, Mapping) else {}
        pairs = [(r, _annotation(told.get(str(r)))) for r in range(n)]
        return cls(tuple((r, annotation) for r, annotation in pairs if annotation != NOTHING))


def tidied(field: str, value: Any) -> str:
    """Return a text as it is kept."""
    if not isinstance(value, str):
        message = f'{field} is {value!r}; pass a text, or "" to take it away.'
        raise TypeError(message)
    if field == "mark":
        if value not in MARKS:
            message = f"mark is {value!r}; it is one of {', '.join(map(repr, MARKS))}."
            raise ValueError(message)
        return value
    text = value.strip() if field == "note" else " ".join(value.split())
    return text[: LONGEST[field]]


def _annotation(known: Any) -> Annotation:
    """Read what was said of one phenotype."""
    if not isinstance(known, Mapping):
        return NOTHING
    texts = {key: value for key, value in known.items() if isinstance(value, str)}
    mark = texts.get("mark", "")
    return Annotation(
        name=texts.get("name", ""),
        note=texts.get("note", ""),
        mark=mark if mark in MARKS else "",
        by=texts.get("by", ""),
        on=texts.get("on", ""),
    )
