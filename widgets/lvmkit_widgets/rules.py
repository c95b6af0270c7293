"""What a page may send for a field of a component: rules that compare a value with what the component shows now.

A rule takes the component, all components by name, and the value; it returns "" where the value fits, else what it
must be. Kinds name the rules of their fields in `Component.sent`; `Exchange` applies them.
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
_LINK = re.compile(r'href="#([^"=]+)=([^"=]*)[^"]*"')


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


# -- rules that any kind may use -------------------------------------------------------------------


def nothing(_part: Any, _parts: Parts, value: Any) -> str:
    """Take nothing: that it happened is all there is to say."""
    return "" if value is None else "nothing"


def count(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a whole number from 0."""
    return "" if is_place(value, 2**53) else "a whole number from 0"


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
        return "" if fits else f"a whole number from 0, below {n:,}"

    return rule


def places_in(field: str) -> Rule:
    """Return a rule that takes some places in the list that another field holds, each once."""

    def rule(part: Any, _parts: Parts, value: Any) -> str:
        fits = distinct(value, range(len(getattr(part, field))))
        return "" if fits and not any(isinstance(one, float) for one in value) else "its numbers"

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
    return "" if among(value, [one["id"] for one in part.items]) else "one of those shown"


def item_or_none(part: Any, parts: Parts, value: Any) -> str:
    """Take the id of one of the items, or None."""
    return "" if value is None else item(part, parts, value)


def items(part: Any, _parts: Parts, value: Any) -> str:
    """Take ids of items, each once."""
    return "" if distinct(value, [one["id"] for one in part.items]) else "some of those shown"


def row(part: Any, _parts: Parts, value: Any) -> str:
    """Take what names one of the rows of a table."""
    known = [one.get(part.key) for one in part.rows] if part.key else []
    return "" if value is not None and among(value, known) else "one of its rows"


def page(part: Any, _parts: Parts, value: Any) -> str:
    """Take a page of a table, from 0."""
    n = len(part.rows) if part.total is None else part.total
    return _page(part, value, n)


def link(part: Any, _parts: Parts, value: Any) -> str:
    """Take the mark of a picture, as its link says."""
    pair = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else None
    found = ((unescape(name), unquote(unescape(told))) for name, told in _LINK.findall(part.svg))
    return "" if pair is not None and pair in found else "one of its marks"


def button(part: Any, _parts: Parts, value: Any) -> str:
    """Take the name of one of the buttons of a form."""
    known = [one["name"] for one in part.controls if one["kind"] == "button"]
    return "" if among(value, known) else "one of its buttons"


def action(part: Any, _parts: Parts, value: Any) -> str:
    """Take the name of one of the actions that are offered."""
    return "" if among(value, [name for name, _ in part.actions]) else "one of its buttons"


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


def code(part: Any, parts: Parts, value: Any) -> str:
    """Take one of the codes of the numbers that a part shows."""
    return "" if isinstance(value, str) and value in _codes(part, parts) else "one of its codes"


def code_or_none(part: Any, parts: Parts, value: Any) -> str:
    """Take one of the codes, or an empty text."""
    return "" if value == "" else code(part, parts, value)


def spread(part: Any, _parts: Parts, value: Any) -> str:
    """Take the part of each cluster in a code, which the browser computes; None where it is not known."""
    fits = isinstance(value, list | tuple) and len(value) <= len(part.weights)
    fits = fits and all(one is None or is_number(one) for one in value)
    return "" if fits else "a share of each cluster"


def total(_part: Any, _parts: Parts, value: Any) -> str:
    """Take a sum that the browser computes; None where it is not known."""
    return "" if value is None or is_number(value, 0) else "a number from 0"


def cell(part: Any, _parts: Parts, value: Any) -> str:
    """Take a cluster and a code of a heat map, either of which may be None."""
    fits = isinstance(value, Mapping) and value.keys() == {"cluster", "code"}
    bands = [None, *(band["id"] for band in part.bands)]
    fits = fits and among(value["cluster"], bands) and among(value["code"], [None, *_columns(part)])
    return "" if fits else "a cluster and a code that it shows"


def column_or_none(part: Any, _parts: Parts, value: Any) -> str:
    """Take the code of a column of a heat map, or an empty text."""
    return "" if among(value, ["", *_columns(part)]) else "one of its codes"


def topic(part: Any, parts: Parts, value: Any) -> str:
    """Take the row of a topic in the numbers of a part, or None."""
    n = len(parts[part.source].names)
    return "" if value is None or is_place(value, n) else f"a topic, a whole number below {n:,}"


