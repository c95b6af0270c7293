"""A part of the dashboard of a tensor normal mixture."""

from __future__ import annotations

from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.tabs import StatePart


class TensorPart(StatePart[TensorState]):
    """A part of the dashboard of a tensor normal mixture."""
