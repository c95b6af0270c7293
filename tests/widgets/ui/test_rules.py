"""What pages may send for each field, and what becomes of anything else."""

import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from lvmkit_widgets.ui import rules
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.paging import Paging
from lvmkit_widgets.ui.sync import DEEPEST, is_plain
from lvmkit_widgets.ui.widgets import (
    WIDGETS,
    ClusterList,
    Covariates,
    DocumentList,
    Form,
    Heat,
    PhenotypeCards,
    Picture,
    Relevance,
    Shell,
    SplitContrast,
    Status,
    StepSlider,
    Table,
    TensorSlices,
    TermComparison,
    TopicMap,
    TreeOutline,
)

ITEMS = [{"id": 0}, {"id": 4}]
ROWS = [{"id": "a"}, {"id": 2}, {"id": "<11"}]
CONTROLS = [
    {"name": "k", "kind": "number", "label": "Clusters", "min": 2, "max": 9, "step": 1},
    {"name": "cut", "kind": "number", "min": 0.5},
    {"name": "prior", "kind": "range", "min": 0, "max": 2, "step": 0.1},
    {"name": "start", "kind": "select", "options": [["a", "A"], [True, "yes"]]},
    {"name": "codes", "kind": "multiselect", "options": ["250", ["428", "Heart failure"]]},
    {"name": "adults", "kind": "check"},
    {"name": "name", "kind": "text"},
    {"name": "note", "kind": "textarea"},
    {"name": "say", "kind": "note"},
    {"name": "fit", "kind": "button"},
]
VALUES = {"k": 3, "gone": 7}


def relevance(**fields):
    return Relevance(codes=["250", "428"], weights=[0.5, 0.5], names=["a", "b"], **fields)


def tree():
    return TreeOutline(children=[[1, 2], [], [3, 4], [], []], source="relevance", held=[0, 2])


def phenotypes():
    return PhenotypeCards(items=ITEMS)


def table(**fields):
    columns = [{"key": "id"}, {"key": "n"}]
    return Table(columns=columns, key="id", rows=ROWS, page_size=2, **fields)


def picture():
    return Picture(svg='<svg><a href="#code=a%26b"/><a xlink:href="#step=3"><g/></a></svg>')


def covariates():
    weights = np.zeros((2, 3), dtype=np.float32).tobytes()
    return Covariates(names=["x", "y"], classes=["a", "b"], weights=weights, page_size=2)


def slices():
    modes = [{"name": "a", "labels": ["p", "q"]}, {"name": "b", "labels": ["r"]}]
    means = np.zeros((2, 2), dtype=np.float32).tobytes()
    return TensorSlices(modes=modes, clusters=["0", "1"], means=means)


def heat():
    return Heat(bands=[{"id": 3}], columns=[{"code": "250"}])


def stage():
    layout = ["a", {"row": [{"tabs": [{"content": "b"}, {"content": "c"}], "id": "main"}]}]
    return Shell(layout=layout, tabs={"main": 0})


def form(**values):
    return Form(controls=CONTROLS, values=VALUES | values)


