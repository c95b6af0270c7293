"""Who may reach a served dashboard."""

import asyncio
import gc
import threading
import urllib.error
import urllib.request

import pytest

from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.guard import TOKEN_HEADER, Guard
from lvmkit_widgets.kinds import Text
from lvmkit_widgets.serve import TOKEN_VARIABLE, is_local, main, proxy, serve

TOKEN = "a-long-enough-secret"


def board():
    return Dashboard({"words": Text(text="hello")}, "words")


@pytest.fixture
def start():
    """Serve from a thread; returns the address."""
    running = []

    def run(**options):
        ready, box = threading.Event(), []

        def work():
            asyncio.set_event_loop(asyncio.new_event_loop())
            server = serve(board, port=0, show=False, start=False, **options)
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
        return f"http://127.0.0.1:{box[0].port}/"

    yield run
    for thread, server in running:
        server.io_loop.add_callback(server.io_loop.stop)
        thread.join(10)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Shows redirects instead of following them."""

    def redirect_request(self, *_):
        return None


def ask(url, **headers):
    """Return status, text and headers of an answer."""
    opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode(), answer.headers
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
        Guard(token="short", hosts=None)


def test_addresses_of_this_machine_are_known():
    assert all(is_local(name) for name in ("localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"))
    assert not any(is_local(name) for name in ("0.0.0.0", "::", "192.168.1.2", "example.org"))


def test_a_page_is_served_to_this_machine_under_its_own_name_only(start):
    address = start()
    assert ask(address)[0] == 200
    status, text, _ = ask(address, Host="evil.example:80")
    assert status == 403
    assert "does not answer to the name" in text


def test_sockets_open_only_for_pages_of_the_server(start):
    address = start()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    status, text, _ = ask(f"{address}ws", Origin="http://evil.example", **upgrade, **key)
    assert status == 403
    assert "only for its own pages" in text


def test_every_request_needs_the_token_until_a_cookie_stands_for_it(start):
    address = start(token=TOKEN)
    assert ask(address)[0] == 403
    assert ask(f"{address}static/js/bokeh.min.js")[0] == 403
    assert ask(f"{address}?token=wrong-wrong-wrong")[0] == 403
    status, _, headers = ask(f"{address}?token={TOKEN}")
    assert (status, headers["Location"]) == (302, "/")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
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
