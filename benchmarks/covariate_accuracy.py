"""Convex covariate clustering: which clusters are found, how well they predict, beside similarity alone.

Run as ``python benchmarks/covariate_accuracy.py [--quick]``; Andrade 2021, tables 1, 4 and 5. The part on texts needs
LVMKIT_DATA or a network.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler

from lvmkit.covariates.logistic import one_hot
from lvmkit.covariates.marginal_likelihood import refit
from lvmkit.covariates.similarities import from_embeddings, word_embeddings
from lvmkit.covariates.similarities.covariance import pooled_covariance
from lvmkit.datasets import fetch_movie_reviews, make_covariate_clusters
from lvmkit.models import CovariateKMeans, covariate_path

PUBLISHED = {
    (False, 40, 40): 0.84, (False, 40, 400): 0.71, (False, 40, 4000): 1.0,
    (False, 200, 40): 0.87, (False, 200, 400): 0.95, (False, 200, 4000): 1.0,
    (False, 1000, 40): 0.94, (False, 1000, 400): 0.94, (False, 1000, 4000): 1.0,
    (True, 40, 40): 0.70, (True, 40, 400): 0.83, (True, 40, 4000): 1.0,
    (True, 200, 40): 0.88, (True, 200, 400): 0.92, (True, 200, 4000): 1.0,
    (True, 1000, 40): 0.95, (True, 1000, 400): 0.96, (True, 1000, 4000): 1.0,
}  # fmt: skip
"""ANMI of Andrade 2021 by marginal likelihood: whether similarity agrees with the clusters, d, n."""
SEEDS = {40: 10, 200: 10, 1000: 2}
MOST_K = 40
WORDS, DIMENSIONS, NEIGHBORS = 1_200, 50, 10
STRENGTHS = 0.5 * np.arange(36, -1, -1)


class Found(NamedTuple):
    """ANMI of what the marginal likelihood chose, and the best on the path."""

    chosen: float
    best: float
    by_means: float


def simulated(d: int, n: int, *, agrees: bool, seed: int) -> Found:
    """Find the clusters of one data set."""
    data = make_covariate_clusters(n, d, similarity_agrees=agrees, random_state=seed)
    path = covariate_path(data.X, data.y)
    right = [adjusted_mutual_info_score(data.labels, each.labels) for each in path]
    return Found(right[path.best], max(right), by_means(data, path.prior_variance))


def by_means(data: Any, variance: float) -> float:
    """Choose the number of clusters of k-means on the rows of S by the same marginal likelihood."""
    S = np.maximum(pooled_covariance(data.X, data.y), 0)
    targets = one_hot(data.y, int(data.y.max()) + 1)
    labels = [
        KMeans(k, n_init=3, random_state=0).fit(S).labels_ for k in range(1, min(len(S), MOST_K))
    ]
    evidence = [refit(data.X, targets, each, variance).log_evidence for each in labels]
    return float(adjusted_mutual_info_score(data.labels, labels[int(np.argmax(evidence))]))


def tables(sizes: list[tuple[int, int]], seeds: dict[int, int]) -> None:
    """Print tables 1 and 5."""
    print(
        f"{'S':<12} {'d':>5} {'n':>5} {'lvmkit':>14} {'published':>9} {'best on path':>13} {'k-means':>8}"
    )
    for agrees in (False, True):
        for d, n in sizes:
            found = np.array(
                [simulated(d, n, agrees=agrees, seed=seed) for seed in range(seeds[d])]
            )
            mean, published = found.mean(axis=0), PUBLISHED[agrees, d, n]
            verdict = "met" if mean[0] >= published - 0.005 else "MISSED"
            print(
                f"{'agrees' if agrees else 'contradicts':<12} {d:5} {n:5} {mean[0]:6.3f} ({found[:, 0].std():.2f}) "
                f"{published:9.2f} {mean[1]:13.3f} {mean[2]:8.3f}  {verdict}",
                flush=True,
            )


def reviews(asked: tuple[int, ...]) -> None:
    """Print table 4's form: held-out accuracy at the same numbers of clusters."""
    corpus = fetch_movie_reviews()
    y = corpus.obs["label"].to_numpy()
    counts = sparse.csr_array(corpus.X)
    often = np.argsort(-np.asarray((counts > 0).sum(axis=0)).ravel(), kind="stable")[:WORDS]
    counts = counts[:, np.sort(often)]
    similarity = from_embeddings(word_embeddings(counts, DIMENSIONS), n_neighbors=NEIGHBORS)
    train, test = halves(len(y))
    weights = TfidfTransformer().fit(counts[train]).transform(counts)
    X = sparse.csr_array(StandardScaler(with_mean=False).fit(weights[train]).transform(weights))
    path = covariate_path(X[train], y[train], len(train) * 2.0**-STRENGTHS, similarity=similarity)
    accuracy = path.score(X[test], y[test])
    print(
        f"\nmovie reviews, {len(train)} for training, {len(test)} held out, {WORDS} words; ", end=""
    )
    print(
        f"all words apart {accuracy[0]:.3f}; chosen: {path[path.best].n_clusters} clusters, {accuracy[path.best]:.3f}"
    )
    for place, means in compared(path, X[train], y[train], similarity, asked):
        print(
            f"  {path[place].n_clusters:5} clusters: {accuracy[place]:.3f}; "
            f"k-means, {means.n_clusters_}: {means.score(X[test], y[test]):.3f}"
        )


def compared(
    path: Any, X: Any, y: Any, similarity: Any, asked: tuple[int, ...]
) -> Iterator[tuple[int, Any]]:
    """Yield places on the path, and k-means with as many clusters."""
    for n_clusters in asked:
        place = path.with_n_clusters(n_clusters)
        ridge = 1 / (2 * path.prior_variance)
        means = CovariateKMeans(path[place].n_clusters, similarity=similarity, ridge=ridge)
        yield place, means.fit(X, y)


def halves(n: int) -> tuple[Any, Any]:
    """Split the samples: two thirds, and a third."""
    order = np.random.default_rng(0).permutation(n)
    return order[: 2 * n // 3], order[2 * n // 3 :]


def main() -> None:
    """Print the tables of simulated data, then texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data: does everything work")
    parser.add_argument("--threads", type=int, help="not used: every method runs on one thread")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    sizes = [
        (40, 40),
        (40, 400),
        (40, 4000),
        (200, 40),
        (200, 400),
        (200, 4000),
        (1000, 40),
        (1000, 400),
    ]
    tables([(40, 40)] if quick else sizes, dict.fromkeys(SEEDS, 1) if quick else SEEDS)
    reviews((100,) if quick else (20, 100, 500, 1000))


if __name__ == "__main__":
    main()
