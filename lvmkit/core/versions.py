"""Versions of lvmkit, Python and the libraries, for reports of faults."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

__version__ = "0.1.0"

LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "pandas", "anndata", "h5py", "duckdb", "altair"),
    *("panel", "bokeh", "anywidget", "ipywidgets"),
)


def show_versions() -> None:
    """Print the versions of lvmkit, Python, the system and the libraries, and what computes.

    Answers can differ by the last bits between processors: the kernels that the linear algebra
    chose for this one, and their threads, are part of it. No name of a machine, user, folder or
    file is printed.

    Examples
    --------
    >>> import lvmkit
    >>> lvmkit.show_versions()  # doctest: +ELLIPSIS
    lvmkit ...
    Python ...
    system ...
    numpy ...
    """
    for name, what in [*_programs(), *_libraries(), *_kernels()]:
        print(f"{name:<13} {what}")


def _programs() -> Iterator[tuple[str, str]]:
    """Name lvmkit, the interpreter and the system."""
    yield "lvmkit", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", platform.platform()


def _libraries() -> Iterator[tuple[str, str]]:
    """Name what lvmkit builds on, as it is installed."""
    import importlib.metadata  # imported here: with lvmkit itself it would cost more than all the rest

    for name in LIBRARIES:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed"
        yield name, version


def _kernels() -> Iterator[tuple[str, str]]:
    """Name what computes: numpy's vector instructions, libraries of linear algebra, threads."""
    numpy = importlib.import_module("numpy")
    found = numpy.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
    yield "instructions", " ".join(found) or "baseline"
    importlib.import_module("scipy.linalg")  # each brings a library of its own
    importlib.import_module("sklearn")
    pools = importlib.import_module("threadpoolctl").threadpool_info()
    yield from sorted((pool["user_api"], _pool(pool)) for pool in pools)


def _pool(pool: dict[str, Any]) -> str:
    """Describe a library with threads: what it is, who brought it, its kernel; never where it lies."""
    folder = PurePath(pool["filepath"]).parent.name
    parts = (
        pool["internal_api"],
        pool["version"] or "",
        f"from {folder}" if folder.endswith("libs") else "",  # numpy.libs, as wheels have it
        f"kernel {pool['architecture']}" if pool.get("architecture") else "",
        f"threads {pool['num_threads']}",
    )
    return ", ".join(part for part in parts if part)
