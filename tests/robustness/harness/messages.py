"""What a browser can send to a dashboard, and what must hold afterwards."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from harness import examples, verdict
from lvmkit_widgets.dashboard import FAILED

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
BROKEN_SIGNALS: dict[str, Callable[[int], Any]] = {
    "signal: null": lambda count: None,
    "signal: text": lambda count: "x",
    "signal: number": lambda count: 3,
    "signal: empty": lambda count: [],
    "signal: count only": lambda count: [count + 1],
    "signal: count is text": lambda count: ["a", 1],
    "signal: count is null": lambda count: [None, None],
    "signal: earlier are text": lambda count: [count + 1, None, "abc"],
    "signal: earlier are numbers": lambda count: [count + 1, None, [1, 2]],
    "signal: object": lambda count: {"0": 1},
}


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


_boards: dict[str, Any] = {}


def board(name: str) -> Any:
    """Return the dashboard that earlier messages left in order."""
    if name not in _boards:
        _boards[name] = examples.board(name)
        _boards[name].widget()
    return _boards[name]


def targets(name: str) -> Iterator[tuple[str, str]]:
    """Yield component and field, for what Python listens to; the other fields of a component are one target."""
    found = examples.board(name)
    for component, part in found._exchange.parts.items():
        watched = part.param.watchers
        listened = [f for f in part.fields() if len(watched.get(f, {}).get("value", [])) > 1]
        for field in listened:
            yield component, field
        yield component, "*"


def fields_of(found: Any, component: str, field: str) -> list[str]:
    """Return the fields that a target stands for."""
    part = found._exchange.parts[component]
    if field != "*":
        return [field]
    watched = part.param.watchers
    return [f for f in part.fields() if len(watched.get(f, {}).get("value", [])) <= 1]


def settled(found: Any) -> dict[str, Any]:
    """Return the fields that a message without effect leaves alone."""
    state = found._exchange.state()
    status = next((k for k, p in found.components.items() if p.kind == "status"), None)
    signals = {
        f"{name}_{field}"
        for name, part in found._exchange.parts.items()
        for field in part.signals()
    }
    return {
        key: value
        for key, value in state.items()
        if key not in signals
        and key not in {"stage_file", "stage_file_sent"}
        and not (status and key.startswith(f"{status}_"))
        and not key.endswith(("_errors", "_busy"))
    }


def sent(name: str, component: str, field: str) -> list[str]:
    """Send every payload to a field and return what went wrong."""
    faults: list[str] = []
    for one in fields_of(board(name), component, field):
        found = board(name)
        signal = one in found._exchange.parts[component].signals()
        payloads: dict[str, Callable[[Any], Any]] = {}
        for fault, make in PAYLOADS.items():
            payloads[fault] = (
                (lambda count, make=make: [count + 1, make()])
                if signal
                else (lambda _, make=make: make())
            )
        payloads |= BROKEN_SIGNALS if signal else {}
        for fault, make in payloads.items():
            problem = message(name, component, one, make)
            if problem:
                faults.append(f"{component}.{one} = {fault}: {problem}")
                _boards.pop(name, None)
        if len(faults) > 30:
            break
    return faults


def message(name: str, component: str, field: str, make: Callable[[Any], Any]) -> str:
    """Send one message, and say what is wrong with the answer or with the state that it leaves."""
    found, host, log = board(name), Loop(), failures()
    log.found.clear()
    part = found._exchange.parts[component]
    before, value = settled(found), getattr(part, field)
    signal = field in part.signals()
    count = value[0] if signal else None
    key = f"{component}_{field}"
    try:
        found._exchange.receive({key: make(count)}, host)
        ended = host.turn(found, 8.0)
        if not signal:
            found._exchange.receive({key: value}, host)
            ended = host.turn(found, 8.0) and ended
    except Exception as error:  # noqa: BLE001 - that is what is judged
        return f"raises {type(error).__name__}: {str(error)[:120]}"
    if not ended:
        return "the work it began does not end"
    # A handler may fail at what no page of ours sends: the reader is told in words of ours, and no field changes.
    said = next((p.message for p in found.components.values() if p.kind == "status"), "")
    if log.found and said not in ("", FAILED):
        return f"fails: {log.found[0][:160]}"
    try:
        json.dumps(
            {k: v for k, v in found._exchange.state().items() if not isinstance(v, bytes)},
            allow_nan=False,
        )
    except (ValueError, TypeError, RecursionError) as error:
        return f"the state is no JSON: {error}"
    after = settled(found)
    moved = [k for k in before if before[k] != after[k] and not (signal and k == key)]
    if moved:
        return f"the state is another afterwards: {', '.join(moved[:4])}"
    words = [word for word in verdict.FORBIDDEN if word.lower() in said.lower()]
    return f"says {said[:120]!r}" if words else ""
