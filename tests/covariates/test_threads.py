"""BLAS is held at one thread: on a busy machine several wait for each other, ten to thirty times as long."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from threadpoolctl import ThreadpoolController

from lvmkit.core import linalg
from lvmkit.covariates import convex_clustering, marginal_likelihood, newton
from lvmkit.covariates.similarities import word_embeddings
from lvmkit.datasets import make_covariate_clusters
from lvmkit.models import (
    CovariateClusteringClassifier,
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_baseline_path,
    covariate_path,
    select_covariates,
)

NEWTON = (newton, "_direction")
CASES = {
    "select": (NEWTON, select_covariates),
    "path": (NEWTON, lambda X, y: covariate_path(X, y, nus=[0.1], cv=2)),
    "classifier": (NEWTON, CovariateClusteringClassifier(nu=0.1, refit=True).fit),
    "selected before": (NEWTON, CovariateClusteringClassifier(nu=0.1, selection="before").fit),
    "refit": (
        NEWTON,
        lambda X, y: marginal_likelihood.refit(X, np.eye(4)[y], np.arange(20) % 3, 1.0),
    ),
    "clusters of k-means": ((KMeans, "fit"), CovariateKMeans(4).fit),
    "weights of k-means": ((LogisticRegression, "fit"), CovariateKMeans(4).fit),
    "clusters of convex clustering": (
        (convex_clustering, "_within"),
        CovariateConvexClustering().fit,
    ),
    "weights of convex clustering": ((LogisticRegression, "fit"), CovariateConvexClustering().fit),
    "baselines": (
        (KMeans, "fit"),
        lambda X, y: covariate_baseline_path(CovariateKMeans(), X, y, values=[2, 4]),
    ),
    "embeddings": ((linalg.linalg, "eigh"), lambda X, _: word_embeddings(X > 0, 3)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
def test_blas_has_one_thread(case, monkeypatch):
    (owner, name), run = CASES[case]
    plain, threads = getattr(owner, name), []
    blas = ThreadpoolController().select(user_api="blas")

    def spy(*args, **kwargs):
        threads.extend(library.num_threads for library in blas.lib_controllers)
        return plain(*args, **kwargs)

    monkeypatch.setattr(owner, name, spy)
    data = make_covariate_clusters(80, 20)
    with blas.limit(limits=2):
        run(data.X, data.y)
    assert threads
    assert set(threads) == {1}
