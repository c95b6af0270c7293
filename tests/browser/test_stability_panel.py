"""Stability by mouse and keyboard: served, in JupyterLab, and as a saved page."""

import re
import time

import pytest
from playwright.sync_api import expect

import lvmkit
from lvmkit.cohorts import from_counts
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit_widgets import StabilityPanel

pytestmark = pytest.mark.browser
COHORT = """
import warnings
warnings.simplefilter("ignore")
import lvmkit
from lvmkit.cohorts import from_counts
from lvmkit.datasets import make_bernoulli_mixture
X = make_bernoulli_mixture(1500, 24, 4, codes_per_row=6, random_state=1).X
cohort = from_counts(X, feature_names=[f"C{i}" for i in range(24)])
model = lvmkit.BernoulliMixture(n_components=4).fit(cohort)
model.annotations_ = {"topic_names": {"0": "<img src=x onerror=window.hacked=1>"}}
from sklearn.cluster import BisectingKMeans
methods = {"bisecting": BisectingKMeans()}
"""


@pytest.fixture(scope="module")
def opened():
    """Model, cohort and a method to compare with."""
    scope = {}
    exec(COHORT, scope)
    return scope["model"], scope["cohort"], scope["methods"]


@pytest.fixture(scope="module")
def address(servers, opened):
    """Where the dashboard is served, and the dashboards that were made."""
    model, cohort, methods = opened
    return servers.start(
        lambda: StabilityPanel(model, cohort, methods=methods, values=[2, 4, 6], n_repeats=2)
    )


@pytest.fixture
def served(address, open_page):
    """A page of a served dashboard, and the dashboard."""
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-picture svg").first).to_be_visible()
    return page, address[1][-1]


@pytest.fixture(scope="module")
def saved(opened, tmp_path_factory):
    """A saved page of everything."""
    model, cohort, methods = opened
    panel = StabilityPanel(model, cohort, methods=methods, values=[2, 4], n_repeats=2)
    return panel.to_html(tmp_path_factory.mktemp("page") / "stability.html")


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def verdict(page):
    return page.locator(".lvm-text").first


def finished(page):
    expect(page.locator(".lvm-status")).to_contain_text("Measured", timeout=60_000)


def walk(page):
    """Use what a page without Python can do."""
    row = page.locator(".lvm-table tr.lvm-pickable", has_text="bisecting").first
    row.focus()
    page.keyboard.press("Enter")
    expect(verdict(page)).to_contain_text("bisecting, 2 clusters.")
    tab(page, "Clusters")
    rows = page.locator(".lvm-table tbody tr:visible")
    expect(rows).to_have_count(2)
    expect(page.locator(".lvm-picture svg:visible").first).to_contain_text(
        "Which clusters reappear?"
    )
    tab(page, "Consensus")
    picture = page.locator(".lvm-picture svg:visible").first
    expect(picture).to_contain_text("How often two members")
    tab(page, "Comparison")
    page.locator(".lvm-table tr.lvm-pickable", has_text="BernoulliMixture").nth(1).click()
    expect(verdict(page)).to_contain_text("BernoulliMixture, 4 clusters.")
    tab(page, "Clusters")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("0 · <img src=x")
    tab(page, "Comparison")
    assert page.evaluate("window.hacked") is None


def test_it_begins_by_itself_and_every_repeat_is_shown(served):
    page, panel = served
    expect(verdict(page)).to_contain_text("BernoulliMixture, 4 clusters.")
    expect(verdict(page)).to_contain_text("Adjusted Rand index of two fits")
    finished(page)
    expect(verdict(page)).to_contain_text("Recommended number of clusters for BernoulliMixture")
    assert len(panel.state.table()) == 2 * 3 * 2
    assert panel.state.todo() == []
    walk(page)
    assert panel.state.picked == ("BernoulliMixture", 4)


