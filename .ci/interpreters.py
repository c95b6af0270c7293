"""Find the Python interpreters of this machine, from the oldest that the project supports on.

Run as a program it says which were found and which were not.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSIONS = tuple(f"3.{minor}" for minor in range(11, 16))
"""What is looked for: later ones than the classifiers in pyproject.toml name are tried where they are."""


def _places(version: str) -> Iterator[Path]:
    """Where the interpreter of a version may be: on the path, or among those of pyenv."""
    if on_path := shutil.which(f"python{version}"):
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True)


def _answers(place: Path, version: str) -> bool:
    """Tell whether it runs and is that version: pyenv's command python3.12 may be there and refuse."""
    program = "import sys; print('{}.{}'.format(*sys.version_info))"
    try:
        done = subprocess.run([place, "-c", program], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout.strip() == version


def interpreter(version: str) -> Path | None:
    """Return the interpreter of a version ("3.12"), None where this machine has none."""
    return next((place for place in _places(version) if _answers(place, version)), None)


def interpreters() -> dict[str, Path]:
    """Return all that are found, the oldest first."""
    found = {version: interpreter(version) for version in VERSIONS}
    return {version: place for version, place in found.items() if place is not None}


def told(found: dict[str, Path]) -> str:
    """Say which were found and which were not."""
    missing = [version for version in VERSIONS if version not in found]
    sentence = f"Python interpreters found: {', '.join(found) or 'none'}."
    return f"{sentence} Not found, so not tried: {', '.join(missing)}." if missing else sentence


if __name__ == "__main__":
    print(told(interpreters()))
