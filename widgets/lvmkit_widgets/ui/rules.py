"""What a page may send for a field of a component: rules that compare a value with what the component shows now.

A rule takes the component, all components by name, and the value; it returns "" where the value fits, else what it
must be, as `Gone` where a page may have shown the value before. Kinds name the rules of their fields in
`Component.sent`; `Sync` applies them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from html import unescape
from typing import Any
from urllib.parse import unquote

Parts = Mapping[str, Any]
Rule = Callable[[Any, Parts, Any], str]

LONGEST_LINE, LONGEST_TEXT = 5_000, 100_000
"""Characters of a line, be it searched for or written, and of a text of several."""
_ANY = 2**53
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


def is_number(value: Any, low: float | None = None, high: float | None = None) -> bool:
    """Return whether a value is a number between two, either of which may be left out."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def is_name(value: Any) -> bool:
    """Return whether a value may name an item, a row or a code: a number from 0 or a text."""
    return is_number(value, 0) or _is_text(value)


def distinct(value: Any, known: Iterable[Any]) -> bool:
    """Return whether a value lists some of those known, each once at most."""
    if not isinstance(value, list | tuple):
        return False
    if not all(isinstance(one, Hashable) and not isinstance(one, tuple) for one in value):
        return False
    tagged = [(isinstance(one, bool), one) for one in value]
    return len(set(tagged)) == len(tagged) and set(tagged) <= {
        (isinstance(one, bool), one) for one in known
    }


def _unless(fits: bool, wanted: str, *, old: bool) -> str:
    """Return "" where a value fits, else what it must be, as `Gone` where it is one of those that may be old."""
    return "" if fits else Gone(wanted) if old else wanted


# -- rules that any kind may use -------------------------------------------------------------------


def nothing(_part: Any, _parts: Parts, value: Any) -> str:
    """Take nothing: that it happened is all there is to say."""
    return "" if value is None else "nothing"


