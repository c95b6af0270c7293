"""Clusters, covariates and the path as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lvmkit.charts._merges import speaks_for
from lvmkit.core.typing import Array
from lvmkit.disclosure.text import coarse
from lvmkit_widgets.covariates.state import PathState


def clusters_table(state: PathState) -> pd.DataFrame:
    """Return one row per cluster of the solution that is looked at."""
    weights = state.weights
    best, odds = speaks_for(weights)
    k = weights.shape[1]
    told = {f"weight_{name}": weights[c] for c, name in enumerate(state.classes)}
    members = ["; ".join(state.names[j] for j in state.members(i)) for i in range(k)]
    return pd.DataFrame(
        {
            "cluster": np.arange(k),
            "size": np.bincount(state.labels[state.labels >= 0], minlength=k),
            "class": [state.classes[c] for c in best],
            "odds_ratio": odds,
            **told,
            "covariates": members,
        }
    )


def covariates_table(state: PathState) -> pd.DataFrame:
    """Return one row per covariate."""
    labels, there = state.labels, state.labels >= 0
    best, odds = speaks_for(state.weights)
    own, own_odds = speaks_for(state.alone)
    table = pd.DataFrame(
        {"covariate": state.names, "cluster": labels, "class": "", "odds_ratio": np.nan}
    )
    table.loc[there, "class"] = [state.classes[c] for c in best[labels[there]]]
    table.loc[there, "odds_ratio"] = odds[labels[there]]
    table["own_class"] = [state.classes[c] for c in own]
    table["own_odds_ratio"] = own_odds
    for c, name in enumerate(state.classes):
        table[f"weight_{name}"] = 0.0
        table.loc[there, f"weight_{name}"] = state.weights[c, labels[there]]
    return table


def likelihoods(state: PathState) -> Array:
    """Return the log marginal likelihood of every solution, of people no finer than a pixel of its curve."""
    values = np.asarray(state.path.log_marginal_likelihoods, dtype=float)
    known = values[np.isfinite(values)]
    return (
        coarse(values, float(np.ptp(known)) if known.size > 1 else 0.0) if state.private else values
    )


def accuracies_told(state: PathState) -> bool:
    """Tell whether accuracies give no small count away: not 1 to 10 people are classified wrongly, or rightly."""
    if not state.private:
        return True
    path, n = state.path, int(state.path.n_samples)
    known = [(path.accuracies, n)]
    if state.held_out is not None:
        known.append((state.held_out, state.n_held_out))
    if path.cross_validation is not None:
        known.append((path.cross_validation.mean, n))
    shares = [(np.asarray(values, dtype=float), size) for values, size in known]
    counts = np.concatenate([size * part for one, size in shares for part in (one, 1 - one)])
    return not bool(((counts >= 0.5) & (counts < state.disclosure.threshold - 0.5)).any())


def path_table(state: PathState) -> pd.DataFrame:
    """Return one row per solution."""
    path = state.path
    table = pd.DataFrame(
        {
            "step": np.arange(len(path)),
            "nu": np.asarray(path.nus, dtype=float),
            "clusters": np.asarray(path.n_clusters),
            "log_marginal_likelihood": likelihoods(state),
        }
    )
    if not accuracies_told(state):
        return table.assign(selected=table["step"] == state.step)
    table["accuracy"] = np.asarray(path.accuracies, dtype=float)
    if state.held_out is not None:
        table["held_out_accuracy"] = state.held_out
    if path.cross_validation is not None:
        table["cross_validation"] = path.cross_validation.mean
        table["standard_error"] = path.cross_validation.std_error
    return table.assign(selected=table["step"] == state.step)
