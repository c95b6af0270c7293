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


def test_the_workbench_opens_behind_jupyters_own_login(lab, open_page):
    page = open_page()
    refused = page.request.get(f"{lab.root}lvmkit/", max_redirects=0)
    assert refused.status in (302, 403)
    page.goto(f"{lab.root}lvmkit/?token={lab.token}", timeout=90_000)
    expect(page.locator(".lvm-size").first).to_be_visible(timeout=60_000)
    page.locator(".lvm-size").nth(1).click()
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1")
