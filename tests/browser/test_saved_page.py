"""A saved page answers by itself, is small, and may connect to nothing."""

import pytest
from playwright.sync_api import expect

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import ClusterList, Form, Picture, Text

pytestmark = pytest.mark.browser


class Small(Dashboard):
    """Two clusters, with an answer for each in the page."""

    def __init__(self):
        items = [{"id": j, "name": f"Cluster {j}", "n": "<11", "share": None} for j in (0, 1)]
        parts = {
            "sizes": ClusterList(items=items, selected=0),
            "words": Text(text="secret: 3 patients"),
            "controls": Form(title="Refit", controls=[{"name": "go", "kind": "button"}]),
            "picture": Picture(svg="", alt="none"),
        }
        layout = [{"row": ["sizes", "words"]}, {"section": "controls", "title": "Change"}]
        super().__init__(parts, layout, title="Small </script><b>")

    def static_fields(self):
        return {"words": {"text": "fewer than 11 patients"}}

    def static_cases(self):
        return [{"when": "sizes.selected", "cases": {"1": {"words.text": "the other"}}}]


@pytest.fixture
def saved(tmp_path):
    return Small().to_html(tmp_path / "small.html")


def test_a_selection_shows_the_case_that_was_saved_for_it(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    expect(page.locator(".lvm-text")).to_have_text("fewer than 11 patients")
    page.locator(".lvm-size").nth(1).click()
    expect(page.locator(".lvm-text")).to_have_text("the other")


def test_what_needs_python_and_what_is_hidden_is_not_there(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    expect(page.locator(".lvm-size").first).to_be_visible()
    assert page.get_by_text("Change").is_hidden()
    assert "secret" not in saved.read_text("utf-8")
    expect(page.locator("h2")).to_have_text("Small </script><b>")


def test_the_page_forbids_every_connection(saved, chromium):
    page = chromium.new_page()
    page.goto(saved.as_uri())
    tries = """async () => {
      const tried = await fetch("http://127.0.0.1:9/").then(() => "open", () => "closed");
      const image = await new Promise((done) => {
        const made = new Image();
        made.onload = () => done("open");
        made.onerror = () => done("closed");
        made.src = "http://127.0.0.1:9/x.png";
      });
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      return [tried, image, window.ran === undefined];
    }"""
    assert page.evaluate(tries) == ["closed", "closed", True]
    page.close()


def test_the_page_is_dark_where_the_reader_likes_it_dark(saved, open_page):
    page = open_page(dark=True)
    page.goto(saved.as_uri())
    page.wait_for_selector(".lvm[data-dark]")
    ink = page.locator(".lvm").evaluate("(el) => getComputedStyle(el).color")
    assert all(int(part) > 180 for part in ink[4:-1].split(","))


def test_all_tabs_are_printed(demo, tmp_path, open_page):
    page = open_page()
    page.goto(demo.board(n=500).to_html(tmp_path / "demo.html").as_uri())
    page.emulate_media(media="print")
    expect(page.locator(".lvm-relevance")).to_be_visible()
    expect(page.locator(".lvm-table")).to_be_visible()
    assert page.get_by_role("tablist").is_hidden()