TAKEN = [
    (ClusterList(items=ITEMS), "selected", [0, 4], [1, True, False, "0", None, 0.5, [0]]),
    (ClusterList(items=ITEMS), "others", [[], [4], [4, 0]], [[1], [0, 0], [False], "04", [[0]], None]),
    (table(), "pick", ["a", 2, "<11"], ["b", 2.5, "2", True, None, ["a"], {}]),
    (table(), "selected", ["a", 2], ["", None, 0]),
    (Table(rows=ROWS), "pick", [], ["a", None]),
    (table(), "page", [0, 1], [2, -1, 0.5, True, "1"]),
    (table(page=7), "page", [0, 6], [7]),
    (table(total=9), "page", [4], [5]),
    (table(), "sort", [["n", "asc"], ["id", "desc"]], [["x", "asc"], ["n", "up"], ["n"], "na", {}]),
    (table(), "search", ["", "heart"], [None, 1, "x" * 5_001]),
    (picture(), "pick", [{"code": "a&b"}, {"step": "3"}], [{"step": "4"}, {"step": 3}, {}, "3"]),
    (StepSlider(options=[{}, {}]), "selected", [0, 1], [2, -1, True, 0.5, None, "0"]),
    (form(), "pressed", ["fit"], ["k", "say", "", None, 1, ["fit"]]),
    (Status(actions=[["undo", "Undo"]]), "pressed", ["undo"], ["redo", None]),
    (Status(), "cancel", [None], [1, "x", {}]),
    (stage(), "tabs", [{"main": 1}], [{"main": 2}, {"main": True}, {"x": 0, "main": 0}, {}, []]),
    (relevance(), "pick", ["428"], ["", "429", 428, None, ["428"]]),
    (relevance(), "code", ["428", ""], ["429", None]),
    (relevance(), "balance", [0, 0.5, 1], [True, -0.1, 1.5, "0.5", None, float("nan")]),
    (relevance(), "sort", [["lift", "asc"]], [["lifts", "asc"], None]),
    (relevance(), "spread", [[], [0.5, None]], [[1, 2, 3], ["x"], [True], 3]),
    (heat(), "pick", [{"cluster": 3, "code": None}], [{"cluster": 3}, {"cluster": 1, "code": None}]),
    (heat(), "pick", [{"cluster": None, "code": "250"}], [{"cluster": None, "code": "x"}, "250"]),
    (heat(), "code", ["", "250"], ["x", None]),
    (TopicMap(items=ITEMS), "other", [None, 4], [3, True]),
    (TopicMap(items=ITEMS), "term", ["", "250"], ["x", None]),
    (TermComparison(), "first", [None, 1], [2, True, "1"]),
    (TermComparison(), "pick", ["250"], ["x", "", None]),
    (SplitContrast(), "pick", ["428"], ["429", "", None, 1.5]),
    (DocumentList(items={"0": [{"row": 3}]}), "open", [3], [4, None, "3"]),
    (DocumentList(), "opened", [None], [{"row": 3, "text": "x"}]),
    (tree(), "selected", [0, 4], [5, -1, True, 1.5, None]),
    (tree(), "row", [None, 1], [2, True]),
    (tree(), "opened", [[], [0, 2]], [[9], [0, 0], [0.0], 0]),
    (tree(), "frontier", [[0], [1, 2], [4, 1, 3]], [[], [1], [0, 1], [1, 3], [1, 2, 2], None]),
    (tree(), "cut", [{"level": 1}, {"prune": 0}], [{}, {"level": 9}, {"level": 1, "prune": 1}, 1]),
    (tree(), "code", ["what is typed"], [None, 5]),
    (phenotypes(), "selected", [4], [1, None]),
    (phenotypes(), "show", ["open"], ["closed", None]),
    (phenotypes(), "edit", [{"id": 4, "field": "mark", "value": "no"}], [{"id": 4}, None]),
    (phenotypes(), "edit", [{"id": 0, "field": "note", "value": "x"}], [
        {"id": 1, "field": "note", "value": "x"},
        {"id": 0, "field": "by", "value": "x"},
        {"id": 0, "field": "mark", "value": "perhaps"},
        {"id": 0, "field": "note", "value": 3},
    ]),
    (covariates(), "selected", [None, 2], [3, True]),
    (covariates(), "covariate", [None, 1], [2, True]),
    (covariates(), "page", [1], [2]),
    (slices(), "cluster", [1], [2, None, True]),
    (slices(), "at", [[1, 0]], [[2, 0], [0], [0, 0, 0], [True, 0], None]),
    (slices(), "entry", [None, 1], [2]),
    (slices(), "outlined", [True], [1, None]),
]  # fmt: skip


