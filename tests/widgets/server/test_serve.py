"""Who may reach a served dashboard."""

import asyncio
import gc
import logging
import re
import socket
import threading
import urllib.error
import urllib.request

import pytest
from bokeh.util.token import generate_jwt_token, get_session_id, get_token_payload
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from lvmkit_widgets.server.auth import TOKEN_HEADER, AccessRules
from lvmkit_widgets.server.serve import (
    TOKEN_VARIABLE,
    _names,
    address_of,
    is_local,
    main,
    proxy,
    serve,
)
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Text

TOKEN = "a-long-enough-secret"


def board():
    return Dashboard({"words": Text(text="hello")}, "words")


@pytest.fixture
def start():
    """Serve from a thread; returns the address."""
    running = []

    def run(factory=board, **options):
        ready, box = threading.Event(), []

        def work():
            asyncio.set_event_loop(asyncio.new_event_loop())
            server = serve(factory, port=0, show=False, start=False, **options)
            box.append(server)
            server.start()
            server.io_loop.add_callback(ready.set)
            server.io_loop.start()
            server.stop()
            server.io_loop.close(all_fds=True)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert ready.wait(30)
        running.append((thread, box[0]))
        run.server = box[0]
        return f"http://127.0.0.1:{box[0].port}/"

    yield run
    for thread, server in running:
        server.io_loop.add_callback(server.io_loop.stop)
        thread.join(10)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Shows redirects instead of following them."""

    def redirect_request(self, *_):
        return None


def ask(url, method="GET", **headers):
    """Return status, text and headers of an answer."""
    opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers=headers, method=method)
    try:
        with opener.open(request, timeout=20) as answer:
            return answer.status, answer.read().decode("utf-8", "replace"), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def test_other_machines_need_a_token():
    with pytest.raises(
        ValueError, match=r"address '0\.0\.0\.0' lets other machines connect.*token"
    ):
        serve(board, address="0.0.0.0", show=False)


def test_a_token_that_can_be_guessed_is_refused():
    with pytest.raises(ValueError, match="the token has 5 characters; use at least 12"):
        AccessRules(token="short", hosts=None)
    assert AccessRules(token="just-so-long", hosts=None).token == "just-so-long"


def test_addresses_of_this_machine_are_known():
    assert all(is_local(name) for name in ("localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"))
    assert not any(is_local(name) for name in ("0.0.0.0", "::", "192.168.1.2", "example.org"))


def test_a_page_is_served_to_this_machine_under_its_own_name_only(start):
    address = start()
    assert ask(address)[0] == 200
    status, text, _ = ask(address, Host="evil.example:80")
    assert status == 403
    assert "does not answer to the name" in text


def test_a_page_says_what_it_opens_above_its_scripts(start):
    """Before, nothing was seen until a megabyte of scripts had been read."""
    _, page, _ = ask(start(title="the <ward>"))
    body = page.partition("<body>")[2]
    shown = body.index("<h2>the &lt;ward&gt;</h2>")
    assert shown < body.index("Opening the &lt;ward&gt; …") < body.index("<script")
    assert "bokeh.min.js" not in page.partition("<body>")[0]


def test_names_and_addresses_of_this_machine():
    assert address_of("127.0.0.1", 5006) == "http://127.0.0.1:5006/"
    assert address_of("::1", 80) == address_of("[::1]", 80) == "http://[::1]:80/"
    assert address_of("0.0.0.0", 1) == address_of("::", 1) == f"http://{socket.gethostname()}:1/"
    assert {"127.0.0.2:80", "127.0.0.2", "localhost", "[::1]:80"} <= _names("127.0.0.2", 80)
    assert "[::1]:5006" in _names("[::1]", 5006)
    assert "localhost" not in _names("localhost", 5006)


def test_an_address_of_this_machine_answers_under_its_name(start):
    address = start(address="127.0.0.2").replace("127.0.0.1", "127.0.0.2")
    assert ask(address)[0] == 200


@pytest.mark.parametrize("other", ['consent={"ads":false}', "flag", "x=a b", "a[b]=1", "k(=1"])
def test_cookies_of_other_programs_do_not_matter(start, other):
    address = start(token=TOKEN)
    _, _, headers = ask(f"{address}?token={TOKEN}")
    own = headers["Set-Cookie"].partition(";")[0]
    assert ask(address, Cookie=f"{other}; {own}; {other}")[0] == 200
    assert ask(address, Cookie=other)[0] == 403


def test_an_origin_that_is_no_address_is_refused(start, caplog):
    status, text, _ = ask(start(), Upgrade="websocket", Origin="http://[x")
    assert status == 403
    assert "only for its own pages" in text
    assert "Traceback" not in caplog.text


def test_sockets_open_only_for_pages_of_the_server(start):
    address = start()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    status, text, _ = ask(f"{address}ws", Origin="http://evil.example", **upgrade, **key)
    assert status == 403
    assert "only for its own pages" in text


def test_nothing_alarms_whoever_starts_a_server(start, caplog):
    start()
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_every_request_needs_the_token_until_a_cookie_stands_for_it(start):
    address = start(token=TOKEN)
    assert ask(address)[0] == 403
    assert ask(f"{address}static/js/bokeh.min.js")[0] == 403
    assert ask(f"{address}?token=wrong-wrong-wrong")[0] == 403
    status, _, headers = ask(f"{address}?token={TOKEN}")
    assert (status, headers["Location"]) == (302, "/")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie  # a link on another site must open the page
    assert TOKEN not in cookie
    assert ask(address, Cookie=cookie.split(";")[0])[0] == 200
    assert ask(address, **{TOKEN_HEADER: TOKEN})[0] == 200


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # tornado's socket
def test_a_port_in_use_is_told(start):
    port = int(start().rsplit(":", 1)[1].strip("/"))

    async def again():
        serve(board, port=port, show=False, start=False)

    with pytest.raises(ValueError, match=f"port {port} is in use; choose another"):
        asyncio.run(again())
    gc.collect()


def test_jupyter_starts_the_workbench_with_a_secret_of_its_own():
    first, second = proxy(), proxy()
    token = first["environment"][TOKEN_VARIABLE]
    assert first["request_headers_override"] == {TOKEN_HEADER: token}
    assert token != second["environment"][TOKEN_VARIABLE]
    assert not any(token in word for word in first["command"])
    assert "{port}" in first["command"]


def test_the_program_behind_jupyter_refuses_to_start_open(monkeypatch, capsys):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as stopped:
        main(["--port", "0"])
    assert stopped.value.code == 2
    assert "set LVMKIT_TOKEN" in capsys.readouterr().err


CLICK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
NO_VISITS = [
    ("a frame", {**CLICK, "Sec-Fetch-Dest": "iframe"}, 403),
    ("an image", {**CLICK, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
    ("a script", {**CLICK, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403),
    ("fetch()", {**CLICK, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 403),
    ("a sibling host", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
    ("prefetch", {"Sec-Purpose": "prefetch"}, 503),
    ("prerender", {"Sec-Purpose": "prefetch;prerender"}, 503),
    ("old prefetch", {"Purpose": "prefetch"}, 503),
]


def token_of(page):
    """Return the token of the session in a page."""
    return re.search(r'"token":"([^"]+)"', page).group(1)


def test_no_dashboard_is_made_before_a_socket_is_there(start):
    made = []
    address = start(lambda: made.append(1) or board())
    for name, headers, status in NO_VISITS:
        assert ask(address, **headers)[0] == status, name
        assert start.server.get_sessions("/") == [], name
    assert ask(address, "POST", **CLICK)[0] == 403
    assert ask(address, "HEAD")[:2] == (200, "")
    assert ask(f"{address}robots.txt")[1] == "User-agent: *\nDisallow: /\n"
    assert ask(f"{address}favicon.ico")[0] == 200
    assert ask(f"{address}metadata")[0] == 200
    assert start.server.get_sessions("/") == []
    assert ask(address)[0] == 200
    assert ask(address, **CLICK)[0] == 200
    assert made == []


def test_other_sites_can_neither_frame_nor_embed_nor_read(start):
    address = start()
    script = f"{address}autoload.js?bokeh-autoload-element=x"
    assert ask(script, Origin="http://evil.example")[0] == 403
    assert ask(script, "OPTIONS", Origin="http://evil.example")[0] == 403
    for path in ("", "static/js/bokeh.min.js", "autoload.js", "nowhere", "favicon.ico", "metadata"):
        _, _, headers = ask(address + path, Origin="http://evil.example")
        assert headers["Content-Security-Policy"] == "frame-ancestors 'self'", path
        assert headers["X-Frame-Options"] == "SAMEORIGIN", path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        assert not [name for name in headers if name.startswith("Access-Control")], path


def test_the_server_alone_names_sessions(start):
    address = start()
    mine = token_of(ask(address)[1])
    others = [
        ask(f"{address}?bokeh-session-id=x")[1],
        ask(f"{address}?bokeh-session-id={get_session_id(mine)}")[1],
        ask(address, **{"Bokeh-Session-Id": "x"})[1],
        ask(address, **{"Bokeh-Session-Id": get_session_id(mine)})[1],
        ask(f"{address}?bokeh-token={mine}")[1],
        ask(f"{address}?bokeh%2Dtoken={mine}&bokeh-session-id=x")[1],
    ]
    ids = [get_session_id(mine), *(get_session_id(token_of(page)) for page in others)]
    assert len(set(ids)) == len(ids) == len(start.server.get_sessions("/"))
    assert "x" not in ids


@pytest.mark.parametrize(
    "forged", [generate_jwt_token("x"), "x", "e30"], ids=["unsigned", "text", "empty"]
)
def test_a_socket_takes_only_tokens_that_the_server_wrote(start, forged):
    address = start()
    closed = asyncio.run(connect(address, forged))
    assert closed
    assert start.server.get_sessions("/") == []


def test_a_socket_takes_the_token_of_its_page(start):
    address = start()
    assert not asyncio.run(connect(address, token_of(ask(address)[1])))


async def connect(address, token):
    """Open a socket as Bokeh's page does; return whether it was closed without a word."""
    url = address.replace("http:", "ws:") + "ws"
    request = HTTPRequest(url, headers={"Origin": address.rstrip("/")})
    socket = await websocket_connect(request, subprotocols=["bokeh", token])
    answer = await asyncio.wait_for(socket.read_message(), 20)
    socket.close()
    while answer is not None and await asyncio.wait_for(socket.read_message(), 20) is not None:
        pass
    await asyncio.sleep(0.05)  # the connection itself closes in a turn of its own
    return answer is None


