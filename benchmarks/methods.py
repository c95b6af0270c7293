"""lvmkit and its peers, ready to fit, and what they found in one form."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import BisectingKMeans, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from stepmix.stepmix import StepMix

from benchmarks.literal import STRENGTH as LITERAL_STRENGTH
from benchmarks.literal import LiteralASVTD
from lvmkit import BernoulliMixture
from lvmkit.mixtures.e_step import MixtureParams, smoothed
from lvmkit.mixtures.families import BERNOULLI, Prior

DOCUMENTS_RULE = 0.01
"""EM of Ruffini 2017 (section 5) stops when the weights move by less."""


class Method(NamedTuple):
    """A clusterer with the name it has in the tables."""

    name: str
    estimator: Any
    dense: bool = False
    """Whether it needs a dense array of double precision."""

    def prepared(self, X: Any) -> Any:
        """Return the rows in the form that the method takes."""
        return X.toarray().astype(np.float64) if self.dense else X

    def fit(self, rows: Any) -> Any:
        """Fit a fresh copy."""
        return clone(self.estimator).fit(rows)

    def on_sparse_rows(self) -> Any:
        """Return an estimator that takes sparse rows, for protocols that draw rows themselves."""
        if not self.dense:
            return self.estimator
        return make_pipeline(FunctionTransformer(densified, accept_sparse=True), self.estimator)


class Found(NamedTuple):
    """Clusters, and the Bernoulli mixture they amount to."""

    labels: Any
    mixture: BernoulliMixture
    iterations: int | None


def densified(X: Any) -> Any:
    """Return a dense array of double precision."""
    return X.toarray().astype(np.float64)


def searched(k: int) -> Method:
    """Return lvmkit as it comes: the start searched, EM converged."""
    return Method("lvmkit", BernoulliMixture(k))


def corrected(k: int) -> Method:
    """Return lvmkit from corrected moments, converged."""
    return Method("lvmkit, corrected", BernoulliMixture(k, init="corrected"))


def corrected_early(k: int) -> Method:
    """Return lvmkit stopped by the rule of Ruffini 2017: for those content with a lower likelihood."""
    return Method(
        "lvmkit, corrected, early",
        BernoulliMixture(k, init="corrected", weights_tol=DOCUMENTS_RULE),
    )


def asvtd(k: int) -> Method:
    """Return lvmkit's form of the algorithm of Ruffini 2017: its rule ends EM, and EM has next to no prior."""
    estimator = BernoulliMixture(
        k, init="asvtd", weights_tol=DOCUMENTS_RULE, prior=LITERAL_STRENGTH
    )
    return Method("lvmkit, asvtd", estimator)


def three_views(k: int, init: str, *, em: bool = True) -> Method:
    """Return a multi-view start, with EM by the rule of Ruffini 2017 or as the moments gave it."""
    name = f"{init.upper().replace('MOM', 'MoM')}{' + EM' if em else ''}"
    return Method(name, BernoulliMixture(k, init=init, em=em, weights_tol=DOCUMENTS_RULE))


def literal(k: int) -> Method:
    """Return the algorithm of Ruffini 2017 as it reads, dense."""
    estimator = LiteralASVTD(k, weights_tol=DOCUMENTS_RULE)
    return Method("Algorithm 2 and EM, literal", estimator, dense=True)


def random_starts(k: int, n_init: int, *, plain: bool = False) -> Method:
    """Return lvmkit's sparse EM from random starts; plain EM makes no longer steps."""
    options = {"weights_tol": 1e-12} if plain else {}
    estimator = BernoulliMixture(k, init="random", n_init=n_init, **options)
    return Method(f"best of {n_init} random starts{', plain EM' if plain else ''}", estimator)


