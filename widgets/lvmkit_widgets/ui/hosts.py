"""Hosts that show a dashboard: a native Jupyter widget, a Panel component.

Both run the same JavaScript on the same field names, ``<component>_<field>``. Classes are built
once for each set of components, because Panel registers a model for every class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any

import anywidget
import panel as pn
import param
import traitlets
from bokeh.document import Document
from panel.io.state import set_curdoc

from lvmkit_widgets.ui.bundle import script_of
from lvmkit_widgets.ui.widgets import WIDGETS, Shell
from lvmkit_widgets.ui.words import refuse

Shape = tuple[tuple[str, str], ...]
KINDS = WIDGETS | {"stage": Shell}
Receive = Callable[[dict[str, Any], "LoopHost | PageHost | None"], None]


def flat_fields(shape: Shape) -> dict[str, tuple[str, str]]:
    """Return the flat name of every field of the components to (component, field)."""
    flat: dict[str, tuple[str, str]] = {}
    for name, kind in shape:
        for field in KINDS[kind].fields():
            key = f"{name}_{field}"
            if key in flat:
                refuse(f"components {flat[key][0]!r} and {name!r} both make {key!r}; rename one")
            flat[key] = (name, field)
    return flat


class LoopHost:
    """A Jupyter kernel: functions run in turn on the kernel's asyncio loop."""

    here = True  # as long as the kernel runs at all

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def call(self, function: Callable[[], None]) -> None:
        """Run the function on the loop; from any thread."""
        self.loop.call_soon_threadsafe(function)


class PageHost:
    """A served page: functions run on the server's loop, holding the document's lock."""

    def __init__(self, document: Document) -> None:
        self.document, self._loop = document, _running_loop()

    @property
    def here(self) -> bool:
        """Whether the server still knows the page; it forgets pages that were closed a while ago."""
        return self.document.session_context is not None

    @property
    def connected(self) -> bool:
        """Whether the page is open in a browser now."""
        context = self.document.session_context
        session = getattr(context, "session", None)  # none any more if it was destroyed meanwhile
        return session is not None and session.connection_count > 0

    def call(self, function: Callable[[], None]) -> None:
        """Run the function in a later turn of the server, or if the page is gone; from any thread."""
        if self._loop is None or self._loop.is_closed():
            self._add(function)
        else:  # what another thread adds while the loop holds changes back is lost in Bokeh
            self._loop.call_soon_threadsafe(self._add, function)

    def _add(self, function: Callable[[], None]) -> None:
        """Have the server call the function, in the loop's own thread."""
        try:
            self.document.add_next_tick_callback(partial(self._run, function))
        except AttributeError:  # what Bokeh raises for a page that it has taken down
            if self.here:
                raise
            function()

    def _run(self, function: Callable[[], None]) -> None:
        """Run the function with the page as the current document."""
        with set_curdoc(self.document):
            function()


class NotebookView(anywidget.AnyWidget):
    """The dashboard as a Jupyter widget. Built by `notebook_view`."""

    _receive: Receive | None = None
    _host: LoopHost | None = None

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the browser changed, and hand it to the dashboard as one change."""
        super().set_state(sync_data)
        if self._receive is not None:
            ours = {key: getattr(self, key) for key in sync_data if self.has_trait(key)}
            self._receive(ours, self._host)

    def push(self, changes: Mapping[str, Any]) -> None:
        """Show changed fields, in one message."""
        with self.hold_sync():
            for key, value in changes.items():
                setattr(self, key, value)


class PageView(pn.custom.AnyWidgetComponent):
    """The dashboard as a Panel component. Built by `page_view`."""

    __abstract = True
    _debounce = 5
    _receive: Receive | None = None
    _pushing = False

    def push(self, changes: Mapping[str, Any]) -> None:
        """Show changed fields, in one message."""
        self._pushing = True
        try:
            self.param.update(**changes)
        finally:
            self._pushing = False

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        """Return the properties of the Bokeh model, with the definition of its fields if the page lacks it."""
        # A page brings all definitions along. What is put into it later may be newer, and Panel sends
        # that definition to the first such page alone: others that were open then would stay empty.
        shown = doc is not None and pn.state._connected.get(doc, False)
        type(self)._data_model__initialized = not shown
        return super()._get_properties(doc)

    def _take(self, *changes: Any) -> None:
        """Hand what the browser changed to the dashboard as one change."""
        if self._pushing or self._receive is None:
            return
        document = pn.state.curdoc
        host = PageHost(document) if document is not None and document.session_context else None
        self._receive({change.name: change.new for change in changes}, host)


@cache
def _native_class(shape: Shape) -> type[NotebookView]:
    """Return the widget class for a set of components."""
    fields = {key: traitlets.Any().tag(sync=True) for key in flat_fields(shape)}
    script = script_of(tuple(kind for _, kind in shape))
    return type("Dashboard", (NotebookView,), {"_esm": script, **fields})


@cache
def _page_class(shape: Shape) -> type[PageView]:
    """Return the Panel class for a set of components."""
    flat = flat_fields(shape)
    taken = set(flat) & set(PageView.param)
    if taken:
        refuse(f"Panel needs the name {min(taken)!r} itself; rename the component")
    kinds = dict(shape)
    script = script_of(tuple(kind for _, kind in shape))
    body: dict[str, Any] = {"_esm": script, "__module__": __name__}
    for key, (name, field) in flat.items():
        is_bytes = isinstance(KINDS[kinds[name]].param[field], param.Bytes)
        body[key] = param.Bytes(b"") if is_bytes else param.Parameter(None)
    return type("DashboardPage", (PageView,), body)


def notebook_view(shape: Shape, state: Mapping[str, Any], receive: Receive) -> NotebookView:
    """Return a Jupyter widget that shows the fields and tells what the browser changed."""
    view, loop = _native_class(shape)(**state), _running_loop()
    view._host = LoopHost(loop) if loop else None
    view._receive = receive
    return view


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop that runs in this thread, if there is one."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


def page_view(shape: Shape, state: Mapping[str, Any], receive: Receive) -> PageView:
    """Return a Panel component that shows the fields and tells what the browser changed."""
    view = _page_class(shape)(sizing_mode="stretch_width", margin=0, **state)
    view._receive = receive
    view.param.watch(view._take, list(flat_fields(shape)))
    return view
