"""A dashboard without a browser: listeners, batches, messages, background work, twins."""

import asyncio
import threading
import weakref

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from lvmkit_widgets.ui.dashboard import FAILED, Dashboard
from lvmkit_widgets.ui.hosts import PageHost, flat_fields
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.ui.widgets import ClusterList, Form, Status, Table, Text

CONTROLS = [
    {"name": "k", "kind": "number", "min": 1, "step": 1},
    *({"name": name, "kind": "button"} for name in ("fit", "a", "b", "c", "d")),
]


@pytest.fixture
def board():
    parts = {
        "status": Status(),
        "controls": Form(controls=CONTROLS, values={"k": 3}),
        "sizes": ClusterList(items=[{"id": i} for i in range(5)]),
        "table": Table(key="id", rows=[{"id": 0}, {"id": 1}], page_size=1),
        "words": Text(),
    }
    return Dashboard(
        parts, ["status", "controls", {"row": ["sizes", "table"]}, "words"], title="Words"
    )


class Twin:
    """A host that keeps what it is shown."""

    def __init__(self):
        self.shown = []

    def push(self, changes):
        self.shown.append(dict(changes))


class Loop:
    """A host whose loop is turned by hand."""

    here = True

    def __init__(self):
        self.waiting = []

    def call(self, function):
        self.waiting.append(function)

    def turn(self):
        while self.waiting:
            self.waiting.pop(0)()


@pytest.fixture
def view(board):
    made = Twin()
    board._sync._views["test"] = made
    return made


def test_what_a_listener_sets_reaches_hosts_as_one_change(board, view):
    def chosen(cluster):
        board.components["words"].text = f"cluster {cluster}"
        board.components["table"].param.update(rows=[{"id": 1}], page=0)

    board.listen("sizes", "selected", chosen)
    board._sync.receive({"sizes_selected": 2}, None)
    assert view.shown == [
        {
            "stage_heard": 0,
            "sizes_selected": 2,
            "words_text": "cluster 2",
            "table_rows": [{"id": 1}],
        }
    ]


def test_values_arrive_before_the_button_that_was_pressed(board):
    heard = []
    board.listen("controls", "pressed", lambda _: heard.append(board.components["controls"].values))
    board._sync.receive({"controls_pressed": [1, "fit"], "controls_values": {"k": 9}}, None)
    assert heard == [{"k": 9}]


@pytest.mark.parametrize("asked", ["first", "last"])
def test_an_answer_is_not_undone_by_the_message_that_it_answers(asked):
    """A browser says what was picked, and that it lacks what belongs to it."""
    names = [f"part{i}" for i in range(9)]
    board = Dashboard({name: Table() for name in names}, names)
    picked = names[0] if asked == "first" else names[-1]
    others = [name for name in names if name != picked]

    def answer(_):
        for name in others:
            board.components[name].search = "there"

    board.listen(picked, "search", answer)
    view = board._sync.page()
    sent = {f"{picked}_search": "7"} | {f"{name}_search": "on its way" for name in others}
    view.param.update(sent)
    for name in others:
        assert board.components[name].search == getattr(view, f"{name}_search") == "there"


def test_two_clicks_that_a_host_merged_into_one_message_both_happen(board):
    heard = []
    board.listen("controls", "pressed", heard.append)
    board._sync.receive({"controls_pressed": [1, "a", []]}, None)
    board._sync.receive({"controls_pressed": [4, "d", [[1, "a"], [2, "b"], [3, "c"]]]}, None)
    assert heard == ["a", "b", "c", "d"]
    assert board.components["controls"].pressed[0] == 4


def test_unknown_fields_from_a_browser_are_ignored(board, view):
    board._sync.receive({"layout": {}, "sizes_nonsense": 1}, None)
    assert view.shown == []


def test_an_error_is_raised_in_python_and_told_to_a_reader(board):
    def refuse(_):
        msg = "Choose two clusters."
        raise ValueError(msg)

    board.listen("table", "pick", refuse)
    with pytest.raises(ValueError, match="Choose two clusters"):
        board.components["table"].fire("pick", 1)
    board._sync.receive({"table_pick": [2, 1]}, Loop())
    status = board.components["status"]
    assert (status.state_now, status.message) == ("error", "Choose two clusters.")


def test_an_unforeseen_error_is_told_without_a_traceback(board, caplog):
    board.listen("table", "pick", lambda _: {}["gone"])
    board._sync.receive({"table_pick": [1, 1]}, Loop())
    assert board.components["status"].message == FAILED
    assert "KeyError" in caplog.text


def test_a_value_out_of_bounds_from_a_browser_is_refused(board):
    board._sync.receive({"table_page": -4, "table_search": "kept"}, Loop())
    assert board.components["table"].page == 0
    assert board.components["table"].search == "kept"
    assert board.components["status"].state_now == "error"


