"""Components: a kind, fields shared with the browser, and events from it.

A component holds values and nothing else. Its fields live in Python; every host that shows it
(a served page, JupyterLab, a saved file) keeps a copy that is updated both ways. The JavaScript
with the name of the component's kind, in ``static/``, draws it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, ClassVar

import numpy as np
import param
from param.parameterized import instance_descriptor

from lvmkit.core import moved
from lvmkit_widgets.ui.rules import Rule
from lvmkit_widgets.ui.words import refuse


def jsonable(value: Any) -> Any:
    """Return a value as plain lists, dicts, numbers, text and bytes that every host can carry."""
    if value is None or isinstance(value, (str, bool, int, bytes)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.integer, np.bool_)):
        return jsonable(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    if isinstance(value, (date, np.datetime64)):
        return str(value)
    if value != value:
        return None
    return str(value)


def packed(values: Any, dtype: Any) -> bytes:
    """Return numbers as the bytes that browsers read as a typed array."""
    return np.ascontiguousarray(values, dtype=dtype).tobytes()


class Field(param.Parameter[Any]):
    """A synchronized value of any shape; whatever is put in is stored as plain JSON values."""

    def __init__(self, default: Any = None, *, doc: str) -> None:
        super().__init__(default, doc=doc, instantiate=True)  # no two components share a list

    @instance_descriptor
    def __set__(self, obj: Any, val: Any) -> None:
        super().__set__(obj, jsonable(val))


class Event(Field):
    """Something that happened in the browser: ``[how many so far, what]``; what a page may send has a rule."""

    # The count makes two equal events in a row two changes. Browsers add the few events before, since a host
    # may merge two messages into one; `Sync` lets each happen once. Listen with `Component.on`.

    __slots__ = ("rule",)

    def __init__(self, rule: Rule, *, doc: str) -> None:
        super().__init__([0, None], doc=doc)
        self.rule = rule


class Component(param.Parameterized):
    """A part of a dashboard."""

    # Every parameter but ``name`` is a field that the browser sees. Fields of type `Event` are events; all others
    # are state, which both sides may set.

    kind: ClassVar[str] = ""  # The name of the class as a file has it: StepSlider is a step_slider
    sent: ClassVar[Mapping[str, Rule]] = {}
    """Fields that ``static/<kind>.js`` sets, or that another part's does, each with the rule of what it may send."""
    filled: ClassVar[frozenset[str]] = frozenset()
    """Those of `sent` that a script fills by itself, beside what the reader does."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.kind = cls.kind or re.sub(r"\B(?=[A-Z])", "_", cls.__name__).lower()
        rules = {name: it.rule for name, it in vars(cls).items() if isinstance(it, Event)}
        cls.sent = {**cls.sent, **rules}

    title = param.String("", doc="Heading of the section; without one no section is drawn.")
    help = param.String("", doc="What the reader sees here and how the numbers are made.")
    visible = param.Boolean(default=True, doc="Whether the part is shown at all.")
    needs_python = param.Boolean(default=False, doc="Saved pages leave the part out.")

    @classmethod
    def fields(cls) -> list[str]:
        """Return the names of the synchronized fields, in the order they were declared."""
        return [field for field in cls.param if field != "name"]

    @classmethod
    def events(cls) -> list[str]:
        """Return the names of the fields that are events."""
        return [field for field in cls.fields() if isinstance(cls.param[field], Event)]

    signals = moved.OldName("events")

    def on(self, field: str, callback: Callable[[Any], None]) -> None:
        """Call back when a field changes or, for an event, each time it happens."""
        if field not in self.fields():
            refuse(f"{self.kind} has no field {field!r}; it has {', '.join(self.fields())}")
        is_event = field in self.events()
        self.param.watch(lambda change: callback(change.new[1] if is_event else change.new), field)

    def fire(self, field: str, value: Any = None) -> None:
        """Let an event happen as if the reader had caused it in the browser."""
        if field not in self.events():
            refuse(f"{self.kind} has no event {field!r}; it has {', '.join(self.events())}")
        setattr(self, field, [getattr(self, field)[0] + 1, value])

    def state(self) -> dict[str, Any]:
        """Return all fields and their values."""
        return {field: getattr(self, field) for field in self.fields()}
