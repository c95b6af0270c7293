"""The wheel, used as a library in an environment that has the core dependencies only."""

import re
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import build
import pytest

pytestmark = pytest.mark.wheel

FINDER = runpy.run_path(str(Path(__file__).parents[2] / ".ci/interpreters.py"))

FIT = """
import sys
import lvmkit
import pandas as pd
from lvmkit.cohorts import from_events
from lvmkit.datasets import load_discharges
events = pd.DataFrame({"patient": ["a", "a", "b"], "code": ["25000", "4019", "4019"]})
assert from_events(events, patient="patient", code="code", min_codes=1).shape == (2, 2)
cohort = load_discharges()[:2000]
model = lvmkit.BernoulliMixture(n_components=2).fit(cohort)
assert model.labels_.shape == (2000,)
loaded = {"panel", "anywidget", "ipywidgets", "IPython", "altair"} & set(sys.modules)
assert not loaded, loaded
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """Build the wheel as `make build` does."""
    return Path(build.ProjectBuilder(root).build("wheel", tmp_path_factory.mktemp("dist")))


@pytest.mark.parametrize("version", FINDER["VERSIONS"])
def test_core_works_alone(
    version: str, wheel: Path, root: Path, tmp_path: Path, new_environment: Callable[..., Any]
) -> None:
    python = FINDER["interpreter"](version)
    if python is None:
        pytest.skip(f"no interpreter of Python {version} on this machine")
    pins = re.findall(
        r"^[\w.\-]+==\S+", (root / "binder/requirements.txt").read_text(), re.MULTILINE
    )
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("\n".join(pins))
    environment = new_environment(python, pip=False)
    environment.install(wheel, "--constraints", constraints, cwd=tmp_path)

    environment.run("python", "-W", "error", "-c", FIT, cwd=tmp_path)
    for command in (("explore",), ("topics", "texts")):
        message = environment.run("lvmkit", *command, cwd=tmp_path, status=1)
        assert "pip install 'lvmkit[widgets]'" in message


def test_wheel_holds_the_three_packages_and_their_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == {
        "lvmkit",
        "lvmkit_data",
        "lvmkit_widgets",
    }
    assert "lvmkit_widgets/static/stage.js" in names
    assert any(name.startswith("lvmkit_data/") and not name.endswith(".py") for name in names)