def test_work_asked_for_by_python_is_done_at_once(board):
    shown = []
    board.components["status"].on("progress", shown.append)

    def work(progress):
        progress("Half", 0.5)
        return 7

    assert board.background(work, lambda result: board.say(f"Got {result}."))
    assert board.components["status"].message == "Got 7."
    assert 0.5 in shown
    assert not board.busy
    assert not board.components["controls"].busy


def test_work_asked_for_by_python_raises_what_goes_wrong(board):
    with pytest.raises(ZeroDivisionError):
        board.background(lambda _: 1 / 0, lambda _: None)
    assert not board.busy


def in_browser(board, loop, function):
    """Run a function as an answer to a reader."""
    board._sync._answering(loop, function)
    assert asked_by.get() is None


def finish(board, loop):
    """Wait for the job's thread, then let the host take its turn."""
    board._job.wait(10)
    loop.turn()


def test_work_asked_for_by_a_reader_runs_beside_and_blocks_forms(board):
    loop, done = Loop(), []
    in_browser(board, loop, lambda: board.background(lambda _: 5, done.append, label="Fitting"))
    status = board.components["status"]
    assert (status.state_now, status.message, status.can_cancel) == ("busy", "Fitting", True)
    assert board.components["controls"].busy
    finish(board, loop)
    assert done == [5]
    assert not board.components["controls"].busy


def test_other_work_is_refused_meanwhile(board):
    loop = Loop()
    in_browser(board, loop, lambda: board.background(lambda _: 5, lambda _: None))
    assert board.background(lambda _: 6, lambda _: None) is False
    assert "Still at work" in board.components["status"].message
    finish(board, loop)
    assert board.background(lambda _: 6, lambda _: None)


def test_cancelled_work_changes_nothing(board):
    loop, done = Loop(), []

    def work(progress):
        board.components["status"].fire("cancel")
        progress("next", 0.5)

    in_browser(board, loop, lambda: board.background(work, done.append))
    finish(board, loop)
    assert done == []
    assert board.components["status"].message == "Stopped. Nothing was changed."


def test_an_interrupt_in_python_leaves_the_dashboard_usable(board):
    def work(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        board.background(work, lambda _: None)
    assert not board.busy
    assert not board.components["controls"].busy
    assert board.background(lambda _: 5, lambda _: None)


def test_work_that_nobody_waits_for_any_more_is_stopped(board):
    document, done, ready, gone = Document(), [], threading.Event(), threading.Event()
    session = Loop()
    document._session_context = weakref.ref(session)  # as a server does
    document.on_change_dispatch_to(session)

    def work(progress):
        ready.set()
        gone.wait(10)
        progress("next", 0.5)

    in_browser(board, PageHost(document), lambda: board.background(work, done.append))
    ready.wait(10)
    document.destroy(session)
    job = board._job
    gone.set()
    job.wait(10)
    assert done == []
    assert not board.busy
    assert board.components["status"].message == "Stopped. Nothing was changed."


def test_a_page_is_called_back_from_the_loop_of_its_server_alone(monkeypatch):
    """Before, Bokeh lost a callback that a thread added while the loop held changes back: work never ended."""
    here, added, done = threading.get_ident(), [], []

    async def serve():
        document = Document()
        session = Loop()
        document._session_context = weakref.ref(session)
        monkeypatch.setattr(
            document,
            "add_next_tick_callback",
            lambda function: (added.append(threading.get_ident()), function()),
        )
        host = PageHost(document)
        worker = threading.Thread(target=host.call, args=(lambda: done.append(1),))
        worker.start()
        worker.join(10)
        await asyncio.sleep(0.05)

    asyncio.run(serve())
    assert (added, done) == ([here], [1])


def test_failed_work_is_told(board):
    loop = Loop()

    def work(_):
        msg = "k=9 is more than the 5 records"
        raise ValueError(msg)

    in_browser(board, loop, lambda: board.background(work, lambda _: None))
    finish(board, loop)
    assert board.components["status"].message == "k=9 is more than the 5 records"


def test_names_that_hosts_cannot_carry_are_refused():
    with pytest.raises(ValueError, match="component name 'my part' must be a Python identifier"):
        Dashboard({"my part": Text()}, "my part")
    with pytest.raises(ValueError, match="layout or links name 'gone'; there are words"):
        Dashboard({"words": Text()}, {"tabs": [{"title": "x", "content": ["gone"]}]})
    with pytest.raises(ValueError, match="layout or links name 'away'"):
        Dashboard({"words": Text()}, "words", links=[("words.text", "away.text")])
    with pytest.raises(ValueError, match="'a' and 'a' both make 'a_title'; rename one"):
        flat_fields((("a", "table"), ("a", "text")))


def test_listening_to_nothing_is_refused(board):
    with pytest.raises(ValueError, match="there is no component 'gone'"):
        board.listen("gone", "pick", print)
    with pytest.raises(ValueError, match="table has no field 'gone'"):
        board.listen("table", "gone", print)


def test_the_jupyter_twin_follows_both_ways(board):
    widget = board.widget()
    assert widget is board.widget()
    board.components["words"].text = "from Python"
    assert widget.words_text == "from Python"
    widget.set_state({"sizes_selected": 4, "controls_values": {"k": 5}})
    assert board.components["sizes"].selected == 4
    assert board.components["controls"].values == {"k": 5}
    bundle = board._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]
    assert bundle[0]["text/plain"] == "Words (a dashboard; run the cell to use it)"


