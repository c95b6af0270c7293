"""Long work off the thread that answers the reader: progress, cancel, and one job at a time.

A job runs in a thread while its dashboard keeps answering. What it reports and returns is handed
back through the host's own loop (`Host.call`), so that a dashboard's fields are only ever set
where the host allows it. A second job is refused while one runs: replacing it silently would throw
away minutes of work after a stray click. The reader may cancel the first one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

log = logging.getLogger(__name__)
REPORTS_PER_SECOND = 12
KNOWN_AFTER, WORTH_TELLING = 2.0, 5.0
"""Seconds after which the time left can be told from the part that is done, and from which on it is told."""


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The reader asked for the work to stop."""


class Host(Protocol):
    """Where a dashboard is shown: runs a function in the turn of its own loop."""

    @property
    def here(self) -> bool:
        """Whether the reader's page is still there."""

    def call(self, function: Callable[[], None]) -> None:
        """Run the function soon, on the loop; may be called from any thread."""


class Progress:
    """What the work calls to tell how far it is: ``progress("Fitting", 0.4)``."""

    def __init__(self, report: Callable[[str, float | None], None]) -> None:
        self._report = report
        self._stop = threading.Event()
        self._last: tuple[str, float] = ("", 0.0)
        self._began = time.monotonic()

    def __call__(self, text: str, fraction: float | None = None) -> None:
        """Report where the work stands, and stop it if the reader asked for that."""
        if self._stop.is_set():
            raise Cancelled
        now = time.monotonic()
        last_text, last_time = self._last
        if text != last_text or now - last_time > 1 / REPORTS_PER_SECOND:
            self._last = (text, now)
            self._report(text + time_left(now - self._began, fraction), fraction)

    def cancel(self) -> None:
        """Let the next report stop the work."""
        self._stop.set()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()


def time_left(elapsed: float, fraction: float | None) -> str:
    """Return how long work will take that has done a fraction in so many seconds, in words; "" while nobody knows."""
    if not fraction or elapsed < KNOWN_AFTER:
        return ""
    left = elapsed * (1 - fraction) / fraction
    if left < WORTH_TELLING:
        return ""
    if left < 90:
        return f", about {5 * round(left / 5)} s left"
    return f", about {round(left / 60)} minutes left"


@dataclass(eq=False)
class BackgroundJob:
    """One piece of work, with what to do with its result, its failure or its end."""

    work: Callable[[Progress], Any]
    done: Callable[[Any], None]
    failed: Callable[[BaseException], None]
    progress: Progress
    _thread: threading.Thread | None = None

    def run(self, call: Callable[[Callable[[], None]], None]) -> None:
        """Do the work in this thread, and hand what follows to ``call``."""
        try:
            result = self.work(self.progress)
        except BaseException as error:  # an interrupted kernel must leave the dashboard usable
            failure = error
            if isinstance(error, Exception) and not isinstance(error, (Cancelled, ValueError)):
                log.exception("work of a dashboard failed")
            call(lambda: self.failed(failure))
        else:
            call(lambda: self.done(result))

    def start(self, call: Callable[[Callable[[], None]], None]) -> None:
        """Do the work in a thread of its own, and hand what follows to ``call``."""
        self._thread = threading.Thread(
            target=self.run, args=(call,), name="lvmkit-job", daemon=True
        )
        self._thread.start()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the work has ended; what follows it may still be waiting for the loop."""
        if self._thread is not None:
            self._thread.join(timeout)
