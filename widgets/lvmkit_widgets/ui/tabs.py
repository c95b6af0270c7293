"""Tabs of a dashboard, each a function of one state, and the dashboard that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Generic, TypeVar, cast

from lvmkit_widgets.ui.component import Component, jsonable
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.history import undo_buttons
from lvmkit_widgets.ui.state import PLAIN, State
from lvmkit_widgets.ui.widgets import Form

S = TypeVar("S", bound=State)
Fields = Mapping[str, Mapping[str, Any]]
"""Fields of components: name of the component to field to value."""


@dataclass(frozen=True)
class Job(Generic[S]):
    """Long work that an event asks for."""

    label: str  # What is going on, in the reader's words
    work: Callable[[Any], Any]  # Takes a `Progress`, runs in a thread, and changes nothing
    done: Callable[[S, Any], S]  # Gives the state with its result
    can_cancel: bool = True


Handler = Callable[[Any, Any], Any]
"""Takes the state and what happened; returns a state, a `Job`, or None where nothing changes."""
# What is no matter of the state, such as a view below the dashboard, is a function of the dashboard that it returns.


class Tab(Generic[S]):
    """A tab, or a part that is always seen: components, their layout, and their fields as functions of the state."""

    # Subclasses make `components`, `layout` and `events` when they are made, before there is a state. The fields of a
    # tab are computed when it is seen, and again when something that they read of the state has changed.

    title: ClassVar[str] = ""
    components: dict[str, Component]
    layout: Any
    events: Mapping[str, Handler]  # "component.field" to what it does

    def __init__(self) -> None:
        self.events = {}

    def initial(self, state: S) -> Fields:
        """Return fields to begin with, which belong to the reader from then on."""
        return {}

    def picks(self, state: S) -> Fields:
        """Return fields that are kept true whether the tab is seen or not."""
        # The browser hands picks on by links; fields that lag behind in Python would be sent when the tab is opened,
        # and could undo what the reader picked a moment before.
        return {}

    def fields(self, state: S) -> Fields:
        """Return what the tab shows of a state."""
        return {}

    def still(self, state: S) -> str:
        """Return what stands for the dashboard where nothing runs, as HTML: in notebooks."""
        return ""

    def connect(self, board: TabbedDashboard[Any]) -> None:
        """Listen to the reader."""
        for source, handler in self.events.items():
            component, _, name = source.partition(".")
            board.listen(component, name, _answering(board, self, handler))


class StepsBar(Tab[S]):
    """Undo and redo above every tab, and what else is set there; its state has steps."""

    def __init__(self) -> None:
        super().__init__()
        self.components = {"steps": Form(inline=True)}
        self.layout = "steps"
        self.events = {"steps.pressed": pressed, "steps.values": self.take}

    def options(self, state: S) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the controls beside undo and redo, and their values."""
        raise NotImplementedError

    def take(self, state: S, values: dict[str, Any]) -> S:
        """Take the values of these controls."""
        raise NotImplementedError

    def fields(self, state: S) -> Fields:
        """Show undo, redo and the controls."""
        controls, values = self.options(state)
        history = getattr(state, "history")  # noqa: B009 - of a state with steps
        return {"steps": {"controls": [*undo_buttons(history), *controls], "values": values}}


@dataclass(frozen=True)
class Cases(Generic[S]):
    """What a saved page can answer without Python: states by the value of a field."""

    when: str  # "component.field" that the reader sets
    states: Mapping[str, S]  # The state for each of its values
    only: Sequence[str] = ()  # Components that follow it; by default all that differ
    resets: Sequence[str] = ()  # "component.field" set in every case, also where nothing differs


