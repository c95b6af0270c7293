"""Each kind of part does what it says, by mouse and by keyboard, in a served page."""

import csv
import re
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shown(demo, servers, open_shared_page):
    """The page and the dashboard behind it."""
    page = open_shared_page()
    address, made = servers.start(demo.board)
    page.goto(address)
    page.wait_for_selector(".lvm-relevance tbody tr")
    return page, made[-1]


@pytest.fixture
def page(shown):
    return shown[0]


@pytest.fixture
def board(shown):
    return shown[1]


def reached(page, check):
    """Wait until Python has what the browser sent."""
    for _ in range(200):
        if check():
            return
        page.wait_for_timeout(25)
    pytest.fail("the change did not reach Python")


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def test_controls_hand_over_numbers_lists_and_truth(page, board):
    page.get_by_role("spinbutton", name="Clusters").fill("12")
    page.get_by_role("spinbutton", name="Clusters").press("Enter")
    page.get_by_label("Start").select_option(label="other")
    page.get_by_label("Adults only").check()
    page.get_by_label("Notes").fill("two\nlines")
    page.get_by_label("Prior").press("End")
    page.get_by_role("spinbutton", name="Clusters").focus()
    wanted = {"k": 12, "start": "b", "adults": True, "notes": "two\nlines", "prior": 1}
    reached(page, lambda: board.components["controls"].values == wanted)


def test_a_number_out_of_range_is_refused_where_it_is_typed(page, board):
    box = page.get_by_role("spinbutton", name="Clusters")
    box.fill("99")
    box.press("Enter")
    expect(page.locator(".lvm-wrong:visible")).to_have_text("Enter a whole number from 2 to 40.")
    assert board.components["controls"].values["k"] != 99
    box.fill("12")
    box.press("Enter")
    expect(page.locator(".lvm-wrong:visible")).to_have_count(0)


def test_codes_are_chosen_by_typing_and_taken_back(page, board):
    box = page.get_by_role("combobox", name="Leave out")
    box.fill("428")
    box.press("ArrowDown")
    box.press("Enter")
    box.fill("401")
    box.press("Enter")
    reached(page, lambda: board.components["controls"].values.get("drop") == ["428", "401"])
    box.press("Backspace")
    reached(page, lambda: board.components["controls"].values.get("drop") == ["428"])
    page.get_by_role("button", name=re.compile("^Remove")).click()
    reached(page, lambda: board.components["controls"].values.get("drop") == [])


def test_suggestions_fill_a_text_box(page, board):
    box = page.get_by_label("Name")
    box.fill("kid")
    page.get_by_role("option", name="Kidney").click()
    expect(box).to_have_value("Kidney")
    reached(page, lambda: board.components["controls"].values.get("name") == "Kidney")


def test_values_set_by_python_appear_and_a_field_can_be_wrong(page, board, demo):
    form = board.components["controls"]
    with board.batch():
        form.values = form.values | {"k": 7}
        form.errors = {"k": demo.HOSTILE}
    expect(page.get_by_role("spinbutton", name="Clusters")).to_have_value("7")
    expect(page.locator(".lvm-wrong:visible")).to_have_text(demo.HOSTILE)
    form.errors = {}


def test_the_rested_balance_reaches_python_once(page, board):
    heard = len(board.heard)
    slider = page.get_by_label("Balance λ")
    # Five steps with no pause between them, however busy the machine is.
    slider.evaluate(
        "slider => { for (let n = 0; n < 5; n++) { slider.stepUp(); "
        "slider.dispatchEvent(new Event('input', {bubbles: true})); } }"
    )
    reached(page, lambda: abs(board.components["relevance"].balance - 0.65) < 1e-9)
    assert [note for note in board.heard[heard:] if note[0] == "relevance.balance"] == [
        ("relevance.balance", 0.65)
    ]


def test_codes_sort_by_any_column(page, board):
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.locator(".lvm-relevance tbody tr").first).to_contain_text("200")
    reached(page, lambda: board.components["relevance"].sort == ["code", "asc"])
    page.get_by_role("button", name="Relevance").click()
    expect(page.locator(".lvm-relevance th[aria-sort]")).to_contain_text("Relevance")


