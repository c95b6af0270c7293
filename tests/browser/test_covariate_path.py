"""The path of covariate clusterings by mouse and keyboard: served, in JupyterLab, and as a saved page."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from lvmkit_widgets import CovariatePath

pytestmark = pytest.mark.browser
PATH = """
import numpy as np
from types import SimpleNamespace
NAMES = ["7/10", "8/10", "9/10", "1/10", "2/10", "plot", "<img src=x onerror=window.hacked=1>", "the"]
OWN = np.array([2.0, 1.5, 1.2, -2.0, -1.0, -0.1, 0.5, 0.05])
LABELS = [list(range(8)), [0, 0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 2, 3, 4], [0, 0, 0, 1, 1, 1, 0, 1], [0] * 8]
class Path(list):
    best, classes, class_counts = 2, np.array(["good", "bad"]), np.array([300, 200])
    feature_names, n_samples, ridge = None, 500, 0.1
    def with_n_clusters(self, k):
        return int(np.argmin(np.abs(self.n_clusters - k)))
path = Path()
for step, given in enumerate(LABELS):
    labels = np.array(given)
    means = np.bincount(labels, OWN) / np.bincount(labels) / 2
    path.append(SimpleNamespace(nu=2.0**step, labels=labels, n_clusters=labels.max() + 1, converged=True,
        cluster_coef=np.vstack([means, -means]), log_marginal_likelihood=-abs(step - 2.0), accuracy=0.9 - step / 20))
