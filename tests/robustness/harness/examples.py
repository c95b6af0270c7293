"""Valid arguments: by the name of a parameter where names mean the same everywhere, else by entry point.

Everything is small, so that more than a thousand cases take a minute. Functions return new values each time, since a
case may change what it is given; what takes long to make is made once and copied.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse
from sklearn.cluster import KMeans

import lvmkit
from lvmkit import charts, cohorts, datasets, models, moments, scores
from lvmkit_widgets.ui.widgets import ClusterList, Status, Text

CODES = ["401", "428", "250", "427", "584", "486"]
N, D = 40, len(CODES)


def rows_01() -> np.ndarray:
    """Rows of 0 and 1 from two clear clusters, (40, 6)."""
    rng = np.random.default_rng(5)
    centers = np.array([[0.9, 0.8, 0.7, 0.1, 0.2, 0.2], [0.1, 0.2, 0.2, 0.8, 0.9, 0.7]])
    return (rng.random((N, D)) < np.repeat(centers, N // 2, axis=0)).astype(float)


def rows_of_counts() -> np.ndarray:
    """Counts from the same two clusters, (40, 6), at least 4 in each row."""
    return rows_01() * np.arange(1, D + 1) + np.tile([2.0, 1.0, 0.0, 1.0], (N, 2))[:, :D]


def labels() -> np.ndarray:
    """The planted clusters, (40,)."""
    return np.repeat([0, 1], N // 2)


def tensors() -> np.ndarray:
    """Samples of 3 × 2 normal entries from two clusters, (40, 3, 2)."""
    rng = np.random.default_rng(5)
    return rng.normal(size=(N, 3, 2)) + 4.0 * labels()[:, None, None]


def centers() -> np.ndarray:
    """Two topics, (2, 6), each of which sums to 1."""
    return np.array([[6, 5, 4, 2, 2, 1], [1, 1, 2, 4, 6, 6]]) / 20


def anndata() -> AnnData:
    """The rows of 0 and 1 as a cohort with attributes and titles."""
    obs = pd.DataFrame({"age": np.arange(20.0, 20.0 + N), "sex": ["f", "m"] * (N // 2)})
    obs.index = obs.index.astype(str)
    var = pd.DataFrame({"title": [f"Disease {code}" for code in CODES]}, index=CODES)
    return AnnData(sparse.csr_matrix(rows_01()), obs=obs, var=var)


def events() -> pd.DataFrame:
    """One row for each patient, day and code."""
    rows = [
        (f"p{i}", CODES[(i + j) % D], f"2010-01-{j + 1:02d}", j + 1)
        for i in range(6)
        for j in range(4)
    ]
    found = pd.DataFrame(rows, columns=["id", "dx", "day", "times"])
    return found.assign(drug=[["B01", "C07", "A10"][i % 3] for i in range(len(found))])


def attributes() -> pd.DataFrame:
    """One row for each patient of the events."""
    return pd.DataFrame({"id": [f"p{i}" for i in range(6)], "age": [71, 54, 60, 80, 33, 48]})


def stays() -> pd.DataFrame:
    """One row for each stay, codes in columns."""
    return pd.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "dx1": ["4280", "25000", "4019", "4280"],
            "dx2": ["5849", "", "4280", "486"],
            "pr1": ["3722", "3893", "", "3722"],
            "day": ["2010-01-01", "2010-02-01", "2010-03-01", "2010-04-01"],
            "age": [71, 54, 60, 80],
        }
    )


def count_tensor() -> cohorts.CountTensor:
    """A tensor of 6 patients, diagnoses and drugs."""
    return cohorts.tensor_from_events(
        events(), patient="id", modes={"diagnosis": "dx", "medication": "drug"}
    )


@cache
def _fitted(name: str) -> Any:
    return FITTED[name]()


def fitted(name: str) -> Any:
    """A fitted model or another result by its name; a copy of its own."""
    return deepcopy(_fitted(name))


def _bernoulli() -> Any:
    return lvmkit.BernoulliMixture(2, max_iter=20).fit(anndata())


def _tensor_path() -> Any:
    estimator = lvmkit.TensorNormalMixture(2, init=labels(), max_iter=10, n_jobs=1)
    return models.select_penalty(tensors(), 2, penalties=[2.0, 0.5], estimator=estimator)


FITTED: dict[str, Callable[[], Any]] = {
    "BernoulliMixture": _bernoulli,
    "SingleTopic": lambda: lvmkit.SingleTopic(2, max_iter=20).fit(rows_of_counts()),
    "PoissonMixture": lambda: lvmkit.PoissonMixture(2, max_iter=20).fit(rows_of_counts()),
    "LatentDirichlet": lambda: lvmkit.LatentDirichlet(2, n_sweeps=4, n_burn=1).fit(
        rows_of_counts()
    ),
    "SpectralTree": lambda: lvmkit.SpectralTree(max_depth=1).fit(anndata()),
    "SUSTain": lambda: lvmkit.SUSTain(2, init="round", max_iter=5, n_jobs=1).fit(anndata()),
    "TensorNormalMixture": lambda: lvmkit.TensorNormalMixture(
        2, init=labels(), penalty=0.5, max_iter=10, n_jobs=1
    ).fit(tensors()),
    "CovariateClusteringClassifier": lambda: lvmkit.CovariateClusteringClassifier(
        0.1, max_iter=50
    ).fit(rows_of_counts(), labels()),
    "CovariateConvexClustering": lambda: models.CovariateConvexClustering(0.01, max_iter=200).fit(
        rows_of_counts(), labels()
    ),
    "CovariateKMeans": lambda: models.CovariateKMeans(2, n_init=1).fit(rows_of_counts(), labels()),
    "CovariateClusterPath": lambda: models.covariate_path(
        rows_of_counts(), labels(), [0.05, 1.0], max_iter=50
    ),
    "PenaltyPath": _tensor_path,
    "ComponentsPath": lambda: models.select_tensor_components(
        tensors(),
        [1, 2],
        estimator=lvmkit.TensorNormalMixture(penalty=0.5, init="kmeans", max_iter=5, n_jobs=1),
    ),
    "StabilityStudy": lambda: scores.stability_study(KMeans(2, n_init=1), rows_01(), n_repeats=2),
    "RankStudy": lambda: scores.rank_study(
        lvmkit.SUSTain(max_iter=3, n_jobs=1), rows_01(), [2, 3], n_starts=2
    ),
    "CodeCounts": lambda: scores.count_codes(anndata(), labels(), names=["Heart", "Kidney"]),
    "Matching": lambda: scores.match(labels(), labels()[::-1]),
    "CountTensor": count_tensor,
    "Tree": lambda: _fitted("SpectralTree").tree_,
    "Node": lambda: _fitted("SpectralTree").tree_.nodes[0],
    "Whitened": lambda: moments.population(centers(), [0.5, 0.5]),
    "WhitenedMoments": lambda: moments.WhitenedMoments.of(
        rows_of_counts(), moments.whiten(_raw().m2, 2)[0], moments.POOLED
    ),
    "SubspaceMoments": lambda: moments.SubspaceMoments.of(
        rows_of_counts(), np.eye(D)[:, :3], moments.POOLED
    ),
    "Moments": lambda: moments.Moments.of(rows_of_counts(), moments.POOLED),
    "TensorSetting": lambda: datasets.tensor_setting("M1"),
    "LabelledTensor": lambda: datasets.LabelledTensor(
        tensors(), ("gene", "tissue"), (np.array(["a", "b", "c"]), np.array(["x", "y"]))
    ),
    "Dashboard": lambda: None,
}


def _raw() -> Any:
    return moments.Moments.of(rows_of_counts(), moments.POOLED)


def folder() -> Path:
    """A new empty folder."""
    return Path(mkdtemp(prefix="robustness-"))


def board(name: str) -> Any:
    """A dashboard of its class's name."""
    import lvmkit_widgets as widgets

    return {
        "ClusterExplorer": lambda: widgets.ClusterExplorer(fitted("BernoulliMixture"), anndata()),
        "CovariatePath": lambda: widgets.CovariatePath(fitted("CovariateClusterPath")),
        "Dashboard": lambda: widgets.Dashboard(
            {"words": Text(text="a"), "status": Status(), "sizes": ClusterList()},
            ["words", "status", "sizes"],
        ),
        "ScoreCards": lambda: widgets.ScoreCards(fitted("SUSTain"), anndata()),
        "StabilityPanel": lambda: widgets.StabilityPanel(
            KMeans(2, n_init=1), anndata(), values=[2], n_repeats=2
        ),
        "TensorExplorer": lambda: widgets.TensorExplorer(fitted("TensorNormalMixture"), tensors()),
        "TopicRelevance": lambda: widgets.TopicRelevance(fitted("SingleTopic")),
        "TreeNavigator": lambda: widgets.TreeNavigator(fitted("SpectralTree"), anndata()),
        "Workbench": lambda: widgets.Workbench(anndata(), k=2),
    }[name]()


