"""Logistic regression on sums of covariates whose clusters come from similarity alone."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels
from lvmkit.covariates.base import CovariateClassifier
from lvmkit.covariates.convex_clustering import by_first
from lvmkit.covariates.logistic import sums
from lvmkit.covariates.similarities import Edges, check_similarity
from lvmkit.covariates.similarities.covariance import pooled_covariance


class CovariateSums(CovariateClassifier):
    """Logistic regression on the sums of covariates of clusters that similarity alone decides."""

    # A model adds how it clusters the rows of the similarity (`_clusters`).

    n_iter_: int

    _before: tuple[Edges, Array] | None = None
    """Weights and pulls that a fit of the same points left to the next one of a path."""
    similarity: Any
    _max_iter: ClassVar[int] = 1_000

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Cluster the covariates, then fit the weights of the clusters.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples by covariates.
        y : array-like (n,)
            Class of each sample, at least two.
        sample_weight : array (n,), optional
            How often each sample counts, at least 0; a weight of 2 is the same as two such samples, but for the folds
            of cross-validation. Of AnnData also the name of a column of `obs`. The loss is a sum: `ridge` and ν
            weigh against the sum of the weights.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If an option, the similarity or the data are not as described.
        """
        self._fitted(*self._prepared(X, y, sample_weight))
        self._before = None
        return self

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Any, Labels, Array | None, Array]:
        """Check the data; return samples, numbers of their classes, their weights, and rows of the similarity."""
        self._before = None
        rows, codes, weight = self._checked(X, y, sample_weight)
        return rows, codes, weight, self._points(rows, codes, weight)

    def _fitted(self, rows: Any, which: Labels, weight: Array | None, points: Array) -> Self:
        """Cluster the covariates, and fit the weights of the clusters."""
        self.covariate_labels_ = by_first(self._clusters(points))
        self.n_clusters_ = int(self.covariate_labels_.max()) + 1
        self._fit_weights(sums(rows, self.covariate_labels_, self.n_clusters_), which, weight)
        return self

    @single_threaded_blas()
    def _fit_weights(self, sums: Any, which: Labels, weight: Array | None) -> None:
        """Fit the weights of the clusters, one row for each class."""
        # Two classes have one row of weights in scikit-learn, the difference of ours, w: its square is twice as large
        # as the sum of squares of -w/2 and w/2.
        two = len(self.classes_) == 2
        C = (1 if two else 0.5) / self.ridge
        # Sums of many covariates differ in size, which slows the default solver by a factor of 20.
        model = LogisticRegression(C=C, solver="newton-cg", max_iter=self._max_iter, tol=1e-9)
        model.fit(sums, which, sample_weight=weight)
        coef, intercept = model.coef_, model.intercept_
        if two:
            coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        self.coef_ = coef[:, self.covariate_labels_]
        self.intercept_ = intercept
        self.n_iter_ = int(model.n_iter_.max())

    @abstractmethod
    def _clusters(self, points: Array) -> Labels:
        """Cluster the rows of the similarity."""

    def _points(self, X: Any, y: Any, weight: Array | None) -> Array:
        """Return the rows of the similarity, with what covariates have in common with themselves."""
        S = self.similarity
        if isinstance(S, str):
            if S != "covariance":
                msg = f"similarity={S!r} is not known; expected 'covariance', numbers (d, d), or a function of X and y"
                raise ValueError(msg)
            return np.maximum(pooled_covariance(X, y, weight), 0)
        if callable(S):
            S = S(X, y)
        first, second, values = check_similarity(S, X.shape[1])
        points = np.zeros((X.shape[1], X.shape[1]))
        points[first, second] = points[second, first] = values
        diagonal = (
            S.diagonal() if sparse.issparse(S) else np.diagonal(np.asarray(S, dtype=np.float64))
        )
        np.fill_diagonal(points, diagonal if np.any(diagonal) else points.max(axis=1))
        return points
