"""Tables that readers of a cluster explorer take away; in those to share, small counts are hidden."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lvmkit.disclosure.text import shown_count
from lvmkit_widgets.clusters.state import ExplorerState


def codes_table(state: ExplorerState) -> pd.DataFrame:
    """Return every code of every cluster, fit to be shared."""
    table = state.association()
    table = table[table["n_in"] != 0].copy()
    names = {c.id: c.label for c in state.clustering.clusters}
    table.insert(1, "name", table["cluster"].map(names))
    table.insert(3, "title", [state.patients.titles.get(code, "") for code in table["code"]])
    return _weighed(table, state)


def clusters_table(state: ExplorerState) -> pd.DataFrame:
    """Return one row per cluster, fit to be shared."""
    counts = state.counts()
    sizes = zip(counts.sizes, state.assignment.sizes, strict=True)
    table = pd.DataFrame(
        {
            "cluster": state.clustering.ids,
            "name": state.clustering.labels,
            "patients": [shown_count(n, whole, state.disclosure.threshold) for n, whole in sizes],
            "share": counts.weights,
            "note": [c.note for c in state.clustering.clusters],
        }
    )
    if counts.weighted is not None:
        table.insert(3, "stand_for", counts.weighted.sizes)
    return _weighed(table, state)


def assignment_table(state: ExplorerState) -> pd.DataFrame:
    """Return the cluster of every patient, by record id: for this machine, not to be shared."""
    a, names = state.assignment, np.array(state.clustering.labels, dtype=object)
    rows = np.arange(len(a.rows))
    table = pd.DataFrame(
        {
            "record": state.patients.cohort.obs_names[a.rows],
            "cluster": a.labels,
            "name": names[a.positions],
            "posterior": a.certainty.round(6),
            "second": a.ids[a.runner_up],
            "second_posterior": a.posterior[rows, a.runner_up].round(6),
        }
    )
    return table if state.weights is None else table.assign(weight=state.weights)


def _weighed(table: pd.DataFrame, state: ExplorerState) -> pd.DataFrame:
    """Say in a table what its shares are weighted by, of data with weights."""
    name = state.patients.weighted_by
    return table.assign(weighted_by=name) if name else table
