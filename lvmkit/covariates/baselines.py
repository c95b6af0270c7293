"""Baselines: covariates clustered by similarity first (k-means, convex clustering), classified then."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from lvmkit.core.linalg import random_state_of
from lvmkit.core.options import Option, number, seed
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import DataWarning
from lvmkit.covariates.convex_clustering import convex_clusters, kernel_weights
from lvmkit.covariates.sums import CovariateSums

__all__ = ["CovariateConvexClustering", "CovariateKMeans", "covariate_baseline_path"]

Similarity = str | Array | Callable[[Any, Any], Any] | Any


class CovariateKMeans(CovariateSums):
    """Cluster covariates with k-means, then classify by the sums of the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters of covariates, at most d.
    ridge : float, default=0.1
        Factor of the squared weights of the clusters, λ; above 0.
    similarity : "covariance", array or sparse array (d, d), or callable, default="covariance"
        Similarity of the covariates, whose rows are the points: that of `similarities.class_covariance`, numbers, or a
        function of X and y that returns them. A diagonal of zeros is filled with the largest similarity of each
        row, a covariate being at least that similar to itself.
    n_init : int, default=10
        Starts, of which the best is kept.
    random_state : int, Generator or None, default=0
        Seed of the starts (k-means++).

    Attributes
    ----------
    covariate_labels_ : array of int (d,)
        Cluster of each covariate, numbered by first covariates.
    n_clusters_ : int
        Clusters found: fewer than asked for where rows are equal.
    coef_ : array (c, d)
        Weights, equal within clusters.
    intercept_ : array (c,)
        Intercepts.
    classes_ : array (c,)
        Classes.
    n_iter_ : int
        Steps of the logistic regression.
    n_features_in_ : int
        Covariates, d.
    feature_names_in_ : array of str (d,)
        Their names, if the data had any.

    Notes
    -----
    A baseline of Andrade 2021, section 4.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(200, 20, similarity_agrees=True)
    >>> model = CovariateKMeans(10).fit(data.X, data.y)
    >>> model.coef_.shape, model.transform(data.X).shape
    ((4, 20), (200, 10))
    """

    _options: ClassVar[Mapping[str, Option]] = {
        "ridge": number(0, above=True),
        "n_clusters": number(1, whole=True),
        "n_init": number(1, whole=True),
        "random_state": seed,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        ridge: float = 0.1,
        similarity: Similarity = "covariance",
        n_init: int = 10,
        random_state: RandomState = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.ridge = ridge
        self.similarity = similarity
        self.n_init = n_init
        self.random_state = random_state

    @single_threaded_blas()
    def _clusters(self, points: Array) -> Labels:
        """Cluster the rows of the similarity."""
        seed = random_state_of(self.random_state)
        # More clusters than distinct rows would warn; each is then a cluster.
        distinct, which = np.unique(points, axis=0, return_inverse=True)
        if self.n_clusters > len(points):
            msg = f"n_clusters={self.n_clusters}, but X has n_features={len(points)}; choose at most as many"
            raise ValueError(msg)
        if self.n_clusters >= len(distinct):
            return which.ravel()
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        return means.fit(points).labels_


class CovariateConvexClustering(CovariateSums):
    """Cluster covariates with convex clustering, then classify by the sums of the clusters.

    Parameters
    ----------
    gamma : float, default=1.0
        How strongly covariates are drawn together; 0 leaves each alone.
    ridge : float, default=0.1
        Factor of the squared weights of the clusters, λ; above 0.
    similarity : "covariance", array or sparse array (d, d), or callable, default="covariance"
        Similarity of the covariates, whose rows are the points: that of `similarities.class_covariance`, numbers, or a
        function of X and y that returns them. A diagonal of zeros is filled with the largest similarity of each
        row, a covariate being at least that similar to itself.
    phi : float, default=0.5
        Pairs of rows weigh exp(−phi × squared distance).
    n_neighbors : int or None, default=None
        Let only pairs weigh of which one is among so many nearest rows of the other: 5 in Andrade 2021 for more than
        1,000 covariates, as memory grows with pairs × covariates. None takes all pairs.
    max_iter : int, default=20000
        Most steps; a `DataWarning` says where they did not do.

    Attributes
    ----------
    covariate_labels_ : array of int (d,)
        Cluster of each covariate, numbered by first covariates.
    n_clusters_ : int
        Clusters found.
    coef_ : array (c, d)
        Weights, equal within clusters.
    intercept_ : array (c,)
        Intercepts.
    classes_ : array (c,)
        Classes.
    gap_ : float
        Relative duality gap of the clustering.
    n_iter_ : int
        Steps of the logistic regression.
    n_features_in_ : int
        Covariates, d.
    feature_names_in_ : array of str (d,)
        Their names, if the data had any.

    Notes
    -----
    A baseline of Andrade 2021, section 4: Chi 2015, with strengths from 0 to
    5 and phi = 0.5.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(400, 40, similarity_agrees=True)
    >>> model = CovariateConvexClustering(0.5).fit(data.X, data.y)
    >>> model.n_clusters_, (model.covariate_labels_ == data.labels).all().item()
    (10, True)
    """

    gap_: float

    _options: ClassVar[Mapping[str, Option]] = {
        "ridge": number(0, above=True),
        "gamma": number(0),
        "phi": number(0),
        "n_neighbors": number(1, whole=True, optional=True),
        "max_iter": number(1, whole=True),
    }

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        ridge: float = 0.1,
        similarity: Similarity = "covariance",
        phi: float = 0.5,
        n_neighbors: int | None = None,
        max_iter: int = 20_000,
    ) -> None:
        self.gamma = gamma
        self.ridge = ridge
        self.similarity = similarity
        self.phi = phi
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter

    def _clusters(self, points: Array) -> Labels:
        """Cluster the rows of the similarity."""
        edges, start = self._before or (kernel_weights(points, self.phi, self.n_neighbors), None)
        found = convex_clusters(points, edges, self.gamma, start=start, max_iter=self.max_iter)
        self.gap_, self._before = found.gap, (edges, found.dual)
        if found.n_iter >= self.max_iter:
            msg = (
                f"convex clustering stopped after max_iter={self.max_iter} steps with a relative gap of "
                f"{found.gap:.1g}: clusters may be too few; raise max_iter"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        return found.labels


def covariate_baseline_path(
    model: CovariateKMeans | CovariateConvexClustering,
    X: Any,
    y: Any,
    *,
    values: Iterable[float],
    sample_weight: Any = None,
) -> list[CovariateKMeans | CovariateConvexClustering]:
    """Fit a baseline for many numbers of clusters, or strengths, to the same data.

    Parameters
    ----------
    model : CovariateKMeans or CovariateConvexClustering
        The other options; it is not fitted itself.
    X : array, sparse array, DataFrame or AnnData (n, d)
        Samples by covariates.
    y : array-like (n,)
        Class of each sample.
    values : iterable of number
        Numbers of clusters, or strengths gamma; best in ascending order, as each starts from the one before.
    sample_weight : array (n,), optional
        How often each sample counts, as in `fit`.

    Returns
    -------
    list of CovariateKMeans or CovariateConvexClustering
        A fitted model for each value. The similarity is computed once.

    Raises
    ------
    ValueError
        If an option, the similarity or the data are not as described.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(400, 40, similarity_agrees=True)
    >>> path = covariate_baseline_path(CovariateConvexClustering(), data.X, data.y, values=[0, 0.5, 5])
    >>> [each.n_clusters_ for each in path]
    [40, 10, 1]
    """
    if not isinstance(model, CovariateKMeans | CovariateConvexClustering):
        msg = f"model must be a CovariateKMeans or CovariateConvexClustering; found {type(model).__name__}"
        raise TypeError(msg)
    values = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else []
    if not values or not all(isinstance(v, Real) and v == v for v in values):
        msg = "values must be a list of numbers, one or more: numbers of clusters, or strengths"
        raise ValueError(msg)
    option = "n_clusters" if isinstance(model, CovariateKMeans) else "gamma"
    last = clone(model)
    data = last._prepared(X, y, sample_weight)
    path = []
    for value in values:
        each = copy(last).set_params(**{option: value})
        path.append(each._fitted(*data))
        last._before, last = None, each
    last._before = None
    return path
