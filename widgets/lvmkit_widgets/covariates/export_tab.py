"""Export tab of the covariate path: tables, pictures, page, steps."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lvmkit.charts._merges import speaks_for
from lvmkit_widgets.covariates.clusters_tab import tree_fields
from lvmkit_widgets.covariates.path_tab import draw_curves
from lvmkit_widgets.covariates.state import PathState, accuracies_told, likelihoods
from lvmkit_widgets.ui.export import TWICE, Export, page_export, steps_export, table_export

NOTE = (
    "Files hold weights, names of covariates and, where told, accuracies: nothing of single samples, and no counts "
    f"but those of covariates. Names are in them as you passed them. {TWICE}"
)

CLUSTERS = "Size, class, odds ratio, weights and covariates of each."
COVARIATES = "The cluster of each, and what it speaks for by itself."
PATH = "Number of clusters, marginal likelihood and, where told, accuracy at every ν."
TREE = "How the cluster that is picked, or all, came about."


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
    told = accuracies_told(state)
    if told:
        table["accuracy"] = np.asarray(path.accuracies, dtype=float)
    if told and state.held_out is not None:
        table["held_out_accuracy"] = state.held_out
    if told and path.cross_validation is not None:
        table["cross_validation"] = path.cross_validation.mean
        table["standard_error"] = path.cross_validation.std_error
    return table.assign(selected=table["step"] == state.step)


def tree_picture(state: PathState) -> str:
    """Draw the tree of the cluster that is picked, or of all, without links."""
    cluster = None if state.every else state.cluster
    fields = tree_fields(state, state.step, cluster)
    if not fields["svg"]:
        raise ValueError(fields["caption"])
    return fields["svg"]


EXPORTS: tuple[Export[PathState], ...] = (
    table_export("clusters", "Clusters", clusters_table, CLUSTERS),
    table_export("covariates", "Covariates", covariates_table, COVARIATES),
    table_export("path", "Path", path_table, PATH),
    Export("tree", "Tree (SVG)", "clusters-tree.svg", tree_picture, TREE),
    Export("curves", "Curves (SVG)", "along-nu.svg", draw_curves, "What becomes of them along ν."),
    page_export("covariates.html"),
    steps_export("Repeats what was done here."),
)
