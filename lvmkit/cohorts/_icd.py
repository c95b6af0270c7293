"""ICD codes: system, lost zeros, dots, categories."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lvmkit.cohorts._tables import category_table
from lvmkit.core.validation import listed

ICD9 = re.compile(r"(?P<stem>\d{1,3}|V\d{1,2}|E\d{3})\.(?P<rest>\d{0,2})|\d{1,5}|V\d{1,4}|E\d{3,4}")
ICD10 = re.compile(r"[A-Z](\d[0-9AB]|A\d)(\.|\.?[0-9A-Z]{1,4})?")
FORMS = {"icd9": ICD9, "icd10": ICD10}
PROCEDURE = re.compile(r"(?P<stem>\d{1,2})\.(?P<rest>\d{0,2})|\d{2,4}")
"""ICD-9-CM procedures, volume 3: two digits, a dot, two more."""
SYSTEM_NAMES = {
    "icd9": "icd9", "icd9cm": "icd9", "9": "icd9", "09": "icd9",
    "icd10": "icd10", "icd10cm": "icd10", "10": "icd10",
    "icd9procedures": "icd9procedure", "icd9proc": "icd9procedure", "icd9pcs": "icd9procedure",
}  # fmt: skip


class Spelling(NamedTuple):
    """One code as it should be written."""

    code: str
    """Without dot; "" where the text is no code of the system."""
    padded: bool
    """Whether leading zeros had been lost."""


def system_name(text: str) -> str:
    """Return the short name of a coding system: "ICD-9-CM", "9" and "icd9" are one."""
    key = re.sub(r"[^a-z0-9]", "", text.lower())
    return SYSTEM_NAMES.get(key, key or "other")


def spell(text: str, system: str) -> Spelling:
    """Write one code in the form of its system: upper case, no dot, no lost zeros."""
    if system == "icd9procedure":
        return _procedure(text.strip())
    if system not in FORMS:
        return Spelling(text.strip(), padded=False)
    code = text.strip().upper()
    found = FORMS[system].fullmatch(code)
    if not found:
        return Spelling("", padded=False)
    if system == "icd10":
        return Spelling(code.replace(".", ""), padded=False)
    stem, rest = found["stem"] or code, found["rest"] or ""
    letter, digits = (stem[0], stem[1:]) if stem[0] in "VE" else ("", stem)
    full = digits.zfill(2 if letter == "V" else 3)
    return Spelling(letter + full + rest, padded=full != digits)


def _procedure(code: str) -> Spelling:
    """Write a code of ICD-9-CM's volume 3; a zero is known to be lost where there is a dot."""
    found = PROCEDURE.fullmatch(code)
    if not found:
        return Spelling("", padded=False)
    stem = found["stem"]
    if stem is None:
        return Spelling(code, padded=False)
    return Spelling(stem.zfill(2) + found["rest"], padded=len(stem) < 2)


def category_of(code: str, system: str) -> str:
    """Category of a code already spelled: 3 characters, 4 for the E codes of ICD-9."""
    if system not in FORMS:
        return code
    return code[: 4 if system == "icd9" and code.startswith("E") else 3]


def kind_of(text: str) -> str:
    """Say which system the form of a text belongs to: "icd9", "icd10", "either" or "neither"."""
    code = text.strip().upper()
    nine, ten = bool(ICD9.fullmatch(code)), bool(ICD10.fullmatch(code))
    if nine and ten:
        return "either"
    return "icd9" if nine else "icd10" if ten else "neither"


def known_in(text: str) -> set[str]:
    """Systems whose tables have the category of a text that has the form of both."""
    return {
        name
        for name in FORMS
        if category_of(spell(text, name).code, name) in category_table(name).index
    }


def find_system(codes: Sequence[tuple[str, int]], column: str) -> str:
    """Say which system distinct codes, given with their numbers of rows, belong to."""
    rows: Counter[str] = Counter()
    examples: dict[str, list[str]] = {"icd9": [], "icd10": [], "either": [], "neither": []}
    for text, n in codes:
        kind = kind_of(text)
        rows[kind] += n
        examples[kind].append(text)
    if 2 * rows["neither"] > rows.total() or not rows.total():
        return "other"
    if rows["icd9"] and rows["icd10"]:
        msg = (
            f"code={column!r} mixes systems: {rows['icd9']:,} rows look like ICD-9 ({listed(examples['icd9'])}) "
            f"and {rows['icd10']:,} like ICD-10 ({listed(examples['icd10'])}). Name the column that tells them "
            "apart with system=, or the one system that holds for all: system='icd9', 'icd10' or 'other'."
        )
        raise ValueError(msg)
    if rows["icd9"] or rows["icd10"]:
        return "icd9" if rows["icd9"] else "icd10"
    possible = set.intersection(*map(known_in, examples["either"]))
    if len(possible) == 1:
        return possible.pop()
    msg = (
        f"code={column!r} holds only codes that ICD-9 and ICD-10 both have ({listed(examples['either'])}); "
        "pass system='icd9' or system='icd10'."
    )
    raise ValueError(msg)