@pytest.mark.parametrize(("part", "field", "good", "bad"), TAKEN)
def test_a_field_takes_what_its_part_shows_and_nothing_else(part, field, good, bad):
    parts = {"relevance": relevance(), "tree": tree(), "part": part}
    rule = part.sent[field]
    assert [value for value in good if rule(part, parts, value)] == []
    assert [value for value in bad if not rule(part, parts, value)] == []


GONE = [
    (ClusterList(items=ITEMS), "selected", [1], [None, "", [0]]),
    (ClusterList(items=ITEMS), "others", [[1]], ["04", [[0]], [-1]]),
    (table(), "pick", ["b", 9], [None, True, {}]),
    (table(), "page", [9], [-1, "1"]),
    (picture(), "pick", [{"step": "4"}], [{"step": 3}, {}, "3"]),
    (StepSlider(options=[{}, {}]), "selected", [2], [-1, True, "0"]),
    (form(), "pressed", ["undo"], ["", None, 1]),
    (Status(), "pressed", ["undo"], [None]),
    (relevance(), "pick", ["429"], [428, None]),
    (relevance(), "spread", [[1, 2, 3]], [["x"], [True], 3]),
    (heat(), "pick", [{"cluster": 1, "code": "x"}], [{"cluster": 1}, {"cluster": [], "code": ""}]),
    (heat(), "code", ["x"], [None]),
    (TermComparison(), "first", [2], [True, "1"]),
    (DocumentList(), "open", [4], [None, "3"]),
    (tree(), "opened", [[9]], [[0, 0], 0]),
    (tree(), "frontier", [[9], [1]], [None, "x"]),
    (tree(), "cut", [{"level": 9}], [{}, {"level": -1}, {"up": 1}]),
    (phenotypes(), "edit", [{"id": 1, "field": "mark", "value": "no"}], [
        {"id": 1, "field": "mark", "value": "perhaps"},
        {"id": None, "field": "note", "value": "x"},
    ]),
    (covariates(), "page", [7], [None]),
    (slices(), "at", [[2, 0]], [[True, 0], [0], None]),
    (slices(), "entry", [2], [-1]),
]  # fmt: skip


@pytest.mark.parametrize(("part", "field", "old", "never"), GONE)
def test_a_rule_knows_what_a_page_may_have_shown_before(part, field, old, never):
    parts = {"relevance": relevance(), "tree": tree(), "part": part}
    told = [part.sent[field](part, parts, value) for value in [*old, *never]]
    assert all(told)
    assert [isinstance(one, rules.Gone) for one in told] == [True] * len(old) + [False] * len(never)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("k", [2, 9, None], [1, 10, 2.5, True, "3", float("nan")]),
        ("cut", [0.5, 3], [0.4, "1", False]),
        ("prior", [0, 2, 0.3], [-0.1, 2.1, None, True]),
        ("start", ["a", True], ["A", 1, "", None, ["a"]]),
        ("codes", [[], ["428", "250"]], [["429"], ["250", "250"], "250", None, [["250"]]]),
        ("adults", [True, False], [1, None, "true"]),
        ("name", ["", "Heart"], [None, 3, "x" * 5_001]),
        ("note", ["two\nlines"], ["x" * 100_001]),
        ("gone", [7], [8, None]),
        ("say", [], ["x"]),
        ("fit", [], [True]),
    ],
)
def test_a_control_takes_what_it_offers(name, good, bad):
    part = form()
    for value in good:
        assert rules.values(part, {}, VALUES | {name: value}) == ""
    for value in bad:
        assert rules.values(part, {}, VALUES | {name: value})


def test_a_control_is_named_with_what_it_takes():
    assert rules.values(form(), {}, VALUES | {"k": 99}) == "a whole number from 2 to 9 (“Clusters”)"
    assert rules.values(form(), {}, {"k": 3}) == "the values of its controls"  # others are missing


class Page:
    """A host that keeps what it is shown."""

    here = True

    def __init__(self):
        self.shown = {}

    def push(self, changes):
        self.shown |= changes


