"""What a page may send for a field of a component: rules that compare a value with what the component shows now.

A rule takes the component, all components by name, and the value; it returns "" where the value fits, else what it
must be, as `Gone` where a page may have shown the value before. Kinds name the rules of their fields in
`Component.sent`; `Sync` applies them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import unquote

Parts = Mapping[str, Any]
Rule = Callable[[Any, Parts, Any], str]
Fits = Callable[[Any], bool]

LONGEST_LINE, LONGEST_TEXT = 5_000, 100_000
"""Characters of a line, be it searched for or written, and of a text of several."""
_LINK = re.compile(r'href="#([^"=]+)=([^"=]*)[^"]*"')


class Gone(str):
    """What a value must be that is none now, but may have been when the page sent it."""

    __slots__ = ()


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are the same in a page, where True is not 1."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def among(value: Any, known: Iterable[Any]) -> bool:
    """Return whether a plain value is one of those known."""
    if not (value is None or isinstance(value, str | int | float)):
        return False
    return any(equal(value, one) for one in known)


def is_place(value: Any, stop: int) -> bool:
    """Return whether a value is a whole number from 0, below `stop`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < stop


_is_any_place = partial(is_place, stop=2**53)


def _lists(value: Any, fits: Fits, n: int | None = None) -> bool:
    """Return whether a value is a list of values that fit, of as many as are told."""
    return isinstance(value, list | tuple) and n in (None, len(value)) and all(map(fits, value))


def is_number(value: Any, low: float | None = None, high: float | None = None) -> bool:
    """Return whether a value is a number between two, either of which may be left out."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def is_name(value: Any) -> bool:
    """Return whether a value may name an item, a row or a code: a number from 0 or a text."""
    return is_number(value, 0) or _is_text(value)


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def distinct(value: Any, known: Iterable[Any]) -> bool:
    """Return whether a value lists some of those known, each once at most."""
    if not _lists(value, lambda one: isinstance(one, Hashable) and not isinstance(one, tuple)):
        return False
    tagged = {(isinstance(one, bool), one) for one in value}
    return len(tagged) == len(value) and tagged <= {(isinstance(one, bool), one) for one in known}


def _unless(fits: bool, wanted: str, *, old: bool) -> str:
    """Return "" where a value fits, else what it must be, as `Gone` where it is one of those that may be old."""
    return "" if fits else Gone(wanted) if old else wanted


# -- patterns: rules are made of them by `partial` -------------------------------------------------


def _plain(wanted: str, fits: Fits, _part: Any, _parts: Parts, value: Any) -> str:
    """Take the same values whatever is shown."""
    return "" if fits(value) else wanted


def _or(known: Any, rule: Rule, part: Any, parts: Parts, value: Any) -> str:
    """Take what a rule takes, and one value more."""
    return "" if equal(value, known) else rule(part, parts, value)


def _shown(wanted: str, known: Any, old: Fits, part: Any, _parts: Parts, value: Any) -> str:
    """Take one of the values that are `known` of the component."""
    return _unless(among(value, known(part)), wanted, old=old(value))


def _place(wanted: str, n_of: Any, part: Any, parts: Parts, value: Any) -> str:
    """Take a whole number from 0, below `n_of` what is shown."""
    n = n_of(part, parts)
    return _unless(is_place(value, n), wanted.format(n), old=_is_any_place(value))


def _place_or_none(what: str, n_of: Any) -> Rule:
    """Return a rule that takes such a number of something, or None."""
    return partial(_or, None, partial(_place, f"{what}, a whole number below {{:,}}", n_of))


def _page(n_of: Any, part: Any, parts: Parts, value: Any) -> str:
    """Take a page of so many rows; the way back from a page beyond them is left open."""
    pages = max(1, -(-n_of(part, parts) // part.page_size), part.page)
    return _place("one of its pages, from 0, below {:,}", lambda *_: pages, part, parts, value)


def _text(longest: int, _part: Any, _parts: Parts, value: Any) -> str:
    """Take a text that is not endless."""
    fits = isinstance(value, str) and len(value) <= longest
    return "" if fits else f"a text of at most {longest:,} characters"


# -- rules that any kind may use -------------------------------------------------------------------

nothing = partial(_plain, "nothing", lambda value: value is None)  # that it happened says it all
count = partial(_plain, "a whole number from 0", _is_any_place)
flag = partial(_plain, "yes or no", lambda value: isinstance(value, bool))
share = partial(_plain, "a number from 0 to 1", lambda value: is_number(value, 0, 1))
total = partial(_or, None, partial(_plain, "a number from 0", lambda value: is_number(value, 0)))
words = partial(_text, LONGEST_LINE)
repeats = partial(
    _plain,
    "a count and the names of fields",
    lambda value: (
        _lists(value, lambda _: True, 2)
        and _is_any_place(value[0])
        and _lists(value[1], lambda name: isinstance(name, str))
    ),
)


def one_of(*known: str) -> Rule:
    """Return a rule that takes one of some texts."""
    return partial(_plain, f"one of {', '.join(known)}", lambda value: among(value, known))


def place_in(field: str, *, or_none: bool = False) -> Rule:
    """Return a rule that takes a place in the list that another field holds, from 0."""
    wanted = "a whole number from 0, below {:,}"
    place = partial(_place, wanted, lambda part, _: len(getattr(part, field)))
    return partial(_or, None, place) if or_none else place


def places_in(field: str) -> Rule:
    """Return a rule that takes some places in the list that another field holds, each once."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        known = range(len(getattr(part, field)))
        places = _lists(value, _is_any_place)
        fits = places and distinct(value, known)
        return _unless(fits, "its numbers", old=places and distinct(value, value))

    return rule


