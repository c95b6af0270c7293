"""What a browser can send to a dashboard, and what must hold afterwards."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from harness import examples, verdict

DASHBOARDS = (
    "ClusterExplorer",
    "CovariatePath",
    "Dashboard",
    "ScoreCards",
    "StabilityPanel",
    "TensorExplorer",
    "TopicRelevance",
    "TreeNavigator",
    "Workbench",
)


def deep() -> list[Any]:
    """A list in a list, three hundred times."""
    found: list[Any] = []
    for _ in range(300):
        found = [found]
    return found


PAYLOADS: dict[str, Callable[[], Any]] = {
    "null": lambda: None,
    "text": lambda: "no such thing",
    "long text": lambda: "x" * 200_000,
    "empty text": lambda: "",
    "-1": lambda: -1,
    "10**9": lambda: 10**9,
    "10**400": lambda: 10**400,
    "1.5": lambda: 1.5,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "true": lambda: True,
    "empty list": list,
    "list of null": lambda: [None],
    "list of text": lambda: ["no such thing", "desc"],
    "list of numbers": lambda: [-5, 10**9],
    "empty object": dict,
    "object": lambda: {
        "cluster": 99,
        "code": "zzz",
        "id": -4,
        "node": 10**6,
        "row": -1,
        "field": "name",
        "value": [1],
    },
    "object of objects": lambda: {"a": {"b": [{"c": None}]}},
    "deep": deep,
    "bytes": lambda: b"\xff\xfe",
    "markup": lambda: "<script>alert(1)</script>",
}
# What is no [count, what, [earlier]] at all.
BROKEN_EVENTS: dict[str, Callable[[int], Any]] = {
    "event: null": lambda count: None,
    "event: text": lambda count: "x",
    "event: number": lambda count: 3,
    "event: empty": lambda count: [],
    "event: count only": lambda count: [count + 1],
    "event: count is text": lambda count: ["a", 1],
    "event: count is null": lambda count: [None, None],
    "event: earlier are text": lambda count: [count + 1, None, "abc"],
    "event: earlier are numbers": lambda count: [count + 1, None, [1, 2]],
    "event: object": lambda count: {"0": 1},
}


# Within a message that is otherwise what a page sends, one value at a time is none.
WITHIN: dict[tuple[str, str], tuple[dict[str, Any], ...]] = {
    ("heat", "pick"): ({"cluster": None, "code": None},),
    ("tree_outline", "cut"): ({"level": 0}, {"prune": 0}, {"split": 0}),
    ("phenotype_cards", "edit"): (
        {"id": 0, "field": "mark", "value": "yes"},
        {"id": 0, "field": "name", "value": ""},
    ),
}
FREE = {"text", "textarea"}
"""Controls of forms that take any text, which handlers must live with."""


class Loop:
    """A host whose turn comes when the caller asks for it."""

    here = True

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.lock = threading.Lock()

    def call(self, function: Callable[[], None]) -> None:
        with self.lock:
            self.waiting.append(function)

    def turn(self, board: Any, seconds: float) -> bool:
        """Answer until nothing is left to do; tell whether that came to an end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self.lock:
                ready, self.waiting = self.waiting, []
            for function in ready:
                function()
            if not ready and not board.busy:
                return True
            if not ready:
                time.sleep(0.005)
        return False


class Screen:
    """A page's copy of all fields, and what they were before a message."""

    def __init__(self, found: Any) -> None:
        self.shown: dict[str, Any] = found._sync.state()
        self.before: dict[str, Any] = {}
        found._sync._views["screen"] = self

    def push(self, changes: Mapping[str, Any]) -> None:
        """Show what has changed."""
        for key, value in changes.items():
            self.before.setdefault(key, self.shown[key])
            self.shown[key] = value


