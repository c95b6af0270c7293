"""A part of the stability dashboard."""

from __future__ import annotations

from lvmkit_widgets.stability.state import StabilityState
from lvmkit_widgets.ui.tabs import StatePart


class StabilityPart(StatePart[StabilityState]):
    """A part of the stability dashboard."""
