"""Results of a path of covariate clusterings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import require_number, sample_weights
from lvmkit.covariates.base import SampleReader
from lvmkit.covariates.marginal_likelihood import Refit


@dataclass(frozen=True)
class CovariateSolution:
    """The clusters of covariates for one ν.

    Attributes
    ----------
    nu : float
        How strongly covariates are drawn together.
    coef : array (c, d)
        Weights, equal within clusters; 0 for covariates that are not selected.
    intercept : array (c,)
        Intercepts.
    labels : array of int (d,)
        Cluster of each covariate, numbered by first covariates; -1 if it is not selected.
    n_clusters : int
        Clusters.
    objective : float
        Equation (1) of Andrade 2021.
    gap : float
        Relative duality gap: the objective is at most so far above the optimum.
    converged : bool
        Whether the gap is within the tolerance.
    n_iter : int
        Newton steps.
    log_marginal_likelihood : float
        Of the logistic regression on the sums of the clusters, by Laplace's approximation.
    accuracy : float
        Of that regression, on the samples it was fitted to.
    cluster_coef : array (c, n_clusters)
        Its weights.
    cluster_intercept : array (c,)
        Its intercepts.
    """

    nu: float
    coef: Array
    intercept: Array
    labels: Labels
    n_clusters: int
    objective: float
    gap: float
    converged: bool
    n_iter: int
    log_marginal_likelihood: float
    accuracy: float
    cluster_coef: Array
    cluster_intercept: Array


@dataclass(frozen=True)
class CrossValidation:
    """Held-out accuracy along the path; the clusters are found anew in each fold.

    Attributes
    ----------
    mean : array (n_nus,)
        Mean accuracy over the folds.
    std_error : array (n_nus,)
        Its standard error.
    chosen : int
        The solution with fewest clusters whose mean is within one standard error of the best.
    """

    mean: Array
    std_error: Array
    chosen: int


@dataclass(frozen=True)
class CovariateClusterPath(Sequence[CovariateSolution]):
    """Solutions along ν, in the order in which the values of ν were given.

    Attributes
    ----------
    solutions : tuple of CovariateSolution
        One for each ν.
    classes : array (c,)
        Classes.
    class_counts : array of int (c,)
        Samples of each class.
    feature_names : array of str (d,) or None
        Names of the covariates.
    ridge : float
        λ.
    prior_variance : float
        σ² of the prior of the marginal likelihood.
    cross_validation : CrossValidation or None
        If it was asked for.
    """

    solutions: tuple[CovariateSolution, ...]
    classes: Any
    class_counts: Labels
    feature_names: Any
    ridge: float
    prior_variance: float
    cross_validation: CrossValidation | None = None

    def __len__(self) -> int:
        """Count the solutions."""
        return len(self.solutions)

    @overload
    def __getitem__(self, index: int) -> CovariateSolution: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CovariateSolution, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return a solution by its place."""
        return self.solutions[index]

    @property
    def n_samples(self) -> int:
        """Samples that the path was fitted to."""
        return int(self.class_counts.sum())

    @property
    def nus(self) -> Array:
        """Values of ν, (n_nus,)."""
        return np.array([each.nu for each in self.solutions])

    @property
    def n_clusters(self) -> Labels:
        """Number of clusters of each solution, (n_nus,)."""
        return np.array([each.n_clusters for each in self.solutions])

    @property
    def log_marginal_likelihoods(self) -> Array:
        """Log marginal likelihood of each solution, (n_nus,)."""
        return np.array([each.log_marginal_likelihood for each in self.solutions])

    @property
    def accuracies(self) -> Array:
        """Accuracy of each solution's refit on its own samples, (n_nus,)."""
        return np.array([each.accuracy for each in self.solutions])

    @property
    def best(self) -> int:
        """Place of the most plausible solution: the highest marginal likelihood, the fewest clusters among equals."""
        order = np.lexsort((self.nus, -self.n_clusters, self.log_marginal_likelihoods))
        return int(order[-1])

    def with_n_clusters(self, n_clusters: int) -> int:
        """Return the place of the solution whose number of clusters is nearest, with the smallest ν among equals.

        Parameters
        ----------
        n_clusters : int
            Clusters wanted, at least 1.

        Returns
        -------
        int
            Place on the path.
        """
        require_number(n_clusters, "n_clusters", least=1, whole=True)
        return int(np.lexsort((self.nus, np.abs(self.n_clusters - n_clusters)))[0])

    def ascending(self) -> "CovariateClusterPath":
        """Return the same path with ν ascending, from many clusters to few."""
        order = np.argsort(self.nus, kind="stable")
        validation = self.cross_validation
        if validation is not None:
            chosen = int(np.flatnonzero(order == validation.chosen)[0])
            validation = CrossValidation(
                validation.mean[order], validation.std_error[order], chosen
            )
        return replace(
            self, solutions=tuple(self.solutions[k] for k in order), cross_validation=validation
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Return the accuracy of each solution's refit on other samples.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples.
        y : array-like (n,)
            Their classes; one that the path does not know counts as missed.
        sample_weight : array (n,), optional
            How often each sample counts.

        Returns
        -------
        array (n_nus,)
            Shares of samples whose most probable class is theirs.
        """
        reader = SampleReader()
        reader.n_features_in_, reader.classes_ = self.solutions[0].coef.shape[1], self.classes
        if self.feature_names is not None:
            reader.feature_names_in_ = self.feature_names
        rows, codes = reader.read(X, y)
        weight = sample_weights(sample_weight, rows.shape[0], X)
        return np.array([accuracy_on(each, rows, codes, weight) for each in self.solutions])


def accuracy_on(
    solution: CovariateSolution, rows: Any, codes: Labels, weight: Array | None = None
) -> float:
    """Return the accuracy of a solution's refit on samples with the numbers of their classes. weight (n,)."""
    weights = np.vstack([solution.cluster_coef.T, solution.cluster_intercept])
    return Refit(weights, 0.0, 0.0).right(rows, codes, solution.labels, weight)
