"""The explorer as a dashboard that can be opened on one cohort after another."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.clusters import page
from lvmkit_widgets.clusters.attributes_tab import People
from lvmkit_widgets.clusters.codes_tab import Marks
from lvmkit_widgets.clusters.compare_tab import Compare
from lvmkit_widgets.clusters.edit_tab import Change
from lvmkit_widgets.clusters.export_tab import Share
from lvmkit_widgets.clusters.heading import footer, subtitle
from lvmkit_widgets.clusters.new_patient_tab import Newcomer
from lvmkit_widgets.clusters.overview_tab import Overview
from lvmkit_widgets.clusters.patients_tab import Members
from lvmkit_widgets.clusters.sidebar import Steps, Strip
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import Part
from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.tabs import PartsBoard
from lvmkit_widgets.ui.widgets import Status


class ExplorerBoard(PartsBoard[ExplorerState]):
    """All parts of the explorer, bound to one state at a time."""

    def __init__(self, above: dict[str, Component] | None = None) -> None:
        self._steps, self._strip = Steps(), Strip()
        self._overview, self._compare = Overview(), Compare()
        first: list[Part] = [self._overview, Marks(), People(), self._compare]
        super().__init__(
            {"status": Status(), **(above or {})},
            frame=[self._steps, self._strip],
            tabs=[*first, Members(), Newcomer(), Change(), Share()],
            title="Cluster explorer",
        )

    @property
    def parts_layout(self) -> list[Any]:
        """Where the parts stand."""
        return [
            {"row": [self._steps.layout, "status"], "widths": [1, 3]},
            {"sidebar": self._strip.layout, "main": ["naming", self.tabs_layout]},
        ]

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return what a saved page shows instead.

        Returns
        -------
        dict
            The heading and the heat map without small counts, and the first codes of the tables.
        """
        return page.fixed(self.state, self._overview, self._compare)

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what else a saved page shows when the reader picks a cluster.

        Returns
        -------
        list of dict
            For each cluster, its codes and where the first of them sits.
        """
        return page.cases(self.state)

    def heading(self, names: set[str]) -> None:
        """Write title, subtitle and footer anew if what they tell has changed.

        Parameters
        ----------
        names : set of str
            What has changed.
        """
        if names & {"assignment", "history", "hide_small", "threshold"}:
            self.stage.param.update(
                title=self.state.title, subtitle=subtitle(self.state), footer=footer(self.state)
            )