# The same under every entry point, unless BY_ENTRY says otherwise.
BY_NAME: dict[str, Callable[[], Any]] = {
    "X": rows_of_counts,
    "y": labels,
    "labels": labels,
    "a": labels,
    "b": lambda: labels()[::-1].copy(),
    "centers": centers,
    "weights": lambda: np.array([0.5, 0.5]),
    "alpha": lambda: np.array([0.6, 0.4]),
    "counts": lambda: fitted("CodeCounts"),
    "study": lambda: fitted("StabilityStudy"),
    "consensus": lambda: charts.consensus_matrix(fitted("StabilityStudy")),
    "heatmap": lambda: charts.heatmap_matrix(anndata(), labels()),
    "tree": lambda: fitted("Tree"),
    "posteriors": lambda: np.column_stack([np.linspace(0, 1, N), np.linspace(1, 0, N)]),
    "weighting": lambda: moments.POOLED,
    "moments": lambda: fitted("Whitened"),
    "estimator": lambda: KMeans(2, n_init=1, random_state=0),
    "chart": lambda: charts.sizes_chart(charts.sizes_table(fitted("CodeCounts"))),
    "system": lambda: "icd9",
    "n_clusters": lambda: 2,
    "n_components": lambda: 2,
    "S": lambda: np.corrcoef(rows_01().T).clip(0) * (1 - np.eye(D)),
    "n_features": lambda: D,
    "whitener": lambda: np.eye(D)[:, :2],
    "cluster": lambda: 1,
    "node": lambda: 0,
    "n_samples": lambda: 20,
    "values": lambda: {"ours": [0.9, 0.8], "k-means": [0.5, 0.7]},
    "found": lambda: fitted("PenaltyPath"),
    "code": lambda: "428",
    "codes": lambda: list(CODES),
    "path": lambda: folder() / "page.html",
    "groups": lambda: None,
}


