"""Marginal likelihood of a clustering of covariates (Laplace approximation), and the prior variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Counts, Labels
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import Design, one_hot, sums
from lvmkit.covariates.newton import Point, Problem, minimize

REFIT_TOLERANCE = 1e-9
"""What a refit may lack of its optimum, relative to it."""
MAX_STEPS = 100


@dataclass(frozen=True)
class Refit:
    """A logistic regression on the sums of clusters. weights (n_clusters + 1, n_classes)."""

    # (n_clusters + 1, n_classes): Weights of the clusters; the intercepts are in the last row
    weights: Array
    log_evidence: float  # Log marginal likelihood by Laplace's approximation
    accuracy: float  # Share of the samples whose most probable class is theirs

    def right(self, X: Counts, codes: Labels, labels: Labels, weight: Array | None = None) -> float:
        """Accuracy on other samples. X (n, d), codes and weight (n,)."""
        scores = sums(X, labels, len(self.weights) - 1) @ self.weights[:-1] + self.weights[-1]
        return float(np.average(np.asarray(scores).argmax(1) == codes, weights=weight))


@single_threaded_blas()
def refit(
    X: Counts,
    targets: Array,
    labels: Labels,
    variance: float,
    *,
    full: bool = False,
    start: Array | None = None,
) -> Refit:
    """Fit the weights of clusters under a Gaussian prior, and their marginal likelihood."""
    n_clusters = int(labels.max(initial=-1)) + 1
    design = Design(sums(X, labels, n_clusters), targets)
    point = ridge_fit(design, 1 / (2 * variance), start)
    curvature = _log_determinant(point, full=full)
    # The factors (2 pi)^(c m / 2) of the prior and of Laplace's approximation cancel.
    weights = point.theta[:-1]
    evidence = -point.smooth - weights.size / 2 * np.log(variance) - curvature / 2
    right = point.probabilities.argmax(1) == targets.argmax(1)
    accuracy = float(np.average(right, weights=targets.sum(1)))
    return Refit(point.theta, float(evidence), accuracy)


def ridge_fit(design: Design, ridge: float, start: Array | None = None) -> Point:
    """Logistic regression with squared weights alone: the problem without a graph."""
    m = design.n_columns - 1
    none = np.empty(0, np.intp)
    problem = Problem(design, np.ones(m), Graph(none, none, np.empty(0), m), ridge, 0.0)
    theta = np.zeros((m + 1, design.targets.shape[1])) if start is None else start
    return minimize(problem, theta, 1.0, tolerance=REFIT_TOLERANCE, max_steps=MAX_STEPS)[0]


def _log_determinant(point: Point, *, full: bool) -> float:
    """Log determinant of the negative Hessian of the log posterior in the weights, without the intercepts'."""
    problem, p = point.problem, point.probabilities
    m = problem.n_groups
    if full:
        classes = p.shape[1]
        blocks, root = problem.design.square_root(p)
        hessian = -(root.T @ root).reshape(classes, m + 1, classes, m + 1)
        for k, block in enumerate(blocks):
            hessian[k, :, k, :] += block + 2 * problem.ridge * np.eye(m + 1)
        square = hessian[:, :m, :, :m].reshape(classes * m, classes * m)
        return float(np.linalg.slogdet(square)[1])
    squares = np.column_stack([problem.design.squares(q * (1 - q)) for q in p.T])[:m]
    return float(np.log(squares + 2 * problem.ridge).sum())


VARIANCES = tuple(10.0**k for k in range(-6, 4))
"""Variances of the prior that cross-validation tries."""
SHARE = 0.15


def prior_variance(
    X: Counts,
    codes: Labels,
    n_classes: int,
    folds: list[tuple[Labels, Labels]],
    weight: Array | None = None,
) -> float:
    """σ² of the prior, by cross-validation of the model with a weight for each covariate. weight (n,)."""
    # The smallest variance that explains at least `SHARE` of the deviance that the best one explains, and whose
    # accuracy is within a standard error of the best: where classes can be separated, ever wider priors fit ever
    # better, and count ever more against every cluster.
    everything = np.arange(X.shape[1])
    right, loss, chance = np.zeros(len(VARIANCES)), np.zeros(len(VARIANCES)), 0.0
    targets = one_hot(codes, n_classes, weight)
    for train, test in folds:
        design = Design(sums(X[train], everything, X.shape[1]), targets[train])
        held_out = Design(X[test], targets[test])
        shares = (design.targets.sum(0) + 1) / (design.total + n_classes)
        chance -= float(targets[test].sum(0) @ np.log(shares))
        theta = None
        for k, variance in enumerate(VARIANCES):
            theta = ridge_fit(design, 1 / (2 * variance), theta).theta
            probabilities, missed = held_out.probabilities(theta)
            right[k] += targets[test].sum(1) @ (probabilities.argmax(1) == codes[test])
            loss[k] += missed
    explained = chance - loss
    accuracy = right / sum(targets[test].sum() for _, test in folds)
    best = accuracy.max()
    good = accuracy >= best - np.sqrt(best * (1 - best) / targets.sum())
    if explained.max() > 0:
        enough = explained >= SHARE * explained.max()
        good = good & enough if (good & enough).any() else enough
    return VARIANCES[int(good.argmax())]
