"""The address of a page: links bring back what was looked at, back and forward work, notebooks are left alone."""

import re

import pytest
from playwright.sync_api import expect

from lvmkit.datasets import load_discharges, make_covariate_clusters
from lvmkit.models import BernoulliMixture, SpectralTree, covariate_path
from lvmkit_widgets import ClusterExplorer, CovariatePath, StabilityPanel, TreeNavigator

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", name="boards")
def some_dashboards():
    cohort = load_discharges()[:800]
    data = make_covariate_clusters(120, 20, similarity_agrees=True)
    return {
        "clusters": ClusterExplorer(BernoulliMixture(4).fit(cohort), cohort, name="Ward"),
        "covariates": CovariatePath(covariate_path(data.X, data.y, nus=[0.01, 0.1, 1.0])),
        "tree": TreeNavigator(SpectralTree(max_depth=2, min_samples_leaf=20).fit(cohort), cohort),
    }


@pytest.fixture
def panel():
    """Return what makes a panel of three methods that are not measured yet."""
    cohort = load_discharges()[:300]
    model = BernoulliMixture(3).fit(cohort)
    return lambda: StabilityPanel(model, cohort, values=[2, 3], n_repeats=1)


def picked(page):
    return page.locator('.lvm-size[aria-selected="true"]')


def look_around(page):
    """Pick the third cluster, then another tab, then a balance."""
    page.locator(".lvm-size").nth(2).click()
    expect(page).to_have_url(re.compile("#cluster=2$"))
    page.wait_for_timeout(1_100)  # what follows sooner belongs to the same step
    page.get_by_role("tab", name="What marks it", exact=True).click()
    expect(page).to_have_url(re.compile("#tab=1&cluster=2$"))
    page.wait_for_timeout(1_100)
    slider = page.locator('.lvm-relevance input[type="range"]')
    slider.fill("0.2")
    expect(page).to_have_url(re.compile("#tab=1&cluster=2&lambda=0.2$"))


def assert_looked_at(page):
    expect(picked(page)).to_have_attribute("data-id", "2")
    tab = page.get_by_role("tab", name="What marks it", exact=True)
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.locator('.lvm-relevance input[type="range"]')).to_have_value("0.2")


def go_back_and_forward(page):
    page.go_back()
    expect(page.locator('.lvm-relevance input[type="range"]')).to_have_value("0.6")
    page.go_back()
    overview = page.get_by_role("tab", name="Overview", exact=True)
    expect(overview).to_have_attribute("aria-selected", "true")
    expect(picked(page)).to_have_attribute("data-id", "2")
    page.go_back()
    expect(picked(page)).to_have_attribute("data-id", "0")
    for _ in range(3):
        page.go_forward()
    assert_looked_at(page)


def test_a_served_page_goes_back_and_a_link_shows_the_same(servers, open_page, boards, told):
    model, cohort = boards["clusters"].state.model, boards["clusters"].state.patients.cohort
    address, made = servers.start(lambda: ClusterExplorer(model, cohort, name="Ward"))
    page = open_page()
    page.goto(address)
    expect(page.locator(".lvm-size")).to_have_count(4)
    look_around(page)
    told(page, made[-1], cluster=2)
    go_back_and_forward(page)
    page.reload()
    assert_looked_at(page)
    colleague = open_page()
    colleague.goto(page.url)
    assert_looked_at(colleague)
    told(colleague, made[-1], cluster=2)
    # What is not there is not looked at, and nothing breaks.
    page.goto(f"{address}#cluster=99&lambda=7&tab=x&other=1")
    expect(page.locator(".lvm-size")).to_have_count(4)


def test_a_saved_page_does_the_same(open_page, boards, tmp_path):
    path = boards["clusters"].to_html(tmp_path / "ward.html")
    page = open_page()
    page.goto(path.as_uri())
    look_around(page)
    go_back_and_forward(page)
    other = open_page()
    other.goto(page.url)
    assert_looked_at(other)
    wrong = open_page()
    wrong.goto(f"{path.as_uri()}#cluster=99&lambda=7&tab=x")
    expect(picked(wrong)).to_have_attribute("data-id", "0")


@pytest.mark.parametrize(
    ("name", "fragment", "shown"),
    [("covariates", "step=2", "ν = 1"), ("tree", "node=1", "1: 25 of 232 codes")],
)
def test_other_dashboards_have_addresses(name, fragment, shown, open_page, boards, tmp_path):
    path = boards[name].to_html(tmp_path / "page.html")
    page = open_page()
    page.goto(f"{path.as_uri()}#{fragment}")
    expect(page.get_by_text(shown).first).to_be_visible()


def test_the_pick_of_the_stability_panel_is_in_the_address(servers, open_page, panel, told):
    address, made = servers.start(panel)
    page = open_page()
    page.goto(address)
    row = page.locator(".lvm-table tbody tr", has_text="k-means").first
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("#pick=k-means"))
    colleague = open_page()
    colleague.goto(page.url)
    shown = colleague.locator(".lvm-table tbody tr[aria-selected=true]")
    expect(shown).to_contain_text("k-means")
    told(colleague, made[-1], method="k-means", value=2)
    wrong = open_page()
    wrong.goto(f"{address}#pick=none+%C2%B7+3")
    expect(wrong.locator(".lvm-table tbody tr[aria-selected=true]")).to_contain_text("Bernoulli")


def test_notebooks_keep_their_addresses(boards):
    assert boards["clusters"].stage.addressed == []


def test_addresses_hold_nothing_of_single_people(boards):
    for board in boards.values():
        for _, part, field, _ in board.addresses:
            assert part not in {"patients", "rows", "documents", "border"}
            assert field != "row"
