"""Controls of forms and columns of tables, as the dicts that `Form` and `Table` take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lvmkit.disclosure import Disclosure


def column(key: str, label: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    """Return a column of a table."""
    return {"key": key, "label": label, "kind": kind, **more}


def button(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a button."""
    return {"name": name, "kind": "button", "label": label, **more}


def select(name: str, label: str, options: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a choice of one of several options: values, or pairs of value and label."""
    return {"name": name, "kind": "select", "label": label, "options": options, **more}


def check(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a box to check."""
    return {"name": name, "kind": "check", "label": label, **more}


def multiselect(name: str, label: str, options: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a choice of some of several options."""
    return {**select(name, label, options, **more), "kind": "multiselect"}


def hide_counts(rule: Disclosure) -> dict[str, Any]:
    """Return the box that hides small counts."""
    return check("hide", f"Hide counts below {rule.threshold}")


def number(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a number to type: a whole one from 1, unless told otherwise."""
    return {"name": name, "kind": "number", "label": label, "min": 1, "step": 1, **more}


def text(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a line to type."""
    return {"name": name, "kind": "text", "label": label, **more}


def textarea(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return lines to type."""
    return {**text(name, label, **more), "kind": "textarea"}


def note(label: str, name: str = "note") -> dict[str, Any]:
    """Return a sentence between controls."""
    return {"name": name, "kind": "note", "label": label}


def name_form(label: str, name: str, hint: str, *buttons: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a form that gives something a name; the hint stands where there is none."""
    line = text("name", label, placeholder=hint, wide=True)
    return {"controls": [line, button("keep", "Keep"), *buttons], "values": {"name": name}}


def take_typed(state: Any, values: dict[str, Any]) -> Any:
    """Take what was typed into such a form; the state has it as `typed`."""
    return state.replace(typed=str(values.get("name") or ""))
