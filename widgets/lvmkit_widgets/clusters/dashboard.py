"""Explore the clusters of a fitted mixture: what marks them, who they are, how to change them."""

from __future__ import annotations

from typing import Any

from lvmkit.core.arguments import checked
from lvmkit_widgets.clusters.board import ExplorerBoard
from lvmkit_widgets.clusters.state import ExplorerState


class ClusterExplorer(ExplorerBoard):
    """Dashboard of the clusters of a cohort.

    Parameters
    ----------
    model : BernoulliMixture
        Fitted; names, notes and merges saved with it are restored. The explorer works on a copy of
        them: several can be open on one model, and only `explorer.state.save` changes it.
    cohort : AnnData
        Patients by codes.
    name : str, optional
        What the cohort is called in the heading; by default what it says of its source.
    source : str, optional
        Python that gives `model` and `cohort`, for the record of steps.

    Raises
    ------
    TypeError
        When the model is not a fitted mixture, or the cohort not a table.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> model = lvmkit.BernoulliMixture(n_components=4).fit(cohort)
    >>> explorer = ClusterExplorer(model, cohort)
    >>> explorer.state.rename(0, "Heart")
    >>> explorer.state.clustering.labels[0]
    'Heart'
    """

    @checked()
    def __init__(self, model: Any, cohort: Any, *, name: str = "", source: str = "") -> None:
        state = ExplorerState(model, cohort, name=name, source=source)
        super().__init__()
        self.stage.layout = self.parts_layout
        self.show_state(state)