def count(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a whole number from 0."""
    return "" if is_place(value, _ANY) else "a whole number from 0"


def repeats(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a count, and the names of fields."""
    fits = isinstance(value, list | tuple) and len(value) == 2 and is_place(value[0], _ANY)
    fits = fits and isinstance(value[1], list | tuple) and all(isinstance(x, str) for x in value[1])
    return "" if fits else "a count and the names of fields"


def flag(_part: Any, _parts: Parts, value: Any) -> str:
    """Take yes or no."""
    return "" if isinstance(value, bool) else "yes or no"


def share(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a number from 0 to 1."""
    return "" if is_number(value, 0, 1) else "a number from 0 to 1"


def words(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a text that is searched for."""
    return _line({}, value)


def one_of(*known: str) -> Rule:
    """Return a rule that takes one of some texts."""

    def rule(_part: Any, _parts: Parts, value: Any) -> str:
        return "" if among(value, known) else f"one of {', '.join(known)}"

    return rule


def place_in(field: str, *, or_none: bool = False) -> Rule:
    """Return a rule that takes a place in the list that another field holds, from 0."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        n = len(getattr(part, field))
        fits = is_place(value, n) or (or_none and value is None)
        return _unless(fits, f"a whole number from 0, below {n:,}", old=is_place(value, _ANY))

    return rule


def places_in(field: str) -> Rule:
    """Return a rule that takes some places in the list that another field holds, each once."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        known = range(len(getattr(part, field)))
        places = isinstance(value, list | tuple) and all(is_place(one, _ANY) for one in value)
        fits = places and distinct(value, known)
        return _unless(fits, "its numbers", old=places and distinct(value, value))

    return rule


def order_of(*known: str) -> Rule:
    """Return a rule that takes a column, of those named or of the field "columns", and its direction."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        columns = known or [column["key"] for column in part.columns]
        pair = isinstance(value, list | tuple) and len(value) == 2
        fits = pair and among(value[0], columns) and among(value[1], ("asc", "desc"))
        return "" if fits else "one of its columns, and asc or desc"

    return rule


# -- rules of one kind each ------------------------------------------------------------------------


def item(part: Any, _parts: Parts, value: Any) -> str:
    """Take the id of one of the items."""
    fits = among(value, [one["id"] for one in part.items])
    return _unless(fits, "one of those shown", old=is_name(value))


def item_or_none(part: Any, parts: Parts, value: Any) -> str:
    """Take the id of one of the items, or None."""
    return "" if value is None else item(part, parts, value)


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


def page(part: Any, _parts: Parts, value: Any) -> str:
    """Take a page of a table, from 0."""
    n = len(part.rows) if part.total is None else part.total
    return _page(part, value, n)


def link(part: Any, _parts: Parts, value: Any) -> str:
    """Take the mark of a picture, as its link says."""
    pair = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else None
    found = ((unescape(name), unquote(unescape(told))) for name, told in _LINK.findall(part.svg))
    fits, old = pair is not None and pair in found, pair is not None and all(map(_is_text, pair))
    return _unless(fits, "one of its marks", old=old)


def button(part: Any, _parts: Parts, value: Any) -> str:
    """Take the name of one of the buttons of a form."""
    known = [one["name"] for one in part.controls if one["kind"] == "button"]
    return _unless(among(value, known), "one of its buttons", old=_is_text(value))


def action(part: Any, _parts: Parts, value: Any) -> str:
    """Take the name of one of the actions that are offered."""
    known = [name for name, _ in part.actions]
    return _unless(among(value, known), "one of its buttons", old=_is_text(value))


def values(part: Any, _parts: Parts, value: Any) -> str:
    """Take the values of a form: all that it has, of which controls may have changed some."""
    if not isinstance(value, Mapping) or part.values.keys() - value.keys():
        return "the values of its controls"
    controls = {one["name"]: one for one in part.controls if one["kind"] in _CONTROLS}
    for name, told in value.items():
        if name in part.values and equal(told, part.values[name]):
            continue
        if name not in controls:
            return "the values of its controls"
        wanted = _CONTROLS[controls[name]["kind"]](controls[name], told)
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


def view(part: Any, _parts: Parts, value: Any) -> str:
    """Take one of the dashboards of the menu."""
    known = [part.here, *(entry[0] for entry in part.menu)]
    return _unless(among(value, known), "one of its dashboards", old=_is_text(value))


def code(part: Any, parts: Parts, value: Any) -> str:
    """Take one of the codes of the numbers that a part shows."""
    fits = isinstance(value, str) and value in _codes(part, parts)
    return _unless(fits, "one of its codes", old=_is_text(value))


def code_or_none(part: Any, parts: Parts, value: Any) -> str:
    """Take one of the codes, or an empty text."""
    return "" if value == "" else code(part, parts, value)


def spread(part: Any, _parts: Parts, value: Any) -> str:
    """Take the part of each cluster in a code, which the browser computes; None where it is not known."""
    old = isinstance(value, list | tuple) and all(one is None or is_number(one) for one in value)
    return _unless(old and len(value) <= len(part.weights), "a share of each cluster", old=old)


def total(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a sum that the browser computes; None where it is not known."""
    return "" if value is None or is_number(value, 0) else "a number from 0"


def cell(part: Any, _parts: Parts, value: Any) -> str:
    """Take a cluster and a code of a heat map, either of which may be None."""
    old = isinstance(value, Mapping) and value.keys() == {"cluster", "code"}
    old = old and all(one is None or is_name(one) for one in value.values())
    bands = [None, *(band["id"] for band in part.bands)]
    fits = old and among(value["cluster"], bands) and among(value["code"], [None, *_columns(part)])
    return _unless(fits, "a cluster and a code that it shows", old=old)


def column_or_none(part: Any, _parts: Parts, value: Any) -> str:
    """Take the code of a column of a heat map, or an empty text."""
    return _unless(among(value, ["", *_columns(part)]), "one of its codes", old=_is_text(value))


def topic(part: Any, parts: Parts, value: Any) -> str:
    """Take the row of a topic in the numbers of a part, or None."""
    n = len(parts[part.source].names)
    return _place_or_none(value, n, "a topic")


def document(part: Any, _parts: Parts, value: Any) -> str:
    """Take the row of one of the documents that are listed."""
    known = [one["row"] for listed in part.items.values() for one in listed]
    fits = value is not None and among(value, known)
    return _unless(fits, "one of its documents", old=is_place(value, _ANY))


def node_row(part: Any, parts: Parts, value: Any) -> str:
    """Take the row of the numbers that belongs to a node; None where they are not known."""
    n = len(part.children if part.held is None else part.held)
    return _place_or_none(value, n, "a row")


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
    old = (
        isinstance(value, Mapping)
        and len(value) == 1
        and value.keys() <= {"level", "prune", "split"}
    )
    old = old and all(is_place(told, _ANY) for told in value.values())
    fits = old and all(is_place(told, n) for told in value.values())
    return _unless(fits, "a level of the tree, or one of its branches", old=old)


def edit(part: Any, _parts: Parts, value: Any) -> str:
    """Take what is said of a phenotype: its name, a note, or a mark."""
    old = isinstance(value, Mapping) and value.keys() == {"id", "field", "value"}
    if old and value["field"] == "mark":
        old = among(value["value"], ("yes", "no", ""))
    else:
        old = old and among(value["field"], ("name", "note")) and not _text({}, value["value"])
    fits = old and among(value["id"], [one["id"] for one in part.items])
    return _unless(fits, "the name, note or mark of a phenotype", old=old and is_name(value["id"]))


def covariate_cluster(part: Any, _parts: Parts, value: Any) -> str:
    """Take the number of a cluster of covariates, or None."""
    n = _n_clusters(part)
    return _place_or_none(value, n, "a cluster")


def cluster_page(part: Any, _parts: Parts, value: Any) -> str:
    """Take a page of clusters of covariates, from 0."""
    return _page(part, value, _n_clusters(part))


def entry(part: Any, _parts: Parts, value: Any) -> str:
    """Take an entry of the tensors, or None."""
    n = len(part.means) // 4 // max(len(part.clusters), 1)
    return _place_or_none(value, n, "an entry")


def slice_at(part: Any, _parts: Parts, value: Any) -> str:
    """Take a place of each mode."""
    old = isinstance(value, list | tuple) and len(value) == len(part.modes)
    old = old and all(is_place(one, _ANY) for one in value)
    fits = old and all(map(is_place, value, [len(mode["labels"]) for mode in part.modes]))
    return _unless(fits, "a place of each mode", old=old)


# -- inside ----------------------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def _place_or_none(value: Any, n: int, what: str) -> str:
    """Take a place below `n`, or None."""
    fits = value is None or is_place(value, n)
    return _unless(fits, f"{what}, a whole number below {n:,}", old=is_place(value, _ANY))


def _columns(part: Any) -> list[str]:
    """Return the codes of the columns of a heat map."""
    return [one["code"] for one in part.columns]


def _n_clusters(part: Any) -> int:
    """Return the number of clusters of covariates; their weights are float32, classes x clusters."""
    return len(part.weights) // 4 // max(len(part.classes), 1)


def _page(part: Any, value: Any, n_rows: int) -> str:
    """Take a page of so many rows; the way back from a page beyond them is left open."""
    pages = max(1, -(-n_rows // part.page_size), part.page)
    wanted = f"one of its pages, from 0, below {pages:,}"
    return _unless(is_place(value, pages), wanted, old=is_place(value, _ANY))


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


def _options(control: Mapping[str, Any]) -> list[Any]:
    """Return the values among which a control lets choose."""
    listed = control.get("options") or []
    return [one[0] if isinstance(one, list | tuple) else one for one in listed]


def _number(control: Mapping[str, Any], value: Any) -> str:
    """Take a number as `_limited` does; None where the control is empty."""
    return "" if value is None else _limited(control, value)


def _range(control: Mapping[str, Any], value: Any) -> str:
    """Take a number within the limits of a slider, which is never empty."""
    return _limited({"min": 0, "max": 1} | dict(control), value)


def _limited(control: Mapping[str, Any], value: Any) -> str:
    """Take a number within the limits of a control, whole where it goes by whole steps."""
    low, high = control.get("min"), control.get("max")
    whole = isinstance(control.get("step"), int)
    fits = is_number(value, low, high) and not (whole and isinstance(value, float))
    limits = ("" if low is None else f" from {low:,}") + ("" if high is None else f" to {high:,}")
    return "" if fits else ("a whole number" if whole else "a number") + limits


def _select(control: Mapping[str, Any], value: Any) -> str:
    """Take one of the options."""
    return "" if among(value, _options(control)) else "one of its options"


def _multiselect(control: Mapping[str, Any], value: Any) -> str:
    """Take some of the options."""
    return "" if distinct(value, _options(control)) else "some of its options"


def _line(_control: Mapping[str, Any], value: Any) -> str:
    """Take a line of text that is not endless."""
    fits = isinstance(value, str) and len(value) <= LONGEST_LINE
    return "" if fits else f"a text of at most {LONGEST_LINE:,} characters"


def _text(_control: Mapping[str, Any], value: Any) -> str:
    """Take a text that is not endless."""
    fits = isinstance(value, str) and len(value) <= LONGEST_TEXT
    return "" if fits else f"a text of at most {LONGEST_TEXT:,} characters"


def _check(_control: Mapping[str, Any], value: Any) -> str:
    """Take yes or no."""
    return flag(None, {}, value)


_CONTROLS: dict[str, Callable[[Mapping[str, Any], Any], str]] = {
    "number": _number,
    "range": _range,
    "select": _select,
    "multiselect": _multiselect,
    "text": _line,
    "textarea": _text,
    "check": _check,
}