path.nus = 2.0 ** np.arange(5)
path.n_clusters = np.array([s.n_clusters for s in path])
path.log_marginal_likelihoods = np.array([s.log_marginal_likelihood for s in path])
path.accuracies = np.array([s.accuracy for s in path])
path.cross_validation = SimpleNamespace(mean=path.accuracies, std_error=np.full(5, 0.06), chosen=3)
"""


@pytest.fixture(scope="module")
def known():
    """A path with known weights, and names."""
    scope = {}
    exec(PATH, scope)
    return scope["path"], scope["NAMES"]


@pytest.fixture(scope="module")
def address(servers, known):
    """Where the dashboard is served, and the dashboards that were made."""
    return servers.start(lambda: CovariatePath(*known))


@pytest.fixture
def served(address, open_page):
    """A page of a served dashboard, and the dashboard."""
    page = open_page()
    page.goto(address[0])
    expect(rows(page)).to_have_count(5)
    return page, address[1][-1]


def rows(page):
    return page.locator(".lvm-covariates tbody tr")


def row(page, cluster):
    return page.locator(f'.lvm-covariates tbody tr[data-id="{cluster}"]')


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def walk(page):
    """Use everything a page without Python can do."""
    slider = page.get_by_role("slider", name="Clustering")
    expect(slider).to_have_attribute("aria-valuetext", "ν = 4 · 5 clusters")
    one = page.locator(".lvm-covariate_cluster")
    expect(row(page, 0)).to_have_attribute("aria-selected", "true")
    expect(row(page, 0)).to_contain_text("7/10, 8/10, 9/10")
    expect(one).to_contain_text(
        "multiplies the odds of good, against bad as the next class, by 4.79"
    )
    expect(one.locator("tbody tr")).to_have_count(3)
    row(page, 1).click()
    expect(one).to_contain_text("Cluster 1: 2 covariates")
    expect(one.locator(".lvm-weights b")).to_have_text(["−0.75", "0.75"])
    find = page.get_by_role("combobox", name="Find a covariate")
    find.fill("8/")
    page.keyboard.press("Enter")
    expect(row(page, 0)).to_have_attribute("aria-selected", "true")
    readout = page.locator(".lvm-covariates .lvm-readout")
    expect(readout).to_have_text("8/10 is in cluster 0, with 2 others; it speaks for good.")
    expect(one.locator("mark")).to_have_text("8/10")
    find.fill("no such thing")
    page.keyboard.press("Enter")
    expect(readout).to_have_text("No covariate is called “no such thing”.")
    page.get_by_role("button", name="Size", exact=True).click()
    expect(rows(page).first).to_have_attribute("data-id", "0")
    page.get_by_role("button", name="Cluster", exact=True).click()
    expect(rows(page).nth(3)).to_contain_text("<img src=x")
    rows(page).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(row(page, 1)).to_have_attribute("aria-selected", "true")
    expect(row(page, 1)).to_be_focused()
    tab(page, "How it came about")
    tree = page.locator('[data-part="tree"]')
    expect(tree.locator("svg")).to_contain_text("2/10")
    assert page.evaluate("window.hacked") is None


def test_everything_answers_and_python_follows(served, told):
    page, board = served
    walk(page)
    told(page, board, cluster=1, covariate=None, step=2)


def test_nu_is_moved_by_keys_buttons_and_on_the_curves(served, told):
    page, board = served
    slider = page.get_by_role("slider", name="Clustering")
    slider.focus()
    page.keyboard.press("End")
    expect(rows(page)).to_have_count(1)
    told(page, board, step=4)
    expect(page.locator('[data-part="curves"] svg')).to_contain_text("ν = 16: 1 cluster")
    page.get_by_role("button", name="Best by marginal likelihood").click()
    expect(rows(page)).to_have_count(5)
    page.get_by_role("button", name="By cross-validation").click()
    expect(rows(page)).to_have_count(2)
    expect(page.locator(".lvm-status")).to_contain_text("Chosen by cross-validation: ν = 8")
    page.get_by_label("Number of clusters").fill("7")
    page.get_by_role("button", name="Show nearest").click()
    expect(rows(page)).to_have_count(7)
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(2)
    mark = page.locator('[data-part="curves"] a').first
    mark.focus()
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(8)
    expect(page.locator(".lvm-step_slider output")).to_have_text("ν = 1 · 8 clusters")


def test_the_tree_leads_to_sets_and_covariates(served, told):
    page, board = served
    tab(page, "How it came about")
    page.get_by_label("Show", exact=True).select_option(label="All clusters")
    tree = page.locator('[data-part="tree"] svg')
    expect(tree).to_contain_text("How 8 covariates")
    tree.get_by_role("button", name=re.compile("^2 covariates from ν = 2 on")).first.click()
    told(page, board, step=1, cluster=0)
    expect(page.get_by_role("tab", name="Clusters", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    tab(page, "How it came about")
    page.get_by_label("Odds ratio of a covariate at least").fill("50")
    page.get_by_label("Odds ratio of a covariate at least").press("Enter")
    expect(page.locator('[data-part="tree"]')).to_contain_text("lower the limit")


def test_files_are_handed_over(served):
    page, _ = served
    tab(page, "Steps and files")
    wanted = {
        "Clusters (CSV)": "clusters.csv",
        "Covariates (CSV)": "covariates.csv",
        "Path (CSV)": "path.csv",
        "Tree (SVG)": "clusters-tree.svg",
        "Curves (SVG)": "along-nu.svg",
        "Page (HTML)": "covariates.html",
    }
    for name, file in wanted.items():
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        assert waiting.value.suggested_filename == file


def test_the_saved_page_answers(known, open_page, tmp_path):
    file = CovariatePath(*known).to_html(tmp_path / "page.html")
    page = open_page()
    page.goto(file.as_uri())
    assert page.get_by_role("tab").all_inner_texts() == ["Clusters", "How it came about"]
    walk(page)
    slider = page.get_by_role("slider", name="Clustering")
    slider.focus()
    page.keyboard.press("End")
    tree = page.locator('[data-part="tree"]')
    expect(tree.locator("svg")).to_contain_text("How 8 covariates come together up to ν = 16")
    expect(page.locator('[data-part="curves"] svg')).to_contain_text("ν = 16: 1 cluster")
    page.keyboard.press("ArrowLeft")
    tab(page, "Clusters")
    expect(rows(page)).to_have_count(2)
    row(page, 0).click()
    tab(page, "How it came about")
    expect(page.locator("input[type=number], select")).to_have_count(0)


def test_nothing_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


CLICKS = """async (root) => {
  const times = [];
  for (let i = 0; i < 15; i++) {
    const all = [...root.querySelectorAll('.lvm-covariates tbody tr:not([aria-selected=true])')];
    const line = all[(i * 7) % all.length];
    const id = line.dataset.id;
    const start = performance.now();
    line.click();
    const now = () => root.querySelector(`.lvm-covariates tr[data-id="${id}"]`)?.getAttribute("aria-selected");
    while (now() !== "true") await new Promise((done) => setTimeout(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 150));
  }
  return times.sort((a, b) => a - b)[7];
}"""


def test_a_thousand_covariates_answer_at_once(servers, open_page, known, measured):
    random = np.random.default_rng(0)
    path = type(known[0])(known[0])
    vars(path).update(vars(known[0]))
    for i, k in enumerate([1000, 900, 500, 100, 1]):
        labels = np.minimum(np.arange(1000), k - 1)
        coef = random.normal(size=(2, k))
        path[i] = type(path[i])(
            **{**vars(path[i]), "labels": labels, "n_clusters": k, "cluster_coef": coef}
        )
    path.n_clusters = np.array([solution.n_clusters for solution in path])
    address, _ = servers.start(lambda: CovariatePath(path))
    page = open_page()
    page.goto(address)
    expect(rows(page)).to_have_count(12)
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("cluster picked, 500 clusters of 1,000 covariates", round(took, 1), "ms")
    page.get_by_role("combobox", name="Find a covariate").fill("x777")
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-covariate_cluster mark")).to_have_text("x777")
    expect(page.locator('.lvm-covariates tr[aria-selected="true"]')).to_be_visible()


def test_it_works_in_a_notebook_in_the_dark(lab, open_page):
    page = open_page(width=1400)
    show = "from lvmkit_widgets import CovariatePath\nboard = CovariatePath(path, NAMES)\nboard"
    lab.write("covariates.ipynb", PATH, show)
    lab.open(page, "covariates.ipynb", dark=True)
    expect(rows(page)).to_have_count(5)
    walk(page)
    tab(page, "Clusters")
    ink = page.locator(".lvm-covariates td").first.evaluate("(el) => getComputedStyle(el).color")
    assert min(int(part) for part in re.findall(r"\d+", ink)[:3]) > 150
