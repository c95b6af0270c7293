"""Test lvmkit beside the lock: `newest` or `lowest` dependencies, in an environment of their own.

Only warnings at lines of lvmkit and of its tests are errors here: what other libraries warn of among
themselves is theirs to mend. Left out are the pages in a browser and the packaging, which have steps
of their own with the lock, and the rules of the house (layout, docstrings, stored notebooks), which
do not depend on versions.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from interpreters import VERSIONS, interpreters, told

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
RESOLUTION = {"newest": "highest", "lowest": "lowest-direct"}
LEFT_OUT = (
    "tests/browser",
    "tests/packaging",
    "tests/test_docstrings.py",
    "tests/test_layout.py",
    "tests/test_notebooks.py",
)
WARNINGS = "default\nerror:::(lvmkit|tests)"
NAMED = (
    *("numpy", "scipy", "scikit-learn", "pandas", "anndata", "duckdb", "altair", "panel"),
    *("bokeh", "anywidget", "ipywidgets"),
)


def chosen(kind: str, asked: str | None) -> str:
    """Return the interpreter: the one asked for, or the newest (lowest dependencies: oldest) found."""
    if asked:
        return asked
    found = interpreters()
    print(told(found), flush=True)
    if not found:
        sys.exit(f"none of Python {', '.join(VERSIONS)} is on this machine; name one: PYTHON=...")
    return str(list(found.values())[-1 if kind == "newest" else 0])


def prepare(kind: str, python: str) -> Path:
    """Make the environment anew, and return its interpreter."""
    folder = ROOT / f".venv-{kind}"
    inside = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([UV, "venv", "--quiet", "--clear", "--python", python, folder], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", inside]
    # Two steps: the lowest versions are asked of lvmkit's dependencies, not of the tests'.
    resolution = ["--resolution", RESOLUTION[kind]]
    subprocess.run([*install, *resolution, "--editable", ".[widgets]"], cwd=ROOT, check=True)
    subprocess.run([*install, "--group", "test"], cwd=ROOT, check=True)
    return inside


def versions(inside: Path) -> str:
    """Say what the environment holds."""
    program = f"""
import importlib.metadata, platform
print("Python", platform.python_version(), end="")
for name in {NAMED}:
    print(",", name, importlib.metadata.version(name), end="")
"""
    return subprocess.run(
        [inside, "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test(inside: Path, arguments: list[str]) -> int:
    """Run the tests, with the warnings of other libraries told at the end."""
    command = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-o", f"filterwarnings={WARNINGS}"]
    command += [f"--ignore={path}" for path in LEFT_OUT]
    return subprocess.run([*command, *(arguments or ["tests"])], cwd=ROOT, check=False).returncode


def main() -> int:
    """Make the environment, say what is in it, run the tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=RESOLUTION)
    parser.add_argument("--python", help="interpreter; by default the newest or the oldest found")
    parser.add_argument("tests", nargs="*", help="what pytest is to run; by default all")
    options = parser.parse_args()
    inside = prepare(options.kind, chosen(options.kind, options.python))
    print(f"{options.kind.capitalize()} dependencies: {versions(inside)}", flush=True)
    return test(inside, options.tests)


if __name__ == "__main__":
    sys.exit(main())
