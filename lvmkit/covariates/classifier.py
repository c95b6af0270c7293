"""CovariateClusteringClassifier: classification and clustering of covariates in one convex problem."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from lvmkit.core.options import Option, flag, number
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.core.validation import DataWarning, require_number
from lvmkit.covariates.base import CovariateClassifier, as_graph, warn_of_constants
from lvmkit.covariates.logistic import one_hot, sums
from lvmkit.covariates.marginal_likelihood import refit as refitted
from lvmkit.covariates.path import N_FOLDS, checked_nus, covariate_path
from lvmkit.covariates.selection import select_covariates
from lvmkit.covariates.solutions import CovariateClusterPath, CovariateSolution
from lvmkit.covariates.solver import Fused, Solver

CHOICES = ("marginal_likelihood", "cross_validation")


class CovariateClusteringClassifier(CovariateClassifier):
    """Multinomial logistic regression that draws the weights of similar covariates together until they are equal.

    The weights B (c, d) and intercepts minimize, over samples s and pairs of covariates i < j,
    -sum_s log P(y_s | x_s) + ridge |B|² + nu sum_ij S_ij |b_i - b_j|, and, with `selection`, + selection sum_i |b_i|.
    Covariates with equal columns of B are a cluster: similar ones that also mean the same for the classes.

    Parameters
    ----------
    nu : float or {"marginal_likelihood", "cross_validation"}, default=1.0
        How strongly covariates are drawn together, ν: from 0, where each is alone, to infinity, where all that are
        connected by similarities are one cluster. By name, it is chosen along `covariate_path`: where the marginal
        likelihood is highest, or by 5-fold cross-validation with the rule of one standard error.
    n_clusters : int, optional
        Choose the ν along the path whose number of clusters is nearest to this instead.
    ridge : float, default=0.1
        λ, above 0; not divided by the number of samples.
    similarity : "covariance", array or sparse array (d, d), or callable, default="covariance"
        S, symmetric and at least 0; only similar covariates are compared. "covariance" estimates it from X
        (`similarities.class_covariance`); `lvmkit.similarities` has others, from embeddings, neighbors or hierarchies
        of codes. A function is called with X and the numbers of the classes.
    selection : float or "before", default=0.0
        Group lasso that leaves covariates out: its strength, jointly with the clustering; or "before", which first
        selects covariates by the marginal likelihood (`select_covariates`), on all samples: cross-validation of ν does
        not see that choice.
    refit : bool, default=False
        Whether `coef_` and `intercept_` are those of the logistic regression on the sums of the clusters, which nothing
        draws together, as in section 3 of the document; its squared weights count with 1 / (2 σ²) if ν is chosen along
        a path, else with `ridge`. Otherwise they are the solution of the problem itself.
    tol : float, default=1e-5
        Relative duality gap to reach.
    max_iter : int, default=500
        Newton steps for one ν.

    Attributes
    ----------
    coef_ : array (c, d)
        Weights, exactly equal within clusters.
    intercept_ : array (c,)
        Intercepts; they sum to zero.
    classes_ : array (c,)
        Classes.
    covariate_labels_ : array of int (d,)
        Cluster of each covariate, numbered by first covariates; -1 for covariates that are not selected.
    n_clusters_ : int
        Clusters.
    nu_ : float
        ν of the solution.
    objective_ : float
        Equation (1), with each pair once.
    gap_ : float
        Relative duality gap: the objective is at most gap_ times itself above the optimum.
    converged_ : bool
        Whether the gap is within `tol`.
    n_iter_ : int
        Newton steps.
    path_ : CovariateClusterPath
        The path, if ν was chosen along it.
    n_features_in_ : int
        Covariates, d.
    feature_names_in_ : array of str (d,)
        Their names, if the data had any.

    See Also
    --------
    covariate_path : All values of ν.
    CovariateKMeans : Clusters by similarity alone.

    Notes
    -----
    Andrade 2021, equation (1). The solver is not the published ADMM
    (`covariates.admm`): norms are smoothed a little, Newton's method solves the problem between groups of covariates
    that have met, and flows along the edges of each group certify it or take it apart.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(400, 40)
    >>> model = CovariateClusteringClassifier(nu=0.01).fit(data.X, data.y)
    >>> model.converged_, bool(model.gap_ <= 1e-5), model.transform(data.X).shape == (400, model.n_clusters_)
    (True, True, True)
    """

    objective_: float
    gap_: float
    converged_: bool
    n_iter_: int
    path_: CovariateClusterPath

    _options: ClassVar[Mapping[str, Option]] = {
        "tol": number(0, above=True),
        "max_iter": number(1, whole=True),
        "refit": flag,
        "ridge": number(0, above=True),
        "n_clusters": number(1, whole=True, optional=True),
    }

    def __init__(
        self,
        nu: float | str = 1.0,
        *,
        n_clusters: int | None = None,
        ridge: float = 0.1,
        similarity: Any = "covariance",
        selection: float | str = 0.0,
        refit: bool = False,
        tol: float = 1e-5,
        max_iter: int = 500,
    ) -> None:
        self.nu = nu
        self.n_clusters = n_clusters
        self.ridge = ridge
        self.similarity = similarity
        self.selection = selection
        self.refit = refit
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit weights and clusters of covariates.

        Parameters
        ----------
        X : array, sparse array, DataFrame or AnnData (n, d)
            Samples by covariates; bring covariates of different units to one scale first.
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

        Warns
        -----
        DataWarning
            If the gap is above the tolerance, or covariates are constant.
        """
        chosen = self._choice()
        rows, codes, weight = self._checked(X, y, sample_weight)
        samples = rows
        if not chosen:  # a path warns by itself
            warn_of_constants(rows)
        graph = as_graph(
            self.similarity, rows, codes, getattr(self, "feature_names_in_", None), weight
        )
        kept, strength = np.arange(rows.shape[1]), 0.0
        if self.selection == "before":
            kept = select_covariates(
                rows,
                codes,
                ridge=self.ridge,
                tol=self.tol,
                max_iter=self.max_iter,
                sample_weight=weight,
            ).selected
            rows, graph = rows[:, kept], graph.among(kept)
            if not len(kept):
                msg = (
                    "selection='before' left no covariate: the intercepts alone are most plausible"
                )
                warnings.warn(msg, DataWarning, stacklevel=2)
                chosen = None
        else:
            strength = float(self.selection)
        if chosen:
            estimated = isinstance(self.similarity, str) or callable(self.similarity)
            similarity = self.similarity if estimated else graph
            path = self._along_path(rows, codes, weight, similarity, strength, chosen)
            self._take(self._chosen(path, kept, chosen), kept)
            variance = self.path_.prior_variance
        else:
            variance = 1 / (2 * self.ridge)
            targets = one_hot(codes, len(self.classes_), weight)
            graph = graph.tied_to_zero(strength) if strength else graph
            solver = Solver(
                rows, targets, graph, ridge=self.ridge, tol=self.tol, max_iter=self.max_iter
            )
            with single_threaded_blas():
                self._take(solver.solve(float(self.nu)), kept)
            self._warn_of_gap()
        if self.refit:
            totals = sums(samples, self.covariate_labels_, self.n_clusters_)
            self._fit_again(totals, one_hot(codes, len(self.classes_), weight), variance)
        return self

    def _fit_again(self, totals: Counts, targets: Array, variance: float) -> None:
        """Take the weights of the logistic regression on the sums of the clusters."""
        found = refitted(totals, targets, np.arange(self.n_clusters_), variance).weights
        spread = np.vstack(
            [found[:-1], np.zeros_like(found[:1])]
        )  # covariates without a cluster: the last row
        self.coef_ = spread[self.covariate_labels_].T
        self.intercept_ = found[-1] - found[-1].mean()

    def _check_stored(self) -> None:
        """Refuse options out of range."""
        self._choice()

    def _choice(self) -> str | None:
        """Refuse options that are not known; tell how ν is chosen, if it is."""
        self._check_options()
        if self.selection != "before":
            if isinstance(self.selection, str):
                msg = f"selection={self.selection!r} is not known; expected a number of at least 0, or 'before'"
                raise ValueError(msg)
            require_number(self.selection, "selection", least=0)
        if self.n_clusters is not None:
            return "n_clusters"
        if isinstance(self.nu, str):
            if self.nu not in CHOICES:
                msg = f"nu={self.nu!r} is not known; expected a number of at least 0, or one of {CHOICES}"
                raise ValueError(msg)
            return self.nu
        if not isinstance(self.nu, Real) or not np.isposinf(self.nu):
            require_number(self.nu, "nu", least=0)
        elif self.selection and self.selection != "before":
            checked_nus([self.nu], float(self.selection))
        return None

    def _along_path(
        self,
        rows: Any,
        codes: Labels,
        weight: Array | None,
        similarity: Any,
        selection: float,
        chosen: str,
    ) -> CovariateClusterPath:
        """Compute the path."""
        options: dict[str, Any] = {"ridge": self.ridge, "tol": self.tol, "max_iter": self.max_iter}
        return covariate_path(
            rows,
            self.classes_[codes],
            similarity=similarity,
            selection=selection,
            cv=N_FOLDS if chosen == "cross_validation" else None,
            sample_weight=weight,
            **options,
        )

    def _chosen(self, path: CovariateClusterPath, kept: Labels, chosen: str) -> CovariateSolution:
        """Keep the path, and return the solution that was asked for."""
        names = getattr(self, "feature_names_in_", None)
        self.path_ = replace(path, feature_names=None if names is None else names[kept])
        if chosen == "n_clusters":
            assert self.n_clusters is not None
            return path[path.with_n_clusters(self.n_clusters)]
        return path[path.best if path.cross_validation is None else path.cross_validation.chosen]

    def _take(self, found: Fused | CovariateSolution, kept: Labels) -> None:
        """Set the attributes; covariates that are not kept have weights of 0 and no cluster."""
        d = self.n_features_in_
        self.coef_ = np.zeros((len(self.classes_), d))
        self.coef_[:, kept] = found.coef
        self.covariate_labels_ = np.full(d, -1)
        self.covariate_labels_[kept] = found.labels
        self.intercept_, self.n_clusters_, self.nu_ = found.intercept, found.n_clusters, found.nu
        self.objective_, self.gap_ = found.objective, found.gap
        self.converged_, self.n_iter_ = found.converged, found.n_iter

    def _warn_of_gap(self) -> None:
        if not self.converged_:
            msg = (
                f"nu={self.nu!r} was not solved to tol={self.tol:g}: the objective can be above the optimum by "
                f"{self.gap_:.1e} of itself. Raise max_iter, or tol if that is enough"
            )
            warnings.warn(msg, DataWarning, stacklevel=3)
