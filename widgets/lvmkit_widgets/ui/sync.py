"""Synchronization of fields between components and the hosts that show them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import param
from param.parameterized import batch_call_watchers

from lvmkit_widgets.ui.component import Component, Event
from lvmkit_widgets.ui.hosts import Shape, flat_fields, notebook_view, page_view
from lvmkit_widgets.ui.jobs import Host
from lvmkit_widgets.ui.rules import Gone, equal
from lvmkit_widgets.ui.words import refuse

DEEPEST, LONGEST, LARGEST = 40, 1_000_000, 2**53
"""What a page may send: values in values so deep, texts so long, whole numbers that floats hold."""

HALF = re.compile(r"[\ud800-\udfff]")
"""Half of a character: JSON can hold it, and nothing can draw or save it."""
NOTHING, PLAIN = "nothing from a page", "another kind of value than was sent"
GONE = "What was shown has changed meanwhile: {} takes {} now. Pick again."
NOT_UNDERSTOOD = (
    "The page sent something that is not understood: {} takes {}. "
    "This was not changed; try again, or reload the page."
)

asked_by: ContextVar[Host | None] = ContextVar("asked_by", default=None)
"""The host whose reader is being answered; None while Python itself acts."""


class Sync:
    """Keeps the copies of fields in hosts equal to the components, both ways."""

    # Jupyter may deliver what the browser changed on another thread than the one that runs cells, so everything happens
    # under one lock.

    def __init__(self, parts: Mapping[str, Component], fail: Callable[[Exception], None]) -> None:
        self.parts = dict(parts)
        self.shape: Shape = tuple((name, part.kind) for name, part in self.parts.items())
        self.kinds = tuple(kind for _, kind in self.shape)
        self._fail = fail
        self._flat = flat_fields(self.shape)
        self._stage: Any = self.parts["stage"]
        self._lock = threading.RLock()
        self._depth = 0
        self._pending: dict[str, Any] = {}
        self._refused: dict[str, int] = {}  # events to their highest count that was not taken
        self._views: dict[str, Any] = {}
        # What waits while fields of a page are heard
        self._late: list[Callable[[Any], None]] | None = None
        for name, part in self.parts.items():
            part.param.watch(partial(self._changed, name), part.fields())

    def part(self, name: str) -> Component:
        """Return a component."""
        if name not in self.parts:
            refuse(f"there is no component {name!r}; there are {', '.join(self.parts)}")
        return self.parts[name]

    def state(self) -> dict[str, Any]:
        """Return all fields under their flat names."""
        return {
            f"{name}_{field}": value
            for name, part in self.parts.items()
            for field, value in part.state().items()
        }

    def native(self) -> Any:
        """Return the Jupyter widget, built at first use."""
        if "native" not in self._views:
            self._views["native"] = notebook_view(self.shape, self.state(), self.receive)
        return self._views["native"]

    def page(self) -> Any:
        """Return the Panel component, built at first use."""
        if "page" not in self._views:
            self._views["page"] = page_view(self.shape, self.state(), self.receive)
        return self._views["page"]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Let everything set inside reach each host as one change."""
        with self._lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._flush()

    def guarded(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback that works in one batch and tells the reader what went wrong."""

        def call(value: Any) -> None:
            with self.batch():
                try:
                    callback(value)
                except Exception as error:
                    if asked_by.get() is None:
                        raise
                    self._fail(error)

        return call

    def answer(self, host: Host | None, function: Callable[[], None]) -> None:
        """Run a function as an answer to a reader, in the turn of the reader's host."""
        if host is None:
            function()
        else:
            host.call(lambda: self._answering(host, function))

    def settled(self, show: Callable[[], None]) -> None:
        """Show something anew: at once, or when all fields that a page sent have been heard."""
        # Before, it would set back what the reader changed in the same message and nobody has listened to yet.
        if self._late is None:
            show()
        else:
            self._late.append(self.guarded(lambda _: show()))

    def receive(self, changes: Mapping[str, Any], host: Host | None) -> None:
        """Take what a browser changed: first state, then what happened."""
        self._answering(host, lambda: self._take(changes))

    def _answering(self, host: Host | None, function: Callable[[], None]) -> None:
        """Run a function in one batch, knowing who asked."""
        token = asked_by.set(host)
        try:
            with self.batch():
                function()
        finally:
            asked_by.reset(token)

    def _take(self, changes: Mapping[str, Any]) -> None:
        """Set what a browser changed; all of its state is there before anything answers, or it would undo answers."""
        changes = self._understood(self._news(changes))
        if (told := changes.pop("stage_told", None)) is not None:
            self._note(told=told, heard=max(told, self._stage.heard))
        late = self._late = []
        try:
            self._hear({key: value for key, value in changes.items() if not self._is_event(key)})
        finally:
            self._late = None
        for show in late:
            show(None)
        for key in [key for key in self._flat if key in changes and self._is_event(key)]:
            known = max(self._now(key)[0], self._refused.pop(key, 0))
            merged = changes[key][2] if len(changes[key]) > 2 else []  # by the host on the way
            for happened in [*(one for one in merged if one[0] > known), changes[key]]:
                self._fire(key, happened)

    def _news(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return changes without what a page only shows again, as it undid an answer that was out of date."""
        news = dict(changes)
        marked = news.get("stage_repeated")
        if marked is not None and not self._refusal("stage_repeated", marked):
            self._note(repeated=news.pop("stage_repeated"))
            for key in news.keys() & self._flat.keys() & set(marked[1]):
                self._show_again(key)  # where Python has changed its mind since
                del news[key]
        return news

    def _note(self, **fields: Any) -> None:
        """Keep what a page says of its messages, which is nothing to tell hosts."""
        with param.discard_events(self._stage):
            self._stage.param.update(**fields)

    def _hear(self, state: Mapping[str, Any]) -> None:
        """Set fields by component, as these were declared, and then call their listeners."""
        parts: dict[str, dict[str, Any]] = {}
        for key, (name, field) in self._flat.items():
            if key in state:
                parts.setdefault(name, {})[field] = state[key]
        try:
            with ExitStack() as waiting:
                for name in reversed(parts):  # the first is let go first
                    waiting.enter_context(batch_call_watchers(self.parts[name]))
                for name, fields in parts.items():
                    self._update(name, fields)
        except ValueError as error:
            self._fail(error)

    def _understood(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a page can send now, and refuse the rest; events are judged when their turn comes."""
        kept, refused = {}, {}
        for key in self._flat.keys() & changes.keys():
            name, field = self._flat[key]
            kind, value = self.parts[name].param[field], changes[key]
            fits = is_event(value) if isinstance(kind, Event) else _is_of(kind, value)
            if not (fits and (isinstance(kind, param.Bytes) or is_plain(value))):
                refused[key] = PLAIN
            elif isinstance(kind, Event) or not (wanted := self._refusal(key, value)):
                kept[key] = value
            elif not equal(value, self._now(key)):
                refused[key] = wanted
        for key in self._handed_on(kept, changes, refused):
            kept[key] = changes[key]
            del refused[key]
        filled = {key for key in refused if self._filled(key, changes[key], refused[key])}
        told = [key for key in self._flat if key in refused.keys() - filled]
        for key in filled:
            self._show_again(key)
        # What no page sends is told last, and so is read.
        for key in sorted(told, key=lambda key: not isinstance(refused[key], Gone)):
            self._refuse(key, changes[key], refused[key])
        # No button acts on values that were not taken.
        halted = {self._flat[key][0] for key in told}
        for key in [key for key in kept if self._is_event(key) and self._flat[key][0] in halted]:
            self._pass_over(key, kept[key])
            del kept[key]
        return kept

    def _is_event(self, key: str) -> bool:
        """Return whether a flat name is that of an event."""
        name, field = self._flat[key]
        return isinstance(self.parts[name].param[field], Event)

    def _now(self, key: str) -> Any:
        """Return what a field holds."""
        name, field = self._flat[key]
        return getattr(self.parts[name], field)

    def _refusal(self, key: str, value: Any) -> str:
        """Return what a page may send for a field instead of a value; "" if it may send that."""
        name, field = self._flat[key]
        part = self.parts[name]
        return part.sent[field](part, self.parts, value) if field in part.sent else NOTHING

    def _handed_on(
        self, kept: Mapping[str, Any], changes: Mapping[str, Any], refused: Mapping[str, str]
    ) -> set[str]:
        """Return fields, refused by themselves, that a page filled by a link from one that it may set so."""
        taken, found = dict(kept), set()
        links = self._links() if refused else []
        for _ in links:  # a link may hand on to another
            for source, target in links:
                if refused.get(target, PLAIN) == PLAIN or source not in self._flat:
                    continue
                if any(equal(value, changes[target]) for value in self._values_of(source, taken)):
                    taken[target] = changes[target]
                    found.add(target)
        return found

    def _links(self) -> list[tuple[str, str]]:
        """Return the links as pairs of flat names."""
        return [(a.replace(".", "_", 1), b.replace(".", "_", 1)) for a, b in self._stage.links]

    def _filled(self, key: str, value: Any, wanted: str) -> bool:
        """Return whether the browser itself, not the reader, set a field from what it showed before."""
        name, field = self._flat[key]
        if isinstance(wanted, Gone):
            return field in self.parts[name].filled
        sources = [one for one, other in self._links() if other == key and one in self._flat]
        judged = [self._refusal(source, value) for source in sources]
        return wanted == NOTHING and any(not one or isinstance(one, Gone) for one in judged)

    def _values_of(self, key: str, kept: Mapping[str, Any]) -> Iterator[Any]:
        """Yield what a field holds now, and what a page sets it to; of an event, what happened."""
        now, event = self._now(key), self._is_event(key)
        yield now[1] if event else now
        if key in kept and not (event and self._refusal(key, kept[key][1])):
            yield kept[key][1] if event else kept[key]

    def _overtaken(self, key: str, value: Any) -> bool:
        """Return whether the reader has since changed what an event had set by a link."""
        # While Python is busy both come in one message: what the event set is a field, which holds what came last.
        targets = (target for source, target in self._links() if source == key)
        return not all(equal(value, self._now(target)) for target in targets)

    def _fire(self, key: str, happened: Any) -> None:
        """Let an event happen, unless no page can send it now."""
        wanted = self._refusal(key, happened[1])
        if not wanted and self._overtaken(key, happened[1]):
            self._pass_over(key, happened)
        elif not wanted:
            name, field = self._flat[key]
            self._update(name, {field: happened})
        elif not equal(happened, self._now(key)):
            self._refuse(key, happened, wanted)

    def _refuse(self, key: str, value: Any, wanted: str) -> None:
        """Tell the reader of a value that is not taken."""
        name, field = self._flat[key]
        told = GONE if isinstance(wanted, Gone) else NOT_UNDERSTOOD
        self._fail(ValueError(told.format(self.parts[name].title or f"{name}, {field}", wanted)))
        if self._is_event(key) and is_event(value):
            self._pass_over(key, value)
        else:
            self._show_again(key)

    def _pass_over(self, key: str, happened: Any) -> None:
        """Let an event not happen, nor later, when the next message brings it as an earlier one."""
        self._refused[key] = max(self._refused.get(key, 0), happened[0])
        self._show_again(key)

    def _show_again(self, key: str) -> None:
        """Let all hosts show what a field holds, not what the page sent."""
        self._pending.setdefault(key, self._now(key))

    def _update(self, name: str, fields: dict[str, Any]) -> None:
        """Set fields of a component, or tell what is wrong with them."""
        try:
            self.parts[name].param.update(**fields)
        except ValueError as error:
            self._fail(error)

    def _changed(self, name: str, *changes: Any) -> None:
        """Keep a component's changes for the hosts."""
        with self.batch():
            self._pending |= {f"{name}_{change.name}": change.new for change in changes}

    def _flush(self) -> None:
        """Send what was set to every host, and which messages that takes into account."""
        changes, self._pending = self._pending, {}
        if changes:
            for view in self._views.values():
                view.push({"stage_heard": self._stage.heard} | changes)


def is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """Return whether a value is what JSON can hold, and neither huge nor deep."""
    if isinstance(value, str):
        return len(value) <= LONGEST and not HALF.search(value)
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        return abs(value) <= LARGEST  # neither NaN nor infinite
    if depth and isinstance(value, list | tuple):
        return all(is_plain(item, depth - 1) for item in value)
    if depth and isinstance(value, Mapping):
        return all(
            isinstance(key, str) and is_plain(key) and is_plain(item, depth - 1)
            for key, item in value.items()
        )
    return False


def _is_of(kind: param.Parameter[Any], value: Any) -> bool:
    """Return whether a field takes a value; param tells only by refusing, in words that are not for readers."""
    try:
        kind._validate(value)
    except ValueError:
        return False
    return True


def is_event(value: Any, *, earlier: bool = True) -> bool:
    """Return whether a value is [count, what], or [count, what, [earlier ones]]."""
    if not isinstance(value, list | tuple) or len(value) not in (2, 2 + earlier):
        return False
    if not isinstance(value[0], int) or isinstance(value[0], bool) or value[0] < 0:
        return False
    merged = value[2] if len(value) > 2 else []
    return isinstance(merged, list | tuple) and all(is_event(one, earlier=False) for one in merged)
