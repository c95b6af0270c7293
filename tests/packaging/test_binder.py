"""What Binder does with the repository, without Docker: its base, the lock, postBuild, pages."""

import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.binder

# What repo2docker installs before it reads binder/.
BASE = ("jupyterlab==4.*", "notebook==7.*", "ipywidgets==8.*")
PREFIX = "/user/someone-lvmkit/"
TOKEN = "secret"


def listens(port: int) -> bool:
    """Tell whether the server listens: it prints its address a few milliseconds before that."""
    for _ in range(100_000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return True
    return False


def status(address: str) -> tuple[int, str]:
    """Return the status and the text of a page, asked for with the token."""
    request = urllib.request.Request(address, headers={"Authorization": f"token {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture(scope="module")
def interpreter(root: Path) -> str:
    """Return the interpreter that runtime.txt asks for."""
    version = (root / "binder/runtime.txt").read_text().strip().removeprefix("python-")
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"binder/runtime.txt asks for Python {version}, which this machine lacks")
    return found


@pytest.fixture(scope="module")
def built(root: Path, interpreter: str, new_environment: Callable[..., Any]) -> Any:
    """Build as Binder does."""
    environment = new_environment(interpreter)
    environment.install(*BASE, cwd=root)
    environment.install("--require-hashes", "-r", "binder/requirements.txt", cwd=root)
    environment.run(root / "binder/postBuild", cwd=root)
    environment.run("python", "-m", "pip", "check", cwd=root)
    return environment


@pytest.fixture(scope="module")
def server(root: Path, built: Any) -> Iterator[str]:
    """Start Jupyter under a prefix as a hub does, and return its address once it answers."""
    command = [
        *(
            built.folder / "bin/jupyter",
            "notebook",
            "--no-browser",
            "--allow-root",
            "--port=0",
            "--ip=127.0.0.1",
        ),
        *(f"--ServerApp.base_url={PREFIX}", f"--IdentityProvider.token={TOKEN}"),
    ]
    with subprocess.Popen(
        command,
        cwd=root,
        env=dict(built.variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        log = []
        for line in process.stdout:
            log.append(line)
            if found := re.search(rf"http://127\.0\.0\.1:(\d+){PREFIX}", line):
                break
        else:
            pytest.fail("Jupyter did not start:\n" + "".join(log))
        assert listens(int(found[1]))
        # What it prints later must be read, or the pipe fills and the server stops.
        reader = threading.Thread(target=log.extend, args=[process.stdout])
        reader.start()
        yield found[0]
        process.terminate()
        reader.join()


def test_pages_open_under_a_prefix(server: str, root: Path) -> None:
    assert status(f"{server}api")[0] == 200
    assert status(f"{server}lab")[0] == 200
    assert status(f"{server}no-such-page")[0] == 404
    opened = re.findall(r"urlpath=([\w./-]+)", (root / "README.md").read_text())
    assert "lvmkit/" in opened
    for path in opened:
        assert status(server + path)[0] == 200, path
        if path.startswith("lab/tree/"):
            assert (
                status(f"{server}api/contents/{path.removeprefix('lab/tree/')}?content=0")[0] == 200
            )


def test_workbench_answers_only_with_the_token(server: str) -> None:
    code, page = status(f"{server}lvmkit/")
    assert code == 200
    assert "docs_json" in page
    with urllib.request.urlopen(f"{server}lvmkit/", timeout=60) as anonymous:
        assert "login" in anonymous.url