def test_relevance_in_the_browser_is_that_of_the_library(page, board):
    np = pytest.importorskip("numpy")
    scores = pytest.importorskip("lvmkit.scores")
    part = board.components["relevance"]
    centers = np.frombuffer(part.centers, np.float32).reshape(len(part.weights), -1)
    wanted = scores.relevance(centers, np.array(part.weights), balance=0.3)[part.cluster]
    part.balance = 0.3
    order = np.argsort(-wanted, kind="stable")[: part.top]
    first = page.locator(".lvm-relevance tbody tr").first
    expect(first.locator("td").first).to_have_text(part.codes[order[0]])
    shown = page.locator(".lvm-relevance tbody tr td:nth-child(6)").all_inner_texts()
    values = [float(text.replace("−", "-")) for text in shown]
    assert values == pytest.approx(wanted[order], abs=0.0051)


def test_hidden_codes_are_left_out_and_said_to_be(page, board):
    np = pytest.importorskip("numpy")
    part = board.components["relevance"]
    before = part.centers
    centers = np.frombuffer(before, np.float32).reshape(16, -1).copy()
    centers[part.cluster, :5] = np.nan
    part.centers = centers.tobytes()
    expect(page.locator(".lvm-legend")).to_contain_text("5 hidden, so that no small count shows")
    part.centers = before
    expect(page.locator(".lvm-legend")).not_to_contain_text("hidden")


def test_shift_adds_clusters_to_compare(page, board):
    cards = page.locator(".lvm-size")
    cards.nth(2).click()
    cards.nth(5).click(modifiers=["Shift"])
    reached(page, lambda: board.components["sizes"].others == [5])
    cards.nth(2).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    reached(page, lambda: board.components["sizes"].others == [5, 6])
    assert board.components["sizes"].selected == 2


def test_a_cell_of_the_heat_map_is_picked_by_mouse_and_keyboard(page, board):
    tab(page, "Patients by disease")
    canvas = page.locator(".lvm-heat canvas")
    canvas.click(position={"x": 5, "y": 5})
    first = board.components["heat"].columns[0]["code"]
    picked = ("heat.pick", {"cluster": 0, "code": first})
    reached(page, lambda: board.heard[-1] == picked)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    last = board.components["heat"].columns[-1]["code"]
    reached(page, lambda: board.heard[-1] == ("heat.pick", {"cluster": 0, "code": last}))
    expect(page.locator(".lvm-readout")).to_contain_text(f"{last} ")


def test_the_wheel_zooms_and_a_button_shows_all_again(page):
    tab(page, "Patients by disease")
    show_all = page.get_by_role("button", name="Show all rows")
    canvas = page.locator(".lvm-heat canvas")
    canvas.click(position={"x": 5, "y": 200})
    expect(show_all).to_be_disabled()
    page.mouse.wheel(0, -100)
    expect(show_all).to_be_enabled()
    show_all.click()
    expect(show_all).to_be_disabled()


def test_the_heat_map_paints_the_mean_of_its_rows(page, board):
    np = pytest.importorskip("numpy")
    tab(page, "Patients by disease")
    part = board.components["heat"]
    rows = np.zeros((1000, len(part.columns)), np.uint8)
    rows[:500, 0] = 255
    band = [{"id": 0, "name": "All", "start": 0, "stop": 1000, "n": 1000}]
    before = part.state()
    part.param.update(cells=rows.tobytes(), bands=band)
    pixel = """(el, [x, y]) => Array.from(el.getContext("2d").getImageData(x, y, 1, 1).data)"""
    canvas = page.locator(".lvm-heat canvas")
    expect(page.locator(".lvm-band")).to_have_count(1)
    assert canvas.evaluate(pixel, [3, 20])[:3] == [255, 233, 69]
    assert canvas.evaluate(pixel, [3, 400])[:3] == [0, 32, 76]
    part.param.update(cells=before["cells"], bands=before["bands"])


