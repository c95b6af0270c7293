"""Controls of forms and columns of tables, as the dicts that `Form` and `Table` take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lvmkit.disclosure import Disclosure


def column(key: str, label: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    """Return a column of a table."""
    return {"key": key, "label": label, "kind": kind, **more}


def control(kind: str, /, name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a control of a kind: a button, a box to check, a line or lines to type."""
    return {"name": name, "kind": kind, "label": label, **more}


button = partial(control, "button")
check = partial(control, "check")
text = partial(control, "text")
textarea = partial(control, "textarea")


def select(name: str, label: str, options: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a choice of one of several options: values, or pairs of value and label."""
    return control("select", name, label, options=options, **more)


def multiselect(name: str, label: str, options: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a choice of some of several options."""
    return {**select(name, label, options, **more), "kind": "multiselect"}


def hide_counts(rule: Disclosure) -> dict[str, Any]:
    """Return the box that hides small counts."""
    return check("hide", f"Hide counts below {rule.threshold}")


def number(name: str, label: str, **more: Any) -> dict[str, Any]:
    """Return a number to type: a whole one from 1, unless told otherwise."""
    return control("number", name, label, **{"min": 1, "step": 1, **more})


def note(label: str, name: str = "note") -> dict[str, Any]:
    """Return a sentence between controls."""
    return control("note", name, label)


def name_form(label: str, name: str, hint: str, *buttons: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a form that gives something a name; the hint stands where there is none."""
    line = text("name", label, placeholder=hint, wide=True)
    return {"controls": [line, button("keep", "Keep"), *buttons], "values": {"name": name}}


def take_typed(state: Any, values: dict[str, Any]) -> Any:
    """Take what was typed into such a form; the state has it as `typed`."""
    return state.replace(typed=str(values.get("name") or ""))