@pytest.fixture
def board():
    parts = {
        "status": Status(),
        "form": form(),
        "sizes": ClusterList(items=ITEMS),
        "table": table(),
    }
    links = [("table.pick", "sizes.selected"), ("sizes.selected", "sizes.others")]
    found = Dashboard(parts, list(parts), links=links)
    found._sync._views["page"] = Page()
    return found


@pytest.fixture
def unlinked():
    """The same without links: a pick sets no field besides."""
    parts = {"status": Status(), "table": table()}
    return Dashboard(parts, list(parts))


def test_what_no_page_sends_is_shown_as_it_was(board):
    """Before, the page went on to show it while Python held another value."""
    page = board._sync._views["page"]
    board._sync.receive({"sizes_selected": 7, "table_rows": []}, page)
    assert page.shown["sizes_selected"] is None
    assert page.shown["table_rows"] == ROWS
    told = board.components["status"].message
    assert "table, rows takes nothing from a page" in told
    board._sync.receive({"sizes_selected": 4}, page)
    assert page.shown["sizes_selected"] == 4


def test_a_part_is_named_by_its_heading(board):
    board.components["sizes"].title = "Clusters"
    board._sync.receive({"sizes_selected": 7}, Page())
    told = "What was shown has changed meanwhile: Clusters takes one of those shown now. Pick again"
    assert told in board.components["status"].message
    board._sync.receive({"sizes_others": "all"}, Page())
    told = "is not understood: Clusters takes some of those shown. This was not changed"
    assert told in board.components["status"].message


def test_other_fields_of_a_message_with_a_refusal_are_taken_and_it_says_no_more(board):
    """Before, it said that nothing was changed."""
    board._sync.receive({"table_search": "heart", "table_sort": ["zz", "asc"]}, Page())
    table = board.components["table"]
    assert (table.search, table.sort) == ("heart", ["", "desc"])
    told = board.components["status"].message
    assert told.endswith("and asc or desc. This was not changed; try again, or reload the page.")
    board._sync.receive({"table_search": 7}, Page())
    assert "table, search takes another kind of value" in board.components["status"].message


def test_no_button_acts_on_values_that_were_not_taken(board):
    heard = []
    board.listen("form", "pressed", heard.append)
    board._sync.receive({"form_values": VALUES | {"k": 99}, "form_pressed": [1, "fit"]}, Page())
    assert heard == []
    assert board._sync._views["page"].shown["form_pressed"] == [0, None]
    board._sync.receive({"form_values": VALUES | {"k": 9}, "form_pressed": [1, "fit"]}, Page())
    assert heard == ["fit"]


@pytest.mark.parametrize("why", ["halted", "not plain", "not offered"])
def test_a_signal_that_was_refused_does_not_act_later(board, why):
    """Before, it came back among the earlier ones of the next message."""
    heard = []
    board.listen("form", "pressed", heard.append)
    board.components["form"].controls = [
        *CONTROLS,
        {"name": "undo", "kind": "button"},
        {"name": "k2", "kind": "button"},
    ]
    first = {
        "halted": {"form_values": VALUES | {"k": 99}, "form_pressed": [1, "fit"]},
        "not plain": {"form_pressed": [1, "fit", [[0, float("nan")]]]},
        "not offered": {"form_pressed": [1, "fits"]},
    }[why]
    board._sync.receive(first, Page())
    if why == "not offered":
        more = {"name": "fits", "kind": "button"}
        board.components["form"].controls = [*board.components["form"].controls, more]
    earlier = first["form_pressed"][:2]
    board._sync.receive({"form_pressed": [2, "undo", [earlier]]}, Page())
    assert heard == ["undo"]
    board._sync.receive({"form_pressed": [4, "fit", [earlier, [2, "undo"], [3, "k2"]]]}, Page())
    assert heard == ["undo", "k2", "fit"]