def test_rows_sort_page_search_and_save_as_shown(page, demo):
    tab(page, "Records")
    table = page.locator(".lvm-table")
    rows = table.locator("tbody tr")
    table.get_by_role("button", name="Age").click()
    expect(rows.first).to_contain_text("89")
    table.get_by_role("button", name="Next").click()
    expect(table.locator(".lvm-pager")).to_contain_text("16–30 of 120")
    table.get_by_label("Find").fill("R007")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("<11")
    with page.expect_download() as waiting:
        table.get_by_role("button", name="Save CSV").click()
    text = Path(waiting.value.path()).read_text("utf-8-sig")
    assert waiting.value.suggested_filename == "records.csv"
    lines = list(csv.reader(text.splitlines()))
    assert lines == [
        ["Record", "Age", "Probability", "Patients", "Why"],
        ["R007", "27", str(7 / 120), "<11", demo.HOSTILE],
    ]
    table.get_by_label("Find").fill("")


def test_marks_of_a_picture_are_buttons(page, board):
    tab(page, "Records")
    page.get_by_role("button", name="cluster 1").click()
    reached(page, lambda: board.heard[-1] == ("picture.pick", {"cluster": "1"}))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    reached(page, lambda: board.heard[-1] == ("picture.pick", {"code": "428"}))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save PNG").click()
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


