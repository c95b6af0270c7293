"""Tables that readers take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lvmkit_widgets.ui.export import Export


def table_export(
    name: str, label: str, make: Callable[[Any], Any], help: str, **more: Any
) -> Export[Any]:
    """Return the export of a table as CSV; the file has the name of its button."""
    return Export(name, f"{label} (CSV)", f"{name}.csv", make, help, **more)