class Failures(logging.Handler):
    """Keeps what dashboards log as failures: exceptions that were not meant for readers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.found.append(f"{type(error).__name__}: {error}" if error else record.getMessage())


@cache
def failures() -> Failures:
    """Return the handler, put in place at first use."""
    handler = Failures()
    logger = logging.getLogger("lvmkit_widgets")
    logger.addHandler(handler)
    logger.propagate = False
    return handler


_boards: dict[str, tuple[Any, Screen]] = {}


def board(name: str) -> tuple[Any, Screen]:
    """Return the dashboard that earlier messages left in order, and a page that shows it."""
    if name not in _boards:
        found = examples.board(name)
        if hasattr(found, "update_all"):
            found.update_all()  # tabs that were never opened would change at the first message
        for part in found.components.values():
            if part.kind == "status" and part.waiting:
                part.fire("seen")  # what begins when a page shows it
        _boards[name] = found, Screen(found)
    return _boards[name]


def targets(name: str) -> Iterator[tuple[str, str]]:
    """Yield component and field, for what Python listens to; the other fields of a component are one target."""
    found = examples.board(name)
    for component, part in found._sync.parts.items():
        watched = part.param.watchers
        listened = [f for f in part.fields() if len(watched.get(f, {}).get("value", [])) > 1]
        for field in listened:
            yield component, field
        yield component, "*"


def fields_of(found: Any, component: str, field: str) -> list[str]:
    """Return the fields that a target stands for."""
    part = found._sync.parts[component]
    if field != "*":
        return [field]
    watched = part.param.watchers
    return [f for f in part.fields() if len(watched.get(f, {}).get("value", [])) <= 1]


def counted(found: Any, key: str) -> bool:
    """Return whether a message without effect must leave a field alone."""
    name, field = found._sync._flat[key]
    part = found._sync.parts[name]
    told = part.kind == "status" or field in {"errors", "busy"} or key == "stage_file"
    # Numbers of messages, which go on as those of events do, and which Python sends to no page.
    numbers = key in {"stage_file_sent", "stage_told", "stage_heard", "stage_repeated"}
    return not told and field not in part.events() and not numbers


def spoiled(whole: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a mapping with each of its values replaced by each payload."""
    for name in whole:
        for fault, make in PAYLOADS.items():
            yield f"{name}: {fault}", lambda name=name, make=make: {**whole, name: make()}


def payloads(found: Any, component: str, field: str) -> dict[str, Callable[[int], Any]]:
    """Return what is sent to a field, each made from the count of an event."""
    part = found._sync.parts[component]
    plain = dict(PAYLOADS)
    for whole in WITHIN.get((part.kind, field), ()):
        words = {name for name in ("value",) if whole.get("field") == "name"}
        wrong = {f"{whole}: {key}": make for key, make in spoiled(whole)}
        plain |= {
            key: make
            for key, make in wrong.items()
            if not (words and key.split(": ")[-2] in words and isinstance(make()["value"], str))
        }
    if (part.kind, field) == ("form", "values"):
        plain |= dict(spoiled(part.values))
    if field not in part.events():
        return {fault: lambda _, make=make: make() for fault, make in plain.items()}
    events = {fault: lambda count, make=make: [count + 1, make()] for fault, make in plain.items()}
    return events | BROKEN_EVENTS


def sent(name: str, component: str, field: str) -> list[str]:
    """Send every payload to a field and return what went wrong."""
    faults: list[str] = []
    for one in fields_of(board(name)[0], component, field):
        for fault, make in payloads(board(name)[0], component, one).items():
            problem = message(name, component, one, make)
            if problem:
                faults.append(f"{component}.{one} = {fault}: {problem}")
                _boards.pop(name, None)
        if len(faults) > 30:
            break
    return faults


def message(name: str, component: str, field: str, make: Callable[[Any], Any]) -> str:
    """Send one message, and say what is wrong with the answer or with the state that it leaves."""
    (found, screen), host, log = board(name), Loop(), failures()
    log.found.clear()
    screen.before.clear()
    part = found._sync.parts[component]
    value, key = getattr(part, field), f"{component}_{field}"
    event = field in part.events()
    told = make(value[0] if event else None)
    screen.shown[key] = told
    screen.before[key] = value
    try:
        found._sync.receive({key: told}, host)
        ended = host.turn(found, 8.0)
        if not event:
            if repr(screen.shown[key]) != repr(getattr(part, field)):  # True is not 1
                return "the page goes on to show it, and Python holds another value"
            found._sync.receive({key: value}, host)
            ended = host.turn(found, 8.0) and ended
    except Exception as error:  # noqa: BLE001 - that is what is judged
        return f"raises {type(error).__name__}: {str(error)[:120]}"
    return "the work it began does not end" if not ended else judged(found, screen)


def judged(found: Any, screen: Screen) -> str:
    """Say what is wrong with an answer, or with the state after it."""
    if failures().found:
        return f"fails: {failures().found[0][:160]}"
    after = {key: screen.shown[key] for key in screen.before}
    try:
        plain = {k: v for k, v in after.items() if not isinstance(v, bytes)}
        json.dumps(plain, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        return f"the state is no JSON: {error}"
    moved = [k for k, was in screen.before.items() if counted(found, k) and after[k] != was]
    if moved:
        return f"the state is another afterwards: {', '.join(moved[:4])}"
    said = next((p.message for p in found.components.values() if p.kind == "status"), "")
    words = [word for word in verdict.FORBIDDEN if word.lower() in said.lower()]
    return f"says {said[:120]!r}" if words else ""
