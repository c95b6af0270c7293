"""Solution paths along ν: warm starts, marginal likelihood, cross-validation, choice of ν."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import progress_callback
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.core.validation import DataWarning, require_number
from lvmkit.covariates.base import SampleReader, as_graph, warn_of_constants
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import one_hot
from lvmkit.covariates.marginal_likelihood import Refit, refit
from lvmkit.covariates.marginal_likelihood import prior_variance as cross_validated_variance
from lvmkit.covariates.solutions import (
    CovariateClusterPath,
    CovariateSolution,
    CrossValidation,
    accuracy_on,
)
from lvmkit.covariates.solver import Fused, Solver

N_NUS = 300
N_FOLDS = 5


def default_nus(n_samples: float) -> Array:
    """Return the values of ν of Andrade 2021, n 2^(-0.1 a) for a = 299, ..., 0: ascending."""
    return n_samples * 2.0 ** (-0.1 * np.arange(N_NUS - 1, -1, -1))


def covariate_path(
    X: Any,
    y: Any,
    nus: npt.ArrayLike | None = None,
    *,
    ridge: float = 0.1,
    similarity: Any = "covariance",
    selection: float = 0.0,
    prior_variance: float | None = None,
    hessian: str = "diagonal",
    cv: int | None = None,
    tol: float = 1e-5,
    max_iter: int = 500,
    sample_weight: Any = None,
    progress: Progress | bool | None = None,
) -> CovariateClusterPath:
    """Cluster covariates for many values of ν, each from the last, and judge each clustering.

    Parameters
    ----------
    X : array, sparse array, DataFrame or AnnData (n, d)
        Samples by covariates; bring covariates of different units to one scale first.
    y : array-like (n,)
        Class of each sample, at least two.
    nus : array-like, optional
        Values of ν, at least 0, infinity allowed; by default the 300 of Andrade 2021, n 2^(-0.1 a), ascending;
        n is the sum of the weights.
    ridge : float, default=0.1
        λ, above 0.
    similarity : "covariance", array or sparse array (d, d), or callable, default="covariance"
        S; see `CovariateClusteringClassifier`.
    selection : float, default=0.0
        Strength of a group lasso on the weights of each covariate, which leaves covariates out.
    prior_variance : float, optional
        σ² of the marginal likelihood; by default cross-validated on the model without clusters, once. Give one where a
        class is rare: accuracy then hardly depends on the weights, and too small a variance is chosen.
    hessian : {"diagonal", "full"}, default="diagonal"
        Hessian of Laplace's approximation; the full one costs memory and time for more than some hundred clusters.
    cv : int, optional
        Folds of cross-validation; the path is computed once more for each.
    tol : float, default=1e-5
        Relative duality gap to reach.
    max_iter : int, default=500
        Newton steps for one ν.
    sample_weight : array (n,), optional
        How often each sample counts, as in `CovariateClusteringClassifier.fit`; accuracies are weighted, too. A
        function as similarity is not told of it.
    progress : callable or bool, optional
        Called with a text and the fraction done; True shows a bar. Raising from it cancels.

    Returns
    -------
    CovariateClusterPath
        One solution for each ν, in the given order.

    Raises
    ------
    ValueError
        If an option, the similarity or the data are not as described.

    Warns
    -----
    DataWarning
        If the gap of a solution is above the tolerance.

    Notes
    -----
    Andrade 2021, sections 2 and 3. σ² is the smallest variance that explains 15 % of the
    held-out deviance that can be explained, with an accuracy within one standard error of the best; Andrade 2021 does
    not say what is compared.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(400, 40)
    >>> path = covariate_path(data.X, data.y, nus=[0.01, 1, 100])
    >>> bool(path.n_clusters[0] > path.n_clusters[2]), bool(path[1].gap <= 1e-5)
    (True, True)
    """
    if hessian not in ("diagonal", "full"):
        msg = f"hessian={hessian!r} is not known; expected 'diagonal' or 'full'"
        raise ValueError(msg)
    if prior_variance is not None:
        require_number(prior_variance, "prior_variance", least=0, above=True)
    reader = SampleReader(ridge).fit(X, y, sample_weight)
    rows, codes, weight = reader.rows_, reader.codes_, reader.weight_
    n_classes = len(reader.classes_)
    values = (
        default_nus(_Samples(rows, codes, weight).total)
        if nus is None
        else checked_nus(nus, selection)
    )
    estimated = isinstance(similarity, str) or callable(similarity)
    names = getattr(reader, "feature_names_in_", None)
    warn_of_constants(rows)
    require_number(selection, "selection", least=0)
    require_number(tol, "tol", least=0, above=True)
    require_number(max_iter, "max_iter", least=1, whole=True)
    folds = [] if cv is None else _checked_folds(codes, cv)
    options = _PathOptions(n_classes, values, ridge, tol, max_iter, hessian == "full")
    with single_threaded_blas(), progress_callback(progress) as tell:
        everyone = _Samples(rows, codes, weight)

        def graph_of(samples: _Samples) -> Graph:
            graph = as_graph(similarity, samples.rows, samples.codes, names, samples.weight)
            return graph.tied_to_zero(selection) if selection else graph

        graph = graph_of(everyone)
        variance = prior_variance or variance_of(rows, codes, n_classes, weight)
        solutions = options.along(everyone, graph, variance, _part(tell, 0, 1 + len(folds)))
        held_out = []
        for k, (train, test) in enumerate(folds):
            # The loss is a sum over samples, so that a fold of fewer samples needs as much smaller values of ν.
            some, others = everyone.among(train), everyone.among(test)
            fold = replace(options, nus=values * (some.total / everyone.total))
            part = _part(tell, k + 1, 1 + len(folds))
            if estimated:  # from the samples, of which those held out must not be
                graph = graph_of(some)
            found = fold.along(some, graph, variance, part)
            held_out.append([accuracy_on(each, *others) for each in found])
    _warn_of_gaps(solutions, tol)
    counts = np.bincount(codes, minlength=n_classes)
    validation = _one_standard_error(np.array(held_out), solutions) if folds else None
    return CovariateClusterPath(
        solutions, reader.classes_, counts, names, ridge, variance, validation
    )


class _Samples(NamedTuple):
    """Samples (n, d), the numbers of their classes (n,), and how often each counts (n,), if not once."""

    rows: Any
    codes: Labels
    weight: Array | None

    @property
    def total(self) -> float:
        """Samples, each as often as it counts."""
        return len(self.codes) if self.weight is None else float(self.weight.sum())

    def among(self, some: Labels) -> "_Samples":
        """Return some of them. some (m,)."""
        weight = None if self.weight is None else self.weight[some]
        return _Samples(self.rows[some], self.codes[some], weight)


@dataclass(frozen=True)
class _PathOptions:
    """Checked options of a path."""

    n_classes: int
    nus: Array
    ridge: float
    tol: float
    max_iter: int
    full: bool

    def along(
        self, samples: _Samples, graph: Graph, variance: float, tell: Progress
    ) -> tuple[CovariateSolution, ...]:
        """Solve from small to large ν; return the solutions in the order of the values."""
        rows, targets = samples.rows, one_hot(samples.codes, self.n_classes, samples.weight)
        solver = Solver(
            rows, targets, graph, ridge=self.ridge, tol=self.tol, max_iter=self.max_iter
        )
        found: list[CovariateSolution | None] = [None] * len(self.nus)
        last: tuple[Labels, Refit] | None = None
        for done, place in enumerate(np.argsort(self.nus, kind="stable")):
            fused = solver.solve(float(self.nus[place]))
            if last is None or not np.array_equal(last[0], fused.labels):
                last = fused.labels, refit(rows, targets, fused.labels, variance, full=self.full)
            found[place] = _solution(fused, last[1])
            tell(f"Clusters of covariates: {fused.n_clusters}", (done + 1) / len(self.nus))
        return tuple(each for each in found if each is not None)


def _solution(fused: Fused, regression: Refit) -> CovariateSolution:
    weights = regression.weights.T
    return CovariateSolution(
        nu=fused.nu,
        coef=fused.coef,
        intercept=fused.intercept,
        labels=fused.labels,
        n_clusters=fused.n_clusters,
        objective=fused.objective,
        gap=fused.gap,
        converged=fused.converged,
        n_iter=fused.n_iter,
        log_marginal_likelihood=regression.log_evidence,
        accuracy=regression.accuracy,
        cluster_coef=weights[:, :-1],
        cluster_intercept=weights[:, -1] - weights[:, -1].mean(),
    )


def checked_nus(nus: npt.ArrayLike, selection: float) -> Array:
    """Refuse values of ν that are no numbers of at least 0."""
    msg = f"nus must be numbers of at least 0 (infinity is allowed); found {nus!r}"
    try:
        values = np.atleast_1d(np.asarray(nus, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(msg) from None
    if values.ndim != 1 or not len(values) or not (values >= 0).all():
        raise ValueError(msg)
    if selection and np.isinf(values).any():
        msg = "nus holds infinity, which puts similar covariates into one cluster; give a finite ν to select covariates"
        raise ValueError(msg)
    return values


def _checked_folds(codes: Labels, cv: int) -> list[tuple[Labels, Labels]]:
    """Return the folds that were asked for, or refuse."""
    require_number(cv, "cv", least=2, whole=True)
    largest = int(np.bincount(codes).max())
    if cv > largest:
        msg = f"cv={cv} folds need a class of at least as many samples; the largest has {largest}"
        raise ValueError(msg)
    return _folds(codes, cv)


def _folds(codes: Labels, n_folds: int) -> list[tuple[Labels, Labels]]:
    """Return stratified folds, without shuffling; fewer where no class has so many samples."""
    possible = min(n_folds, int(np.bincount(codes).max()))
    if possible < 2:
        return []
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "The least populated class"
        )  # a class of few samples is in few folds
        return list(StratifiedKFold(possible).split(np.zeros(len(codes)), codes))


def variance_of(rows: Any, codes: Labels, n_classes: int, weight: Array | None = None) -> float:
    """Cross-validate σ²; 1 where no class has two samples. rows (n, d), codes and weight (n,)."""
    folds = _folds(codes, N_FOLDS)
    return cross_validated_variance(rows, codes, n_classes, folds, weight) if folds else 1.0


def _one_standard_error(held_out: Array, solutions: Sequence[CovariateSolution]) -> CrossValidation:
    mean = held_out.mean(axis=0)
    error = held_out.std(axis=0, ddof=1) / np.sqrt(len(held_out))
    best = int(mean.argmax())
    good = np.flatnonzero(mean >= mean[best] - error[best]).tolist()
    sizes = [solutions[k].n_clusters for k in good]
    nus = [solutions[k].nu for k in good]
    return CrossValidation(mean, error, good[np.lexsort((nus, sizes))[0]])


def _part(tell: Progress, start: int, n_parts: int) -> Progress:
    """Tell the progress of one of several equal parts."""
    return lambda text, done: tell(text, (start + done) / n_parts)


def _warn_of_gaps(solutions: Sequence[CovariateSolution], tol: float) -> None:
    open_ = [each for each in solutions if not each.converged]
    if open_:
        worst = max(each.gap for each in open_)
        msg = (
            f"{len(open_)} of {len(solutions)} values of ν were not solved to tol={tol:g}: the objective can be above "
            f"the optimum by {worst:.1e} of itself. Raise max_iter, or tol if that is enough"
        )
        warnings.warn(msg, DataWarning, stacklevel=3)
