"""Docstrings are complete where a name is public, and one line where it is not.

The completeness is numpydoc's own checks, on the objects as they are imported: the command `numpydoc lint` reads
text only and does not know that a dataclass takes its fields.
"""

import ast
import functools
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


LONGEST = 120
"""Columns of an internal docstring, with its indent and quotation marks."""


def function_of(value: Any) -> Any:
    """Return the function written in the source: below properties, class methods and decorators."""
    if isinstance(value, property):
        value = value.fget
    value = getattr(value, "func", None) or getattr(value, "fn", None) or value
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    return inspect.unwrap(value) if callable(value) else value


def definitions(value: Any) -> Iterator[tuple[str, str]]:
    """Return file and qualified name of a public object; of a class also its methods, inherited ones too."""
    written = function_of(value)
    if inspect.isfunction(written):
        yield written.__code__.co_filename, written.__qualname__
    if not inspect.isclass(value):
        return
    for base in value.__mro__:
        if base.__module__.startswith("lvmkit"):
            for name, method in vars(base).items():
                if not name.startswith("_"):
                    yield from definitions(method) if not inspect.isclass(method) else ()
    if value.__module__.startswith("lvmkit"):
        yield str(inspect.getsourcefile(value)), value.__qualname__


@functools.cache
def public_definitions() -> set[tuple[str, str]]:
    """Return file and qualified name of whatever an `__all__` makes public."""
    modules = [importlib.import_module(name) for name in [*MODULES, "lvmkit", "lvmkit_widgets"]]
    listed = [
        getattr(module, name) for module in modules for name in getattr(module, "__all__", ())
    ]
    return {found for value in listed for found in definitions(value)}


def documented(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.Expr]]:
    """Return qualified name and docstring of every class and function below a node."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from documented(child, prefix)
            continue
        name = prefix + child.name
        if ast.get_docstring(child) is not None and isinstance(child.body[0], ast.Expr):
            yield name, child.body[0]
        inside = "." if isinstance(child, ast.ClassDef) else ".<locals>."
        yield from documented(child, name + inside)


@pytest.mark.parametrize("name", MODULES)
def test_internal_docstrings_are_one_line(name: str) -> None:
    """The signature says the rest; what it cannot say is a comment."""
    path = str(inspect.getsourcefile(importlib.import_module(name)))
    source = Path(path).read_text()
    lines = source.splitlines()
    found = [
        f"{path}:{text.lineno}: {qualified}"
        for qualified, text in documented(ast.parse(source))
        if (path, qualified) not in public_definitions()
        and (text.lineno != text.end_lineno or len(lines[text.lineno - 1]) > LONGEST)
    ]
    assert found == []
