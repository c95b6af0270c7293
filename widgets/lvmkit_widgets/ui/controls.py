"""Controls of forms and columns of tables, each in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lvmkit.disclosure import Disclosure

Described = dict[str, Any]


def column(key: str, label: str, kind: str = "text", **more: Any) -> Described:
    """Describe a column of a `Table`."""
    return {"key": key, "label": label, "kind": kind, **more}


def text(name: str, label: str, **more: Any) -> Described:
    """Describe a line to type."""
    return {"name": name, "kind": "text", "label": label, **more}


def textarea(name: str, label: str, **more: Any) -> Described:
    """Describe lines to type."""
    return {**text(name, label, **more), "kind": "textarea"}


def number(name: str, label: str, **more: Any) -> Described:
    """Describe a number; a whole one, from 1, unless told otherwise."""
    return {"name": name, "kind": "number", "label": label, "min": 1, "step": 1, **more}


def select(name: str, label: str, options: Sequence[Any], **more: Any) -> Described:
    """Describe a choice of one."""
    return {"name": name, "kind": "select", "label": label, "options": options, **more}


def multiselect(name: str, label: str, options: Sequence[Any], **more: Any) -> Described:
    """Describe a choice of some."""
    return {**select(name, label, options, **more), "kind": "multiselect"}


def check(name: str, label: str, **more: Any) -> Described:
    """Describe what is on or off."""
    return {"name": name, "kind": "check", "label": label, **more}


def hide_counts(rule: Disclosure) -> Described:
    """Describe the choice whether small counts are hidden."""
    return check("hide", f"Hide counts below {rule.threshold}")


def button(name: str, label: str, **more: Any) -> Described:
    """Describe a button."""
    return {"name": name, "kind": "button", "label": label, **more}


def note(label: str, name: str = "note") -> Described:
    """Describe a sentence between controls."""
    return {"name": name, "kind": "note", "label": label}
