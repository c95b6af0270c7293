"""Results of a path of covariate clusterings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, overload

import numpy as np

from lvmkit.core.stored import StoredModel, require_shape
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import require_number, sample_weights
from lvmkit.covariates.base import CLASSES, SampleReader, classes_from, require_clusters
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


_EACH = {
    "nus": "n",
    "objectives": "f",
    "gaps": "f",
    "converged": "b",
    "n_iters": "i",
    "log_marginal_likelihoods": "f",
    "accuracies": "f",
}
"""Arrays of a file with a number for each solution."""
_VECTORS = {"coefs": "f", "intercepts": "f", "labels": "i"}
_REFITS = {"cluster_coefs": "f", "cluster_intercepts": "f"}
_CROSS = ("cross_mean", "cross_std_error")
PREFIX = "path_"


@dataclass(frozen=True)
class CovariateClusterPath(Sequence[CovariateSolution], StoredModel):
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

    _annotated = False
    _array_kinds: ClassVar[dict[str, str]] = {
        PREFIX + name: kind
        for name, kind in (
            _EACH
            | _VECTORS
            | _REFITS
            | {"class_counts": "i", "ridge": "f", "prior_variance": "f"}
            | dict.fromkeys(_CROSS, "f")
            | {"cross_chosen": "i"}
        ).items()
    }

    def _is_fitted(self) -> bool:
        """Return whether there is something to store."""
        return bool(self.solutions)

    def _stored_names(self) -> Any:
        """Return the names of the covariates, or None."""
        return self.feature_names

    def _header_parts(self) -> dict[str, Any]:
        """Return the classes."""
        return {CLASSES: self.classes.tolist()}

    def _to_arrays(self) -> dict[str, Any]:
        """Return an array for each attribute of the solutions; those of clusters stand one after the other."""
        every = self.solutions
        arrays: dict[str, Any] = {
            "nus": self.nus,
            "objectives": [each.objective for each in every],
            "gaps": [each.gap for each in every],
            "converged": [each.converged for each in every],
            "n_iters": [each.n_iter for each in every],
            "log_marginal_likelihoods": self.log_marginal_likelihoods,
            "accuracies": self.accuracies,
            "coefs": [each.coef for each in every],
            "intercepts": [each.intercept for each in every],
            "labels": [each.labels for each in every],
            "cluster_coefs": np.hstack([each.cluster_coef for each in every]),
            "cluster_intercepts": [each.cluster_intercept for each in every],
            "class_counts": self.class_counts,
            "ridge": self.ridge,
            "prior_variance": self.prior_variance,
        }
        crossed = self.cross_validation
        if crossed is not None:
            held_out = (crossed.mean, crossed.std_error, crossed.chosen)
            arrays |= dict(zip((*_CROSS, "cross_chosen"), held_out, strict=True))
        return {PREFIX + name: np.asarray(values) for name, values in arrays.items()}

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return the path; refuse arrays that do not fit together."""
        classes, names = classes_from(header), header["feature_names"]
        m, c, d = arrays[PREFIX + "coefs"].shape
        if not m or c != len(classes) or (names is not None and len(names) != d):
            msg = f"its {m} solutions are of {c} classes and {d} covariates; it names {len(classes)} classes"
            raise ValueError(msg)
        shapes = dict.fromkeys(_EACH, (m,)) | {
            "class_counts": (c,),
            "ridge": (),
            "prior_variance": (),
        }
        shapes |= {"intercepts": (m, c), "cluster_intercepts": (m, c), "labels": (m, d)}
        crossed = PREFIX + _CROSS[0] in arrays
        if crossed:
            shapes |= dict.fromkeys(_CROSS, (m,)) | {"cross_chosen": ()}
        part = {name.removeprefix(PREFIX): values for name, values in arrays.items()}
        sizes = np.array([require_clusters(labels) for labels in part["labels"]])
        for name, shape in (shapes | {"cluster_coefs": (c, int(sizes.sum()))}).items():
            require_shape(arrays, PREFIX + name, shape)
        _require_numbers(part, crossed=crossed)
        ends = np.cumsum(sizes)
        solutions = tuple(
            CovariateSolution(
                nu=float(part["nus"][i]),
                coef=part["coefs"][i],
                intercept=part["intercepts"][i],
                labels=part["labels"][i],
                n_clusters=int(sizes[i]),
                objective=float(part["objectives"][i]),
                gap=float(part["gaps"][i]),
                converged=bool(part["converged"][i]),
                n_iter=int(part["n_iters"][i]),
                log_marginal_likelihood=float(part["log_marginal_likelihoods"][i]),
                accuracy=float(part["accuracies"][i]),
                cluster_coef=part["cluster_coefs"][:, ends[i] - sizes[i] : ends[i]],
                cluster_intercept=part["cluster_intercepts"][i],
            )
            for i in range(m)
        )
        return cls(
            solutions,
            classes,
            part["class_counts"],
            None if names is None else np.asarray(names, dtype=object),
            float(part["ridge"]),
            float(part["prior_variance"]),
            CrossValidation(part["cross_mean"], part["cross_std_error"], int(part["cross_chosen"]))
            if crossed
            else None,
        )

    def _check_stored(self) -> None:
        """There are no options."""

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


def _require_numbers(part: dict[str, Any], *, crossed: bool) -> None:
    """Refuse numbers of a file that no path has."""
    bounds = {"nus": np.inf, "accuracies": 1, "class_counts": np.inf, "n_iters": np.inf}
    bounds |= {"ridge": np.inf, "prior_variance": np.inf}
    if crossed:
        bounds |= {_CROSS[0]: 1, _CROSS[1]: np.inf, "cross_chosen": len(part["nus"]) - 1}
    for name, most in bounds.items():
        if not ((part[name] >= 0) & (part[name] <= most)).all():
            msg = f"{name} of the path are from {part[name].min():g} to {part[name].max():g}"
            raise ValueError(msg)


def accuracy_on(
    solution: CovariateSolution, rows: Any, codes: Labels, weight: Array | None = None
) -> float:
    """Return the accuracy of a solution's refit on samples with the numbers of their classes. weight (n,)."""
    weights = np.vstack([solution.cluster_coef.T, solution.cluster_intercept])
    return Refit(weights, 0.0, 0.0).right(rows, codes, solution.labels, weight)
