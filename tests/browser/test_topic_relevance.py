"""Topics by mouse and keyboard: served, in JupyterLab, and as a saved page."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import lvmkit
from lvmkit.cohorts import from_counts
from lvmkit_widgets import TopicRelevance

pytestmark = pytest.mark.browser
CORPUS = """
import numpy as np, pandas as pd, lvmkit
from lvmkit.cohorts import from_texts
POOLS = (
    "war army enemy soldier battle peace treaty alliance",
    "tax budget money deficit spending dollar market trade",
    "school teacher child learn college student reading science",
)
random = np.random.default_rng(4)
texts = []
for i in range(90):
    words = random.permutation((POOLS[i // 30] + " nation people time").split() * 2)
    texts.append("<img src=x onerror=window.hacked=1> We speak. " + " ".join(words) + " and so on." * 60)
years = 1950 + np.arange(90) // 2
speakers = np.repeat(["Ann", "Bob", "Cyd"], 30)
table = pd.DataFrame({"year": years, "speaker": speakers, "text": texts})
corpus = from_texts(table, text="text", language="english")
models = [lvmkit.SingleTopic(n_components=k).fit(corpus) for k in (3, 2)]
"""


@pytest.fixture(scope="module")
def opened():
    """Models and corpus."""
    scope = {}
    exec(CORPUS, scope)
    return scope["models"], scope["corpus"]


@pytest.fixture(scope="module")
def address(servers, opened):
    """Where the dashboard is served, and the dashboards that were made."""
    return servers.start(lambda: TopicRelevance(*opened, name="speeches"))


@pytest.fixture
def served(address, open_page, opened):
    """A page of a served dashboard, and the dashboard."""
    for model in opened[0]:
        model.annotations_ = {}
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-size")).to_have_count(3)
    return page, address[1][-1]


@pytest.fixture(scope="module")
def saved(opened, tmp_path_factory):
    """A page with texts that was saved with λ at 0.3."""
    board = TopicRelevance(*opened, name="speeches")
    for i in (2, 4, 0):
        board.open_tab("main", i)
    board.state = board.state.replace(balance=0.3)
    return board.to_html(tmp_path_factory.mktemp("page") / "topics.html", texts=True)


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def words(page):
    return page.locator(".lvm-relevance tbody tr:visible td.lvm-col-code").all_inner_texts()


def of_topic(page, number):
    return page.locator(f'.lvm-map g[data-id="{number}"]')


def radius(page, number):
    return float(of_topic(page, number).locator("circle").get_attribute("r"))


def walk(page):
    """Use everything a page without Python can do."""
    of_topic(page, 1).click()
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1")
    slider = page.get_by_label(re.compile("Balance"))
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator(".lvm-relevance output")).to_have_text("1.00")
    frequent = words(page)
    page.keyboard.press("Home")
    expect(page.locator(".lvm-relevance output")).to_have_text("0.00")
    typical = words(page)
    assert frequent != typical
    assert sorted(frequent) == sorted(typical)  # all words fit in the table
    before = radius(page, 1)
    page.get_by_label("Find").first.fill(typical[0])
    expect(page.locator(".lvm-relevance tbody tr:visible")).to_have_count(1)
    row = page.locator(".lvm-relevance tbody tr:visible").first
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-topic_map .lvm-readout")).to_contain_text(f"“{typical[0]}”")
    expect(page.locator(".lvm-spread li").first).to_contain_text("1 ·")
    assert radius(page, 1) > before
    page.get_by_role("button", name="Sizes by share again").click()
    expect(page.locator(".lvm-spread")).to_be_hidden()
    assert radius(page, 1) == before
    page.get_by_label("Find").first.fill("")
    of_topic(page, 0).click(modifiers=["Shift"])
    tab(page, "Compare two")
    expect(page.get_by_label("with", exact=True)).to_have_value("0")
    expect(page.locator(".lvm-term_comparison tbody tr")).not_to_have_count(0)
    page.locator(".lvm-term_comparison tbody tr").first.click()
    tab(page, "Words and map")
    expect(page.locator(".lvm-topic_map .lvm-readout")).to_contain_text("its topics")
    tab(page, "All topics")
    page.locator(".lvm-table tr.lvm-pickable:visible").nth(2).click()
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "2")


def test_words_map_and_comparison_answer_at_once(served, told):
    page, board = served
    walk(page)
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "2")
    told(page, board, topic=2, other=0, balance=0.0)


SLOW = """
const { set } = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
Object.defineProperty(WebSocket.prototype, "onmessage", {
  set(listener) {
    set.call(this, (message) => setTimeout(() => listener.call(this, message), 700));
  },
});
"""


def test_what_the_reader_changed_outlasts_late_answers(address, open_page, told):
    page = open_page()
    page.add_init_script(SLOW)  # what Python says comes 0.7 s late
    page.goto(address[0])
    expect(page.locator(".lvm-size")).to_have_count(3)
    readout = page.locator(".lvm-topic_map .lvm-readout")
    first = page.locator(".lvm-relevance tbody tr").first
    again = page.get_by_role("button", name="Sizes by share again")
    for change in (first, again, first):  # each is heard before the next, and none is answered yet
        change.click()
        page.wait_for_timeout(150)
    expect(readout).to_contain_text("its topics")
    page.wait_for_timeout(2000)
    assert "its topics" in readout.inner_text()
    assert page.locator(".lvm-spread li").count() > 0
    told(page, address[1][-1], term=first.locator("td").first.inner_text())
    page.locator(".lvm-size").nth(2).click()  # the model below has no such topic
    page.get_by_role("slider", name="Number of topics").press("Home")
    expect(page.locator(".lvm-size")).to_have_count(2)  # by now Python has heard, and decides
    state = address[1][-1].state
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", str(state.topic))


def test_what_a_click_sets_is_one_message(address, open_page, told):
    page, sent = open_page(), []
    page.on("websocket", lambda s: s.on("framesent", lambda frame: sent.append(str(frame))))
    page.goto(address[0])
    expect(page.locator(".lvm-size")).to_have_count(3)
    page.locator(".lvm-relevance tbody tr").first.click()
    told(page, address[1][-1], term=page.locator(".lvm-relevance td").first.inner_text())
    (message,) = (frame for frame in sent if "relevance_code" in frame)
    assert "map_spread" in message  # the word, its topics and totals
    assert "relevance_pick" in message  # and that it was picked


def test_the_map_is_walked_by_keys(served, told):
    page, board = served
    current = page.locator('.lvm-map g[tabindex="0"]')
    current.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1")
    expect(page.locator(".lvm-relevance .lvm-legend")).to_contain_text("1 ·")
    told(page, board, topic=1)


def test_documents_are_shown_as_text_and_opened(served):
    page, _ = served
    tab(page, "Documents")
    page.locator(".lvm-size").nth(1).click()
    first = page.locator(".lvm-doc").first
    expect(first).to_contain_text("<img src=x onerror=window.hacked=1>")
    expect(first.locator("mark").first).to_be_visible()
    short = first.locator("p").inner_text()
    first.get_by_role("button", name="Show more").click()
    expect(first.get_by_role("button", name="Show less")).to_be_visible()
    assert len(first.locator("p").inner_text()) > len(short)
    assert page.evaluate("window.hacked") is None


def test_a_topic_gets_a_name_and_keeps_its_number(served, opened):
    page, _ = served
    page.locator(".lvm-size").nth(2).click()
    page.get_by_label("Name of topic 2").fill("Learning <b>")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.locator(".lvm-size").nth(2)).to_contain_text("2 · Learning <b>")
    expect(of_topic(page, 2)).to_have_attribute("aria-label", re.compile("2 · Learning"))
    assert opened[0][0].annotations_ == {"topic_names": {"2": "Learning <b>"}}


def test_the_slider_moves_between_models_and_another_is_fitted(served):
    page, board = served
    slider = page.get_by_label("Number of topics").first
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".lvm-size")).to_have_count(2)
    expect(page.locator(".lvm-map g[role=option]")).to_have_count(2)
    tab(page, "Fit another")
    box = page.get_by_label("Number of topics").last
    box.fill("40")
    box.press("Enter")
    page.get_by_role("button", name="Fit the model").click()
    expect(page.locator(".lvm-status")).to_contain_text("Choose")
    box.fill("4")
    box.press("Enter")
    page.get_by_role("button", name="Fit the model").click()
    expect(page.locator(".lvm-status")).to_contain_text("Fitted 4 topics")
    expect(page.locator(".lvm-size")).to_have_count(4)
    assert [t.k for t in board.state.versions] == [2, 3, 4]


def test_shares_are_drawn_along_an_order(served):
    page, board = served
    tab(page, "Along an order")
    picture = page.locator(".lvm-picture svg")
    expect(picture).to_contain_text("Topics by year")
    expect(picture).to_contain_text("Bob")
    page.get_by_label("Shares along", exact=True).select_option(label="speaker")
    expect(picture).to_contain_text("Topics by speaker")
    picture.locator("a[href='#cluster=2']").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "2")
    assert board.state.topic == 2


def test_files_are_handed_over(served):
    page, _ = served
    for name, file in (("Save as CSV", "terms-"), ("Save SVG", "topic-map.svg")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).locator("visible=true").first.click()
        assert waiting.value.suggested_filename.startswith(file)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save PNG").locator("visible=true").first.click()
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG")
    tab(page, "Take away")
    page.get_by_label("Put the typical documents").check()
    for name, file in (("Words by topic", "terms.csv"), ("Page", "topics.html")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=re.compile(f"^{name}")).click()
        assert waiting.value.suggested_filename == file
    assert b"onerror=window" in waiting.value.path().read_bytes()


def test_the_saved_page_remembers_and_answers(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    expect(page.locator(".lvm-relevance output")).to_have_text("0.30")
    assert page.get_by_role("tab").all_inner_texts() == [
        "Words and map",
        "All topics",
        "Documents",
        "Compare two",
        "Along an order",
    ]
    walk(page)
    tab(page, "Documents")
    expect(page.locator(".lvm-doc").first.locator("mark").first).to_be_visible()
    slider = page.get_by_label("Number of topics")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".lvm-size")).to_have_count(2)
    expect(page.locator(".lvm-doc").first).to_be_visible()
    tab(page, "Words and map")
    expect(page.locator(".lvm-map g[role=option]")).to_have_count(2)
    assert page.evaluate("window.hacked") is None


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A page of eighteen topics that are much alike, one of a very long name, and of an empty one."""
    random = np.random.default_rng(3)
    words = [f"word{i}" for i in range(60)]
    centers = 0.7 * random.dirichlet(np.full(60, 0.2)) + 0.3 * random.dirichlet(
        np.full(60, 0.2), 18
    )
    weights = random.dirichlet(np.full(18, 0.7))
    model = lvmkit.SingleTopic.from_parameters(
        np.append(weights, 0.0), np.vstack([centers, centers[:1]]), feature_names=words
    )
    X, _ = model.sample(400, length=120)
    board = TopicRelevance(model, from_counts(X, feature_names=words, binary=False), private=False)
    board.state = board.state.rename(
        0, "a name that is much longer than any circle and any picture is wide " * 2
    )
    board.state = board.state.look(0)
    return board.to_html(tmp_path_factory.mktemp("page") / "crowded.html")


OVERLAPS = """(root) => {
  const boxes = (list) => [...list].filter((el) => el.textContent || el.tagName === "circle").map((el) => el.getBBox());
  const value = (el) => (name) => Number(el.getAttribute(name));
  const circles = [...root.querySelectorAll("circle")].map((el) => ["cx", "cy", "r"].map(value(el)));
  const numbers = boxes([...root.querySelectorAll("text")].filter((el) => /^\\d+$/.test(el.textContent)));
  const names = boxes([...root.querySelectorAll("text")].filter((el) => !/^\\d+$|^Empty/.test(el.textContent)));
  const meets = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width;
  const pairs = (list, meet) => list.flatMap((a, i) => list.slice(0, i).filter((b) => meet(a, b))).length;
  const frame = root.viewBox.baseVal;
  const within = (b) => b.x >= 0 && b.y >= 0 && b.x + b.width <= frame.width && b.y + b.height <= frame.height;
  return {
    circles: pairs(circles, (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) < a[2] + b[2] - 1),
    numbers: pairs(numbers, (a, b) => Math.abs(a.x - b.x) < (a.width + b.width) / 2 - 1 && Math.abs(a.y - b.y) < 9),
    covered: numbers.filter((a) => names.some((b) => meets(a, b) && Math.abs(a.y - b.y) < 9)).length,
    outside: boxes(root.querySelectorAll("text, circle")).filter((box) => !within(box)).length,
    found: [circles.length, numbers.length],
  };
}"""


def test_eighteen_topics_can_be_told_apart(crowded, open_page):
    page = open_page()
    page.goto(crowded.as_uri())
    places = []
    for width in (1280, 800, 390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        found = page.locator(".lvm-map svg").evaluate(OVERLAPS)
        none = dict.fromkeys(("circles", "numbers", "covered", "outside"), 0)
        assert found == {**none, "found": [18, 18]}, width
        places.append(of_topic(page, 3).locator("circle").get_attribute("cx"))
    assert places[0] == places[-1]
    empty = page.locator(".lvm-map text", has_text="Empty: 18")
    assert empty.evaluate("(el) => getComputedStyle(el).stroke") == "none"
    page.locator(".lvm-relevance tbody tr").first.click()
    assert page.locator(".lvm-map svg").evaluate(OVERLAPS)["outside"] == 0


def test_a_model_that_reads_slowly_is_read_once_it_is_seen(opened, servers, open_page):
    corpus = opened[1]
    model = lvmkit.LatentDirichlet(n_components=3).fit(corpus)
    address, made = servers.start(lambda: TopicRelevance(model, corpus))
    page = open_page()
    page.goto(address)
    expect(page.locator(".lvm-topic_map .lvm-readout")).to_contain_text("of all words")
    expect(page.locator(".lvm-size").first).to_contain_text("documents")
    expect(page.locator(".lvm-relevance th").nth(1)).to_contain_text("In topic")
    assert made[-1].state.figures.read


def test_no_tab_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


STEPS = """(root) => {
  const slider = root.querySelector(".lvm-relevance input[type=range]");
  const times = [];
  for (let i = 0; i < 40; i++) {
    slider.value = (i * 37 % 101) / 100;
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""


def test_it_works_in_a_notebook_in_the_dark(lab, open_page, measured):
    page = open_page(width=1400)
    show = (
        "from lvmkit_widgets import TopicRelevance\nboard = TopicRelevance(models, corpus)\nboard"
    )
    lab.write("topics.ipynb", CORPUS, show, "board.state = board.state.look(1)")
    lab.open(page, "topics.ipynb", dark=True)
    expect(page.locator(".lvm-size")).to_have_count(3)
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1")
    walk(page)
    tab(page, "Words and map")
    times = page.locator(".lvm").first.evaluate(STEPS)
    measured("λ step of 25 words, JupyterLab", round(times[len(times) // 2], 2), "ms")
    ink = page.locator(".lvm-map text").first.evaluate("(el) => getComputedStyle(el).fill")
    assert min(int(part) for part in re.findall(r"\d+", ink)[:3]) > 150
