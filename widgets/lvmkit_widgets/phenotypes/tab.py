"""Base of the tabs of the score cards."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.phenotypes.state import CardsState
from lvmkit_widgets.ui.tabs import Tab


class PhenotypeTab(Tab[CardsState]):
    """A part of the score cards."""

    def pick(self, phenotype: Any) -> None:
        """Pick a phenotype."""
        if phenotype is not None and int(phenotype) < len(self.state.phenotypes):
            self.state.phenotype = int(phenotype)
