"""The work of a session outlives its page and its server."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from lvmkit.datasets import load_discharges

pytestmark = pytest.mark.browser


@pytest.fixture(name="start")
def servers_of_one_file(tmp_path):
    """Start `lvmkit explore` on a file, and return the process and its address."""
    path = tmp_path / "ward.h5ad"
    load_discharges()[:600].copy().write_h5ad(path)
    asked = ["explore", str(path), "--components", "3", "--no-browser", "--port", "0"]
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-m", "lvmkit_widgets.server.cli", *asked],
            env=os.environ | {"LVMKIT_SESSIONS": str(tmp_path / "sessions")},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process, re.search(r"http://\S+", process.stdout.readline())[0]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_name_is_there_after_a_reload_and_after_the_server_was_killed(start, chromium):
    process, address = start()
    page = chromium.new_context().new_page()  # it may complain when the server is gone
    page.goto(address)
    first = page.locator(".lvm-size").first
    expect(first).to_be_visible(timeout=60_000)
    page.get_by_label("Name of cluster 0").fill("Heart")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(first).to_contain_text("Heart")
    page.reload()
    expect(first).to_contain_text("Heart", timeout=60_000)
    expect(page.get_by_text("Gone on where you were").first).to_be_visible()
    process.kill()
    process.wait()
    _, address = start()
    page.goto(address)
    expect(first).to_contain_text("Heart", timeout=60_000)
    page.get_by_role("button", name="Begin anew").click()
    expect(first).not_to_contain_text("Heart", timeout=60_000)
    page.context.close()