def document(part: Any, _parts: Parts, value: Any) -> str:
    """Take the row of one of the documents that are listed."""
    known = [one["row"] for listed in part.items.values() for one in listed]
    return "" if value is not None and among(value, known) else "one of its documents"


def node_row(part: Any, parts: Parts, value: Any) -> str:
    """Take the row of the numbers that belongs to a node; None where they are not known."""
    n = len(part.children if part.held is None else part.held)
    return "" if value is None or is_place(value, n) else f"a row, a whole number below {n:,}"


def frontier(part: Any, parts: Parts, value: Any) -> str:
    """Take nodes that cut every way down the tree once."""
    if places_in("children")(part, parts, value):
        return "a cut of the tree"
    wanted, met, waiting = set(value), 0, [0] if part.children else []
    while waiting:
        node = waiting.pop()
        if node in wanted:
            met += 1
        elif part.children[node]:
            waiting += part.children[node]
        else:
            return "a cut of the tree"
    return "" if met == len(wanted) else "a cut of the tree"


def cut(part: Any, _parts: Parts, value: Any) -> str:
    """Take a level to cut at, a node to make one cluster of, or one to split."""
    n = len(part.children)
    fits = (
        isinstance(value, Mapping)
        and len(value) == 1
        and value.keys() <= {"level", "prune", "split"}
    )
    fits = fits and all(is_place(told, n) for told in value.values())
    return "" if fits else "a level of the tree, or one of its branches"


def edit(part: Any, _parts: Parts, value: Any) -> str:
    """Take what is said of a phenotype: its name, a note, or a mark."""
    fits = isinstance(value, Mapping) and value.keys() == {"id", "field", "value"}
    fits = fits and among(value["id"], [one["id"] for one in part.items])
    if fits and value["field"] == "mark":
        fits = among(value["value"], ("yes", "no", ""))
    else:
        fits = fits and among(value["field"], ("name", "note")) and not _text({}, value["value"])
    return "" if fits else "the name, note or mark of a phenotype"


def covariate_cluster(part: Any, _parts: Parts, value: Any) -> str:
    """Take the number of a cluster of covariates, or None."""
    n = _n_clusters(part)
    return "" if value is None or is_place(value, n) else f"a cluster, a whole number below {n:,}"


def cluster_page(part: Any, _parts: Parts, value: Any) -> str:
    """Take a page of clusters of covariates, from 0."""
    return _page(part, value, _n_clusters(part))


def entry(part: Any, _parts: Parts, value: Any) -> str:
    """Take an entry of the tensors, or None."""
    n = len(part.means) // 4 // max(len(part.clusters), 1)
    return "" if value is None or is_place(value, n) else f"an entry, a whole number below {n:,}"


def slice_at(part: Any, _parts: Parts, value: Any) -> str:
    """Take a place of each mode."""
    fits = isinstance(value, list | tuple) and len(value) == len(part.modes)
    fits = fits and all(map(is_place, value, [len(mode["labels"]) for mode in part.modes]))
    return "" if fits else "a place of each mode"


# -- inside ----------------------------------------------------------------------------------------


def _columns(part: Any) -> list[str]:
    """Return the codes of the columns of a heat map."""
    return [one["code"] for one in part.columns]


def _n_clusters(part: Any) -> int:
    """Return the number of clusters of covariates; their weights are float32, classes x clusters."""
    return len(part.weights) // 4 // max(len(part.classes), 1)


def _page(part: Any, value: Any, n_rows: int) -> str:
    """Take a page of so many rows; the way back from a page beyond them is left open."""
    pages = max(1, -(-n_rows // part.page_size), part.page)
    return "" if is_place(value, pages) else f"one of its pages, from 0, below {pages:,}"


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
    """Take a number within the limits of a control, whole where it goes by whole steps; None where it is empty."""
    low, high = control.get("min"), control.get("max")
    whole = isinstance(control.get("step"), int) and not isinstance(value, float | bool)
    fits = is_number(value, low, high) and (whole or not isinstance(control.get("step"), int))
    limits = ("" if low is None else f" from {low:,}") + ("" if high is None else f" to {high:,}")
    kind = "a whole number" if isinstance(control.get("step"), int) else "a number"
    return "" if fits or value is None else kind + limits


def _range(control: Mapping[str, Any], value: Any) -> str:
    """Take a number within the limits of a slider."""
    return _number({"min": 0, "max": 1} | dict(control), float("nan") if value is None else value)


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
