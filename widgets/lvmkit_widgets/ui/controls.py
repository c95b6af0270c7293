"""Controls of forms and columns of tables, as the dicts that `Form` and `Table` take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


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


def name_form(label: str, name: str, hint: str, *buttons: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a form that gives something a name; the hint stands where there is none."""
    text = {"name": "name", "kind": "text", "label": label, "placeholder": hint, "wide": True}
    return {"controls": [text, button("keep", "Keep"), *buttons], "values": {"name": name}}


def take_typed(state: Any, values: dict[str, Any]) -> Any:
    """Take what was typed into such a form; the state has it as `typed`."""
    return state.replace(typed=str(values.get("name") or ""))