def test_no_secret_of_a_request_is_in_the_page(start):
    address = start(token=TOKEN)
    _, page, _ = ask(f"{address}?tab=2", Cookie="jupyter=abc", **{TOKEN_HEADER: TOKEN})
    payload = get_token_payload(token_of(page))
    assert payload["headers"] == {}
    assert payload["cookies"] == {}
    assert TOKEN not in str(payload)


@pytest.mark.parametrize(
    "path", ["/\\evil.com", "//evil.com", "/%5Cevil.com", "/a/..//evil.com", "/x"]
)
def test_a_token_leads_to_the_page_and_nowhere_else(start, path):
    address = start(token=TOKEN)
    status, _, headers = ask(f"{address.rstrip('/')}{path}?token={TOKEN}&tab=2")
    assert (status, headers["Location"]) == (302, "/?tab=2")


def test_the_log_holds_no_tokens(start, caplog):
    caplog.set_level(logging.DEBUG)
    address = start(token=TOKEN)
    wrong = "wrong-wrong-wrong"
    for path in ("", "nowhere", "ws", "autoload.js", "static/no.js", "robots.txt"):
        for secret in (wrong, TOKEN):
            ask(f"{address}{path}?token={secret}&bokeh-session-id={secret}&bokeh-token={secret}")
            ask(f"{address}{path}?%74oken={secret}", "POST")
            ask(f"{address}{path}?a=1", **{TOKEN_HEADER: secret})
    assert "403 GET / (127.0.0.1)" in caplog.text
    assert wrong not in caplog.text
    assert TOKEN not in caplog.text


def test_so_many_pages_and_no_more(start):
    address = start(most_pages=2)
    answers = [ask(address)[0] for _ in range(31)]  # more may wait than can show a dashboard
    assert answers == [200] * 30 + [503]
    _, text, _ = ask(address)
    assert "This server shows 2 pages already" in text
    assert (
        ask(f"{address}static/js/bokeh.min.js")[0] == 200
    )  # the open ones still get what they need


@pytest.mark.parametrize("options", [{"idle_minutes": 0}, {"most_pages": 0}, {"idle_minutes": -1}])
def test_a_server_that_shows_nothing_is_refused(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be positive"):
        serve(board, port=0, show=False, start=False, **options)
