"""Clusters of tensors by mouse and keyboard: served, in JupyterLab, and as a saved page."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from lvmkit_widgets import TensorExplorer

pytestmark = pytest.mark.browser
MADE = """
import numpy as np
from lvmkit import TensorNormalMixture
from lvmkit.models import select_tensor_components
random = np.random.default_rng(0)
y = np.arange(90) % 3
X = random.normal(size=(90, 4, 5, 2))
X[y == 1, 1, 1, 0] += 6
X[y == 2, 2, 3, 1] += 6
estimator = TensorNormalMixture(penalty=0.8, n_jobs=1)
found = select_tensor_components(X, [2, 3], estimator=estimator)
tissues = ["u", "v", "<img src=x onerror=window.hacked=1>", "w", "z"]
names = dict(mode_names=["gene", "tissue", "day"], labels=[list("abcd"), tissues, None])
groups = np.array(["healthy", "ill", "worse"])[y]
"""


@pytest.fixture(scope="module")
def known():
    """A function that makes the dashboard of clusters that differ in two entries, with several λ."""
    scope = {}
    exec(MADE, scope)
    from lvmkit.models import select_penalty

    path = select_penalty(scope["X"], 3, penalties=[9.0, 0.8, 0.3], estimator=scope["estimator"])
    scope["found"].paths[3] = path

    def board():
        model = path.models[1]
        return TensorExplorer(
            model, scope["X"], scope["groups"], path=scope["found"], **scope["names"]
        )

    return board


@pytest.fixture(scope="module")
def address(servers, known):
    """Where the dashboard is served, and the dashboards that were made."""
    return servers.start(known)


@pytest.fixture
def served(address, open_page):
    """A page of a served dashboard, and the dashboard."""
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-tensor_slices canvas")).to_be_visible()
    return page, address[1][-1]


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def entry(page, *names):
    """Return the row of an entry in the list."""
    rows = page.locator('[data-part="entries"] tbody tr')
    for name in names:
        rows = rows.filter(has=page.locator("td", has_text=re.compile(f"^{name}$")))
    return rows.first


PAINTED = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let most = 0, at = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > most) [most, at] = [data[i], (i - 3) / 4];
  return [Math.floor(at / canvas.width), at % canvas.width, canvas.height, canvas.width];
}"""


def walk(page):
    """Use everything a page without Python can do."""
    part = page.locator(".lvm-tensor_slices")
    canvas = part.locator("canvas")
    day = page.get_by_role("slider", name="day")
    expect(day).to_have_attribute("aria-valuetext", "0")
    numbers = part.locator(".lvm-tensorentry")
    expect(numbers).to_have_count(0)
    entry(page, "c", "w").click()
    # the slice with the entry comes into sight
    expect(day).to_have_attribute("aria-valuetext", "1")
    expect(numbers).to_contain_text("c · w · 1 (selected)")
    part.get_by_label("Show", exact=True).select_option(label="Discriminant (sparse)")
    cluster = part.get_by_label("of", exact=True)
    row, column, rows, columns = (0, 0, 0, 0)
    for k in (1, 2):
        cluster.select_option(label=f"Cluster {k}")
        card = page.get_by_role("option", name=re.compile(f"Cluster {k}"))
        expect(card.first).to_have_class(re.compile("lvm-on"))
        row, column, rows, columns = canvas.evaluate(PAINTED)
        if (row, column) == (2, 3):
            break
    assert (row, column, rows, columns) == (2, 3, 4, 5)
    expect(part.locator("svg path")).to_have_attribute("d", re.compile("M3,2H4"))
    part.get_by_label("Down").select_option(label="tissue")
    expect(part.get_by_label("Across")).to_have_value("0")
    assert canvas.evaluate(PAINTED)[:2] == [3, 2]
    expect(part.locator("svg path")).to_have_attribute("d", re.compile("M2,3H3"))
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(part.locator(".lvm-readout")).to_contain_text("b · <img src=x onerror")
    page.keyboard.press("Enter")
    expect(numbers).to_contain_text("b · <img src=x onerror=window.hacked=1> · 1")
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 2.5 / 4, box["y"] + box["height"] * 3.5 / 5)
    expect(numbers).to_contain_text("c · w · 1 (selected)")
    part.get_by_label("Outline selected entries").uncheck()
    expect(part.locator("svg path")).to_have_attribute("d", "")
    part.get_by_label("Outline selected entries").check()
    part.get_by_label("Full color").select_option(label="of each row")
    expect(part.locator(".lvm-scale")).to_contain_text("the largest of its row")
    day.focus()
    page.keyboard.press("ArrowLeft")
    expect(part.locator(".lvm-cursor")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


def test_everything_answers_and_python_follows(served, told):
    page, board = served
    walk(page)
    told(page, board, entry=27)
    model = page.get_by_role("slider", name="λ")
    model.focus()
    page.keyboard.press("End")
    expect(page.locator('[data-part="entries"]')).to_contain_text("No entry is selected")
    expect(page.locator(".lvm-which").first).to_contain_text("λ is too large")


def test_models_are_chosen_on_the_pictures_and_by_number(served):
    page, board = served
    tab(page, "Along λ")
    picture = page.locator('[data-part="sparsity"]')
    expect(picture.locator("svg").first).to_contain_text("λ = 0.8")
    mark = picture.locator("a").first
    mark.focus()
    page.keyboard.press("Enter")
    expect(picture.locator("svg").first).not_to_contain_text("λ = 0.8: ")
    page.get_by_label("Number of clusters").select_option(label="2")
    expect(page.locator(".lvm-size")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".lvm-size")).to_have_count(3)
    page.locator('[data-part="numbers"] a').first.click()
    expect(page.locator(".lvm-size")).to_have_count(2)
    assert board.state.solution.n_components == 2


