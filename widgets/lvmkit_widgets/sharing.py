"""What leaves the dashboard: tables and assignments, with small counts hidden in what is shared."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lvmkit_widgets.explorer_state import ExplorerState


def codes_table(state: ExplorerState) -> pd.DataFrame:
    """Return every code of every cluster, fit to be shared.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.

    Returns
    -------
    DataFrame
        One row per cluster and code that somebody has; counts below `state.threshold` are shown
        as "<11", and numbers that rest on them are left out.
    """
    table = state.shared_association
    table = table[~(table["n_in"] == 0)].copy()
    names = {c.id: c.label for c in state.clustering.clusters}
    table.insert(1, "name", table["cluster"].map(names))
    table.insert(3, "title", [state.patients.titles.get(code, "") for code in table["code"]])
    return with_small(table, ["n_in", "n_out", "size_in", "size_out"], state.threshold)


def clusters_table(state: ExplorerState) -> pd.DataFrame:
    """Return one row per cluster, fit to be shared.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.

    Returns
    -------
    DataFrame
        Id, name, note, size, share, and the codes that mark the cluster.
    """
    counts = state.shared_counts
    table = pd.DataFrame(
        {
            "cluster": state.clustering.ids,
            "name": state.clustering.labels,
            "patients": counts.sizes,
            "share": counts.weights,
            "note": [c.note for c in state.clustering.clusters],
        }
    )
    return with_small(table, ["patients"], state.threshold)


def assignment_table(state: ExplorerState) -> pd.DataFrame:
    """Return the cluster of every patient, by record id: for this machine, not to be shared.

    Parameters
    ----------
    state : ExplorerState
        What is looked at.

    Returns
    -------
    DataFrame
        record, cluster, name, posterior, second (cluster) and second_posterior.
    """
    a, names = state.assignment, np.array(state.clustering.labels, dtype=object)
    rows = np.arange(len(a.rows))
    return pd.DataFrame(
        {
            "record": state.patients.cohort.obs_names[a.rows],
            "cluster": a.labels,
            "name": names[a.positions],
            "posterior": a.certainty.round(6),
            "second": a.ids[a.runner_up],
            "second_posterior": a.posterior[rows, a.runner_up].round(6),
        }
    )


def with_small(table: pd.DataFrame, counts: list[str], threshold: int) -> pd.DataFrame:
    """Write whole numbers, and hidden ones as "<11".

    Parameters
    ----------
    table : DataFrame
        Hidden counts are NaN.
    counts : list of str
        Columns of counts.
    threshold : int
        Smaller counts were hidden.

    Returns
    -------
    DataFrame
        A copy for reading.
    """
    shown = table.copy()
    for name in counts:
        values = [f"<{threshold}" if np.isnan(n) else int(n) for n in table[name].astype(float)]
        shown[name] = pd.Series(values, index=table.index, dtype=object)
    return shown


def csv(table: pd.DataFrame) -> bytes:
    """Write a table as CSV that spreadsheets read: UTF-8 with a mark, no formulas.

    Parameters
    ----------
    table : DataFrame
        Names and notes in it were typed by people.

    Returns
    -------
    bytes
        Text that starts like a formula gets an apostrophe.
    """
    text = [str(name) for name in table.select_dtypes(exclude="number")]
    safe = table.copy()
    for name in text:
        safe[name] = table[name].map(_no_formula)
    return safe.to_csv(index=False).encode("utf-8-sig")


def _no_formula(value: object) -> object:
    """Keep spreadsheets from running text as a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