def test_cancel_keeps_what_was_measured_and_measure_goes_on(served):
    page, panel = served
    finished(page)
    page.get_by_label("Repeats of each").fill("60")
    page.get_by_label("Repeats of each").press("Enter")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator(".lvm-status")).to_contain_text("repeats")
    page.locator(".lvm-table tr.lvm-pickable", has_text="bisecting").first.click()  # meanwhile
    expect(verdict(page)).to_contain_text("bisecting, 2 clusters.")
    page.get_by_role("button", name="Cancel").click()
    status = page.locator(".lvm-status")
    expect(status).to_contain_text("repeats are measured and kept", timeout=30_000)
    known = len(panel.state.table())
    assert 12 <= known < 360
    page.get_by_label("Repeats of each").fill("2")
    page.get_by_label("Repeats of each").press("Enter")
    page.get_by_role("textbox", name="Numbers of clusters").fill("2-3")
    page.get_by_role("textbox", name="Numbers of clusters").press("Enter")
    page.get_by_role("button", name="Measure").click()
    finished(page)
    expect(page.locator(".lvm-table tr.lvm-pickable")).to_have_count(4)


def test_wrong_numbers_are_told_in_a_sentence(served):
    page, panel = served
    finished(page)
    page.get_by_role("textbox", name="Numbers of clusters").fill("two")
    page.get_by_role("textbox", name="Numbers of clusters").press("Enter")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator(".lvm-status")).to_contain_text("Write numbers and ranges")
    page.get_by_role("textbox", name="Numbers of clusters").fill("2, 2000")
    page.get_by_role("textbox", name="Numbers of clusters").press("Enter")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator(".lvm-status")).to_contain_text("Measured, except", timeout=60_000)
    assert not panel.busy


def test_files_are_handed_over(served):
    page, _ = served
    finished(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save PNG").locator("visible=true").first.click()
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG")
    tab(page, "Take away")
    for name, file in (
        ("Every repeat", "stability-repeats.csv"),
        ("Consensus", "stability-consensus.png"),
        ("Page", "stability.html"),
        ("Model", "model.npz"),
    ):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=re.compile(f"^{name}")).click()
        assert waiting.value.suggested_filename == file


def test_the_saved_page_answers(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    assert page.get_by_role("tab").all_inner_texts() == [
        "Comparison",
        "Clusters",
        "Consensus",
    ]
    expect(page.get_by_role("button", name="Measure")).to_have_count(0)
    walk(page)


def test_no_tab_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    finished(page)
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


def test_a_hundred_thousand_rows_show_something_soon(servers, open_page, measured):
    X = make_bernoulli_mixture(100_000, 200, 8, codes_per_row=8, random_state=0).X
    cohort = from_counts(X, feature_names=[f"C{i}" for i in range(200)])
    model = lvmkit.BernoulliMixture(n_components=8).fit(cohort)
    address, made = servers.start(lambda: StabilityPanel(model, cohort))
    page = open_page()
    page.goto(address)
    page.locator(".lvm-status").wait_for()
    start = time.perf_counter()
    expect(verdict(page)).to_contain_text("Adjusted Rand index")
    measured("first result of 100,000 rows", round(time.perf_counter() - start, 2), "s")
    expect(verdict(page)).to_contain_text("sample of 4,000 of the 100,000 patients")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".lvm-status")).to_contain_text("measured and kept")
    assert made[-1].state.study.n_repeats == 1


def test_it_works_in_a_notebook_in_the_dark(lab, open_page):
    page = open_page(width=1400)
    show = (
        "from lvmkit_widgets import StabilityPanel\n"
        "panel = StabilityPanel(model, cohort, methods=methods, values=[2, 4], n_repeats=2)\npanel"
    )
    lab.write("stability.ipynb", COHORT, show)
    lab.open(page, "stability.ipynb", dark=True)
    finished(page)
    walk(page)
    ink = page.locator(".lvm-text p").first.evaluate("(el) => getComputedStyle(el).color")
    assert min(int(part) for part in re.findall(r"\d+", ink)[:3]) > 150