class SpectralOneStep(ClusterMixin, BaseEstimator):
    """Spectral clustering of the rows, then one step of likelihood (Lyu 2026, SOLA)."""

    def __init__(self, n_clusters: int = 8) -> None:
        self.n_clusters = n_clusters

    def fit(self, X: Any, y: Any = None) -> Self:
        """Project the rows on their leading directions, k-means there, estimate, and assign once more."""
        left, values, _ = svds(X.astype(np.float64), self.n_clusters, random_state=0)
        labels = KMeans(self.n_clusters, n_init=10, random_state=0).fit_predict(left * values)
        once = shares_and_means(labels, X)
        first = BernoulliMixture.from_parameters(once[0], np.clip(once[1], 1e-3, 1 - 1e-3))
        self.labels_ = first.predict(X)
        return self


def spectral_one_step(k: int) -> Method:
    """Return SOLA."""
    return Method("SOLA", SpectralOneStep(k))


def stepmix(k: int, *, max_iter: int = 1000, n_init: int = 1) -> Method:
    """Return StepMix with our rule of convergence."""
    name = "StepMix" if max_iter >= 1000 else f"StepMix, {max_iter} iterations"
    name += "" if n_init == 1 else f", best of {n_init}"
    rule = {"abs_tol": 1e-6, "max_iter": max_iter, "n_init": n_init}
    estimator = StepMix(k, measurement="binary", random_state=0, progress_bar=0, **rule)
    return Method(name, estimator, dense=True)


def kmeans(k: int, n_init: int) -> Method:
    """Return scikit-learn's k-means."""
    return Method(f"KMeans, n_init={n_init}", KMeans(k, n_init=n_init, random_state=0))


def bisecting(k: int) -> Method:
    """Return scikit-learn's bisecting k-means."""
    return Method("BisectingKMeans", BisectingKMeans(k, random_state=0))


def pca_kmeans(k: int) -> Method:
    """Return k-means on the leading k principal components."""
    estimator = make_pipeline(PCA(k), KMeans(k, n_init=10, random_state=0))
    return Method(f"PCA({k}), KMeans, n_init=10", estimator, dense=True)


def spectral(k: int) -> Method:
    """Return spectral clustering with a linear kernel, as in Ruffini 2017, Appendix E."""
    estimator = SpectralClustering(k, affinity="linear", random_state=0)
    return Method("SpectralClustering, linear", estimator, dense=True)


def found(fitted: Any, X: Any, rows: Any) -> Found:
    """Return labels and mixture of a fitted method; `rows` are what it was fitted to."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    labels = getattr(last, "labels_", None)
    if labels is None:
        labels = fitted.predict(rows)
    return Found(np.asarray(labels), as_mixture(last, labels, X), getattr(last, "n_iter_", None))


def as_mixture(fitted: Any, labels: Any, X: Any) -> BernoulliMixture:
    """Return the Bernoulli mixture that a fitted method amounts to, so that likelihoods compare.

    Methods without probabilities get the shares and the means of their clusters. One imaginary row at
    the overall prevalences is added to every cluster, as lvmkit does: without it, a code that a cluster
    has not seen would make new rows impossible.
    """
    if isinstance(fitted, BernoulliMixture):
        return BernoulliMixture.from_parameters(fitted.weights_, fitted.centers_)
    if isinstance(fitted, StepMix):
        parameters = fitted.get_parameters()
        weights, centers = parameters["weights"], parameters["measurement"]["pis"]
    elif isinstance(fitted, LiteralASVTD):
        weights, centers = fitted.weights_, fitted.centers_
    else:
        weights, centers = shares_and_means(labels, X)
    prior = Prior.around(np.asarray(X.sum(axis=0), dtype=np.float64).ravel(), X.shape[0], 1.0)
    params = MixtureParams(np.asarray(weights), np.asarray(centers))
    return BernoulliMixture.from_parameters(*smoothed(params, X.shape[0], prior, BERNOULLI))


def shares_and_means(labels: Any, X: Any) -> tuple[Any, Any]:
    """Return the share of the rows in every cluster, and the mean of its rows."""
    n, k = X.shape[0], int(labels.max()) + 1
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    sizes = np.bincount(labels, minlength=k)
    return sizes / n, (members @ X).toarray() / np.maximum(sizes, 1)[:, None]
