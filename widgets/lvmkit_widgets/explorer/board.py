"""The explorer as a dashboard that can be opened on one cohort after another."""

from __future__ import annotations

from typing import Any

from lvmkit_widgets.component import Component
from lvmkit_widgets.explorer import report
from lvmkit_widgets.explorer.change import Change
from lvmkit_widgets.explorer.compare import Compare
from lvmkit_widgets.explorer.heading import footer, subtitle
from lvmkit_widgets.explorer.marks import Marks
from lvmkit_widgets.explorer.members import Members
from lvmkit_widgets.explorer.newcomer import Newcomer
from lvmkit_widgets.explorer.overview import Overview
from lvmkit_widgets.explorer.part import Part
from lvmkit_widgets.explorer.people import People
from lvmkit_widgets.explorer.share import Share
from lvmkit_widgets.explorer.strip import Steps, Strip
from lvmkit_widgets.explorer_state import ExplorerState
from lvmkit_widgets.kinds import Status
from lvmkit_widgets.parts import PartsBoard


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
        return report.fixed(self.state, self._overview, self._compare)

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what else a saved page shows when the reader picks a cluster.

        Returns
        -------
        list of dict
            For each cluster, its codes and where the first of them sits.
        """
        return report.cases(self.state)

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
