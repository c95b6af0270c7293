"""Headless Chromium, and the four hosts that show a dashboard: server, JupyterLab, proxy, file."""

import asyncio
import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as TooLate
from playwright.sync_api import expect, sync_playwright

HERE = Path(__file__).parent
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "file:", "about:")
# Words of JupyterLab's own that tell nothing about dashboards.
NOISE = ("Refused to get unsafe header", "favicon.ico")


expect.set_options(
    timeout=20_000
)  # a page first says what is being opened; then comes the dashboard
MEASURED = pytest.StashKey[list]()


def pytest_configure(config):
    config.stash[MEASURED] = []


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(MEASURED, []):
        terminalreporter.section("measured in the browser")
        for line in config.stash[MEASURED]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def measured(request):
    """Note a figure for the summary at the end: ``measured("pick, served", 41, "ms")``."""
    notes = request.config.stash[MEASURED]
    return lambda name, value, unit: notes.append(f"{name}: {value} {unit}")


@pytest.fixture(scope="session")
def demo():
    """The module that makes the demonstration dashboard."""
    spec = importlib.util.spec_from_file_location("demo_board", HERE / "demo_board.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def chromium():
    """A browser; tests are skipped with a reason where there is none."""
    program = os.environ.get("LVMKIT_CHROMIUM") or shutil.which("chromium")
    if not program:
        pytest.skip("no chromium: install Debian's package chromium, or set LVMKIT_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, headless=True)
        yield browser
        browser.close()


class Pages:
    """Opens pages and keeps what they say on the console or ask of another machine."""

    def __init__(self, browser):
        self.browser, self.contexts, self.found = browser, [], []

    def open(self, width=1280, height=900, *, dark=False):
        """Return a new page in a context of its own."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        self.contexts.append(context)
        context.on("request", lambda request: self._asked(request.url))
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.found.append(f"error: {error}"))
        page.on("websocket", lambda socket: self._asked(socket.url))
        return page

    def close(self):
        """Close all pages; fail if one of them complained or left the machine."""
        for context in self.contexts:
            context.close()
        assert self.found == []

    def _heard(self, message):
        if message.type == "error" and not any(noise in message.text for noise in NOISE):
            where = message.location.get("url", "")[:90]
            self.found.append(f"console: {message.text} ({where})")

    def _asked(self, url):
        if not url.startswith(LOCAL):
            self.found.append(f"request to {url}")


@pytest.fixture
def open_page(chromium):
    """Open pages that must stay silent and on this machine."""
    pages = Pages(chromium)
    yield pages.open
    pages.close()


@pytest.fixture(scope="module")
def open_shared_page(chromium):
    """Open pages that several tests share; they must stay silent and on this machine."""
    pages = Pages(chromium)
    yield pages.open
    pages.close()


@pytest.fixture(scope="session")
def assert_fits():
    """Check that a page gets no wider than the window, once what it shows has come and is laid out."""

    def check(page, width, name):
        fits = "(width) => document.documentElement.scrollWidth <= width"
        try:
            page.wait_for_function(fits, arg=width, timeout=10_000)
        except TooLate:
            wide = page.evaluate("document.documentElement.scrollWidth")
            pytest.fail(f"{name}: {wide} wide where the window is {width}")

    return check


@pytest.fixture(scope="session")
def told():
    """Wait until Python knows what the browser shows already."""

    def wait(page, board, **picked):
        for _ in range(800):
            if all(getattr(board.state, name) == value for name, value in picked.items()):
                return
            page.wait_for_timeout(25)
        assert {name: getattr(board.state, name) for name in picked} == picked

    return wait


class Servers:
    """Serves dashboards from threads of this process."""

    def __init__(self):
        self.running = contextlib.ExitStack()

    def start(self, factory, **options):
        """Serve what the factory makes; return the address and the list of what was made."""
        from lvmkit_widgets.server.serve import serve

        made, ready, box = [], threading.Event(), {}

        def one():
            made.append(factory())
            return made[-1]

        def run():
            asyncio.set_event_loop(asyncio.new_event_loop())
            server = serve(one, port=0, show=False, start=False, **options)
            box["server"] = server
            server.start()
            server.io_loop.add_callback(ready.set)
            server.io_loop.start()
            server.stop()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert ready.wait(60), "the server did not start"
        loop = box["server"].io_loop
        self.running.callback(thread.join, 10)
        self.running.callback(loop.add_callback, loop.stop)
        return f"http://127.0.0.1:{box['server'].port}/", made


@pytest.fixture(scope="session")
def servers():
    """Servers that run until the last test."""
    made = Servers()
    with made.running:
        yield made


def free_port():
    """Return a port that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """A Jupyter server with JupyterLab under a prefix, as on a hub."""

    base = "/user/some-one/"

    def __init__(self, folder):
        self.folder, self.port, self.token = folder, free_port(), secrets.token_hex(16)
        self.root = f"http://127.0.0.1:{self.port}{self.base}"
        (folder / "notebooks").mkdir()
        (folder / "config").mkdir()
        shutil.copy(HERE / "demo_board.py", folder / "notebooks")
        (folder / "config" / "jupyter_server_config.py").write_text(PROXY_CONFIG, "utf-8")
        (folder / "demo_proxy.py").write_text(DEMO_PROXY, "utf-8")
        places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        homes = {name: str(folder / name.lower()) for name in places}
        homes["JUPYTER_CONFIG_DIR"] = str(folder / "config")
        homes["DEMO_PROXY"] = str(folder / "demo_proxy.py")
        self.log = (folder / "lab.log").open("wb")
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *(f"--ServerApp.port={self.port}", "--ServerApp.port_retries=0"),
                *(f"--ServerApp.base_url={self.base}", f"--IdentityProvider.token={self.token}"),
                *("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"),
                *("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",),
                *(
                    "--LabApp.extension_manager=readonly",
                    f"--ServerApp.root_dir={folder}/notebooks",
                ),
            ],
            env=os.environ | homes | {"JUPYTER_PREFER_ENV_PATH": "0"},
            cwd=folder,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        self.wait()

    def wait(self):
        """Wait until the server answers."""
        for _ in range(240):
            assert self.process.poll() is None, (self.folder / "lab.log").read_text("utf-8")[-3000:]
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.root}api", timeout=2).close()
                return
            time.sleep(0.25)
        pytest.fail("JupyterLab did not start")

    def stop(self):
        """End the server and its kernels."""
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def write(self, name, *cells):
        """Write a notebook with code cells."""
        made = [
            {
                "cell_type": "code",
                "id": f"c{i}",
                "source": c,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, c in enumerate(cells)
        ]
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = {"cells": made, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
        (self.folder / "notebooks" / name).write_text(json.dumps(book), "utf-8")

    def open(self, page, name, *, dark=False):
        """Open a notebook in a fresh workspace, choose the theme, run all cells."""
        space = secrets.token_hex(4)
        page.goto(f"{self.root}lab/workspaces/{space}/tree/{name}?token={self.token}")
        page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context?.isReady")
        page.wait_for_function(KERNEL_IDLE)
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: '{theme}'}})")
        light = f"body[data-jp-theme-light={str(not dark).lower()}]"
        page.wait_for_selector(light, state="attached")
        page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
        page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")


KERNEL_IDLE = "jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'"
PROXY_CONFIG = """
import os, sys
c.ServerProxy.servers = {}
from lvmkit_widgets.server.serve import proxy
settings = proxy()
settings["command"] = [sys.executable, os.environ["DEMO_PROXY"], "--port", "{port}"]
settings["launcher_entry"] = {"enabled": False, "title": "demo"}
c.ServerProxy.servers = {"demo": settings}
"""
DEMO_PROXY = """
import sys
sys.path.insert(0, "notebooks")
from demo_board import board
from lvmkit_widgets import serve
serve.bundled = board
serve.main()
"""


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab, started once; behind it the demonstration dashboard as a proxied server."""
    server = Lab(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()
