"""Score cards by mouse and keyboard: served, in JupyterLab, as a saved page, and on paper."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from scipy import sparse

import lvmkit
from lvmkit.cohorts import CountTensor
from lvmkit_widgets import ScoreCards

pytestmark = pytest.mark.browser
COHORT = """
import numpy as np, pandas as pd, lvmkit
from scipy import sparse
from lvmkit.cohorts import CountTensor
random = np.random.default_rng(0)
hostile = "<img src=x onerror=window.hacked=1>"
U = random.integers(0, 4, (900, 4)) * (random.random((900, 4)) < [0.3, 0.2, 0.1, 0.4])
U[U.sum(axis=1) == 0, 0] = 1
V, W = np.zeros((20, 4), int), np.zeros((8, 4), int)
for r in range(4):
    V[4 * r : 4 * r + 4, r] = [3, 2, 1, 1]
    W[2 * r : 2 * r + 2, r] = [2, 1]
V[16:20, 0] = 1
V[:3, 3] = V[:3, 0]
counts = np.einsum("ar,br,cr->abc", U, V, W)
labels = (
    pd.DataFrame({"age": random.integers(30, 80, 900)}, index=[f"secret-{i}" for i in range(900)]),
    pd.DataFrame({"title": [f"Disease D{j} {hostile}" for j in range(20)]}, index=[f"D{j}" for j in range(20)]),
    pd.DataFrame(index=[f"R{j}" for j in range(8)]),
)
cohort = CountTensor(sparse.coo_array(counts), ("patient", "diagnosis", "drug"), labels, "a ward")
model = lvmkit.SUSTain(4, max_score=3).fit(cohort)
model.factors_, model.weights_ = [U, V, W], np.array([1, 1, 1, 1])
"""


@pytest.fixture(scope="module")
def opened():
    """A model with known scores, and its patients."""
    scope = {}
    exec(COHORT, scope)
    return scope["model"], scope["cohort"]


@pytest.fixture(scope="module")
def address(servers, opened):
    """Where the dashboard is served, and the dashboards that were made."""
    return servers.start(lambda: ScoreCards(*opened))


@pytest.fixture
def served(address, open_page, opened):
    """A page of a served dashboard, and the dashboard."""
    opened[0].annotations_ = {}
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-pheno")).to_have_count(4)
    return page, address[1][-1]


@pytest.fixture(scope="module")
def saved(opened, tmp_path_factory):
    """A page that was saved with a name and a mark."""
    opened[0].annotations_ = {}
    board = ScoreCards(*opened)
    board.state = board.state.rename(1, "Sugar <b>")
    board.state = board.state.mark(1, "yes")
    board.state = board.state.write_note(1, "As expected.")
    opened[0].annotations_ = {}
    return board.to_html(tmp_path_factory.mktemp("page") / "cards.html")


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def card(page, number):
    return page.locator(f'.lvm-pheno[data-id="{number}"]')


def order(page):
    return page.locator(
        ".lvm-pheno .lvm-badge"
    ).all_text_contents()  # what is out of sight has no inner text


def walk(page):
    """Use everything a page without Python can do."""
    first = card(page, 0)
    expect(first.locator(".lvm-feats li").first).to_contain_text("Disease D0")
    expect(first.locator(".lvm-feats li").first.locator(".lvm-score")).to_have_text("3")
    expect(first.locator(".lvm-feats li").first.locator("i.lvm-full")).to_have_count(3)
    expect(first.locator("h5").first).to_have_text("diagnosis")
    expect(first.locator(".lvm-facts")).to_contain_text("λ 1 weight: scales counts")
    assert first.locator(".lvm-featname").count() == 6
    first.get_by_role("button", name="Show all 10").click()
    expect(first.locator(".lvm-featname")).to_have_count(10)
    first.get_by_role("button", name="Show fewer").click()
    expect(first.locator(".lvm-featname")).to_have_count(6)
    sort = page.get_by_label("Sort by")
    sort.select_option("share")
    shares = page.locator(".lvm-facts b").filter(has_text="patients").all_inner_texts()
    values = [float(text.split("%")[0]) for text in shares]
    assert values == sorted(values, reverse=True)
    sort.select_option("size")
    assert order(page)[0] == "0"
    sort.select_option("id")
    assert order(page) == ["0", "1", "2", "3"]
    find = page.locator(".lvm-phenotype_cards").get_by_role("searchbox", name="Find")
    find.fill("disease d17")
    expect(page.locator(".lvm-pheno")).to_have_count(1)
    expect(card(page, 0).locator("mark").last).to_contain_text("Disease D")
    expect(card(page, 0)).to_contain_text("D17")
    find.fill("no such thing")
    status = page.locator(".lvm-phenotype_cards").get_by_role("status")
    expect(status).to_have_text(
        "0 of 4 phenotypes. Nothing matches: empty “Find”, or show all marks."
    )
    expect(page.get_by_role("button", name="Print")).to_be_disabled()
    find.fill("")
    expect(page.get_by_role("button", name="Print")).to_be_enabled()
    expect(page.locator(".lvm-pheno")).to_have_count(4)
    card(page, 0).click(position={"x": 60, "y": 60})
    expect(card(page, 0)).to_have_attribute("aria-current", "true")
    card(page, 3).get_by_role("button", name="Compare with 0").click()
    pair = page.locator(".lvm-phenotype_pair")
    expect(pair).to_contain_text("3 shared features, 3 with the same score. Likeness")
    expect(pair.locator("th.lvm-part")).to_have_text(
        [re.compile(r"In both \(3\)"), re.compile(r"Only in 0"), re.compile(r"Only in 3")]
    )
    expect(pair.locator("td.lvm-cell-text").first).to_contain_text("D0 · diagnosis")
    expect(pair).to_contain_text("diagnosis 0.60, drug 0.00, together 0.00")
    pair.get_by_label("Second phenotype").select_option("1")
    expect(pair).to_contain_text("0 shared features")
    pair.get_by_role("button", name="Close").click()
    expect(pair).to_be_hidden()
    assert page.evaluate("window.hacked") is None


def test_everything_answers_and_python_follows(served, told):
    page, board = served
    walk(page)
    told(page, board, phenotype=0, other=None)


def test_cards_are_picked_and_marked_by_keys_alone(served, opened, told):
    page, board = served
    page.locator(".lvm-pheno").first.focus()
    page.keyboard.press("ArrowRight")
    expect(card(page, 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(card(page, 1)).to_have_attribute("aria-current", "true")
    expect(card(page, 1)).to_be_focused()
    told(page, board, phenotype=1)
    name = card(page, 1).get_by_label("Name")
    for _ in range(4):
        if name.evaluate("(el) => el.getRootNode().activeElement === el"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type("Heart <b>")
    page.keyboard.press("Tab")
    page.keyboard.type("Look again.")
    page.keyboard.press("Tab")
    expect(card(page, 1).get_by_role("radio", name="Undecided")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(
        card(page, 1).get_by_role("radio", name="Meaningful", exact=False).first
    ).to_have_attribute("aria-checked", "true")
    expect(card(page, 1).locator("h4")).to_have_text("1Heart <b>")
    kept = opened[0].annotations_["phenotypes"]["1"]
    assert {key: kept[key] for key in ("name", "note", "mark")} == {
        "name": "Heart <b>",
        "note": "Look again.",
        "mark": "yes",
    }
    page.get_by_label("Show", exact=True).select_option("yes")
    expect(page.locator(".lvm-pheno")).to_have_count(1)
    page.get_by_label("Show", exact=True).select_option("all")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".lvm-status")).to_contain_text("Undone: Marked 1 as meaningful")
    page.get_by_role("button", name="Redo").click()
    page.locator(".lvm-phenotype_cards").get_by_role("searchbox", name="Find").fill("heart")
    expect(page.locator(".lvm-pheno")).to_have_count(1)
    expect(card(page, 1)).to_contain_text("Heart <b>")


def test_who_marks_is_kept(served, opened):
    page, _ = served
    page.get_by_label("Who marks").fill("Dr A")
    page.get_by_label("Who marks").press("Enter")
    card(page, 2).click(position={"x": 60, "y": 60})
    card(page, 2).get_by_role("radio", name="Not meaningful").click()
    expect(card(page, 2).locator(".lvm-talk .lvm-hint")).to_contain_text("Marked by Dr A")
    assert opened[0].annotations_["phenotypes"]["2"]["by"] == "Dr A"


def test_patients_are_listed_and_one_is_explained(served):
    page, board = served
    card(page, 1).click(position={"x": 60, "y": 60})
    tab(page, "Patients")
    expect(page.locator(".lvm-text:visible")).to_contain_text("score 1 or more on 1")
    page.get_by_label("Score", exact=True).select_option(label="3 or more")
    high = int((board.state.scores[:, 1] >= 3).sum())
    expect(page.locator(".lvm-text:visible")).to_contain_text(f"{high} patients")
    rows = page.locator(".lvm-table:visible tbody tr")
    expect(rows.first.locator("td").nth(1)).to_have_text("3")
    page.get_by_role("button", name="Next").click()
    number = int(board.state.rows_from(1, 3)[12]) + 1
    expect(rows.first.locator("td").first).to_have_text(f"{number:,}")
    rows.first.click()
    expect(page.get_by_role("tab", name="Score a patient")).to_have_attribute(
        "aria-selected", "true"
    )
    expect(page.locator(".lvm-text:visible")).to_contain_text(f"The patient in row {number}")
    cells = page.locator('[data-part="newcomer_cells"] tbody tr')
    expect(cells.first).to_contain_text("· 3 ·")
    seen, expected = (cells.first.locator("td").nth(i).inner_text() for i in (1, 2))
    assert seen == expected
    page.get_by_label("Id, or row").fill("secret-7")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".lvm-text:visible")).to_contain_text("The patient in row 8")


def test_a_patient_is_typed_and_scored(served):
    page, board = served
    tab(page, "Score a patient")
    page.get_by_label("Diagnosis").fill("D4")
    page.get_by_label("Drug").fill("R2")
    page.get_by_label("How often").fill("12")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Entries")).to_have_value("D4 + R2: 12")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".lvm-text:visible")).to_contain_text("has a score on 1 of 4 phenotypes")
    scores = page.locator('[data-part="newcomer_scores"] tbody tr')
    expect(scores.first).to_contain_text("1 · ")
    page.get_by_label("Entries").fill("D99 + R2")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".lvm-status")).to_contain_text("the model has no diagnosis “D99”")
    assert board.state.row is None


def test_patients_open_in_the_cluster_explorer(served):
    page, board = served
    tab(page, "Patients")
    page.get_by_role("button", name="Open in the cluster explorer").click()
    expect(page.locator(".lvm-size")).to_have_count(2)
    n = int((board.state.scores[:, 0] > 0).sum())
    expect(page.locator(".lvm-size").first).to_contain_text(f"{n}")
    assert board.components["status"].message.endswith("explorer below.")


def test_another_fit_is_made_beside_the_dashboard(served):
    page, _ = served
    tab(page, "Fit again")
    page.get_by_label("Number of phenotypes").fill("3")
    page.get_by_label("Largest score").fill("2")
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator(".lvm-status")).to_contain_text("Fitted 3 phenotypes", timeout=60_000)
    tab(page, "Cards")
    expect(page.locator(".lvm-pheno")).to_have_count(3)
    tab(page, "Fit again")
    page.get_by_label("Number of phenotypes").fill("199")
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator('.lvm-status[data-state="error"]')).to_contain_text("199", timeout=60_000)
    page.get_by_role("button", name="Undo").click()
    tab(page, "Cards")
    expect(page.locator(".lvm-pheno")).to_have_count(4)


def test_files_are_handed_over(served):
    page, _ = served
    tab(page, "Steps and files")
    wanted = {
        "Phenotypes (CSV)": "phenotypes.csv",
        "Features (CSV)": "features.csv",
        "This card (SVG)": "phenotype-0.svg",
        "This card (PNG)": "phenotype-0.png",
        "Model (npz)": "model.npz",
        "Page (HTML)": "cards.html",
    }
    for name, file in wanted.items():
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        assert waiting.value.suggested_filename == file
    assert b"secret" not in waiting.value.path().read_bytes()


PRINTED = "() => { window.print = () => (window.printed = document.querySelectorAll('.lvm-page').length); }"


def test_every_card_is_printed_on_a_page_of_its_own(served):
    page, _ = served
    page.evaluate(PRINTED)
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed") == 4
    page.emulate_media(media="print")
    sheet = page.locator(".lvm-page").first
    expect(sheet).to_be_visible()
    expect(sheet.locator(".lvm-featname")).to_have_count(10)
    expect(page.get_by_role("tab", name="Cards", exact=True)).to_be_hidden()
    page.emulate_media(media="null")
    expect(sheet).to_be_hidden()
    paper = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 4
    expect(page.locator(".lvm-page")).to_have_count(0)  # the browser says that it has printed


def test_the_saved_page_answers(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    expect(page.locator(".lvm-pheno")).to_have_count(4)
    assert page.get_by_role("tab").all_inner_texts() == ["Cards"]
    expect(card(page, 1).locator("h4")).to_have_text("1Sugar <b>")
    expect(card(page, 1)).to_contain_text("As expected.")
    expect(card(page, 1).locator(".lvm-verdict")).to_contain_text("Meaningful")
    walk(page)
    expect(page.locator("input[type=text], textarea")).to_have_count(0)
    page.evaluate(PRINTED)
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed") == 4


CLICKS = """async (root) => {
  const times = [];
  for (let i = 0; i < 15; i++) {
    const cards = [...root.querySelectorAll('.lvm-pheno:not(.lvm-on)')];
    const card = cards[(i * 7) % cards.length];
    const start = performance.now();
    card.click();
    const now = () => card.getAttribute("aria-current");
    while (now() !== "true") await new Promise((done) => setTimeout(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 250));
  }
  return times.sort((a, b) => a - b)[7];
}"""
TYPED = """async (root) => {
  const find = root.querySelector('.lvm-phenotype_cards input[type=search]');
  const start = performance.now();
  find.value = "D77";
  find.dispatchEvent(new Event("input"));
  while (!root.querySelector('.lvm-pheno mark')) await new Promise((done) => setTimeout(done));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start - 120; // the hand rests
}"""


def test_forty_phenotypes_of_many_patients_answer_at_once(servers, open_page, measured):
    random = np.random.default_rng(0)
    n, d, r = 246_000, 900, 40
    U = (random.random((n, r)) < 0.1) * random.integers(1, 6, (n, r))
    V = (random.random((d, r)) < 0.2) * random.integers(1, 6, (d, r))
    codes = [f"D{j}" for j in range(d)]
    X = sparse.random_array((n, d), density=0.01, random_state=random, format="csr")
    X.data[:] = 1
    model = lvmkit.SUSTain(r)
    model.factors_, model.weights_ = [U.astype(np.int32), V.astype(np.int32)], np.ones(r, int)
    model.mode_names_, model.mode_labels_ = ["patient", "diagnosis"], [None, np.array(codes)]
    model.annotations_, model.n_features_in_ = {}, d
    labels = (pd.DataFrame(index=np.arange(n).astype(str)), pd.DataFrame(index=codes))
    cohort = CountTensor(sparse.coo_array(X), ("patient", "diagnosis"), labels)
    address, _ = servers.start(lambda: ScoreCards(model, cohort))
    page = open_page()
    page.goto(address)
    expect(page.locator(".lvm-pheno")).to_have_count(40)
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("card picked, 40 phenotypes, 900 features, 246,000 patients", round(took, 1), "ms")
    took = page.locator(".lvm").first.evaluate(TYPED)
    measured("cards searched, 40 phenotypes, 900 features", round(took, 1), "ms")
    tab(page, "Patients")
    expect(page.locator(".lvm-table:visible tbody tr")).to_have_count(12)


def test_no_tab_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    card(page, 3).get_by_role("button", name="Compare with 0").click()
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


def test_it_works_in_a_notebook_in_the_dark(lab, open_page, measured):
    page = open_page(width=1400)
    show = "from lvmkit_widgets import ScoreCards\nboard = ScoreCards(model, cohort)\nboard"
    lab.write("cards.ipynb", COHORT, show, "board.state = board.state.rename(2, 'Third')")
    lab.open(page, "cards.ipynb", dark=True)
    expect(page.locator(".lvm-pheno")).to_have_count(4)
    expect(card(page, 2).locator("h4")).to_have_text("2Third")
    walk(page)
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("card picked, 4 phenotypes, JupyterLab", round(took, 1), "ms")
    ink = page.locator(".lvm-featname").first.evaluate("(el) => getComputedStyle(el).color")
    assert min(int(part) for part in re.findall(r"\d+", ink)[:3]) > 150
    page.evaluate(PRINTED)
    page.locator(".lvm-phenotype_cards").get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed") == 4
