"""What clinicians say of phenotypes: names, notes and marks, as values; every change returns a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

PHENOTYPES = "phenotypes"  # of annotations_
LONGEST = {"name": 200, "note": 4_000, "by": 100}  # letters
MARKS = {"": "undecided", "yes": "meaningful", "no": "not meaningful"}


@dataclass(frozen=True)
class Said:
    """What is said of one phenotype."""

    name: str = ""  # As typed
    note: str = ""  # As typed
    mark: str = ""  # Undecided, meaningful, or not meaningful
    by: str = ""  # Who marked it, if that was told, and the day
    on: str = ""  # Who marked it, if that was told, and the day


NOTHING = Said()


@dataclass(frozen=True)
class Marked:
    """What is said of every phenotype: the unit of undo and redo."""

    said: tuple[tuple[int, Said], ...] = ()

    def of(self, phenotype: int) -> Said:
        """Return what is said of a phenotype."""
        return dict(self.said).get(phenotype, NOTHING)

    def changed(self, phenotype: int, said: Said) -> Marked:
        """Say something else of a phenotype."""
        known = {number: old for number, old in self.said if number != phenotype}
        known |= {phenotype: said} if said != NOTHING else {}
        return Marked(tuple(sorted(known.items())))

    def carried(self, partners: Mapping[int, int]) -> Marked:
        """Say the same of other phenotypes."""
        kept = [
            (partners[number], replace(said, mark="", by="", on=""))
            for number, said in self.said
            if number in partners
        ]
        return Marked(tuple(sorted(pair for pair in kept if pair[1] != NOTHING)))

    def to_annotations(self) -> dict[str, Any]:
        """Return everything as JSON values, to keep with the model."""
        told = {
            str(number): {key: value for key, value in asdict(said).items() if value}
            for number, said in self.said
        }
        return {PHENOTYPES: told}

    @classmethod
    def kept_with(cls, n: int, notes: Any) -> Marked:
        """Read what `to_annotations` wrote; what cannot be understood is left out."""
        known = notes.get(PHENOTYPES) if isinstance(notes, Mapping) else None
        told = known if isinstance(known, Mapping) else {}
        pairs = [(r, _said(told.get(str(r)))) for r in range(n)]
        return cls(tuple((r, said) for r, said in pairs if said != NOTHING))


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


def _said(known: Any) -> Said:
    """Read what was said of one phenotype."""
    if not isinstance(known, Mapping):
        return NOTHING
    texts = {key: value for key, value in known.items() if isinstance(value, str)}
    mark = texts.get("mark", "")
    return Said(
        name=texts.get("name", ""),
        note=texts.get("note", ""),
        mark=mark if mark in MARKS else "",
        by=texts.get("by", ""),
        on=texts.get("on", ""),
    )
