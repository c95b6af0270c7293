"""The base of every dashboard: components, their layout, and the hosts that show them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from traceback import extract_tb
from typing import Any, ClassVar

from IPython.display import display
from panel.viewable import Viewer

from lvmkit.core.arguments import checked
from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.jobs import BackgroundJob, Cancelled, Progress
from lvmkit_widgets.ui.page import write_page
from lvmkit_widgets.ui.sync import Sync, asked_by
from lvmkit_widgets.ui.widgets import Form, Shell, Status
from lvmkit_widgets.ui.words import refuse

log = logging.getLogger(__name__)
OF_A_SERVER = ("file", "file_sent", "told", "heard", "repeated", "unsaved", "menu", "here", "view")
FAILED = "This did not work. Details are where the program was started; go on, or reload the page."


def raised_on_purpose(error: BaseException) -> bool:
    """Return whether a `raise` made the error: what int("x") says of a stranger's message is not for readers."""
    lines = extract_tb(error.__traceback__)
    return not lines or (lines[-1].line or "raise").startswith("raise")


class Dashboard(Viewer):
    """Components and a layout, shown by Jupyter, a server, or a saved page.

    Parameters
    ----------
    components : mapping of str to Component
        Names are Python identifiers; at most one is a `Status`, which then shows background work.
    layout : str, list of layouts, or dict
        A name; a list (one under the other); ``{"row": [...], "widths": [1, 2]}``;
        ``{"sidebar": node, "main": node}``; ``{"tabs": [{"title": ..., "content": node}, ...],
        "id": "main"}``; ``{"section": node, "title": ..., "help": ..., "closed": False}``.
    title, subtitle, footer : str
        Heading of the dashboard, the line under it, and small print at the end.
    links : sequence of (str, str)
        Pairs of ``"component.field"``: the browser copies the first to the second when it
        changes, in every host, so that saved pages answer too. An event hands on what happened.

    Raises
    ------
    ValueError
        If a name is no identifier, or the layout or a link names a component that is not there.

    Examples
    --------
    >>> from lvmkit_widgets.ui.widgets import Text
    >>> board = Dashboard({"hello": Text(text="Good day.")}, "hello", title="Hello")
    >>> board.components["hello"].text
    'Good day.'
    """

    @checked()
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
        self.stage = Shell(
            title=title, subtitle=subtitle, footer=footer, layout=layout, kinds=kinds, links=links
        )
        self.components: dict[str, Component] = dict(components)
        self._sync = Sync({"stage": self.stage, **self.components}, self._fail)
        found = (part for part in self.components.values() if isinstance(part, Status))
        self._status = next(found, Status())  # without one, nobody sees what is said
        self._job: BackgroundJob | None = None
        self._cancelled = False
        self.listen("stage", "file_taken", lambda _: setattr(self.stage, "file", b""))
        self._status.on("cancel", lambda _: self.cancel())

    home: str = ""  # The dashboard that a menu shows first, where there is a menu
    # What the address of a page carries: key, component, field, and the range of a number. Nothing of single people.
    addresses: ClassVar[tuple[tuple[str, str, str, Any], ...]] = ()

    # -- what happens ------------------------------------------------------------------------

    @checked()
    def listen(self, component: str, field: str, callback: Callable[[Any], None]) -> None:
        """Call back when the reader, or Python, changes a field or causes an event.

        Everything the callback sets reaches the browser as one change. What it raises becomes a
        plain message in the dashboard's `Status`; without one it is raised.

        Parameters
        ----------
        component, field : str
            Which field.
        callback : callable
            Receives the new value; for an event, what happened.

        Raises
        ------
        ValueError
            If there is no such component or field.
        """
        self._sync.part(component).on(field, self._sync.guarded(callback))

    def batch(self) -> AbstractContextManager[None]:
        """Let everything set inside the ``with`` block reach the browser as one change.

        Returns
        -------
        context manager
            For a ``with`` statement.
        """
        return self._sync.batch()

    def background(
        self,
        work: Callable[[Progress], Any],
        done: Callable[[Any], None],
        *,
        label: str = "Working",
        can_cancel: bool = True,
        wait: bool | None = None,
        undone: Callable[[], None] | None = None,
    ) -> bool:
        """Do long work without stopping the dashboard, then use its result.

        Called while the dashboard answers the reader's browser, the work runs in a thread, shown by
        the `Status` with progress; all forms are disabled meanwhile. Called from Python (a test, a
        notebook cell), it runs at once and this returns when everything is done, also when the
        work was refused.

        Parameters
        ----------
        work : callable
            Receives a `Progress` to call with text and fraction; returns the result and sets
            no fields.
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
        undone : callable, optional
            Called where there is no result, since the work failed or was stopped.

        Returns
        -------
        bool
            False if it was refused because other work is still going on.
        """
        if self._job is not None:
            self.say("Still at work. Wait for it to end, or cancel it first.", state=None)
            return False
        host = None if wait else asked_by.get()
        answer = self._sync.answer

        def report(text: str, share: float | None) -> None:
            if host is not None and not host.here:
                raise Cancelled  # the page that asked for it is gone
            answer(host, lambda: self._show_progress(text, share))

        self._job = BackgroundJob(
            work,
            done=lambda result: self._end(done, result),
            failed=lambda error: self._end(lambda e: self._give_up(e, undone), error),
            progress=Progress(report),
        )
        self._begin(label, can_cancel=can_cancel and host is not None)
        if host is None:
            self._job.run(lambda follow: follow())
        else:
            self._job.start(lambda follow: answer(host, follow))
        return True

    def cancel(self) -> None:
        """Ask the work that is going on to stop at its next report."""
        if self._job is not None:
            self._job.progress.cancel()
            self.say("Stopping …", state=None)

    @property
    def cancelled(self) -> bool:
        """Whether the reader asked to stop the work that ended last, be it too late to stop it."""
        return self._cancelled

    @property
    def busy(self) -> bool:
        """Whether background work is going on."""
        return self._job is not None

    @checked()
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
        _check_pairs("actions", actions, "name and label of a button")
        if state is None:
            self._status.message = message
        else:
            self._status.param.update(
                message=message, state_now=state, actions=list(actions), progress=None
            )

    @checked()
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

    @checked(index=0)
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
            Shown by Jupyter front ends without any request to a network. Layouts of ipywidgets take it, not the
            dashboard itself: `ipywidgets.VBox([explorer.widget()])`.
        """
        return self._sync.native()

    def __panel__(self) -> Any:
        """Return the dashboard as a Panel component; always the same one."""
        return self._sync.page()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the native widget in notebooks: small when saved, and no network."""
        bundle = self.widget()._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        text = f"{self.stage.title or 'Untitled'} (a dashboard; run the cell to use it)"
        return data | {"text/plain": text}, metadata

    def _ipython_display_(self) -> None:
        """Show the widget and, below it, a still picture, which the widget hides as long as it lives."""
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        if still := self.still():
            told = f"A still picture of {self.stage.title or 'a dashboard'}"
            display({"text/html": still, "text/plain": told}, raw=True)

    def still(self) -> str:
        """Return a picture as HTML, for where nothing runs: GitHub, print, a notebook whose kernel has ended."""
        return ""

    @checked()
    def to_html(self, path: str | Path) -> Path:
        """Save the dashboard as one file that works without Python, server or network.

        Parts that need Python are left out with all they hold. Whatever else must not leave the
        machine is replaced by `static_fields`: of people the file holds totals only, with small counts hidden.
        Small counts are hidden in each page by itself: two pages of one cohort, from before and after a
        change, can together give some of them away, so share one of them only.

        Parameters
        ----------
        path : str or Path
            File to write, replaced as a whole or not at all.

        Returns
        -------
        Path
            The file.
        """
        state = self._sync.state()
        for name, part in self._sync.parts.items():
            if part.needs_python:  # it is left out, so nothing of it may be in the file either
                blank = type(part)(needs_python=True).state()
                state |= {f"{name}_{field}": value for field, value in blank.items()}
        for name, fields in self.static_fields().items():
            part = self._sync.part(name)
            clean = type(part)(**{**part.state(), **fields}).state()
            state |= {f"{name}_{field}": clean[field] for field in fields}
        state |= {"stage_saved": True, "stage_cases": Shell(cases=self.static_cases()).cases}
        state |= {"stage_addressed": self._addressed(saved=True)}
        state |= {f"stage_{field}": getattr(Shell(), field) for field in OF_A_SERVER}
        return write_page(path, title=self.stage.title, state=state, kinds=self._sync.kinds)

    def follow_address(self) -> None:
        """Let the address of the page carry what is looked at: of pages of their own, not in notebooks."""
        view = [["view", "stage", "view", None, self.home]] if self.home else []
        entries = self._addressed(saved=False)
        for entry in entries:  # what is shown first is left out of the address
            shown = getattr(self._sync.part(entry[1]), entry[2])
            entry.append(shown.get("main", 0) if entry[2] == "tabs" else shown)
        self.stage.addressed = [*view, *entries]

    def _addressed(self, *, saved: bool) -> list[Any]:
        """Return what the address carries, of the parts that there are."""
        parts = self._sync.parts
        return [
            list(entry)
            for entry in (("tab", "stage", "tabs", None), *self.addresses)
            if entry[1] in parts and not (saved and parts[entry[1]].needs_python)
        ]

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

    def _fail(self, error: BaseException) -> None:
        """Show an error in plain words; the details go to the log."""
        if isinstance(error, Cancelled):
            self.say("Stopped. Nothing was changed.", state="info")
        elif isinstance(error, ValueError) and raised_on_purpose(error):
            self.say(str(error), state="error")
        else:
            log.error("a dashboard failed", exc_info=error)
            told = isinstance(error, (OSError, ImportError))  # words of others are not for readers
            self.say(f"This did not work: {error}." if told else FAILED, state="error")

    def _give_up(self, error: BaseException, undone: Callable[[], None] | None) -> None:
        """Tell why there is no result."""
        if undone is not None:
            undone()
        self._raise_or_tell(error)

    def _raise_or_tell(self, error: BaseException) -> None:
        """Raise in Python's face, tell a reader."""
        if asked_by.get() is None:
            raise error
        self._fail(error)

    def _begin(self, label: str, *, can_cancel: bool) -> None:
        """Show that work goes on."""
        with self.batch():
            self.say(label, state="busy")
            self._status.can_cancel = can_cancel
            self._set_forms(busy=True)

    def _end(self, follow: Callable[[Any], None], value: Any) -> None:
        """Use the result of the work, or tell why there is none."""
        with self.batch():
            self._cancelled = self._job is not None and self._job.progress.cancelled
            self._job = None
            self._set_forms(busy=False)
            self._status.param.update(state_now="idle", progress=None, message="")
            self._sync.guarded(follow)(value)

    def _set_forms(self, *, busy: bool) -> None:
        """Disable or enable every form."""
        for part in self.components.values():
            if isinstance(part, Form):
                part.busy = busy

    def _show_progress(self, text: str, fraction: float | None) -> None:
        """Show how far the work is."""
        if self._job is not None:
            self._status.param.update(message=text, progress=fraction)


def _check_names(components: Mapping[str, Component], layout: Any, links: Any) -> None:
    """Refuse names that hosts cannot carry, and places or links of nothing."""
    for name in components:
        if not name.isidentifier() or name == "stage":
            refuse(f"component name {name!r} must be a Python identifier other than 'stage'")
    known = [*components, "stage"]
    _check_pairs("links", links, "'component.field' twice")
    ends = [end.partition(".")[0] for link in links for end in link]
    missing = [name for name in [*_named(layout), *ends] if name not in known]
    if missing:
        refuse(f"layout or links name {missing[0]!r}; there are {', '.join(components)}")


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
    else:
        msg = f"layout must be made of names, lists and mappings; found {type(node).__name__}"
        raise TypeError(msg)


def _check_pairs(argument: str, pairs: Iterable[Any], what: str) -> None:
    """Refuse what is no sequence of pairs of texts."""
    for pair in pairs:
        texts = isinstance(pair, (list, tuple)) and all(isinstance(text, str) for text in pair)
        if not texts or len(pair) != 2:
            msg = f"{argument} must be pairs of texts, {what}; found {type(pair).__name__}"
            raise TypeError(msg)
