"""The menu of the workbench: one click to every dashboard, links to them, back, forward and reload."""

import pytest
from playwright.sync_api import expect

from lvmkit.datasets import load_discharges
from lvmkit_widgets import Workbench

pytestmark = pytest.mark.browser

LABELS = {
    "Relevance": ".lvm-relevance tbody tr",
    "Tree": ".lvm-tree_outline [role=row], .lvm-tree_outline [role=treeitem]",
    "Score cards": ".lvm-phenotype_cards article, .lvm-phenotype_cards section",
    "Stability": ".lvm-table tbody tr",
    "What tells it apart": ".lvm-covariates",
}


@pytest.fixture(scope="module")
def address(servers):
    return servers.start(lambda: Workbench(load_discharges()[:1500], k=4))


def turn(page, label):
    menu = page.get_by_role("navigation", name="Dashboards")
    menu.get_by_role("button", name=label, exact=True).click()
    expect(page.locator(".lvm-menu [aria-current=page]")).to_have_text(label, timeout=60_000)


@pytest.fixture
def page(address, open_page):
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-size").first).to_be_visible(timeout=60_000)
    return page


def test_every_dashboard_is_a_click_away(page, assert_fits):
    for label, part in LABELS.items():
        turn(page, label)
        expect(page.locator(part).first).to_be_visible()
        for width in (1280, 800, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert_fits(page, width, f"{label} at {width}")
        page.set_viewport_size({"width": 1280, "height": 900})
    turn(page, "Clusters")
    expect(page.locator(".lvm-size").first).to_be_visible()


def test_a_dashboard_at_work_can_be_left(page):
    turn(page, "Stability")
    turn(page, "Tree")
    expect(page.locator(".lvm-tree_outline").first).to_be_visible()


def test_links_back_and_forward_lead_through_dashboards(page, address, open_page, told):
    page.locator(".lvm-size").nth(2).click()
    expect(page).to_have_url(f"{address[0]}#cluster=2")
    page.wait_for_timeout(1_100)  # what follows is a step of its own
    turn(page, "Tree")
    picked = page.url
    assert picked.startswith(f"{address[0]}#view=tree&node=")
    page.wait_for_timeout(1_100)
    page.locator(".lvm-tree_outline [aria-level='2']").first.click()
    expect(page).not_to_have_url(picked)
    there = page.url
    page.go_back()
    expect(page).to_have_url(picked)
    page.go_back()
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "2")
    expect(page).to_have_url(f"{address[0]}#cluster=2")
    page.go_forward()
    expect(page.locator(".lvm-menu [aria-current=page]")).to_have_text("Tree")
    expect(page).to_have_url(picked)

    other = open_page()
    other.goto(there)
    expect(other.locator(".lvm-menu [aria-current=page]")).to_have_text("Tree", timeout=60_000)
    expect(other).to_have_url(there)
    node = there.rpartition("node=")[2]
    told(other, address[1][-1].dashboards.board, node=int(node))
    shown = other.locator(".lvm-tree_outline [aria-selected=true]")
    expect(shown).to_have_attribute("data-id", node)


def test_a_dashboard_that_there_is_not_leaves_the_reader_where_he_is(address, open_page):
    page = open_page()
    page.goto(f"{address[0]}#view=nothing&cluster=1")
    expect(page.locator(".lvm-size.lvm-on")).to_have_attribute("data-id", "1", timeout=60_000)
    expect(page.locator(".lvm-menu [aria-current=page]")).to_have_text("Clusters")
