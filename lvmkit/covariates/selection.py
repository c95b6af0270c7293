"""Group lasso selection of covariates before they are clustered, by marginal likelihood."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lvmkit.core.arguments import checked
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import as_numbers, require_number
from lvmkit.covariates.base import SampleReader
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import one_hot
from lvmkit.covariates.marginal_likelihood import refit
from lvmkit.covariates.path import variance_of
from lvmkit.covariates.solver import Solver

N_STRENGTHS = 30


@dataclass(frozen=True)
class CovariateSelection:
    """Covariates along the strengths of the group lasso.

    Attributes
    ----------
    strengths : array (n_strengths,)
        Strengths, ascending.
    masks : array of bool (n_strengths, d)
        Covariates with weights that are not zero.
    log_marginal_likelihoods : array (n_strengths,)
        Of the logistic regression on the selected covariates alone.
    best : int
        Place of the highest one; the fewest covariates among equals.
    """

    strengths: Array
    masks: npt.NDArray[np.bool_]
    log_marginal_likelihoods: Array
    best: int

    @property
    def selected(self) -> Labels:
        """Numbers of the covariates that the best strength selects."""
        return np.flatnonzero(self.masks[self.best])


@checked(tol=0, max_iter=1)
def select_covariates(
    X: Any,
    y: Any,
    strengths: npt.ArrayLike | None = None,
    *,
    ridge: float = 0.1,
    prior_variance: float | None = None,
    tol: float = 1e-5,
    max_iter: int = 500,
    sample_weight: Any = None,
) -> CovariateSelection:
    """Select covariates before they are clustered.

    Minimizes the loss of logistic regression + ridge |B|² + strength sum_i |b_i| for each strength, and compares the
    marginal likelihoods of what is left.

    Parameters
    ----------
    X : array, sparse array, DataFrame or AnnData (n, d)
        Samples by covariates.
    y : array-like (n,)
        Class of each sample, at least two.
    strengths : array-like, optional
        Strengths, above 0; by default n 2^(-a) for a = 0, ..., 29, n the sum of the weights.
    ridge : float, default=0.1
        λ, above 0.
    prior_variance : float, optional
        σ² of the marginal likelihood; by default cross-validated.
    tol : float, default=1e-5
        Relative duality gap to reach.
    max_iter : int, default=500
        Newton steps for one strength.
    sample_weight : array (n,), optional
        How often each sample counts, as in `CovariateClusteringClassifier.fit`.

    Returns
    -------
    CovariateSelection
        Masks and marginal likelihoods; `selected` are the numbers of the covariates.

    Raises
    ------
    ValueError
        If a strength or the data are not as described.

    Notes
    -----
    Andrade 2021, section A.5.1. A covariate without a weight is one that has met a node
    held at zero: the problem is solved as that of the clustering is.

    Examples
    --------
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(400, 40)
    >>> selection = select_covariates(data.X, data.y, [1.0, 10.0, 100.0])
    >>> bool((np.diff(selection.masks.sum(axis=1)) <= 0).all())
    True
    """
    reader = SampleReader(ridge).fit(X, y, sample_weight)
    rows, codes, weight = reader.rows_, reader.codes_, reader.weight_
    if prior_variance is not None:
        require_number(prior_variance, "prior_variance", least=0, above=True)
    d = rows.shape[1]
    default = (len(codes) if weight is None else weight.sum()) * 2.0 ** -np.arange(N_STRENGTHS)
    values = default if strengths is None else as_numbers(strengths, "strengths")
    if values.ndim != 1 or not len(values) or not ((values > 0) & np.isfinite(values)).all():
        msg = f"strengths must be numbers above 0; found {strengths!r}"
        raise ValueError(msg)
    values = np.sort(values)
    n_classes = len(reader.classes_)
    targets = one_hot(codes, n_classes, weight)
    # ν scales the ties to a node that is held at zero: one after every covariate.
    star = Graph(np.arange(d), np.full(d, d), np.ones(d), d + 1)
    solver = Solver(rows, targets, star, ridge=ridge, tol=tol, max_iter=max_iter)
    with single_threaded_blas():
        variance = prior_variance or variance_of(rows, codes, n_classes, weight)
        masks = np.array([solver.solve(float(value)).labels >= 0 for value in values])
        evidence = [refit(rows, targets, alone(mask), variance).log_evidence for mask in masks]
    best = np.lexsort((-masks.sum(axis=1), evidence))[-1]
    return CovariateSelection(values, masks, np.array(evidence), int(best))


def alone(mask: npt.NDArray[np.bool_]) -> Labels:
    """Labels in which each selected covariate is a cluster of its own."""
    return np.where(mask, np.cumsum(mask) - 1, -1)