def test_the_panel_twin_follows_both_ways(board):
    page = board.__panel__()
    board.components["words"].text = "from Python"
    assert page.words_text == "from Python"
    page.param.update(sizes_selected=4, controls_values={"k": 5})
    assert board.components["sizes"].selected == 4
    assert board.components["controls"].values == {"k": 5}
    assert page.get_root() is not None


def test_python_says_of_which_messages_it_knew(board, monkeypatch, tmp_path):
    widget, sent = board.widget(), []
    monkeypatch.setattr(widget, "push", sent.append)
    board.listen("sizes", "selected", lambda _: setattr(board.components["words"], "text", "told"))
    widget.set_state({"sizes_selected": 4, "stage_told": 7})
    (answer,) = sent
    assert answer["stage_heard"] == 7
    assert answer["words_text"] == "told"  # both in one message
    widget.set_state({"stage_told": 8})
    assert len(sent) == 1  # nothing to say
    board._sync.receive({"stage_told": 2}, None)  # of another view, which counts by itself
    board.components["words"].text = "later"
    assert sent[1] == {"stage_heard": 8, "words_text": "later"}
    page = board.to_html(tmp_path / "page.html").read_text()
    assert '"stage_told":0,"stage_heard":0,"stage_repeated":[0,[]]' in page  # no trace of its use


def test_what_a_page_shows_again_is_no_news(board, monkeypatch):
    widget, heard = board.widget(), []
    board.listen("sizes", "selected", heard.append)
    widget.set_state({"sizes_selected": 4, "stage_told": 1})
    board.components["sizes"].selected = 2  # by now Python has changed its mind
    again = {"sizes_selected": 4, "stage_repeated": [1, ["sizes_selected"]]}
    widget.set_state(again)
    assert board.components["sizes"].selected == widget.sizes_selected == 2
    values = {"controls_values": {"k": 7}, "stage_told": 2}
    widget.set_state(again | values)  # a host merged two messages
    assert board.components["controls"].values == {"k": 7}
    assert board.components["sizes"].selected == widget.sizes_selected == 2
    widget.set_state({"sizes_selected": 3, "stage_repeated": [2, []], "stage_told": 3})
    assert heard == [4, 2, 3]
    for wrong in (7, [1], [1, 2], [1, [{}]], ["x", []]):
        widget.set_state({"stage_repeated": wrong, "sizes_selected": 1})
        widget.set_state({"sizes_selected": 3})
    assert heard == [4, 2, 3] + [1, 3] * 5


def test_what_waits_to_be_heard_outlasts_what_python_shows(board):
    page, document = board.__panel__(), Document()
    session = Loop()
    document._session_context = weakref.ref(session)  # as a server does
    root = page.get_root(document)
    document.add_root(root)
    root.data.sizes_selected = 4  # Panel hears of it in a later turn
    with set_curdoc(document):
        board.components["sizes"].selected = 2
    page._change_event(document)
    assert board.components["sizes"].selected == page.sizes_selected == 4


def test_dashboards_of_one_shape_share_their_classes(board):
    parts = {name: type(part)() for name, part in board.components.items()}
    other = Dashboard(parts, list(parts))
    assert other.widget()._esm is board.widget()._esm
    assert type(other.__panel__()) is type(board.__panel__())


def test_files_and_tabs_are_handed_to_the_browser(board, view):
    board.download("a.csv", b"x", mime="text/csv")
    board.open_tab("main", 2)
    assert view.shown[0]["stage_file"] == b"x"
    assert view.shown[0]["stage_file_sent"] == [1, {"name": "a.csv", "mime": "text/csv"}]
    assert board.stage.tabs == {"main": 2}
    board.stage.fire("file_taken", 1)
    assert board.stage.file == b""


@pytest.mark.parametrize(
    "sent",
    [
        {"table_pick": None},
        {"table_pick": "x"},
        {"table_pick": []},
        {"table_pick": [1]},
        {"table_pick": ["a", 1]},
        {"table_pick": [1, None, "abc"]},
        {"table_pick": [1, None, [1, 2]]},
        {"table_pick": [1, b"\xff"]},
        {"table_pick": [1, float("nan")]},
        {"table_page": "first"},
        {"words_text": None},
        {"words_text": "x" * 2_000_000},
        {"table_rows": 10**400},
    ],
)
def test_what_no_page_sends_is_told_and_changes_nothing(board, sent):
    """A stranger on the socket can send anything: before, some of it ended the answer with an exception."""
    before = {key: value for key, value in board._sync.state().items() if "status" not in key}
    board._sync.receive(sent, Loop())
    after = {key: value for key, value in board._sync.state().items() if "status" not in key}
    assert after == before
    assert "not understood" in board.components["status"].message
