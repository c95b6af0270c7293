"""A local server in the place of a data set's source, and a machine that has no data yet."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def site(tmp_path):
    """A folder and the address at which it is served on this machine."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """No local folder, an empty cache."""
    monkeypatch.delenv("LVMKIT_DATA", raising=False)
    monkeypatch.setenv("LVMKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
