"""Base of the tabs of the cluster explorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.tabs import Tab


class ClusterTab(Tab[ExplorerState]):
    """A part of the explorer; its marks pick clusters and codes."""

    def pick(self, mark: Mapping[str, Any]) -> None:
        """Pick the cluster and the code of a mark."""
        picked: dict[str, Any] = {}
        if mark.get("cluster") is not None:
            picked["cluster"] = int(mark["cluster"])
        if mark.get("code"):
            picked["code"] = str(mark["code"])
        self.state.param.update(**picked)
