"""A part of the dashboard of a path of covariate clusterings."""

from __future__ import annotations

from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.tabs import StatePart


class PathPart(StatePart[PathState]):
    """A part of the dashboard of a path."""
