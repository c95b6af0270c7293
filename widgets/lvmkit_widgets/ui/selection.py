"""What is picked in a cluster explorer, and how numbers are shown."""

from __future__ import annotations

from typing import Any

import param


class Selection(param.Parameterized):
    """The cluster, code and patient that are picked, and how numbers are shown."""

    cluster = param.Integer(default=0, doc="Id of the cluster that is picked.")
    other = param.Integer(default=None, allow_None=True, doc="Id of the cluster to compare with.")
    code = param.String(default="", doc="The code that is picked.")
    patient = param.Integer(default=None, allow_None=True, doc="Picked row of the cohort, from 0.")
    balance = param.Number(default=0.6, bounds=(0, 1), doc="λ: 1 is probability, 0 is lift.")
    top = param.Integer(default=20, bounds=(5, 40), doc="Number of codes in the charts.")
    threshold = param.Integer(default=11, bounds=(2, None), doc="Smaller counts are hidden.")
    hide_small = param.Boolean(default=True, doc="Whether small counts are hidden on screen too.")

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.param.watch(self._keep_apart, ["cluster", "other"])

    def _keep_apart(self, *events: Any) -> None:
        """Let a cluster that is picked change places with the one it is compared with."""
        if self.cluster == self.other:
            was = {event.name: event.old for event in events}.get("cluster")
            self.other = was if was != self.cluster else None
