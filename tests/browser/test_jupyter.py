"""In JupyterLab: small notebooks, both themes, and plain Python beside the mouse."""

import json

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CELLS = (
    "from demo_board import board\nb = board()\nb",
    "b.components['sizes'].selected = 3\nb.components['controls'].fire('pressed', 'fit')\n"
    "print(b.components['status'].message)",
)
STILL = (
    "import lvmkit, lvmkit_widgets\ncohort = lvmkit.datasets.load_discharges()[:1000]\n"
    "model = lvmkit.BernoulliMixture(3).fit(cohort)\nlvmkit_widgets.ClusterExplorer(model, cohort)"
)
BENCH = (
    "import lvmkit, lvmkit_widgets\n"
    "lvmkit_widgets.Workbench(lvmkit.datasets.load_discharges()[:1000], k=3)"
)


@pytest.fixture(scope="module")
def page(lab, open_shared_page):
    page = open_shared_page()
    lab.write("themes.ipynb", *CELLS)
    lab.open(page, "themes.ipynb", dark=True)
    page.wait_for_selector(".lvm-relevance tbody tr")
    return page


def test_work_asked_for_in_a_cell_is_done_when_the_cell_is(page):
    expect(page.locator(".jp-OutputArea-output pre")).to_have_text("Fitted 16 clusters.\n")
    expect(page.locator(".lvm-size.lvm-on")).to_contain_text("Cluster 4")
    expect(page.locator(".lvm-status")).to_contain_text("Fitted 16 clusters.")


def test_the_dark_theme_is_followed_live(page):
    ink = "(el) => getComputedStyle(el).color"
    page.wait_for_selector(".lvm[data-dark]")
    dark = page.locator(".lvm").evaluate(ink)
    light = "{theme: 'JupyterLab Light'}"
    page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {light})")
    page.wait_for_selector(".lvm:not([data-dark])")
    assert page.locator(".lvm").evaluate(ink) != dark


def test_the_saved_notebook_is_small_and_holds_no_data(page, lab, measured, demo):
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    path = lab.folder / "notebooks" / "themes.ipynb"
    for _ in range(100):
        book = json.loads(path.read_text("utf-8"))
        if book["cells"][0]["outputs"]:
            break
        page.wait_for_timeout(50)
    measured("saved notebook with a dashboard", path.stat().st_size, "bytes")
    assert path.stat().st_size < 100_000
    assert "application/vnd.jupyter.widget-view+json" in book["cells"][0]["outputs"][0]["data"]
    assert demo.HOSTILE not in path.read_text("utf-8")


def test_a_still_picture_stands_where_the_kernel_has_ended(lab, open_page):
    lab.write("still.ipynb", STILL)
    page = open_page()
    lab.open(page, "still.ipynb")
    expect(page.locator(".lvm-size").first).to_be_visible(timeout=60_000)
    still = page.locator(".lvmkit-still img")
    expect(still).to_have_count(1)
    expect(still).to_be_hidden()
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    path = lab.folder / "notebooks" / "still.ipynb"
    page.wait_for_timeout(1_000)
    outputs = json.loads(path.read_text("utf-8"))["cells"][0]["outputs"]
    assert [sorted(one["data"]) for one in outputs if "data" in one] == [
        ["application/vnd.jupyter.widget-view+json", "text/plain"],
        ["text/html", "text/plain"],
    ]
    assert path.stat().st_size < 400_000

    other = page.context.new_page()  # JupyterLab itself says on the console that the model is gone
    kernels = other.request.get(f"{lab.root}api/kernels?token={lab.token}").json()
    for kernel in kernels:
        other.request.delete(f"{lab.root}api/kernels/{kernel['id']}?token={lab.token}")
    other.goto(f"{lab.root}lab/workspaces/still/tree/still.ipynb?token={lab.token}")
    picture = other.locator(".lvmkit-still img")
    expect(picture).to_be_visible(timeout=60_000)
    assert picture.evaluate("(img) => img.naturalWidth") > 300
    expect(other.locator(".lvmkit-still tbody tr")).to_have_count(3)


def test_the_workbench_in_a_cell_turns_to_another_dashboard(lab, open_page):
    lab.write("bench.ipynb", BENCH)
    page = open_page()
    lab.open(page, "bench.ipynb")
    expect(page.locator(".lvm-size").first).to_be_visible(timeout=60_000)
    page.get_by_role("navigation", name="Dashboards").get_by_role("button", name="Tree").click()
    expect(page.locator(".lvm-tree_outline").first).to_be_visible(timeout=30_000)
    expect(page.locator(".lvm-menu [aria-current=page]")).to_have_text("Tree")
    page.get_by_role("button", name="Clusters", exact=True).click()
    expect(page.locator(".lvm-size").first).to_be_visible()


def test_the_workbench_opens_behind_jupyters_own_login(lab, open_page):
    page = open_page()
    refused = page.request.get(f"{lab.root}lvmkit/", max_redirects=0)
    assert refused.status in (302, 403)
    page.goto(f"{lab.root}lvmkit/?token={lab.token}", timeout=90_000)
    expect(page.locator(".lvm-size").first).to_be_visible(timeout=60_000)
    page.locator(".lvm-size").nth(1).click()
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1")
