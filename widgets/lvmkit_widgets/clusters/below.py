"""Base of dashboards that open a cluster explorer below themselves."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import panel as pn

from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.ui.state import State
from lvmkit_widgets.ui.tabs import TabbedDashboard

S = TypeVar("S", bound=State)


class ExplorerBelow(TabbedDashboard[S]):
    """A dashboard whose `explorer` is shown below it; in a notebook the reader is told how to open one."""

    called: ClassVar[str] = ""  # What examples call the dashboard
    explored: ClassVar[str] = ""  # What the explorer shows
    _column: Any = None

    def explorer(self) -> ClusterExplorer:
        """Return a cluster explorer of what is picked."""
        raise NotImplementedError

    def open_explorer(self) -> None:
        """Open the cluster explorer below this dashboard; in a notebook, tell how to."""
        if self._column is None:
            self.say(f"Run this in the next cell: {self.called}.explorer()", state="info")
            return
        label = f"Opening the {self.explored} in the cluster explorer"
        self.background(lambda _: self.explorer(), self._show_below, label=label, can_cancel=False)

    def _opened(self, explorer: ClusterExplorer) -> str:
        """Name what an explorer shows."""
        raise NotImplementedError

    def _show_below(self, explorer: ClusterExplorer) -> None:
        """Show an explorer under this dashboard."""
        self._column[:] = [self._sync.page(), explorer.__panel__()]
        self.say(f"The {self._opened(explorer)} are open in the cluster explorer below.")

    def __panel__(self) -> Any:
        """Return the dashboard, with room for an explorer below, as a Panel column; always the same one."""
        if self._column is None:
            self._column = pn.Column(self._sync.page(), sizing_mode="stretch_width", margin=0)
        return self._column
