"""The base of every dashboard: components, their places, and the hosts that show them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from panel.viewable import Viewer

from lvmkit_widgets.component import Component, Signal
from lvmkit_widgets.jobs import Cancelled, Host, Job, Progress
from lvmkit_widgets.kinds import Form, Stage, Status
from lvmkit_widgets.static_page import write_page
from lvmkit_widgets.twins import Shape, flat_fields, native_twin, page_twin

log = logging.getLogger(__name__)
_asked_by: ContextVar[Host | None] = ContextVar("asked_by", default=None)


class Dashboard(Viewer):  # type: ignore[misc]
    """Components and a layout, shown by Jupyter, a server, or a saved page.

    Parameters
    ----------
    components : mapping of str to Component
        Names are Python identifiers; at most one is a `Status`, which then shows background work.
    layout : str, list or dict
        A name; a list (one under the other); ``{"row": [...], "widths": [1, 2]}``;
        ``{"sidebar": node, "main": node}``; ``{"tabs": [{"title": ..., "content": node}, ...],
        "id": "main"}``; ``{"section": node, "title": ..., "help": ..., "closed": False}``.
    title, subtitle, footer : str
        Heading of the dashboard, the line under it, and small print at the end.
    links : sequence of (str, str)
        Pairs of ``"component.field"``: the browser copies the first to the second when it
        changes, in every host, so that saved pages answer too. A signal hands on what happened.

    Raises
    ------
    ValueError
        If a name is no identifier, or the layout or a link names a component that is not there.

    Examples
    --------
    >>> from lvmkit_widgets.kinds import Text
    >>> board = Dashboard({"hello": Text(text="Good day.")}, "hello", title="Hello")
    >>> board.components["hello"].text
    'Good day.'
    """

    def __init__(
        self,
        components: Mapping[str, Component],
        layout: Any,
        *,
        title: str = "",
        subtitle: str = "",
        footer: str = "",
        links: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__()
        _check_names(components, layout, links)
        kinds = {name: component.kind for name, component in components.items()}
        self.stage = Stage(
            title=title, subtitle=subtitle, footer=footer, layout=layout, kinds=kinds, links=links
        )
        self.components: dict[str, Component] = dict(components)
        self._shape: Shape = (("stage", "stage"), *kinds.items())
        self._flat = flat_fields(self._shape)
        self._lock = threading.RLock()
        self._depth = 0
        self._pending: dict[str, Any] = {}
        self._twins: dict[str, Any] = {}
        self._job: Job | None = None
        self._listeners: dict[tuple[str, str], list[Callable[[Any], None]]] = {}
        for name, component in self._parts():
            component.param.watch(self._note_for(name), component.fields())
        self.listen("stage", "file_taken", lambda _: self.stage.param.update(file=b""))
        status = self._status()
        if status is not None:
            self.listen(status, "cancel", lambda _: self.cancel())

    # -- what happens ------------------------------------------------------------------------

    def listen(self, component: str, field: str, callback: Callable[[Any], None]) -> None:
        """Call back when the reader, or Python, changes a field or causes a signal.

        Everything the callback sets reaches the browser as one change. What it raises becomes a
        plain message in the dashboard's `Status`; without one it is raised.

        Parameters
        ----------
        component, field : str
            Which field.
        callback : callable
            Receives the new value; for a signal, what happened.

        Raises
        ------
        ValueError
            If there is no such component or field.
        """
        part = self._part(component)
        part.on(field, lambda value: self._guarded(callback, value))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Let everything set inside reach the browser as one change."""
        with self._lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._flush()

    def background(
        self,
        work: Callable[[Progress], Any],
        done: Callable[[Any], None],
        *,
        label: str = "Working",
        can_cancel: bool = True,
        wait: bool | None = None,
    ) -> bool:
        """Do long work without stopping the dashboard, then use its result.

        Called while the dashboard answers the reader's browser, the work runs in a thread, shown by
        the `Status` with progress; all forms are disabled meanwhile. Called from Python (a test, a
        notebook cell), it runs at once and this returns when everything is done, also when the
        work was refused.

        Parameters
        ----------
        work : callable
            Receives a `Progress` to call with text and fraction; sets no fields; returns the result.
        done : callable
            Receives the result, in the host's own turn; sets fields freely, and usually ends with
            `say`.
        label : str
            What is going on, in the reader's words.
        can_cancel : bool
            Whether a cancel button is offered.
        wait : bool, optional
            True runs at once, False in a thread if the dashboard is being shown; None decides as
            above.

        Returns
        -------
        bool
            False if it was refused because other work is still going on.
        """
        if self._job is not None:
            self.say("Still at work. Wait for it to end, or cancel it first.", state=None)
            return False
        host = _asked_by.get() if not wait else None
        progress = Progress(lambda text, share: self._answer(host, self._show_progress, text, share))
        self._job = Job(
            work,
            done=lambda result: self._end(done, result),
            failed=lambda error: self._end(self._fail, error),
            progress=progress,
        )
        self._begin(label, can_cancel and host is not None)
        if host is None:
            self._job.run(lambda follow: follow())
        else:
            self._job.start(host)
        return True

    def cancel(self) -> None:
        """Ask the work that is going on to stop at its next report."""
        if self._job is not None:
            self._job.progress.cancel()
            self.say("Stopping …", state=None)

    @property
    def busy(self) -> bool:
        """Whether background work is going on."""
        return self._job is not None

    def say(
        self,
        message: str,
        *,
        state: str | None = "done",
        actions: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show a message in the dashboard's `Status`, if it has one.

        Parameters
        ----------
        message : str
            One or two plain sentences.
        state : {"idle", "busy", "done", "info", "error"}, optional
            None keeps the state, and the actions, as they are.
        actions : sequence of (str, str)
            Name and label of buttons, such as ``("undo", "Undo: merge 3 and 5")``.
        """
        name = self._status()
        if name is None:
            return
        if state is None:
            self.components[name].param.update(message=message)
        else:
            self.components[name].param.update(
                message=message, state_now=state, actions=list(actions), progress=None
            )

    def download(self, name: str, data: bytes, *, mime: str = "application/octet-stream") -> None:
        """Hand a file to the reader's browser, which saves it.

        Parameters
        ----------
        name : str
            File name to propose.
        data : bytes
            Contents.
        mime : str
            Kind of contents, such as ``text/csv``.
        """
        count = self.stage.file_sent[0] + 1
        self.stage.param.update(file=data, file_sent=[count, {"name": name, "mime": mime}])

    def open_tab(self, group: str, index: int) -> None:
        """Open a tab.

        Parameters
        ----------
        group : str
            Id of the tab group in the layout.
        index : int
            Which tab, from 0.
        """
        self.stage.tabs = self.stage.tabs | {group: index}

    # -- hosts -------------------------------------------------------------------------------

    def widget(self) -> Any:
        """Return the dashboard as a Jupyter widget; always the same one.

        Returns
        -------
        anywidget.AnyWidget
            Shown by Jupyter front ends without any request to a network.
        """
        return self._twin("native", native_twin)

    def __panel__(self) -> Any:
        """Return the dashboard as a Panel component; always the same one."""
        return self._twin("page", page_twin)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the native widget in notebooks: small when saved, and no network."""
        return self.widget()._repr_mimebundle_()

    def to_html(self, path: str | Path) -> Path:
        """Save the dashboard as one file that works without Python, server or network.

        Parts that need Python are left out. Whatever must not leave the machine is replaced by
        `static_fields`.

        Parameters
        ----------
        path : str or Path
            File to write, replaced as a whole or not at all.

        Returns
        -------
        Path
            The file.
        """
        state = self.flat_state()
        for name, fields in self.static_fields().items():
            part = self._part(name)
            clean = type(part)(**{**part.state(), **fields}).state()
            state |= {f"{name}_{field}": clean[field] for field in fields}
        state |= {"stage_saved": True, "stage_cases": Stage(cases=self.static_cases()).cases}
        state |= {"stage_file": b"", "stage_file_sent": [0, None]}
        return write_page(path, title=self.stage.title, state=state, kinds=self._kinds())

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return fields that a saved page shows with other values, by component.

        Dashboards override this to hide small counts.

        Returns
        -------
        dict
            Name of the component to field to value.
        """
        return {}

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what else a saved page shows when the reader selects something.

        Dashboards override this, so that a selection in a saved page has an answer without Python.
        Values must obey the rule of small counts as `static_fields` does.

        Returns
        -------
        list of dict
            ``{"when": "sizes.selected", "cases": {"2": {"attributes.svg": "..."}}}``.
        """
        return []

    def flat_state(self) -> dict[str, Any]:
        """Return all fields of all components under their flat names.

        Returns
        -------
        dict
            For instance ``"sizes_selected"`` to its value.
        """
        return {
            f"{name}_{field}": value
            for name, part in self._parts()
            for field, value in part.state().items()
        }

    # -- inside ------------------------------------------------------------------------------

    def _parts(self) -> list[tuple[str, Component]]:
        """Return stage and components by name."""
        return [("stage", self.stage), *self.components.items()]

    def _part(self, name: str) -> Component:
        """Return a component by name."""
        parts = dict(self._parts())
        if name not in parts:
            msg = f"there is no component {name!r}; there are {', '.join(self.components)}"
            raise ValueError(msg)
        return parts[name]

    def _kinds(self) -> tuple[str, ...]:
        """Return the kinds in use, sorted."""
        return tuple(sorted({kind for _, kind in self._shape}))

    def _status(self) -> str | None:
        """Return the name of the component that shows messages."""
        return next((n for n, part in self.components.items() if isinstance(part, Status)), None)

    def _twin(self, key: str, build: Callable[..., Any]) -> Any:
        """Return the twin for a host, built at first use."""
        if key not in self._twins:
            self._twins[key] = build(self._shape, self.flat_state(), self._receive)
        return self._twins[key]

    def _note_for(self, name: str) -> Callable[..., None]:
        """Return a watcher that passes a component's changes on to the hosts."""

        def note(*changes: Any) -> None:
            with self.batch():
                self._pending |= {f"{name}_{change.name}": change.new for change in changes}

        return note

    def _flush(self) -> None:
        """Send what was set to every host."""
        changes, self._pending = self._pending, {}
        if changes:
            for twin in self._twins.values():
                twin.push(changes)

    def _receive(self, changes: dict[str, Any], host: Host | None) -> None:
        """Take what the browser changed: first state, then what happened."""
        token = _asked_by.set(host)
        try:
            with self.batch():
                for signals in (False, True):
                    for name, fields in self._sorted(changes, signals=signals).items():
                        try:
                            self._part(name).param.update(**fields)
                        except ValueError as error:
                            self._fail(error)
        finally:
            _asked_by.reset(token)

    def _sorted(self, changes: dict[str, Any], *, signals: bool) -> dict[str, dict[str, Any]]:
        """Return the changed fields by component: only signals, or only the rest."""
        parts: dict[str, dict[str, Any]] = {}
        for key, value in changes.items():
            name, field = self._flat.get(key, ("", ""))
            if name and isinstance(self._part(name).param[field], Signal) is signals:
                parts.setdefault(name, {})[field] = value
        return parts

    def _guarded(self, callback: Callable[[Any], None], value: Any) -> None:
        """Call a listener; tell the reader in plain words what went wrong."""
        with self.batch():
            try:
                callback(value)
            except Exception as error:
                if self._status() is None or _asked_by.get() is None:
                    raise
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Show an error in plain words; the details go to the log."""
        if isinstance(error, Cancelled):
            self.say("Stopped. Nothing was changed.", state="info")
        elif isinstance(error, ValueError):
            self.say(str(error), state="error")
        else:
            log.error("a dashboard failed", exc_info=error)
            self.say(f"This did not work: {error or type(error).__name__}.", state="error")

    def _begin(self, label: str, can_cancel: bool) -> None:  # noqa: FBT001
        """Show that work goes on."""
        with self.batch():
            self.say(label, state="busy")
            name = self._status()
            if name is not None:
                self.components[name].param.update(can_cancel=can_cancel)
            self._set_forms(busy=True)

    def _end(self, follow: Callable[[Any], None], value: Any) -> None:
        """Use the result of the work, or tell why there is none."""
        with self.batch():
            self._job = None
            self._set_forms(busy=False)
            name = self._status()
            if name is not None:
                self.components[name].param.update(state_now="idle", progress=None, message="")
            try:
                follow(value)
            except Exception as error:  # noqa: BLE001 - the reader is told
                self._fail(error)

    def _set_forms(self, *, busy: bool) -> None:
        """Disable or enable every form."""
        for part in self.components.values():
            if isinstance(part, Form):
                part.busy = busy

    def _show_progress(self, text: str, fraction: float | None) -> None:
        """Show how far the work is."""
        name = self._status()
        if name is not None and self._job is not None:
            self.components[name].param.update(message=text, progress=fraction)

    def _answer(self, host: Host | None, function: Callable[..., None], *values: Any) -> None:
        """Run a function where the reader is."""
        if host is None:
            function(*values)
        else:
            host.call(lambda: function(*values))


def _check_names(components: Mapping[str, Component], layout: Any, links: Any) -> None:
    """Refuse names that hosts cannot carry, and places or links of nothing."""
    for name in components:
        if not name.isidentifier() or name == "stage":
            msg = f"component name {name!r} must be a Python identifier other than 'stage'"
            raise ValueError(msg)
    known = [*components, "stage"]
    ends = [end.partition(".")[0] for link in links for end in link]
    missing = [name for name in [*_named(layout), *ends] if name not in known]
    if missing:
        msg = f"layout or links name {missing[0]!r}; there are {', '.join(components)}"
        raise ValueError(msg)


def _named(node: Any) -> Iterator[str]:
    """Yield the components that a layout names."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, (list, tuple)):
        for item in node:
            yield from _named(item)
    elif isinstance(node, Mapping):
        for key in ("row", "sidebar", "main", "section", "content", "tabs"):
            if key in node:
                yield from _named(node[key])