def _small_sustain() -> dict[str, Any]:
    return {"n_components": 2, "init": "round", "max_iter": 3, "n_jobs": 1}


def _fit_times() -> pd.DataFrame:
    rows = [("ours", 5, 1.0, 0.5), ("ours", 10, 3.0, 0.6), ("rounded", 5, 4.0, 0.3)]
    return pd.DataFrame(rows, columns=["method", "n_components", "seconds", "fit"])


def _selected() -> pd.DataFrame:
    found = pd.DataFrame({"n_components": [2, 3], "stability": [0.8, 0.9]})
    return found.assign(recommended=[False, True])


def _curve() -> pd.DataFrame:
    rows = [("k-means", k, k, r, 1 / k) for k in (2, 3) for r in range(2)]
    return pd.DataFrame(rows, columns=["method", "value", "n_clusters", "repeat", "ari"])


def _ranks() -> pd.DataFrame:
    found = pd.DataFrame(
        {"n_components": [2, 3], "dissimilarity": [0.1, 0.0], "standard_error": [0.02, 0.0]}
    )
    return found.assign(fit=[0.3, 0.4], mean_fit=[0.2, 0.4], recommended=[False, True])


def _factors() -> list[np.ndarray]:
    return [np.array([[0, 1], [2, 0], [1, 1]]), np.array([[3, 0], [0, 1], [1, 2]])]