def order_of(*known: str) -> Rule:
    """Return a rule that takes a column, of those named or of the field "columns", and its direction."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        columns = known or [column["key"] for column in part.columns]
        pair = _lists(value, lambda _: True, 2)
        fits = pair and among(value[0], columns) and among(value[1], ("asc", "desc"))
        return "" if fits else "one of its columns, and asc or desc"

    return rule


# -- rules of one kind each ------------------------------------------------------------------------


item = partial(
    _shown, "one of those shown", lambda part: (one["id"] for one in part.items), is_name
)
item_or_none = partial(_or, None, item)
page = partial(_page, lambda part, _: len(part.rows) if part.total is None else part.total)
action = partial(
    _shown, "one of its buttons", lambda part: (name for name, _ in part.actions), _is_text
)
button = partial(
    _shown,
    "one of its buttons",
    lambda part: (one["name"] for one in part.controls if one["kind"] == "button"),
    _is_text,
)


view = partial(
    _shown,
    "one of its dashboards",
    lambda part: (part.here, *(entry[0] for entry in part.menu)),
    _is_text,
)


def items(part: Any, _parts: Parts, value: Any) -> str:
    """Take ids of items, each once."""
    fits = distinct(value, [one["id"] for one in part.items])
    old = distinct(value, value) and all(map(is_name, value))
    return _unless(fits, "some of those shown", old=old)


def row(part: Any, _parts: Parts, value: Any) -> str:
    """Take what names one of the rows of a table."""
    known = [one.get(part.key) for one in part.rows] if part.key else []
    fits = value is not None and among(value, known)
    return _unless(fits, "one of its rows", old=is_name(value) and part.key != "")


def link(part: Any, _parts: Parts, value: Any) -> str:
    """Take the mark of a picture, as its link says."""
    pair = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else None
    found = ((unescape(name), unquote(unescape(told))) for name, told in _LINK.findall(part.svg))
    fits, old = pair is not None and pair in found, pair is not None and all(map(_is_text, pair))
    return _unless(fits, "one of its marks", old=old)


def values(part: Any, parts: Parts, value: Any) -> str:
    """Take the values of a form: all that it has, of which controls may have changed some."""
    if not isinstance(value, Mapping) or part.values.keys() - value.keys():
        return "the values of its controls"
    controls = {one["name"]: one for one in part.controls if one["kind"] in _CONTROLS}
    for name, told in value.items():
        if name in part.values and equal(told, part.values[name]):
            continue
        if name not in controls:
            return "the values of its controls"
        wanted = _CONTROLS[controls[name]["kind"]](controls[name], parts, told)
        if wanted:
            return f"{wanted} (“{controls[name].get('label') or name}”)"
    return ""


def tabs(part: Any, _parts: Parts, value: Any) -> str:
    """Take which tab of each group is open."""
    groups = dict(_groups(part.layout))
    fits = isinstance(value, Mapping) and all(
        (name in part.tabs and equal(told, part.tabs[name])) or is_place(told, groups.get(name, 0))
        for name, told in value.items()
    )
    return "" if fits and part.tabs.keys() <= value.keys() else "its tabs"


def code(part: Any, parts: Parts, value: Any) -> str:
    """Take one of the codes of the numbers that a part shows."""
    fits = isinstance(value, str) and value in _codes(part, parts)
    return _unless(fits, "one of its codes", old=_is_text(value))


code_or_none = partial(_or, "", code)


def spread(part: Any, _parts: Parts, value: Any) -> str:
    """Take the part of each cluster in a code, which the browser computes; None where it is not known."""
    old = _lists(value, lambda one: one is None or is_number(one))
    return _unless(old and len(value) <= len(part.weights), "a share of each cluster", old=old)


def _columns(part: Any) -> list[str]:
    """Return the codes of the columns of a heat map."""
    return [one["code"] for one in part.columns]


def cell(part: Any, _parts: Parts, value: Any) -> str:
    """Take a cluster and a code of a heat map, either of which may be None."""
    old = isinstance(value, Mapping) and value.keys() == {"cluster", "code"}
    old = old and all(one is None or is_name(one) for one in value.values())
    bands = [None, *(band["id"] for band in part.bands)]
    fits = old and among(value["cluster"], bands) and among(value["code"], [None, *_columns(part)])
    return _unless(fits, "a cluster and a code that it shows", old=old)


column_or_none = partial(_or, "", partial(_shown, "one of its codes", _columns, _is_text))
topic = _place_or_none("a topic", lambda part, parts: len(parts[part.source].names))
document = partial(
    _shown,
    "one of its documents",
    lambda part: (one["row"] for listed in part.items.values() for one in listed),
    _is_any_place,
)
# Of the numbers that belong to a node; None where they are not known.
node_row = _place_or_none(
    "a row", lambda part, _: len(part.children if part.held is None else part.held)
)


def frontier(part: Any, parts: Parts, value: Any) -> str:
    """Take nodes that cut every way down the tree once."""
    told = places_in("children")(part, parts, value)
    if told:
        return Gone("a cut of the tree") if isinstance(told, Gone) else "a cut of the tree"
    wanted, met, waiting = set(value), 0, [0] if part.children else []
    while waiting:
        node = waiting.pop()
        if node in wanted:
            met += 1
        elif part.children[node]:
            waiting += part.children[node]
        else:
            return Gone("a cut of the tree")
    return "" if met == len(wanted) else Gone("a cut of the tree")


def cut(part: Any, _parts: Parts, value: Any) -> str:
    """Take a level to cut at, a node to make one cluster of, or one to split."""
    n = len(part.children)
    old = isinstance(value, Mapping) and len(value) == 1 and all(map(_is_any_place, value.values()))
    old = old and value.keys() <= {"level", "prune", "split"}
    fits = old and all(is_place(told, n) for told in value.values())
    return _unless(fits, "a level of the tree, or one of its branches", old=old)


def edit(part: Any, _parts: Parts, value: Any) -> str:
    """Take what is said of a phenotype: its name, a note, or a mark."""
    old = isinstance(value, Mapping) and value.keys() == {"id", "field", "value"}
    if old and value["field"] == "mark":
        old = among(value["value"], ("yes", "no", ""))
    elif old:
        told = _text(LONGEST_TEXT, part, _parts, value["value"])
        old = among(value["field"], ("name", "note")) and not told
    fits = old and among(value["id"], [one["id"] for one in part.items])
    return _unless(fits, "the name, note or mark of a phenotype", old=old and is_name(value["id"]))


def _n_clusters(part: Any, _parts: Parts) -> int:
    """Return the number of clusters of covariates; their weights are float32, classes x clusters."""
    return len(part.weights) // 4 // max(len(part.classes), 1)


cluster_page = partial(_page, _n_clusters)
covariate_cluster = _place_or_none("a cluster", _n_clusters)
# Means are float32, clusters x entries.
entry = _place_or_none(
    "an entry", lambda part, _: len(part.means) // 4 // max(len(part.clusters), 1)
)


def slice_at(part: Any, _parts: Parts, value: Any) -> str:
    """Take a place of each mode."""
    old = _lists(value, _is_any_place, len(part.modes))
    fits = old and all(map(is_place, value, [len(mode["labels"]) for mode in part.modes]))
    return _unless(fits, "a place of each mode", old=old)


# -- inside ----------------------------------------------------------------------------------------


def _codes(part: Any, parts: Parts) -> list[str]:
    """Return the codes of a part, of its source, or of whatever holds numbers of codes."""
    for _ in parts:
        if hasattr(part, "codes") or not hasattr(part, "source"):
            break
        part = parts[part.source]
    if hasattr(part, "codes"):
        return list(part.codes)
    return [one for other in parts.values() for one in getattr(other, "codes", [])]


def _groups(layout: Any) -> Iterable[tuple[str, int]]:
    """Yield each group of tabs in a layout, and how many tabs it has."""
    if isinstance(layout, Mapping):
        if "tabs" in layout:
            yield layout.get("id") or "tabs", len(layout["tabs"])
        layout = [one for one in layout.values() if isinstance(one, Mapping | list | tuple)]
    if isinstance(layout, list | tuple):
        for one in layout:
            yield from _groups(one)


def _option(wanted: str, fits: Any, control: Mapping[str, Any], _parts: Parts, value: Any) -> str:
    """Take what a control lets choose."""
    listed = control.get("options") or []
    known = [one[0] if isinstance(one, list | tuple) else one for one in listed]
    return "" if fits(value, known) else wanted


def _limited(control: Mapping[str, Any], _parts: Parts, value: Any) -> str:
    """Take a number within the limits of a control, whole where it goes by whole steps."""
    low, high = control.get("min"), control.get("max")
    whole = isinstance(control.get("step"), int)
    fits = is_number(value, low, high) and not (whole and isinstance(value, float))
    limits = ("" if low is None else f" from {low:,}") + ("" if high is None else f" to {high:,}")
    return "" if fits else ("a whole number" if whole else "a number") + limits


# Rules of controls, which stand in place of the component.
_CONTROLS: dict[str, Rule] = {
    "number": partial(_or, None, _limited),
    "range": lambda control, parts, told: _limited({"min": 0, "max": 1} | control, parts, told),
    "select": partial(_option, "one of its options", among),
    "multiselect": partial(_option, "some of its options", distinct),
    "text": words,
    "textarea": partial(_text, LONGEST_TEXT),
    "check": flag,
}