class TabbedDashboard(Dashboard, Generic[S]):
    """A dashboard of one state: parts always seen, and tabs, each shown when it is opened."""

    _state: S

    def __init__(
        self,
        components: dict[str, Component],
        *,
        frame: Sequence[Tab[S]],
        tabs: Sequence[Tab[S]],
        title: str,
        links: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._frame, self._tabs = list(frame), list(tabs)
        self.every_part = [*frame, *tabs]
        every = dict(components)
        for part in self.every_part:
            every |= part.components
        super().__init__(every, next(iter(components)), title=title, links=links)
        self.stage.tabs = {"main": 0}
        self._showing = False
        self._watchers: list[Callable[[S, S], None]] = []
        # Whether work beside this dashboard would be lost with it
        self.beside: Callable[[], bool] = bool
        self._asked: set[Tab[S]] = set()  # Parts that wait for an answer, be they seen or not
        self._shown: dict[Any, Fields] = {}  # of each part
        # What was shown, as the component keeps it
        self._sent: dict[tuple[str, str], tuple[Any, Any]] = {}
        for part in self.every_part:
            part.connect(self)
        self.listen("stage", "tabs", self._turn_to)

    @property
    def tabs_layout(self) -> dict[str, Any]:
        """The tabs as a node of a layout."""
        tabs = [{"title": part.title, "content": part.layout} for part in self._tabs]
        return {"tabs": tabs, "id": "main"}

    @property
    def state(self) -> S:
        """What is shown; set another one to show that."""
        return self._state

    @state.setter
    def state(self, state: S) -> None:
        if state is self._state:
            return
        old, self._state = self._state, state
        told = state.message if state.message != old.message else ""
        self._sync.settled(lambda: self._show_state(told))
        self._keep(old, state)
        for watcher in self._watchers:
            watcher(old, state)

    def watch(self, watcher: Callable[[S, S], None]) -> None:
        """Call back with the state before and the new one, whenever another is shown."""
        self._watchers.append(watcher)

    def show_state(self, state: S) -> None:
        """Show a state that has nothing to do with the one before: of other data."""
        tab = state.tab or self.stage.tabs.get("main", 0)
        self._state = state.replace(tab=min(max(tab, 0), len(self._tabs) - 1))
        self._shown, self._sent = {}, {}
        with self.batch():
            for part in self.every_part:
                self._set(part.initial(state))
            self._show_state("")

    def update_all(self) -> None:
        """Show every part, seen or not."""
        with self.batch():
            for part in self.every_part:
                self._show_part(part)

    def _keep(self, old: S, new: S) -> None:
        """Hand on what is remembered elsewhere when another state is shown, such as names kept with a model."""

    def _heading(self, state: S) -> Mapping[str, str]:
        """Return title, subtitle, footer and, where there is such a component, what is left out."""
        return {}

    def still(self) -> str:
        """Return heading and picture as HTML: totals only, with small counts hidden."""
        if not hasattr(self, "_state"):  # a workbench without a cohort
            return ""
        state = self._page_state()
        shown = "".join(part.still(state) for part in self._tabs)
        heading = self._heading_fields(state)["stage"]
        told = [escape(heading.get(name, "")) for name in ("title", "subtitle")]
        head = "<p><b>{}</b><br>{}</p>".format(*told)
        return f'<div class="lvmkit-still">{head}{shown}</div>' if shown else ""

    # -- saved pages -------------------------------------------------------------------------------

    def _page_state(self) -> S:
        """Return the state that a saved page shows."""
        return self.state.for_others

    def _page_cases(self, state: S) -> Iterable[Cases[S]]:
        """Return what the reader of a saved page can pick."""
        return ()

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return the fields of a saved page, by component."""
        return self._fields_at(self._page_state())

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what a saved page shows when the reader picks something else."""
        state = self._page_state()
        shown = dict(_flat(self._fields_at(state)))
        return [self._answers(cases, shown) for cases in self._page_cases(state)]

    def _answers(self, cases: Cases[S], shown: Mapping[str, Any]) -> dict[str, Any]:
        """Return what differs from the page in one of the cases, for all of them."""
        found = {
            key: dict(_flat(self._fields_at(one, cases.only))) for key, one in cases.states.items()
        }
        differ = {key for one in found.values() for key in one if one[key] != shown.get(key)}
        kept = (differ | set(cases.resets)) - {cases.when}
        answers = {
            key: {name: one[name] for name in one if name in kept} for key, one in found.items()
        }
        return {"when": cases.when, "cases": answers}

    def _fields_at(self, state: S, only: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """Return the fields of all parts at a state, but of components that saved pages leave out."""
        found: dict[str, dict[str, Any]] = {}
        wanted = {name for name, one in self.components.items() if not one.needs_python}
        wanted &= set(only) if only else wanted
        for part in self.every_part:
            if wanted & part.components.keys():
                for fields in (part.picks(state), part.fields(state)):
                    for name in wanted & fields.keys():
                        found.setdefault(name, {}).update(fields[name])
        return found if only else found | self._heading_fields(state)

    def _do(self, answer: Any) -> None:
        """Show the state that an event leads to, or begin the work that it asks for."""
        if isinstance(answer, Job):
            done = answer.done
            follow = lambda result: self._do(done(self.state, result))  # noqa: E731
            self.background(answer.work, follow, label=answer.label, can_cancel=answer.can_cancel)
        elif isinstance(answer, State):
            self.state = cast(S, answer)
        elif answer is not None:
            answer(self)

    def _turn_to(self, tabs: Mapping[str, int]) -> None:
        """Show the tab that was opened."""
        self.state = self.state.replace(tab=tabs.get("main", 0))

    def _show_state(self, told: str) -> None:
        """Show the state, and say what the last event did."""
        state = self._state
        with self.batch():
            if self.stage.tabs.get("main", 0) != state.tab:
                self.open_tab("main", state.tab)
            for part in self.every_part:
                self._set(part.picks(state))
                seen = part in self._frame or part is self._tabs[state.tab]
                if seen or part in self._asked:
                    self._show_part(part)
            self._asked.clear()
            self.stage.unsaved = state.unsaved or self.beside()
            for name, fields in self._heading_fields(state).items():
                self._sync.part(name).param.update(**fields)
            if told:
                self.say(told, state=state.tone)

    def _show_part(self, part: Tab[S]) -> None:
        """Show a part, unless all that it reads of the state is as it was."""
        fields = self._state.memory.recall(part.fields, self._state, kept=2)
        if fields is not self._shown.get(part):
            self._shown[part] = fields
            self._set(fields)

    def _set(self, fields: Fields) -> None:
        """Set what has changed of the fields of components."""
        for name, values in fields.items():
            component = self.components[name]
            changed = {
                key: value
                for key, value in values.items()
                if not self._is_shown(value, getattr(component, key), name, key)
            }
            self._showing = True
            try:
                component.param.update(**changed)
            finally:
                self._showing = False
            for key, value in changed.items():
                self._sent[name, key] = (value, getattr(component, key))

    def _is_shown(self, value: Any, seen: Any, name: str, key: str) -> bool:
        """Tell whether a field has had this value since it was set, so that nothing of the reader's is undone."""
        last, kept = self._sent.get((name, key), (None, None))
        return last is value and (kept is seen or not isinstance(value, PLAIN))

    def _heading_fields(self, state: S) -> dict[str, dict[str, Any]]:
        """Return title, subtitle and footer, and what the heading says to be left out."""
        heading: dict[str, Any] = dict(state.memory.recall(self._heading, state))
        text = heading.pop("left_out", "")
        shown = {"stage": heading, "left_out": {"text": text, "visible": bool(text)}}
        return {name: fields for name, fields in shown.items() if name in self._sync.parts}


def pressed(state: Any, button: str) -> Any:
    """Undo or redo; None for other buttons."""
    return getattr(state, button)() if button in ("undo", "redo") else None


def taken_back(state: Any, message: str) -> Callable[[Any], None]:
    """Refuse what the browser shows already: parts that read `renewed` show again what there is."""

    def refuse(board: Any) -> None:
        board.state = state.renew()
        raise ValueError(message)

    return refuse


def _answering(
    board: TabbedDashboard[Any], part: Tab[Any], handler: Handler
) -> Callable[[Any], None]:
    """Return a listener that shows what a handler makes of the state, when the reader sets a field."""

    def answer(value: Any) -> None:
        if not board._showing:
            board._asked.add(part)
            board._do(handler(board.state, value))

    return answer


def _flat(fields: Fields) -> Iterator[tuple[str, Any]]:
    """Yield fields as a case of a saved page names them."""
    for name, values in fields.items():
        for key, value in values.items():
            yield f"{name}.{key}", jsonable(value)
