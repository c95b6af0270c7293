"""Simulated classes whose weights are equal within clusters of covariates, whether correlated or not."""

from typing import NamedTuple

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import require_flag
from lvmkit.datasets.simulate import check_sizes

__all__ = ["SimulatedCovariates", "make_covariate_clusters"]

WEIGHT_STEP = 0.5
"""How much larger the weight of each cluster is than that of the one before."""
GROUP_CORRELATION = 0.9
"""Correlation of two covariates of a similarity group."""


class SimulatedCovariates(NamedTuple):
    """Simulated samples of classes, and the clusters of covariates behind them.

    Attributes
    ----------
    X : array (n, d)
        Samples by covariates.
    y : array of int (n,)
        Class of each sample, 0 to c - 1.
    labels : array of int (d,)
        Cluster of each covariate: those with equal weights.
    similarity_groups : array of int (d,)
        Group of each covariate: those that are correlated within a class.
    coef : array (c, d)
        True weights, which are also the means of the classes.
    similarity : array (d, d)
        Correlation within a class: 0.9 within a similarity group, 0 elsewhere and, as in all similarities of
        lvmkit, on the diagonal.
    description : str
        How the data were made.
    """

    X: Array
    y: Labels
    labels: Labels
    similarity_groups: Labels
    coef: Array
    similarity: Array
    description: str


@checked(n_samples=1)
def make_covariate_clusters(
    n_samples: int = 400,
    n_features: int = 40,
    *,
    n_classes: int = 4,
    n_clusters: int = 10,
    similarity_agrees: bool = False,
    random_state: RandomState = 0,
) -> SimulatedCovariates:
    """Simulate classes whose weights are equal within clusters of covariates.

    Covariates lie evenly in clusters. The weight of a covariate of cluster k (from 0) is 0.5(k + 1) for class
    k mod c and 0 for the others. A sample of class y is normal around its row of weights, with variances 1
    and correlations 0.9 between covariates of a similarity group.

    Parameters
    ----------
    n_samples : int, default=400
        Samples, n; as many of each class, or one more of the first ones.
    n_features : int, default=40
        Covariates, d.
    n_classes : int, default=4
        Classes, c.
    n_clusters : int, default=10
        Clusters of covariates, at most d.
    similarity_agrees : bool, default=False
        Whether similarity groups are the clusters. Otherwise each covers two neighboring clusters, which belong to
        different classes.
    random_state : int, Generator, RandomState or None, default=0
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedCovariates
        X, y, labels, similarity_groups, coef, similarity, description.

    Raises
    ------
    ValueError
        If a size is below 1, or there are fewer covariates than clusters.

    Notes
    -----
    The synthetic data of Andrade 2021, section 4 and figures 1 and 2.

    Examples
    --------
    >>> data = make_covariate_clusters(40, 20)
    >>> data.X.shape, data.labels[:6].tolist(), data.similarity_groups[:6].tolist()
    ((40, 20), [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1])
    >>> data.coef[:, [0, 2, 8]].tolist()
    [[0.5, 0.0, 2.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    sizes = {"n_samples": n_samples, "n_features": n_features}
    check_sizes(sizes | {"n_classes": n_classes, "n_clusters": n_clusters})
    if n_clusters > n_features:
        msg = f"n_clusters={n_clusters} is more than n_features={n_features}; a cluster needs a covariate."
        raise ValueError(msg)
    require_flag(similarity_agrees, "similarity_agrees")
    rng = generator_of(random_state)
    labels = np.arange(n_features) * n_clusters // n_features
    groups = labels if similarity_agrees else labels // 2
    coef = np.zeros((n_classes, n_features))
    coef[labels % n_classes, np.arange(n_features)] = WEIGHT_STEP * (labels + 1)
    y = np.arange(n_samples) % n_classes
    # The common part of a group and the part of each covariate add up to the covariance, which is never factored.
    common = rng.standard_normal((n_samples, int(groups[-1]) + 1))[:, groups]
    own = rng.standard_normal((n_samples, n_features))
    X = coef[y] + np.sqrt(GROUP_CORRELATION) * common + np.sqrt(1 - GROUP_CORRELATION) * own
    similarity = np.where(groups[:, np.newaxis] == groups, GROUP_CORRELATION, 0.0)
    np.fill_diagonal(similarity, 0.0)
    kind = "agrees with" if similarity_agrees else "contradicts"
    description = (
        f"{n_classes} classes, {n_clusters} clusters of covariates; the similarity {kind} them."
    )
    return SimulatedCovariates(X, y, labels, groups.copy(), coef, similarity, description)
