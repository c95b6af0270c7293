"""Tables that readers take away, and the tab that hands them over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lvmkit_widgets.ui.export import Export, StepsExportTab, written
from lvmkit_widgets.ui.state import State

S = TypeVar("S", bound=State)


def table_export(
    name: str, label: str, make: Callable[[Any], Any], help: str, **more: Any
) -> Export[Any]:
    """Return the export of a table as CSV; the file has the name of its button."""
    return Export(name, f"{label} (CSV)", f"{name}.csv", make, help, **more)


def saved_model(
    save_of: Callable[[Any], Callable[[Path], Any]], help: str, **more: Any
) -> Export[Any]:
    """Return the export of a model; `save_of` a state is what writes it to a file."""
    make: Callable[[Any], bytes] = lambda state: written(save_of(state), "model.npz")  # noqa: E731
    return Export("model", "Model (npz)", "model.npz", make, help, **more)


class NotedExportTab(StepsExportTab[S]):
    """Buttons that hand over files, a note on what is in them, and the steps taken."""

    def __init__(self, exports: Sequence[Export[Any]], note_of: Callable[[Any], str]) -> None:
        super().__init__(exports)
        self._note_of = note_of

    def note(self, state: S) -> str:
        """Say what files hold."""
        return self._note_of(state)
