"""Pages of visitors: a title at once, the dashboard when the socket has connected, and how many at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models import CustomJS

from lvmkit.core.folders import open_only
from lvmkit_widgets.ui.bundle import static
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.hosts import PageHost
from lvmkit_widgets.ui.widgets import Text

log = logging.getLogger(__name__)
MOST_PAGES = 64
WAITING = 24
"""Pages without a dashboard, beside two for each that may have one: those that open, and closed ones for a minute."""
SECONDS_TO_CONNECT = 60
"""How long the dashboard of a page without a connection is kept: it can load its scripts meanwhile,
and a page that was connected cannot take its dashboard up again."""
DAY = 24 * 60.0


@dataclass(eq=False)
class VisitLimit:
    """Makes a dashboard for each page that connects, one at a time, beside the server's loop."""

    factory: Callable[[], Any]
    _: KW_ONLY
    title: str
    folders: Sequence[Path] | None = None
    max_pages: int = MOST_PAGES
    minutes: float | None = None

    def __post_init__(self) -> None:
        self.too_many = (
            f"This server shows {self.max_pages} pages already, as many as it may. Close one that is no "
            "longer needed, then reload this page."
        )
        self._one = threading.Lock()
        self._counting = threading.Lock()  # not `_one`: the loop must not wait for a factory
        self._hosts: list[PageHost] = []

    def page(self) -> Any:
        """Return the page of a new session: a title and what is going on."""
        document: Any = pn.state.curdoc
        request = document.session_context.request
        if request is not None and request.path.endswith("/ws"):  # the session was gone already
            return self._ended("the page was without a connection for too long")
        document.template = static("opening.html")
        frame = pn.Column(sizing_mode="stretch_width", margin=0)
        host, begun = PageHost(document), threading.Event()

        def begin() -> None:
            if not begun.is_set():
                begun.set()
                work = partial(copy_context().run, self._make, host, frame)
                threading.Thread(target=work, name="lvmkit-open", daemon=True).start()

        document.js_on_event("connection_lost", CustomJS(code=static("lost.js")))
        pn.state.onload(begin)
        return frame

    def full(self, server: Any) -> str:
        """Say why no further page can be opened, or nothing while there is room."""
        # Pages without a dashboard are small, so they are let in a while longer: a reload asks for the new page before
        # the old one is gone.
        return "" if len(server.get_sessions("/")) < 3 * self.max_pages + WAITING else self.too_many

    def _make(self, host: PageHost, frame: Any) -> None:
        """Make a dashboard, unless its page is gone, and put it into the page."""
        with self._one:
            if not host.connected:  # closed or reloaded while it waited for those before it
                return
            board, why = None, "" if self._n_shown() < self.max_pages else self.too_many
            if not why:
                with open_only(self.folders):
                    board, why = _made(self.factory)
            if board is not None:  # before the next is let in, and not a page that only says why
                with self._counting:
                    self._hosts.append(host)

        def show() -> None:
            if host.here:
                frame[:] = [_sorry(why) if board is None else board]
                if board is not None:
                    self._end_when_idle(host, frame)

        host.call(show)

    def _n_shown(self) -> int:
        """Return how many pages show a dashboard; those that were closed or have ended do not count."""
        with self._counting:
            self._hosts[:] = [host for host in self._hosts if host.connected]
            return len(self._hosts)

    def _end_when_idle(self, host: PageHost, frame: Any) -> None:
        """Take a dashboard out of its page when nothing was done with it for long."""
        if self.minutes is None:
            return
        minutes, document, last = self.minutes, host.document, [time.monotonic()]

        def note(event: Any) -> None:
            if isinstance(event, DocumentPatchedEvent):  # not the clock of `look` itself
                last[0] = time.monotonic()

        def look() -> None:
            left = minutes * 60 - (time.monotonic() - last[0])
            if left > 0:
                document.add_timeout_callback(look, int(left * 1000) + 1)
            else:
                document.remove_on_change(note)
                frame[:] = [self._ended(f"nothing was done for {_spoken(minutes)}")]
                with self._counting:
                    self._hosts[:] = [other for other in self._hosts if other is not host]

        document.on_change(note)
        look()

    def _ended(self, why: str) -> Any:
        """Return what is shown in place of a dashboard that has ended."""
        words = f"What this page showed has ended, because {why}. Reload the page to begin again."
        return _sorry(words, title=self.title)


def _made(factory: Callable[[], Any]) -> tuple[Any, str]:
    """Return a new dashboard for Panel, or None and in plain words why there is none."""
    try:
        board = factory()
        if isinstance(board, Dashboard):
            board.follow_address()
        return board.__panel__(), ""
    except Exception as error:
        log.exception("a dashboard could not be made")
        why = f"The dashboard could not be opened: {error or type(error).__name__}"
        return None, f"{why}\n\nDetails are where the program was started."


def _sorry(words: str, *, title: str = "lvmkit") -> Any:
    """Return what is shown in place of a dashboard, for Panel."""
    return Dashboard({"sorry": Text(text=words, tone="warning")}, "sorry", title=title).__panel__()


def _spoken(minutes: float) -> str:
    """Say a time in hours or minutes."""
    if minutes >= 120:
        return f"{minutes / 60:g} hours"
    return "1 minute" if minutes == 1 else f"{minutes:g} minutes"
