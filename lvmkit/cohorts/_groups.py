"""Grouping of the codes of a mode: categories, chapters, CCS groups or a mapping, with titles."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from lvmkit.cohorts import _tables
from lvmkit.cohorts._assemble import described
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import Entries, spelled
from lvmkit.cohorts._icd import FORMS, category_of, find_system, spell, system_name
from lvmkit.core.validation import listed, require_text

Group = str | Mapping[str, str] | Callable[[str], str | None] | None
RULES = ("category", "chapter", "ccs")
KNOWN = ("icd9", "icd10", "icd9procedure", "other")


@dataclass(frozen=True)
class CodeMode:
    """One mode but the patients: where its codes are and how they are to be read."""

    name: str
    column: str
    """Name of the column in messages."""
    system: str | None = None
    group: Group = None
    titles: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse an unknown system, and a rule that its codes have not."""
        rule = self.group if isinstance(self.group, str) else None
        require_text(self.system, f"system of {self.name!r}", optional=True)
        if self.system is not None and system_name(self.system) not in KNOWN:
            msg = f"system of {self.name!r} is {self.system!r}; expected {listed(KNOWN)}."
            raise ValueError(msg)
        if rule is not None and rule not in RULES:
            msg = (
                f"group of {self.name!r} is {rule!r}; expected {listed(RULES)}, a mapping of codes to groups, "
                "a function, or None for codes as they are."
            )
            raise ValueError(msg)
        if not (
            self.group is None or rule or isinstance(self.group, Mapping) or callable(self.group)
        ):
            kind = type(self.group).__name__
            msg = f"group of {self.name!r} must be a name, a mapping or a function; found {kind}."
            raise TypeError(msg)


def read_codes(
    codes: pd.DataFrame, entries: Entries, mode: CodeMode, repairs: Repairs
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Spell and group distinct texts (c, rows); return them with code, group and number k, and the groups' labels."""
    # A code that has no group has the number -1.
    system = _system(codes, mode)
    with _advised_by_mode(mode.name):
        read = spelled(codes.assign(system=system), entries, _level(mode.group), repairs)
    read = read[read["code"] != ""]
    read = read.assign(group=list(map(_grouping(mode.group, system), read["code"])))
    _state_ungrouped(read[read["group"] == ""], mode, repairs)
    by_number = mode.group == "ccs"
    labels = sorted(set(read["group"]) - {""}, key=lambda group: (len(group) * by_number, group))
    if not labels:
        msg = (
            f"{mode.name!r}: no row has a usable code in {mode.column!r}; is it the right column, system "
            "and group?"
        )
        raise ValueError(msg)
    number = {"": -1} | {group: k for k, group in enumerate(labels)}
    return read.assign(k=read["group"].map(number)), _titled(labels, system, mode, repairs)


@contextmanager
def _advised_by_mode(mode: str) -> Iterator[None]:
    """Say how to follow advice that is written for a table of one mode."""
    try:
        yield
    except ValueError as error:
        options = f"system={{{mode!r}: …}} and, for level, group={{{mode!r}: 'category'}}"
        msg = f"modes: {mode!r}: {error} Of a tensor these options are given by mode: {options}."
        raise ValueError(msg) from error


def _system(codes: pd.DataFrame, mode: CodeMode) -> str:
    """Coding system of a mode: as given, else found if the rule needs one, else "other"."""
    if mode.system is not None:
        system = system_name(mode.system)
    elif mode.group in ("category", "chapter"):
        pairs = zip(codes["c"], codes["rows"], strict=True)
        with _advised_by_mode(mode.name):
            system = find_system(list(pairs), mode.column)
    else:
        system = "other"
    forms = {"category": FORMS, "chapter": FORMS, "ccs": ("icd9", "icd9procedure")}
    if isinstance(mode.group, str) and system not in forms[mode.group]:
        msg = (
            f"group of {mode.name!r} is {mode.group!r}, which codes of system {system!r} do not have; pass "
            f"system={{{mode.name!r}: …}} with {' or '.join(map(repr, forms[mode.group]))}, or group by a mapping."
        )
        raise ValueError(msg)
    return system


def _level(group: Group) -> str:
    """Whether only the first characters of codes matter, as lost decimals do not then."""
    return "category" if group in ("category", "chapter") else "full"


def _grouping(rule: Group, system: str) -> Callable[[str], str]:
    """Return the function from a spelled code to its group, "" for none."""
    if callable(rule):
        return lambda code: _name(rule(code))
    if isinstance(rule, Mapping):
        groups = {spell(str(c), system).code or str(c).strip(): _name(g) for c, g in rule.items()}
        return lambda code: groups.get(code, "")
    if rule == "ccs":
        return lambda code: _tables.ccs_groups(system)[0].get(code, "")
    if rule == "category":
        return lambda code: category_of(code, system)
    if rule == "chapter":
        numbers = _tables.category_table(system)["chapter_number"].map("{:02}".format).to_dict()
        return lambda code: numbers.get(category_of(code, system), "")
    return str


def _name(group: object) -> str:
    """Return a group as text, "" for None, NaN and NA, which tables of groups are full of."""
    return "" if pd.isna(group) else str(group).strip()  # type: ignore[call-overload]  # a table's cell can be anything


def _state_ungrouped(codes: pd.DataFrame, mode: CodeMode, repairs: Repairs) -> None:
    """State which entries have a code without group."""
    n = int(codes["rows"].sum())
    repairs.drop(
        "entries_without_group",
        n,
        f"{number_of(n, 'entry', 'entries')} in {mode.column!r} ignored: group has no place for "
        f"{listed(codes['code'].tolist())}.",
    )


def _titled(labels: list[str], system: str, mode: CodeMode, repairs: Repairs) -> pd.DataFrame:
    """Name each group: title, chapter and system, by group."""
    if mode.group in (None, "category"):
        features = pd.DataFrame({"code": labels, "system": system})
        return described(features, mode.titles, repairs)
    titles: dict[str, str] = {}
    if mode.group == "ccs":
        titles = _tables.ccs_groups(system)[1]
    if mode.group == "chapter":
        titles = {f"{n:02}": title for n, title in _tables.chapter_table(system)["title"].items()}
    titles = {**titles, **mode.titles}
    columns: dict[str, Any] = {
        "title": [titles.get(label, label) for label in labels],
        "chapter": [titles[label] if mode.group == "chapter" else "" for label in labels],
        "system": "ccs" if mode.group == "ccs" else "other",
    }
    return pd.DataFrame(columns, index=pd.Index(labels, dtype=object))
