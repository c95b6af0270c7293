"""Docstrings are complete: numpydoc's own checks, on the objects as they are imported.

The command `numpydoc lint` reads text only: it does not know that a dataclass takes its fields.
"""

import importlib
import inspect
import pkgutil
import tomllib
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numpydoc.validate import validate

import lvmkit
import lvmkit_widgets

SETTINGS = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
CHECKS = set(SETTINGS["tool"]["numpydoc_validation"]["checks"])
MODULES = [
    found.name
    for package in (lvmkit, lvmkit_widgets)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


def public_names(module: ModuleType) -> set[str]:
    """Return what the module, or a package above it, lists as public."""
    parts = module.__name__.split(".")
    homes = [importlib.import_module(".".join(parts[:n])) for n in range(1, len(parts) + 1)]
    return {name for home in homes for name in getattr(home, "__all__", ())}


def objects(module: ModuleType) -> Iterator[tuple[str, Any, bool]]:
    """Return path, object and whether it is public, for what a module and its classes define."""
    public = public_names(module)
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value, name in public
        for method, function in vars(value).items() if inspect.isclass(value) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{module.__name__}.{name}.{method}", function, name in public


def faults(path: str, value: Any, *, public: bool) -> list[str]:
    """Return what is wrong with one docstring.

    Parameters are needed where an object is public, and complete where they are begun; a dataclass
    or named tuple may document its fields one by one instead.
    """
    has_fields = inspect.isclass(value) and (is_dataclass(value) or issubclass(value, tuple))
    begun = "Parameters\n---" in (inspect.getdoc(value) or "")
    short = not begun and (has_fields or not public)
    checks = CHECKS - {"PR01"} if short else CHECKS
    return [f"{path}: {code} {what}" for code, what in validate(path)["errors"] if code in checks]


# numpydoc looks at every attribute of a class, at ipywidgets' deprecated ones as well.
@pytest.mark.filterwarnings("ignore:Widget.* is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", MODULES)
def test_docstrings_are_complete(name: str) -> None:
    found = objects(importlib.import_module(name))
    assert [
        fault for path, value, public in found for fault in faults(path, value, public=public)
    ] == []
