"""A part of the stability dashboard."""

from __future__ import annotations

from lvmkit_widgets.parts import StatePart
from lvmkit_widgets.stability.state import StabilityState


class StabilityPart(StatePart[StabilityState]):
    """A part of the stability dashboard."""
