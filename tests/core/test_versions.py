"""What a report of a fault states: versions and kernels, and nothing of whose machine it is."""

import importlib.metadata
import platform
import re
import tomllib
from pathlib import Path

import pytest

import lvmkit
from lvmkit_widgets.server import cli


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is printed."""
    lvmkit.show_versions()
    return capsys.readouterr().out


def test_the_version_is_the_package_s(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert lvmkit.__version__ == project["version"]


def test_versions_are_those_in_use(told: str) -> None:
    assert f"lvmkit        {lvmkit.__version__}\n" in told
    assert f"Python        {platform.python_version()} (" in told
    for name in ("numpy", "scipy", "scikit-learn", "pandas", "anndata", "duckdb", "panel"):
        assert re.search(rf"^{name} +{re.escape(importlib.metadata.version(name))}$", told, re.M)


def test_kernels_of_linear_algebra_are_named(told: str) -> None:
    # A threadpoolctl that does not see them could not hold fits at one thread either.
    assert re.search(r"^blas +\w+, [\d.]+.*, kernel \w+, threads \d+$", told, re.M)


def test_nothing_names_the_machine_its_user_or_a_folder(told: str) -> None:
    words = set(re.split(r"[\s,()]+", told)) - {""}
    assert not words & {platform.node(), Path.home().name}
    assert not re.search(r"[/\\\\]", told)


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def version(name: str) -> str:
        if name == "panel":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    lvmkit.show_versions()
    assert re.search("^panel +not installed$", capsys.readouterr().out, re.M)


def test_the_command_prints_the_same(told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == told
