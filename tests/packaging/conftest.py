"""Fresh environments, as a new machine would have them."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own, filled by uv from its cache of downloads."""

    folder: Path

    @property
    def variables(self) -> Mapping[str, str]:
        """What a shell has where this environment is active, with an empty home."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        home = self.folder / "home"
        return kept | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self.folder),
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        }

    def run(self, *command: str | Path, cwd: Path, status: int = 0) -> str:
        """Run a command in this environment and return what it printed; it must end as expected."""
        path = self.folder / "bin" / command[0]
        done = subprocess.run(
            [path, *command[1:]],
            cwd=cwd,
            env=dict(self.variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def install(self, *requirements: str | Path, cwd: Path) -> None:
        """Install with uv: seconds where pip takes minutes, and the same hashes are checked."""
        uv = Path(sys.executable).with_name("uv")
        command = [
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            self.folder / "bin" / "python",
            *requirements,
        ]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def new_environment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Environment]:
    """Make an environment of the given interpreter, with pip or, which is quicker, without."""

    def make(python: str | Path, *, pip: bool = True) -> Environment:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run(
            [python, "-m", "venv", *([] if pip else ["--without-pip"]), folder], check=True
        )
        (folder / "home").mkdir()
        return Environment(folder)

    return make