def _model_file() -> Path:
    return lvmkit.save(fitted("BernoulliMixture"), folder() / "model.npz")


def _few(**more: Any) -> Callable[[], dict[str, Any]]:
    return lambda: more


# Arguments that differ from BY_NAME, or that make an entry point quick.
BY_ENTRY: Mapping[str, Callable[[], dict[str, Any]]] = {
    # estimators: options of the constructor, which fit then checks
    "lvmkit.BernoulliMixture": _few(n_components=2, max_iter=5),
    "lvmkit.SingleTopic": _few(n_components=2, em=True, max_iter=5),
    "lvmkit.PoissonMixture": _few(n_components=2, max_iter=5),
    "lvmkit.LatentDirichlet": _few(n_components=2, n_sweeps=3, n_burn=1),
    "lvmkit.SUSTain": _small_sustain,
    "lvmkit.SpectralTree": _few(max_depth=1, n_resamples=2),
    "lvmkit.TensorNormalMixture": lambda: {
        "n_components": 2,
        "init": labels(),
        "penalty": 0.5,
        "max_iter": 5,
        "n_jobs": 1,
    },
    "lvmkit.CovariateClusteringClassifier": _few(nu=0.1, max_iter=30),
    "lvmkit.models.CovariateConvexClustering": _few(gamma=0.01, max_iter=100),
    "lvmkit.models.CovariateKMeans": _few(n_clusters=2, n_init=1),
    # methods of estimators
    "lvmkit.SUSTain.from_parameters": lambda: {"weights": np.array([2, 1]), "factors": _factors()},
    "lvmkit.TensorNormalMixture.from_parameters": lambda: {
        "means": np.arange(12.0).reshape(2, 3, 2),
        "covariances": [np.eye(3), np.eye(2)],
    },
    "lvmkit.save": lambda: {"model": fitted("BernoulliMixture"), "path": folder() / "model.npz"},
    "lvmkit.load": lambda: {"path": _model_file()},
    "lvmkit.TensorNormalMixture.checked": _few(reset=False),
    # cohorts
    "lvmkit.cohorts.CountTensor": lambda: {
        "counts": np.eye(2, dtype=int),
        "modes": ("patient", "code"),
        "labels": [["ann", "bob"], ["428", "250"]],
    },
    "lvmkit.cohorts.CountTensor.load": lambda: {
        "path": count_tensor().save(folder() / "tensor.npz")
    },
    "lvmkit.cohorts.CountTensor.save": lambda: {"path": folder() / "tensor.npz"},
    "lvmkit.cohorts.from_counts": lambda: {"feature_names": list(CODES)},
    "lvmkit.cohorts.from_events": lambda: {
        "source": events(),
        "patient": "id",
        "code": "dx",
        "min_codes": 1,
    },
    "lvmkit.cohorts.from_wide": lambda: {
        "source": stays(),
        "codes": ["dx1", "dx2"],
        "min_codes": 1,
    },
    "lvmkit.cohorts.sample_weight": lambda: {"cohort": anndata()},
    "lvmkit.cohorts.from_texts": lambda: {
        "source": ["the heart fails and beats", "the kidney fails", "the lung breathes and beats"],
        "language": "english",
    },
    "lvmkit.cohorts.tensor_from_events": lambda: {
        "source": events(),
        "patient": "id",
        "modes": {"diagnosis": "dx", "medication": "drug"},
    },
    "lvmkit.cohorts.tensor_from_wide": lambda: {
        "source": stays(),
        "modes": {"diagnosis": ["dx1", "dx2"], "procedure": ["pr1"]},
    },
    # data sets
    "lvmkit.datasets.LabelledTensor": lambda: {
        "values": tensors(),
        "mode_names": ("gene", "tissue"),
        "labels": (np.array(["a", "b", "c"]), np.array(["x", "y"])),
    },
    "lvmkit.datasets.TensorSetting": lambda: {
        "means": np.arange(12.0).reshape(2, 3, 2),
        "covariances": (np.eye(3), np.eye(2)),
    },
    "lvmkit.datasets.TensorSetting.predict": lambda: {
        "X": datasets.make_tensor_mixture("M1", 10)[0]
    },
    "lvmkit.datasets.make_appendix_e": _few(
        n_samples=20, n_features=12, n_components=3, random_state=0
    ),
    "lvmkit.datasets.make_bernoulli_mixture": _few(n_features=9, codes_per_row=2.0, random_state=0),
    "lvmkit.datasets.make_covariate_clusters": _few(
        n_samples=30, n_features=12, n_clusters=3, n_classes=2
    ),
    "lvmkit.datasets.make_exact_counts": _few(n_samples=20, n_features=9, random_state=0),
    "lvmkit.datasets.make_nested_topics": _few(n_samples=20, length=20, random_state=0),
    "lvmkit.datasets.make_poisson_counts": _few(n_features=9, random_state=0),
    "lvmkit.datasets.make_poisson_mixture": _few(n_features=9, random_state=0),
    "lvmkit.datasets.make_tensor_mixture": _few(n_samples=20),
    "lvmkit.datasets.make_topics": _few(n_features=20, n_topics=2, random_state=0),
    "lvmkit.datasets.tensor_setting": _few(name="M1"),
    # decompositions, disclosure, moments
    "lvmkit.disclosure.Suppression": lambda: {
        "cells": np.eye(2, dtype=bool),
        "totals": np.array([True, False]),
    },
    "lvmkit.disclosure.count_text": _few(count=12345.0),
    "lvmkit.disclosure.mask_shares": lambda: {"shares": centers(), "sizes": np.array([100, 1000])},
    "lvmkit.disclosure.suppress": lambda: {
        "table": pd.DataFrame(
            {"cluster": [0, 1, 2], "n": [250, 7, 90], "share": [0.72, 0.02, 0.26]}
        ),
        "counts": "n",
    },
    "lvmkit.disclosure.suppression": lambda: {"counts": np.array([[4, 30], [40, 50], [25, 60]])},
    "lvmkit.disclosure.suppression_with_totals": lambda: {
        "counts": np.array([[4, 30, 50], [40, 50, 60], [60, 70, 80]]),
    },
    "lvmkit.moments.Moments.zero": _few(d=3),
    "lvmkit.moments.SubspaceMoments.of": lambda: {"basis": np.eye(D)[:, :3]},
    "lvmkit.moments.Whitened.truncated": _few(k=1),
    "lvmkit.moments.Whitened.from_slices": lambda: {
        "m1": centers().mean(axis=0),
        "whitener": np.eye(D)[:, :2],
        "image": np.eye(D)[:, :2],
        "slices": np.ones((D, 2, 2)),
    },
    "lvmkit.moments.leading_basis": _few(q=2),
    "lvmkit.moments.significant": lambda: {"values": np.array([3.0, 1.0, 1e-20])},
    "lvmkit.moments.whiten": lambda: {"m2": centers().T @ centers(), "k": 2},
    "lvmkit.moments.whitener_of": lambda: {
        "values": np.array([3.0, 1.0]),
        "vectors": np.eye(D)[:, :2],
    },
    "lvmkit.moments.Weighting": lambda: {
        "name": "pooled",
        **{name: getattr(moments.POOLED, name) for name in ("row_weight", "divisor")},
    },
    "lvmkit.LatentDirichlet.fit_moments": lambda: {"moments": fitted("SubspaceMoments")},
    "lvmkit.PoissonMixture.fit_moments": lambda: {
        "moments": moments.SubspaceMoments.of(rows_of_counts(), np.eye(D)[:, :3], moments.POISSON),
    },
    "lvmkit.SingleTopic.fit_moments": lambda: {"moments": fitted("SubspaceMoments")},
    # models
    "lvmkit.models.covariate_baseline_path": lambda: {
        "model": models.CovariateKMeans(2, n_init=1),
        "values": [2, 3],
    },
    "lvmkit.models.covariate_path": _few(nus=[0.05, 1.0], max_iter=30),
    "lvmkit.models.factor_baselines": _few(methods=["rounded"]),
    "lvmkit.models.select_covariates": _few(max_iter=30),
    "lvmkit.models.select_penalty": lambda: {
        "X": tensors(),
        "penalties": [0.5],
        "estimator": lvmkit.TensorNormalMixture(init=labels(), max_iter=5, n_jobs=1),
    },
    "lvmkit.models.select_tensor_components": lambda: {
        "X": tensors(),
        "n_components": [1, 2],
        "estimator": lvmkit.TensorNormalMixture(penalty=0.5, init="kmeans", max_iter=5, n_jobs=1),
    },
    "lvmkit.models.truncated": lambda: {
        "factors": [f.astype(float) for f in _factors()],
        "nonzeros": [2, 2],
    },
    "lvmkit.models.Factorization": lambda: {
        "factors": _factors(),
        "weights": np.array([1, 2]),
        "fit": 0.5,
        "seconds": 0.1,
    },
    # scores
    "lvmkit.scores.description_length": lambda: {"model": fitted("SingleTopic")},
    "lvmkit.scores.dissimilarity": lambda: {
        "one": centers().T,
        "other": centers().T[:, ::-1].copy(),
    },
    "lvmkit.scores.fit": lambda: {
        "X": rows_01()[:3, :3],
        "factors": _factors(),
        "weights": np.array([1, 1]),
    },
    "lvmkit.scores.rank_study": lambda: {
        "estimator": lvmkit.SUSTain(max_iter=3, n_jobs=1),
        "X": rows_01(),
        "n_components": [2, 3],
        "n_starts": 2,
    },
    "lvmkit.scores.iter_rank_study": lambda: {
        "estimator": lvmkit.SUSTain(max_iter=3, n_jobs=1),
        "X": rows_01(),
        "n_components": [2, 3],
        "n_starts": 2,
    },
    "lvmkit.scores.iter_stability": _few(n_repeats=2),
    "lvmkit.scores.stability": _few(n_repeats=2),
    "lvmkit.scores.stability_study": _few(n_repeats=2),
    "lvmkit.scores.compare_stability": lambda: {
        "methods": KMeans(2, n_init=1),
        "values": [2],
        "parameter": "n_clusters",
        "n_repeats": 2,
    },
    "lvmkit.scores.perplexity": _few(n_steps=3),
    "lvmkit.scores.predictive_power": lambda: {"outcome": labels() == 1, "n_repeats": 2},
    "lvmkit.scores.sample_accuracy": lambda: {"lengths": np.arange(4, 44)},
    "lvmkit.scores.select_n_components": lambda: {
        "estimator": lvmkit.SingleTopic(2),
        "candidates": [2],
        "scores": ["coherence"],
        "n_repeats": 2,
    },
    "lvmkit.scores.Matching.relabel": _few(),
    "lvmkit.scores.CodeCounts.rename": _few(names={0: "Lung"}),
    # similarities
    "lvmkit.covariates.similarities.from_codes": _few(codes=CODES, system="icd9"),
    "lvmkit.covariates.similarities.from_embeddings": lambda: {"W": rows_01().T},
    "lvmkit.covariates.similarities.from_hierarchy": lambda: {
        "levels": [["h", "h", "l"], ["a", "a", "b"]]
    },
    "lvmkit.covariates.similarities.word_embeddings": _few(n_components=2),
    "lvmkit.covariates.similarities.nearest_neighbors": _few(n_neighbors=2),
    # trees
    "lvmkit.trees.Tree.regrouped": _few(frontier=[1, 2]),
    "lvmkit.trees.Node.side": lambda: {"X": rows_01()},
    "lvmkit.trees.Tree.apply": lambda: {"X": rows_01()},
    "lvmkit.gibbs.topic_mixtures": _few(n_sweeps=3, n_burn=1),
    # charts
    "lvmkit.charts.attributes_table": lambda: {"values": np.arange(float(N))},
    "lvmkit.charts.comparison_table": _few(first=0),
    "lvmkit.charts.curves_table": lambda: {
        "x": [10, 20],
        "values": {"ours": [[2, 4, 6], [1, 2, 3]]},
    },
    "lvmkit.charts.curves_chart": _few(title="Error"),
    "lvmkit.charts.fit_time_table": lambda: {"runs": _fit_times()},
    "lvmkit.charts.dendrogram_table": lambda: {"path": fitted("CovariateClusterPath")},
    "lvmkit.charts.path_curves_table": lambda: {"path": fitted("CovariateClusterPath")},
    "lvmkit.charts.png_data_uri": lambda: {"pixels": np.zeros((2, 3, 4), dtype=np.uint8)},
    "lvmkit.charts.rank_table": lambda: {"found": _ranks()},
    "lvmkit.charts.score_card_table": lambda: {
        "factors": _factors(),
        "weights": np.array([2, 1]),
        "component": 0,
    },
    "lvmkit.charts.selection_table": lambda: {"found": _selected()},
    "lvmkit.charts.topic_trends_table": lambda: {
        "mixtures": BY_NAME["posteriors"](),
        "by": list(labels()),
    },
    "lvmkit.charts.sparsity_path_table": lambda: {"path": fitted("PenaltyPath")},
    "lvmkit.charts.stability_curve_table": lambda: {"found": _curve()},
    "lvmkit.charts.tensor_slice_table": lambda: {"values": tensors()[0]},
    "lvmkit.charts.whitening_table": lambda: {"centers": np.array([[6.0, 1.0], [2.0, 5.0]])},
    # dashboards
    "lvmkit_widgets.ClusterExplorer": lambda: {
        "model": fitted("BernoulliMixture"),
        "cohort": anndata(),
    },
    "lvmkit_widgets.CovariatePath": lambda: {"path": fitted("CovariateClusterPath")},
    "lvmkit_widgets.ScoreCards": lambda: {"model": fitted("SUSTain"), "cohort": anndata()},
    "lvmkit_widgets.StabilityPanel": lambda: {"cohort": anndata(), "n_repeats": 2},
    "lvmkit_widgets.TensorExplorer": lambda: {
        "model": fitted("TensorNormalMixture"),
        "X": tensors(),
    },
    "lvmkit_widgets.TopicRelevance": lambda: {"model_or_models": fitted("SingleTopic")},
    "lvmkit_widgets.TreeNavigator": lambda: {"t": fitted("SpectralTree"), "cohort": anndata()},
    "lvmkit_widgets.Workbench": lambda: {"cohort_or_path": anndata(), "k": 2},
    "lvmkit_widgets.Workbench.open_view": _few(key="tree"),
    "lvmkit_widgets.Dashboard": lambda: {
        "components": {"words": Text(text="a")},
        "layout": "words",
    },
    "lvmkit_widgets.Dashboard.download": _few(name="a.csv", data=b"a"),
    "lvmkit_widgets.Dashboard.listen": _few(
        component="words", field="text", callback=lambda _: None
    ),
    "lvmkit_widgets.Dashboard.open_tab": _few(group="main", index=0),
    "lvmkit_widgets.Dashboard.say": _few(message="Done."),
    "lvmkit_widgets.Dashboard.to_html": lambda: {"path": folder() / "page.html"},
}