def test_nothing_active_in_a_picture_survives(page, board):
    tab(page, "Records")
    part = board.components["picture"]
    before = part.svg
    part.svg = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.bad=1">
      <script>window.bad = 2</script><foreignObject><p>no</p></foreignObject>
      <a href="javascript:window.bad=3"><rect width="3" height="3" onclick="window.bad=4"/></a>
      <image href="http://203.0.113.1/x.png"/><rect style="fill:url(http://203.0.113.1/y)"/>
      <circle id="kept" r="2" fill="url(#g)"/></svg>"""
    expect(page.locator(".lvm-frame #kept")).to_have_count(1)
    svg = page.locator(".lvm-frame svg").evaluate("(el) => el.outerHTML")
    for word in ("script", "foreignObject", "onload", "onclick", "203.0.113.1", "javascript"):
        assert word not in svg
    assert page.evaluate("window.bad") is None
    part.svg = "not a picture"
    expect(page.locator(".lvm-frame")).to_contain_text("The picture is damaged.")
    part.svg = before


def test_a_file_made_by_python_is_saved_and_forgotten(page, board):
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert Path(waiting.value.path()).read_bytes() == b"a,b\r\n"
    assert waiting.value.suggested_filename == "table.csv"
    reached(page, lambda: board.stage.file == b"")


def test_a_second_request_is_refused_while_work_goes_on(page, board):
    board.go_on.clear()
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator(".lvm-status")).to_contain_text("Waiting")
    assert board.busy
    assert board.background(lambda _: 1, lambda _: None) is False
    board.go_on.set()
    expect(page.locator(".lvm-status")).to_contain_text("Fitted")


def test_parts_can_be_hidden_and_the_layout_changed(page, board, demo):
    board.components["words"].visible = False
    expect(page.get_by_role("tab", name="About")).to_be_hidden()
    board.components["words"].visible = True
    expect(page.get_by_role("tab", name="About")).to_be_visible()
    board.stage.layout = ["words"]
    expect(page.locator(".lvm-relevance")).to_have_count(0)
    expect(page.locator(".lvm-text")).to_be_visible()
    board.stage.layout = demo.LAYOUT
    expect(page.locator(".lvm-relevance")).to_have_count(1)


def test_help_opens_and_tabs_follow_arrows_and_python(page, board):
    page.get_by_role("button", name="About Clusters").click()
    expect(page.locator(".lvm-help:visible")).to_contain_text("most likely cluster")
    page.get_by_role("button", name="About Clusters").click()
    board.open_tab("views", 0)
    expect(page.get_by_role("tab", name="Codes")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Codes").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lvm-heat")).to_be_visible()
    reached(page, lambda: board.stage.tabs == {"views": 1})


MODEL = """() => {
  const stage = { stage_saved: false, stage_told: 3, stage_heard: 3, stage_repeated: [0, []] };
  const values = { ...stage, part_a: "old", part_b: "old" };
  const heard = {};
  const changed = (name) => heard[name]?.forEach((listener) => listener());
  const model = {
    sent: [],
    get: (name) => values[name],
    set: (name, value) => ((values[name] = value), changed(name)),
    save_changes: () => model.sent.push([values.stage_told, ...values.stage_repeated[1]].join(" ")),
    on: (event, listener) => (heard[event.slice(7)] ??= new Set()).add(listener),
    off: (event, listener) => heard[event.slice(7)]?.delete(listener),
    // What comes from Python, or from another view, comes at once.
    come: (news) => (Object.assign(values, news), Object.keys(news).forEach(changed), Promise.resolve()),
  };
  window.model = model;
  window.kept = keeping(model);
  window.ask = (changes) => {
    Object.entries(changes).forEach(([name, value]) => kept.set(name, value));
    kept.save_changes();
  };
  window.shown = () => [model.get("part_a"), model.get("part_b")];
}"""


@pytest.fixture
def kept(open_page):
    """A page with a model that keeps what the reader set, and nothing else."""
    page = open_page()
    page.add_script_tag(path=files("lvmkit_widgets") / "static" / "stage.js")
    page.evaluate(MODEL)
    return page


def test_late_answers_do_not_undo_what_the_reader_set(kept):
    kept.evaluate("() => { ask({ part_a: 'first' }); ask({ part_a: 'second', part_b: 'mine' }); }")
    kept.evaluate("() => model.come({ stage_heard: 4, part_a: 'answer', part_b: 'other' })")
    assert kept.evaluate("shown()") == ["second", "mine"]
    assert kept.evaluate("model.sent") == ["4", "5", "5 part_a part_b"]  # shown again
    kept.evaluate("() => model.come({ stage_heard: 4, part_a: 'another' })")
    assert kept.evaluate("shown()") == ["second", "mine"]
    kept.evaluate("() => model.come({ stage_heard: 5, part_a: 'last' })")
    assert kept.evaluate("shown()") == ["last", "mine"]  # Python has heard it all and decides
    kept.evaluate("() => model.come({ part_b: 'later' })")
    assert kept.evaluate("shown()") == ["last", "later"]
    kept.evaluate("() => ask({ part_a: 'third' })")
    shown_again = ["5 part_a part_b"] * 2
    assert kept.evaluate("model.sent") == ["4", "5", *shown_again, "6 part_b"]


def test_what_is_heard_and_answered_alike_is_sent_once(kept):
    kept.evaluate("() => ask({ part_a: [1, { b: 2 }] })")
    kept.evaluate("() => model.come({ part_a: [1, { b: 2 }] })")
    kept.evaluate("() => model.come({ stage_heard: 4, part_a: 'answer' })")
    assert kept.evaluate("shown()[0]") == "answer"
    assert kept.evaluate("model.sent") == ["4"]


def test_the_reader_may_go_on_in_another_view_of_the_same_model(kept):
    kept.evaluate("() => ask({ part_a: 'here' })")
    kept.evaluate("() => model.come({ part_a: 'there', stage_told: 5 })")
    assert kept.evaluate("shown()[0]") == "there"
    kept.evaluate("() => ask({ part_b: 'here again' })")
    kept.evaluate("() => model.come({ part_a: 'there too' })")
    assert kept.evaluate("shown()") == ["there too", "here again"]
    assert kept.evaluate("model.sent") == ["4", "6"]
    kept.evaluate("() => model.come({ stage_heard: 5, part_b: 'answer' })")
    assert kept.evaluate("shown()") == ["there too", "here again"]


def test_messages_are_numbered_above_those_of_other_hosts(kept):
    kept.evaluate("() => model.come({ stage_heard: 20 })")
    kept.evaluate("() => ask({ part_a: 'mine' })")
    kept.evaluate("() => model.come({ part_a: 'answer' })")
    assert kept.evaluate("shown()[0]") == "mine"
    assert kept.evaluate("model.sent") == ["21", "21 part_a"]


def test_a_closed_view_leaves_the_model_alone(kept):
    kept.evaluate("() => { ask({ part_a: 'mine' }); kept.dispose(); }")
    kept.evaluate("() => model.come({ part_a: 'answer' })")
    assert kept.evaluate("shown()[0]") == "answer"
