"""Mixtures of tensor normal distributions: clusters of matrices and tensors, and the entries that tell them apart."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from lvmkit.core.features import fingerprint
from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import told
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import DataWarning
from lvmkit.mixtures.row_model import of_rows
from lvmkit.tensors.base import TensorModel
from lvmkit.tensors.covariances import scaled
from lvmkit.tensors.penalty_path import (
    PATIENCE,
    PREVIOUS,
    SMALLER_PENALTY,
    Found,
    bic,
    chosen,
    largest_penalty,
    threads,
)
from lvmkit.tensors.search_options import TensorSearch


class TensorNormalMixture(TensorModel):
    """Clusters of tensors that are normal around their cluster's mean, with a covariance for each mode.

    A sample X (p_1, ..., p_M) of cluster k is normal with mean means_[k]; the covariance of two entries is the product
    of those of their indices, mode by mode, and the same in all clusters. What tells cluster k from cluster 0 is
    <X, B_k>, with the discriminant B_k = [[means_[k] - means_[0]; inverse covariances]]. The doubly enhanced EM
    algorithm (DEEM) makes discriminants that are 0 at most entries, which finds clusters that differ in a few entries
    among thousands, and says in which.

    Parameters
    ----------
    n_components : int, default=2
        Number of clusters K.
    method : {"deem", "em"}, default="deem"
        The doubly enhanced EM algorithm, or maximum likelihood, whose discriminants are not sparse.
    penalty : float or "bic", default="bic"
        Weight of sum_J |b_J| beside ½ <B, [[B; S]]> - <B, differences of means>: half of λ as Mutoh 2023 prints it,
        the same as in its R package. By "bic" the one of lowest Bayesian information criterion (`select_penalty`);
        if that is not below the one of a single cluster, the smallest of the path, and a warning. Not used by "em".
    init : str, array of int (n,) or array (n, K), default="best"
        Where to start: "kmeans" on the numbers as they are, "whitened_kmeans" on what is left when the covariances of
        all samples are taken out, "random" samples as centers, the "best" of all of these; or labels from 0, or
        posteriors. Of several starts the one of highest penalized likelihood is kept. Clusters keep the numbers that
        given labels have, and are numbered by decreasing weight otherwise.
    n_init : int, default=2
        Random starts, if there are any.
    reference : int, optional
        The cluster that the others are compared with, as in Mai 2022. Without it they are compared with the mean of
        all means, which does not depend on how they are numbered; for two clusters it is the same.
    scale : {"trace", "first_entry"}, default="trace"
        How DEEM estimates the scale that the covariances have together: from all entries, or from the first alone as
        printed, which changes with the order of entries. It also tells how the scale is shared among `covariances_`:
        the same mean variance in every mode, or a variance of 1 of the first entry of all modes but the first.
    shrinkage : float, default=0.0
        Share of a multiple of the identity in each covariance, below 1; for few samples, or entries that do not vary.
    tol : float, default=1e-3
        Iterations end when the posteriors of a sample move by less, in the mean.
    max_iter : int, default=200
        At most so many iterations.
    n_jobs : int, optional
        Threads for the starts; as many as there are cores if not given. The result does not depend on it.
    random_state : int, Generator or None, default=0
        Seed of k-means and of random starts.

    Attributes
    ----------
    weights_ : array (K,)
        Share of each cluster.
    means_ : array (K, p_1, ..., p_M)
        Means.
    covariances_ : list of array (p_m, p_m)
        Covariance of each mode; only their Kronecker product is determined by the data.
    discriminants_ : array (K - 1, p_1, ..., p_M)
        What tells clusters 1, ..., K - 1 from cluster 0.
    selected_ : array of bool (p_1, ..., p_M)
        Entries at which some discriminant is not 0.
    labels_ : array of int (n,)
        Most probable cluster of each sample.
    posteriors_ : array (n, K)
        Probability of each cluster.
    penalty_ : float
        The penalty used; 0 for "em".
    gap_ : float
        Relative duality gap of the group lasso: an upper bound of how far its objective is from the optimum.
    density_means_ : array (K, p_1, ..., p_M)
        Means of the density of `score_samples`: those of clusters that differ at the selected entries only, by as much
        as their samples do, which no penalty has drawn together.
    density_covariances_ : list of array (p_m, p_m)
        Covariances of that density, by maximum likelihood.
    log_likelihood_ : float
        Of all samples, in nats (`score_samples`).
    bic_ : float
        Bayesian information criterion; smaller is better.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether they ended by `tol`.
    stopped_by_ : {"tol", "max_iter", "empty", "penalty", "gap"}
        Why: "empty" if a cluster lost its samples, "penalty" if no entry was selected, "gap" if the group lasso
        did not reach its accuracy.
    init_ : str
        The start that was kept.
    starts_ : DataFrame
        For each start its name, its objective (penalized log-likelihood per sample), iterations and why they ended.
    path_ : DataFrame
        With penalty="bic", for each penalty tried the criterion, log-likelihood and number of selected entries.
    annotations_ : dict
        Names and notes given to the clusters, kept by `lvmkit.save`.
    data_fingerprint_ : str
        Hash of the samples.
    n_features_in_ : int
        Size of the first mode.
    feature_names_in_ : array of str (p_1,)
        Names of the features of a matrix, if it had any.

    See Also
    --------
    select_penalty : The fits of all penalties.
    select_tensor_components : Several numbers of clusters.

    Notes
    -----
    Mai 2022, as far as Mutoh 2023 reproduces it. The R package behind its tables puts
    the coefficients of its lasso solver at the wrong entries, always the first ones; results here do not depend on the
    order of entries, modes or clusters.

    Examples
    --------
    >>> from lvmkit.datasets import make_tensor_mixture
    >>> from lvmkit.scores import error_rate
    >>> X, y = make_tensor_mixture("M8", n_samples=200)
    >>> model = TensorNormalMixture(2, penalty=0.5).fit(X)
    >>> error_rate(y, model.labels_) < 0.02, int(model.selected_.sum()) < 30
    (True, True)
    """

    labels_: Labels = of_rows("predict")
    posteriors_: Array = of_rows("predict_proba")

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "deem",
        penalty: float | str = "bic",
        init: Any = "best",
        n_init: int = 2,
        reference: int | None = None,
        scale: str = "trace",
        shrinkage: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.reference = reference
        self.scale = scale
        self.shrinkage = shrinkage
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, progress: Progress | bool | None = None) -> Self:
        """Find clusters of tensors.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples: vectors, matrices or tensors of any order.
        y : None
            Ignored.
        progress : callable or bool, optional
            True shows a bar. A callable is called with a text and the fraction done; raising from it cancels the fit.

        Returns
        -------
        TensorNormalMixture
            This estimator.

        Raises
        ------
        ValueError
            If an option is out of range, X holds NaN or complex numbers, entries that are constant, or has too few
            samples for its clusters or modes; the message says which.

        Warns
        -----
        DataWarning
            If no entry is selected, one cluster explains the data better, or a cluster lost its samples.
        ConvergenceWarning
            If `max_iter` was reached.
        """
        search = TensorSearch(self, self.checked(X, reset=True))
        with single_threaded_blas(), told(progress) as tell, threads(self.n_jobs) as mapper:
            founds = []
            for found in search.along(mapper, patience=PATIENCE):
                founds.append(found)
                tell("penalties", len(founds) / len(search.penalties))
            tell("penalties", 1.0)  # a path can end before its last
        self._keep(search, founds)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Find clusters of tensors and return those of the samples.

        Parameters
        ----------
        X : array (n, p_1, ..., p_M)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        array of int (n,)
            `labels_`.
        """
        return self.fit(X, y).labels_

    def _keep(self, search: TensorSearch, founds: Sequence[Found]) -> None:
        """Take over the best of what was found, and say what is wrong with it."""
        n = len(search.samples)
        found = founds[0] if len(founds) == 1 else chosen(founds, n, search.bic_of_one())
        if len(search.penalties) > 1:
            self.path_ = pd.DataFrame(
                {
                    "penalty": [one.penalty for one in founds],
                    "bic": [bic(one, n) for one in founds],
                    "log_likelihood": [one.density.log_likelihood for one in founds],
                    "n_selected": [
                        int(one.fit.rule.discriminants.any(axis=0).sum()) for one in founds
                    ],
                }
            )
        else:
            self.__dict__.pop("path_", None)
        self.take(search, found)
        self._warn(search, found)

    def take(self, search: TensorSearch, found: Found) -> Self:
        """Become the best of what a search found for one penalty.

        Parameters
        ----------
        search : TensorSearch
            Samples and starts.
        found : Found
            Fits from these.

        Returns
        -------
        TensorNormalMixture
            This estimator, fitted.
        """
        fit, samples = found.fit, search.samples
        order = search.numbering(fit)
        rule, shape = fit.rule, (-1, *samples.sizes)
        self.weights_ = rule.weights[order]
        self.means_ = rule.means[order].reshape(shape) + samples.center
        self.covariances_ = fit.covariances
        B = rule.discriminants[order]
        self.discriminants_ = (B[1:] - B[0]).reshape(len(B) - 1, *samples.sizes)
        self.selected_ = self.discriminants_.any(axis=0)
        self.posteriors_ = fit.posteriors[:, order]
        self.labels_ = self.posteriors_.argmax(axis=1)
        self.penalty_, self.gap_ = float(found.penalty), fit.gap
        self.log_likelihood_ = found.density.log_likelihood
        self.bic_ = float(bic(found, len(samples)))
        self.density_means_ = found.density.means[order].reshape(shape) + samples.center
        self.density_covariances_ = scaled(found.density.covariances, search.options.scale)
        self.n_iter_, self.stopped_by_ = fit.n_iter, fit.stopped_by
        self.converged_ = fit.stopped_by == "tol"
        others = {PREVIOUS: "previous penalty", SMALLER_PENALTY: "smaller penalty"}
        names = [others[at] if at in others else search.names[at] for at in found.origins]
        self.init_ = names[found.kept]
        self.annotations_ = {}
        self.data_fingerprint_ = fingerprint(samples.flat)
        self.starts_ = pd.DataFrame(
            {
                "start": names,
                "objective": [one.objective for one in found.fits],
                "n_iter": [one.n_iter for one in found.fits],
                "stopped_by": [one.stopped_by for one in found.fits],
            }
        )
        return self

    def _warn(self, search: TensorSearch, found: Found) -> None:
        """Say what is wrong with a fit."""
        if self.stopped_by_ == "penalty" and len(self.weights_) > 1:
            largest = largest_penalty(search.samples, search.posteriors, search.options)
            msg = (
                f"penalty={self.penalty_:.3g} leaves no entry that tells clusters apart: all samples are in one "
                f"cluster. Give a smaller one, below {min(largest, self.penalty_):.3g}, or 'bic'"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        elif self.stopped_by_ == "empty":
            msg = (
                f"a cluster lost its samples after {self.n_iter_} iterations from every start: the weights are "
                f"{np.array2string(self.weights_, precision=3)}. Ask for fewer than {len(self.weights_)} clusters"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
        elif self.stopped_by_ == "max_iter":
            msg = f"max_iter={self.max_iter} iterations did not settle the posteriors to tol={self.tol:g}; raise either"
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        elif self.stopped_by_ == "gap":
            msg = (
                f"discriminants are only known to a relative gap of {self.gap_:.1e}: covariances are nearly singular. "
                "Give a larger penalty, or shrinkage above 0 (0.1, for example)"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        elif len(search.penalties) > 1 and self.bic_ > search.bic_of_one():
            msg = (
                f"one cluster has a lower BIC ({search.bic_of_one():,.1f}) than {len(self.weights_)} "
                f"({self.bic_:,.1f}): the data do not speak for clusters"
            )
            warnings.warn(msg, DataWarning, stacklevel=4)