def test_samples_are_told_and_small_counts_can_be_hidden(served):
    page, _ = served
    tab(page, "Samples")
    expect(page.locator('[data-part="groups"] tbody tr')).to_have_count(3)
    bar = page.locator('[data-part="each"] a').first
    bar.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-status")).to_contain_text(re.compile(r"Sample \d+ \(\w+\): cluster"))
    page.get_by_label("Hide counts below 11").check()
    expect(page.locator('[data-part="agreement"]')).to_be_visible()


def test_files_are_handed_over(served):
    page, _ = served
    tab(page, "Steps and files")
    wanted = {
        "Selected entries (CSV)": "entries.csv",
        "Models (CSV)": "models.csv",
        "Slice (SVG)": "slice.svg",
        "Sparsity path (SVG)": "sparsity-path.svg",
        "Cluster of each sample (CSV)": "labels.csv",
        "Page (HTML)": "tensors.html",
    }
    for name, file in wanted.items():
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        assert waiting.value.suggested_filename == file


def test_the_saved_page_answers(known, open_page, tmp_path):
    file = known().to_html(tmp_path / "page.html")
    page = open_page()
    page.goto(file.as_uri())
    names = page.get_by_role("tab").all_inner_texts()
    assert names == ["Means and entries", "Along λ", "Samples"]
    walk(page)
    slider = page.get_by_role("slider", name="λ")
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator('[data-part="entries"]')).to_contain_text("No entry is selected")
    expect(page.locator(".lvm-tensor_slices svg path")).to_have_attribute("d", "")
    tab(page, "Along λ")
    expect(page.locator('[data-part="sparsity"] svg')).to_contain_text("λ = 9: 0 entries")
    tab(page, "Samples")
    expect(page.locator('[data-part="certain"] svg')).to_be_visible()
    expect(page.locator('[data-part="border"], [data-part="each"]').first).to_be_hidden()


def test_nothing_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


PAINTS = """async (root) => {
  const select = [...root.querySelectorAll("select")].find((s) => s.options[0].text === "Cluster 0");
  const times = [];
  for (let i = 0; i < 11; i++) {
    const start = performance.now();
    select.value = String(i % 2);
    select.dispatchEvent(new Event("change"));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[5];
}"""


def test_a_slice_of_the_size_of_an_eeg_is_painted_at_once(servers, open_page, measured):
    from lvmkit import TensorNormalMixture

    random = np.random.default_rng(0)
    X = random.normal(size=(40, 64, 256))
    y = np.arange(40) % 2
    X[y == 1, 10:20, 60:90] += 1
    model = TensorNormalMixture(2, penalty=0.5, init=y, shrinkage=0.1).fit(X)
    address, _ = servers.start(lambda: TensorExplorer(model, X))
    page = open_page()
    page.goto(address)
    canvas = page.locator(".lvm-tensor_slices canvas")
    expect(canvas).to_be_visible()
    took = page.locator(".lvm").first.evaluate(PAINTS)
    measured("another cluster painted, 64 by 256 entries", round(took, 1), "ms")
    labels = page.locator(".lvm-tensorrows span").count()
    assert 10 < labels < 64


def test_it_works_in_a_notebook_in_the_dark(lab, open_page):
    page = open_page(width=1400)
    show = (
        "from lvmkit_widgets import TensorExplorer\n"
        "board = TensorExplorer(found.paths[3].models[0], X, groups, path=found, **names)\nboard"
    )
    lab.write("tensors.ipynb", MADE, show)
    lab.open(page, "tensors.ipynb", dark=True)
    expect(page.locator(".lvm-tensor_slices canvas")).to_be_visible()
    walk(page)
    line = page.locator(".lvm-tensor_slices svg path").evaluate(
        "(el) => getComputedStyle(el).stroke"
    )
    assert min(int(part) for part in re.findall(r"\d+", line)[:3]) > 150
