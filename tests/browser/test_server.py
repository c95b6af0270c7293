"""The server and other sites: links open it, frames and embedding do not, and pages say when they have ended."""

import http.server
import re
import threading

import pytest
from playwright.sync_api import expect

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Text

pytestmark = pytest.mark.browser
TOKEN = "a-long-enough-secret"


def board():
    return Dashboard({"words": Text(text="Here it is.")}, "words", title="Board")


@pytest.fixture
def elsewhere():
    """Another site, under another name: what it shows is set by the test."""

    class Page(http.server.BaseHTTPRequestHandler):
        text = ""

        def do_GET(self):
            body = self.text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def show(text):
        Page.text = f"<!doctype html><title>Mail</title>{text}"
        return f"http://localhost:{server.server_port}/"

    yield show
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(chromium):
    """A page that may complain: browsers do so about what is refused."""
    context = chromium.new_context()
    page = context.new_page()
    yield page
    context.close()


def test_a_link_in_a_mail_opens_the_page_with_its_token_and_without(servers, elsewhere, page):
    address, made = servers.start(board, token=TOKEN)
    for query in (f"?token={TOKEN}", ""):
        page.goto(elsewhere(f'<a href="{address}{query}">the clusters</a>'))
        page.get_by_text("the clusters").click()
        expect(page.get_by_text("Here it is.")).to_be_visible()
        assert page.url == address
    assert len(made) == 2


def test_pages_opened_while_the_first_is_still_made_show_their_dashboard(servers, open_page):
    """The browser learns what a dashboard is made of with each page, not with the first alone."""
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        go.wait(30)
        # A name of its own, so that no page before this one has shown the like.
        return Dashboard({"waited": Text(text="Here it is.")}, "waited", title="Board")

    address, _ = servers.start(slow)
    pages = [open_page(), open_page()]
    for page in pages:
        page.goto(address)
    assert begun.wait(30)
    pages[0].reload()
    go.set()
    for page in pages:
        expect(page.get_by_text("Here it is.")).to_be_visible()


def test_a_page_beyond_the_limit_says_so_and_a_reload_loses_nothing(servers, open_page):
    address, made = servers.start(board, most_pages=1)
    first, second, third = open_page(), open_page(), open_page()
    for visit in range(3):
        first.goto(address) if not visit else first.reload()
        expect(first.get_by_text("Here it is.")).to_be_visible()
    for refused in (second, third):
        refused.goto(address)
        expect(refused.get_by_text("This server shows 1 pages already")).to_be_visible()
    assert len(made) == 3
    first.goto("about:blank")
    second.reload()
    expect(second.get_by_text("Here it is.")).to_be_visible()


def test_nothing_is_made_for_pages_that_were_reloaded_meanwhile(servers, open_page):
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        go.wait(30)
        return board()

    address, made = servers.start(slow)
    page = open_page()
    page.goto(address)
    assert begun.wait(30)
    for _ in range(4):
        page.reload()
        expect(page.get_by_role("status")).to_have_text(re.compile("Opening"))
        page.wait_for_timeout(500)
    go.set()
    expect(page.get_by_text("Here it is.")).to_be_visible()
    assert len(made) == 2


def test_a_dashboard_that_cannot_be_shown_is_told(servers, page):
    """Not only one that cannot be made."""
    address, _ = servers.start(lambda: object())
    page.goto(address)
    expect(page.get_by_text("The dashboard could not be opened")).to_be_visible()


def test_other_sites_can_neither_frame_nor_embed_it(servers, elsewhere, page):
    address, made = servers.start(board)
    page.goto(
        elsewhere(
            f'<iframe src="{address}"></iframe><img src="{address}"><object data="{address}"></object>'
            f'<script src="{address}autoload.js?bokeh-autoload-element=x"></script><p id="x"></p>'
            f'<script>fetch("{address}", {{mode: "no-cors"}}).then(() => {{}}, () => {{}})</script>'
            f'<link rel="prefetch" href="{address}">'
        )
    )
    page.wait_for_timeout(1500)
    assert all(frame.get_by_text("Here it is.").count() == 0 for frame in page.frames)
    assert made == []


def test_the_page_frames_itself(servers, page):
    address, _ = servers.start(board)
    page.goto(f"{address}favicon.ico")
    page.goto(address)
    expect(page.get_by_text("Here it is.")).to_be_visible()
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('iframe'), {src: '/'}))"
    )
    expect(page.frame_locator("iframe").get_by_text("Here it is.")).to_be_visible()


def test_a_page_says_what_is_opened_and_when_it_has_ended(servers, page):
    opened = threading.Event()

    def slow():
        opened.wait(30)
        return board()

    address, made = servers.start(slow, title="the ward", idle_minutes=0.05)
    page.goto(address)
    expect(page.get_by_role("status")).to_have_text("Opening the ward …")
    expect(page.get_by_role("heading")).to_have_text("the ward")
    assert made == []
    opened.set()
    expect(page.get_by_text("Here it is.")).to_be_visible()
    expect(page.get_by_text("because nothing was done for")).to_be_visible()
    expect(page.get_by_text("Here it is.")).to_be_hidden()


def test_a_page_says_that_its_connection_is_lost(servers, page):
    page.add_init_script(
        "const Socket = WebSocket; window.sockets = [];"
        "window.WebSocket = class extends Socket {"
        "  constructor(...args) { super(...args); sockets.push(this); } };"
    )
    page.goto(servers.start(board)[0])
    expect(page.get_by_text("Here it is.")).to_be_visible()
    page.evaluate("sockets.at(-1).close()")
    expect(page.get_by_role("alert")).to_contain_text("reload the page to begin again")


def test_two_visitors_are_never_in_one_session(servers, page, chromium):
    address, made = servers.start(board)
    context = chromium.new_context()
    for one in (page, context.new_page()):
        one.goto(f"{address}?bokeh-session-id=ours")
        expect(one.get_by_text("Here it is.")).to_be_visible()
    made[0].components["words"].text = "Only for the first."
    assert len(made) == 2
    expect(context.pages[0].get_by_text("Here it is.")).to_be_visible()
    context.close()
