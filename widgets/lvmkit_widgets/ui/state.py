"""States of dashboards: frozen values, steps among them, and functions of them whose results are remembered."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar

from lvmkit.disclosure import Disclosure
from lvmkit_widgets.ui.history import History, Step

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="State")
T = TypeVar("T")
KEPT = 50  # results that are remembered of a function
PLAIN = (str, int, float, tuple, frozenset, Disclosure, type(None))
Reads = dict[str, Any]

_readers: ContextVar[tuple[tuple[Any, Reads], ...]] = ContextVar("_readers", default=())
"""What is being noted: a state, and the fields of it that were read so far."""


class Memory:
    """Results of functions of states, each with the fields that the function read."""

    def __init__(self) -> None:
        self._known: dict[Any, list[tuple[Any, Reads, Any]]] = {}

    def copy(self) -> Memory:
        """Return a memory that begins with the same results."""
        other = Memory()
        other._known = {function: list(known) for function, known in self._known.items()}
        return other

    def recall(
        self,
        function: Callable[..., R],
        state: Any,
        args: tuple[Any, ...] = (),
        options: Mapping[str, Any] | None = None,
        *,
        kept: int = KEPT,
    ) -> R:
        """Return what a function makes of a state, anew only if something that it reads has changed."""
        known = self._known.setdefault(function, [])
        named = dict(options or {})
        given = (*args, *named.items())
        for place, (asked, reads, made) in enumerate(known):
            alike = len(asked) == len(given) and all(map(same, asked, given))
            if alike and all(same(state.peek(name), value) for name, value in reads.items()):
                known.insert(0, known.pop(place))
                _note(state, reads)
                result: R = made
                return result
        reads = {}
        token = _readers.set((*_readers.get(), (state, reads)))
        try:
            result = function(state, *args, **named)
        finally:
            _readers.reset(token)
        _note(state, reads)
        known.insert(0, (given, reads, result))
        del known[kept:]
        return result


def _note(state: Any, reads: Reads) -> None:
    """Note for all who are listening what was read of a state."""
    for listened, noted in _readers.get():
        if listened is state:
            noted.update(reads)


def same(one: Any, other: Any) -> bool:
    """Tell whether two values of a field are the same: plain ones by value, others by identity."""
    return one is other or (type(one) is type(other) and isinstance(one, PLAIN) and one == other)


def remembered(function: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Remember what a function of a state returned, for as long as the fields that it reads stay the same."""
    # Which fields it reads is noted while it runs, so nobody has to list them, and no list can be wrong.

    @wraps(function)
    def call(state: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return state.memory.recall(function, state, args, kwargs)

    return call


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """What a dashboard shows. Methods return another state; nothing changes a state."""

    # Fields are plain values, or objects that never change and are compared by identity.

    disclosure: Disclosure = field(default_factory=Disclosure)
    tab: int = 0  # Place of the tab that is open
    live: bool = True  # Whether Python answers what is clicked; not in a saved page
    message: str = ""  # What the last event did, in words
    tone: str = "done"  # How `Status` shows it
    renewed: int = 0  # Grows where the browser must be told again what it has changed
    memory: Memory = field(default_factory=Memory, repr=False)

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        readers = _readers.get()
        if readers and name in type(self).__dataclass_fields__:
            for state, reads in readers:
                if state is self:
                    reads[name] = value
        return value

    def peek(self, name: str) -> Any:
        """Return a field without noting that it was read."""
        return object.__getattribute__(self, name)

    def replace(self, **changes: Any) -> Self:
        """Return the state with other fields."""
        return dataclasses.replace(self, **changes)

    def tell(self, message: str, *, tone: str = "info") -> Self:
        """Return the state with something to say to the reader."""
        return self.replace(message=message, tone=tone)

    def renew(self) -> Self:
        """Return the state for parts that read `renewed` to show again."""
        return self.replace(renewed=self.renewed + 1)

    def disclose(self, **changes: Any) -> Self:
        """Return the state with another rule of small counts: `threshold`, `private`, `on_screen`."""
        return self.replace(disclosure=dataclasses.replace(self.disclosure, **changes))

    @property
    def unsaved(self) -> bool:
        """Whether work would be lost with the dashboard."""
        return False

    @property
    def private(self) -> bool:
        """Whether rows stand for people."""
        return self.disclosure.private

    @property
    def suppressing(self) -> bool:
        """Whether small counts are hidden now."""
        return self.disclosure.in_force

    @property
    def for_others(self) -> Self:
        """The same as others may see it, in a file: small counts hidden, and nothing that needs Python."""
        return self.replace(disclosure=self.disclosure.for_others, live=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class StepState(State, Generic[T]):
    """A state with steps that can be undone; `value` is what they change."""

    start: ClassVar[str] = ""  # Python that gives the state as it was opened
    is_work: ClassVar[bool] = False  # Whether steps make something, and do not only look at it

    history: History[T]
    saved: T | None = None  # The value that was handed over or written last
    value: T = field(init=False)  # Of the history; what reads it need not read all steps

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.history.value)

    @classmethod
    def opened(cls, value: T, **fields: Any) -> Self:
        """Return the state of the first step."""
        return cls(history=History((Step("Opened", cls.start, value),)), **fields)

    @property
    def unsaved(self) -> bool:
        """Whether steps would be lost with the dashboard."""
        known = self.history.steps[0].value if self.saved is None else self.saved
        return self.is_work and not same(self.value, known)

    def undo(self) -> Self:
        """Take the last step back."""
        text = self.history.steps[self.history.position].text
        return self._stand(self.history.undo(), f"Undone: {text}.")

    def redo(self) -> Self:
        """Do again what was undone."""
        history = self.history.redo()
        return self._stand(history, f"Done again: {history.steps[history.position].text}.")

    def go_to(self, position: int) -> Self:
        """Return to a step."""
        history = self.history.go_to(position)
        return self._stand(history, f"Back at: {history.steps[position].text}.")

    def step_to(self, value: T, text: str, code: str) -> Self:
        """Take a step to another value, unless we stand there; `code` does the same in Python."""
        if same(value, self.value):
            return self.replace(message=f"{text}.", tone="done")
        return self._stand(self.history.push(text, f"state = state.{code}", value), f"{text}.")

    def follow(self, value: T) -> dict[str, Any]:
        """Return fields that must change with the value, such as a pick that is no longer there."""
        return {}

    def _stand(self, history: History[T], message: str) -> Self:
        """Stand at a place of the history."""
        changes = self.follow(history.value)
        return self.replace(history=history, message=message, tone="done", **changes)
