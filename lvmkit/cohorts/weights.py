"""Weights of records: how many of the population each one stands for, as surveys tell."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from lvmkit.cohorts._cleaning_log import number_of
from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array
from lvmkit.core.validation import listed

__all__ = ["sample_weight"]


@checked()
def sample_weight(cohort: AnnData) -> Array | None:
    """Return the weights of a cohort's records.

    They are a column of ``obs`` that ``uns["cohort"]["weight"]`` names. `from_events`, `from_wide` and `from_counts`
    write it there when they are told ``weight=``. Models and counts weigh by it when it is passed to them as
    ``sample_weight``; the cluster explorer and the workbench do without being asked.

    Parameters
    ----------
    cohort : AnnData
        Records by codes.

    Returns
    -------
    array (n,) or None
        How many of the population each record stands for, 0 or more; None where the cohort has no weights.

    Raises
    ------
    ValueError
        If ``obs`` has no such column, or it holds anything but numbers of 0 or more.

    Examples
    --------
    >>> import pandas as pd
    >>> from lvmkit import cohorts
    >>> stays = pd.DataFrame({"dx1": ["428", "250"], "dx2": ["584", ""], "stands_for": [310, 95]})
    >>> cohort = cohorts.from_wide(stays, codes=["dx1", "dx2"], weight="stands_for", min_codes=1)
    >>> cohorts.sample_weight(cohort).tolist()
    [310.0, 95.0]
    """
    column = weight_column(cohort)
    return None if column is None else _checked(cohort, column)


def weight_column(cohort: Any) -> str | None:
    """Return the column of ``obs`` that holds the weights, if the cohort has any."""
    about = cohort.uns.get("cohort", {}) if hasattr(cohort, "uns") else {}
    name = about.get("weight") if isinstance(about, Mapping) else None
    return None if name is None else str(name)


def not_weighted(cohort: Any) -> str:
    """Say, of a cohort with weights, that they are not used; "" of others."""
    name = weight_column(cohort)
    return "" if name is None else f"every record counts once, not weighted by “{name}”"


def declare(cohort: AnnData, column: str | None) -> AnnData:
    """Note which column of ``obs`` holds the weights, once it is known to hold some."""
    if column is not None:
        _checked(cohort, column)
        cohort.uns["cohort"]["weight"] = column
    return cohort


def with_weight(attributes: Iterable[str], column: str | None) -> list[str]:
    """Add the column of weights to those that are kept."""
    kept = list(attributes)
    return kept if column is None or column in kept else [*kept, column]


def _checked(cohort: AnnData, column: str) -> Array:
    """Return a column of ``obs`` as weights; refuse what is none."""
    if column not in cohort.obs:
        msg = (
            f"weight={column!r} is no column of obs, which has {listed(list(cohort.obs.columns))}; put the "
            "weights back there, or take uns['cohort']['weight'] out to count every record as one."
        )
        raise ValueError(msg)
    values = cohort.obs[column]
    weights = pd.to_numeric(values.astype(object), errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        msg = (
            f"weight={column!r} must hold finite numbers of 0 or more; found {listed(values.iloc[wrong].tolist())} in "
            f"{number_of(len(wrong), 'record')} ({listed(cohort.obs_names[wrong].tolist())}). Leave these records out."
        )
        raise ValueError(msg)
    if not weights.any():
        msg = f"weight={column!r} is 0 for every record: none would count."
        raise ValueError(msg)
    return weights
