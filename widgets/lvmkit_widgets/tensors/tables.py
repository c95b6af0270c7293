"""Entries, models and samples as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lvmkit_widgets.tensors.disclosure import rounded_bic, shown_model, sizes_of, strengths
from lvmkit_widgets.tensors.state import TensorState


def entries_table(state: TensorState, index: int | None = None) -> pd.DataFrame:
    """Return one row per selected entry, strongest first."""
    at = state.index if index is None else index
    model, modes = state.solutions[at].model, state.modes
    strength = strengths(state, at)
    chosen = np.flatnonzero(np.asarray(model.selected_).ravel())
    chosen = chosen[np.argsort(-np.nan_to_num(strength[chosen]), kind="stable")]
    means, weights = shown_model(state, at)
    indices = np.unravel_index(chosen, modes.shape)
    table = pd.DataFrame({"entry": chosen})
    for name, labels, j in zip(modes.names, modes.labels, indices, strict=True):
        table[name if name not in table else f"{name} "] = np.array(labels, dtype=object)[j]
    table["strength"] = strength[chosen]
    for k in range(1, len(means)):
        table[f"discriminant_{k}"] = weights[k - 1].ravel()[chosen]
    for k in range(len(means)):
        table[f"mean_{k}"] = means[k].ravel()[chosen]
    return table


def samples_table(state: TensorState) -> pd.DataFrame:
    """Return the cluster of every sample: for this machine, not to be shared."""
    theta = state.posteriors(state.index)
    order = np.argsort(-theta, axis=1, kind="stable")
    rows = np.arange(len(theta))
    table = pd.DataFrame({"sample": state.samples.ids})
    if state.samples.groups is not None:
        table["group"] = state.samples.groups
    table["cluster"], table["posterior"] = order[:, 0], theta[rows, order[:, 0]].round(6)
    if theta.shape[1] > 1:
        table["second"] = order[:, 1]
        table["second_posterior"] = theta[rows, order[:, 1]].round(6)
    return table


def models_table(state: TensorState) -> pd.DataFrame:
    """Return one row per model."""
    bic = rounded_bic(state)
    rows: list[dict[str, Any]] = [
        {
            "n_components": one.n_components,
            "penalty": one.penalty,
            "bic": bic[i],
            "n_selected": one.n_selected,
            "log_likelihood": float(getattr(one.model, "log_likelihood_", np.nan)),
            "clusters": "; ".join(map(str, sizes_of(state, i)[0])),
            "best": one.best,
            "selected": i == state.index,
        }
        for i, one in enumerate(state.solutions)
    ]
    table = pd.DataFrame(rows)
    return table.drop(columns="log_likelihood") if state.suppressing else table
