"""Base of the tabs of the topic dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lvmkit_widgets.topics.state import TopicState
from lvmkit_widgets.ui.tabs import Tab


class TopicTab(Tab[TopicState]):
    """A part of the topic dashboard; its marks pick topics and words."""

    def pick(self, mark: Mapping[str, Any]) -> None:
        """Pick the topic of a mark."""
        if mark.get("cluster") is not None:
            self.state.topic = int(mark["cluster"])
