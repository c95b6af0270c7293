"""Workbench: a cohort that is opened, every dashboard that it allows, and the work that is kept."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Load the workbench at its first use; the registry of dashboards needs no browser."""
    if name != "Workbench":
        message = f"module 'lvmkit_widgets.workbench' has no attribute {name!r}"
        raise AttributeError(message)
    return import_module("lvmkit_widgets.workbench.dashboard").Workbench