def test_merged_signals_are_heard_again_after_a_refusal_with_a_high_count(unlinked):
    heard = []
    unlinked.listen("table", "pick", heard.append)
    unlinked._sync.receive({"table_pick": [2**40, "no such row"]}, Page())
    unlinked._sync.receive({"table_pick": [1, "a"]}, Page())
    unlinked._sync.receive({"table_pick": [3, "<11", [[1, "a"], [2, 2]]]}, Page())
    assert heard == ["a", 2, "<11"]


def test_each_merged_signal_is_judged(unlinked):
    heard = []
    unlinked.listen("table", "pick", heard.append)
    unlinked._sync.receive({"table_pick": [3, "a", [[1, "no such row"], [2, 2]]]}, Page())
    assert heard == [2, "a"]
    assert "takes one of its rows" in unlinked.components["status"].message


def test_values_in_values_are_plain_so_deep_and_no_deeper():
    def nested(depth, wrap):
        value = 1
        for _ in range(depth):
            value = wrap(value)
        return value

    for wrap in (lambda one: [one], lambda one: {"a": one}):
        assert is_plain(nested(DEEPEST, wrap))
        assert not is_plain(nested(DEEPEST + 1, wrap))


def test_a_signal_is_judged_by_what_is_shown_when_its_turn_comes(unlinked):
    heard = []

    def answer(row):
        heard.append(row)
        unlinked.components["table"].rows = [{"id": "b"}]

    unlinked.listen("table", "pick", answer)
    unlinked._sync.receive({"table_pick": [2, "b", [[1, "a"]]]}, Page())
    assert heard == ["a", "b"]
    unlinked._sync.receive({"table_pick": [3, "a"]}, Page())
    assert heard == ["a", "b"]
    assert "takes one of its rows" in unlinked.components["status"].message


def test_what_a_pick_set_by_a_link_and_the_reader_changed_since_stays_changed(board):
    """While Python is busy hosts merge messages; a field that is again what it was is in none."""
    heard, sizes = [], board.components["sizes"]
    board.listen("table", "pick", heard.append)
    board.listen("table", "pick", lambda row: setattr(sizes, "selected", row))
    was = sizes.selected
    board._sync.receive({"table_pick": [1, 2, []]}, Page())
    assert (heard, sizes.selected) == ([], was)
    board._sync.receive({"table_pick": [2, 2, [[1, 2]]], "sizes_selected": 4}, Page())
    assert (heard, sizes.selected) == ([], 4)
    board._sync.receive({"table_pick": [3, 2, [[1, 2], [2, 2]]], "sizes_selected": 2}, Page())
    assert (heard, sizes.selected) == ([2], 2)


def test_what_a_link_hands_on_is_taken_if_its_source_takes_it(board):
    """The browser copies it, to parts that Python may not have drawn yet."""
    sizes = board.components["sizes"]
    board._sync.receive({"table_pick": [1, 2], "sizes_selected": 2}, Page())
    assert sizes.selected == 2
    board._sync.receive({"table_pick": [2, 5], "sizes_selected": 5}, Page())
    assert sizes.selected == 2
    board._sync.receive({"sizes_selected": 4, "sizes_others": 4}, Page())
    assert (sizes.selected, sizes.others) == (4, 4)


@pytest.fixture
def late():
    """A dashboard that Python has changed since the page showed it, in ways that the browser derives more from."""
    shown = relevance(spreads=True)
    parts = {
        "status": Status(),
        "sizes": ClusterList(items=ITEMS),
        "table": table(),
        "words": shown,
    }
    parts |= {"more": relevance(), "map": TopicMap(items=ITEMS), "tree": tree()}
    links = [("sizes.selected", "more.cluster"), ("sizes.selected", "map.selected")]
    links += [("words.spread", "map.spread"), ("sizes.selected", "table.selected")]
    found = Dashboard(parts | {"relevance": relevance()}, list(parts), links=links)
    found._sync._views["page"] = Page()
    return found


@pytest.mark.parametrize(
    ("field", "old"),
    [
        ("more_cluster", [4, 17]),
        ("map_spread", [[0.5, 0.5], [1, 2, 3]]),
        ("words_spread", [[1, 2, None]]),
        ("table_selected", ["gone", 17]),
        ("tree_row", [7]),
    ],
)
def test_what_the_browser_derived_from_what_was_shown_is_taken_back_in_silence(late, field, old):
    """Before, readers who were faster than Python were told to reload the page."""
    page = late._sync._views["page"]
    now = late._sync.state()[field]
    for value in old:
        page.shown.clear()
        late._sync.receive({field: value}, page)
        assert late.components["status"].message == ""
        assert page.shown[field] == late._sync.state()[field] == now


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("more_cluster", "17"),
        ("map_spread", "x"),
        ("map_spread", {"a": 1}),
        ("words_spread", [True]),
        ("table_selected", [17]),
        ("tree_row", -1),
        ("words_cluster", 1),  # no link leads there
        ("sizes_items", []),
    ],
)
def test_what_no_page_derives_is_told(late, field, value):
    now = late._sync.state()[field]
    late._sync.receive({field: value}, Page())
    assert "not understood" in late.components["status"].message
    assert late._sync.state()[field] == now


@pytest.mark.parametrize(
    "sent",
    [
        {"sizes_selected": 17, "more_cluster": 17, "map_selected": 17, "table_selected": 17},
        {"table_pick": [1, "gone"], "table_selected": "gone"},
        {"words_pick": [1, "429"], "words_code": "429", "words_spread": [1, 2, 3]},
        {"tree_cut": [1, {"split": 9}], "tree_frontier": [1, 9]},
        {"map_other": 17},
    ],
)
def test_a_pick_of_what_is_gone_says_so_and_not_to_reload(late, sent):
    before = {key: late._sync.state()[key] for key in sent}
    late._sync.receive(sent, Page())
    assert {key: late._sync.state()[key] for key in sent} == before
    told = late.components["status"].message
    assert told.startswith("What was shown has changed meanwhile: ")
    assert told.endswith(" now. Pick again.")


def test_a_pick_is_answered_whatever_the_browser_filled_beside_it(late):
    heard = []
    late.listen("words", "pick", heard.append)
    sent = {"words_pick": [1, "428"], "words_code": "428", "words_spread": [1, 2, 3]}
    late._sync.receive(sent, Page())
    assert heard == ["428"]
    assert late.components["status"].message == ""


def test_half_a_character_is_no_text(board):
    """JSON can hold it; no picture and no file can."""
    board._sync.receive({"form_values": VALUES | {"name": "\ud800"}}, Page())
    assert board.components["form"].values == VALUES
    assert "not understood" in board.components["status"].message


def test_fields_that_a_jupyter_page_invents_are_passed_over(board):
    board.widget().set_state({"nonsense": 1, "sizes_selected": 4})
    assert board.components["sizes"].selected == 4


def test_two_words_of_which_none_is_found_leave_no_row():
    """Before, the second word was looked for in a table without rows, which failed."""
    table = pd.DataFrame({"code": ["250", "428"], "title": ["Diabetes", "Heart failure"]})
    for search, codes in [("no such thing", []), ("failure HEART", ["428"]), ("4 fail", ["428"])]:
        shown = Paging(search=search).page_of(table, ["code", "title"], 15)
        assert [row["code"] for row in shown["rows"]] == codes
        assert shown["total"] == len(codes)


@pytest.mark.parametrize("kind", WIDGETS.values())
def test_what_the_browser_sets_has_a_rule(kind):
    """A field that a part's script sets, but no rule names, would be refused when a reader changes it."""
    script = (files("lvmkit_widgets") / "static" / f"{kind.kind}.js").read_text("utf-8")
    fired = re.findall(r"\bpart\.fire\(\"(\w+)\"", script)
    # Saved pages, which no Python answers, set `shown`.
    put = set(re.findall(r"\bpart\.set\(\{ (\w+)", script)) - {"shown"}
    assert set(fired) | put <= set(kind.sent)
    assert set(kind.sent) <= set(kind.fields())
    assert {*kind.events()} <= set(kind.sent)
