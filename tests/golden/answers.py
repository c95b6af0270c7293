"""Fit every estimator to its example, and print labels and parameters as JSON: what test_golden compares."""

import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import lvmkit
from lvmkit import datasets, models, scores

ENTRIES = 16
"""Entries of an array of real numbers that are stored, beside the mean of their absolute values."""


def fitted(model: Any) -> dict[str, Any]:
    """Return the arrays that `fit` has set."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    }


def labelled(model: Any) -> dict[str, Any]:
    """Return the same, with what `labels_` computes."""
    return fitted(model) | {"labels": model.labels_}


def bernoulli() -> Any:
    data = datasets.make_bernoulli_mixture(2000, 60, 3, random_state=0)
    for init in ("corrected", "asvtd", "random", "3v-mom", "3v-tpm"):
        yield (
            f"BernoulliMixture {init}",
            labelled(lvmkit.BernoulliMixture(3, init=init).fit(data.X)),
        )
    tree = lvmkit.SpectralTree(max_depth=3).fit(data.X)
    yield "SpectralTree of codes", {"labels": tree.labels_}
    discharges = datasets.load_discharges()
    yield "BernoulliMixture of discharges", labelled(lvmkit.BernoulliMixture(8).fit(discharges))
    tree = lvmkit.SpectralTree(max_depth=4).fit(discharges)
    yield "SpectralTree of discharges", {"labels": tree.labels_}


def topics() -> Any:
    data = datasets.make_poisson_mixture(3000, 40, 3, total=30.0, random_state=0)
    yield "PoissonMixture", labelled(lvmkit.PoissonMixture(3).fit(data.X))
    data = datasets.make_topics(3000, 200, 4, single=True, random_state=0)
    yield "SingleTopic", labelled(lvmkit.SingleTopic(4).fit(data.X))
    data = datasets.make_topics(3000, 200, 4, random_state=0)
    model = lvmkit.LatentDirichlet(4).fit(data.X)
    yield "LatentDirichlet", fitted(model) | {"topics": model.transform(data.X[:200])}
    nested = datasets.make_nested_topics(random_state=0).X
    for split in ("data", "model"):
        tree = lvmkit.SpectralTree(max_depth=3, split=split).fit(nested)
        yield f"SpectralTree by {split}", {"labels": tree.labels_}


def counts() -> Any:
    X = datasets.make_poisson_counts(1000, 200, 10, random_state=0).X
    for init in ("best", "round", "scale_and_round", "sampling", "random"):
        model = lvmkit.SUSTain(8, init=init).fit(X)
        found = dict(enumerate(model.factors_)) | {"weights": model.weights_}
        yield f"SUSTain {init}", found | {"transform": model.transform(X), "fit": model.fit_}
    # Where a start ends elsewhere if the real solution's last bits differ.
    six = datasets.make_poisson_counts(1500, 300, 6, random_state=1).X
    six = six[six.sum(axis=1) > 0]
    yield "rank_study of 7", table(scores.rank_study(lvmkit.SUSTain(), six, [7], n_starts=8))
    X = X[:200, :60]
    yield "rank_study", table(scores.rank_study(lvmkit.SUSTain(), X, [2, 3, 4], n_starts=3))
    for name, one in models.factor_baselines(X, 3).items():
        yield f"factor_baselines {name}", dict(enumerate(one.factors)) | {"fit": one.fit}


def covariates() -> Any:
    data = datasets.make_covariate_clusters(400, 40)
    path = models.covariate_path(data.X, data.y, nus=[0.01, 1, 100])
    yield "covariate_path", {"n_clusters": path.n_clusters, "coef": [one.coef for one in path]}
    model = lvmkit.CovariateClusteringClassifier(nu=0.01).fit(data.X, data.y)
    yield "CovariateClusteringClassifier", fitted(model)
    data = datasets.make_covariate_clusters(200, 20, similarity_agrees=True)
    yield "CovariateKMeans", fitted(models.CovariateKMeans(10).fit(data.X, data.y))
    model = models.CovariateConvexClustering(0.5).fit(data.X, data.y)
    yield "CovariateConvexClustering", fitted(model)


def tensors() -> Any:
    X, _ = datasets.make_tensor_mixture("M8", n_samples=100)
    model = lvmkit.TensorNormalMixture(2, penalty=0.5).fit(X)
    yield "TensorNormalMixture", fitted(model)
    yield "TensorNormalMixture em", fitted(lvmkit.TensorNormalMixture(2, method="em").fit(X))
    path = models.select_penalty(X, 2, penalties=[2.0, 1.0])
    yield "select_penalty", {"selected": path.n_selected, "labels": path.best_model.labels_}


def studies() -> Any:
    X = datasets.make_bernoulli_mixture(600, 30, 3, codes_per_row=6, random_state=0).X
    model = lvmkit.BernoulliMixture()
    model = model.set_params(n_components=3)
    found = scores.stability_study(model, X, n_repeats=3)
    yield "stability_study", {"stability": found.cluster_stability, "consensus": found.consensus}
    found = scores.select_n_components(model, X, [1, 3], scores=["perplexity"])
    yield "select_n_components", {"table": found.select_dtypes("number")}


def table(study: Any) -> dict[str, Any]:
    """Return the numbers of a study's table."""
    return {"table": study.table.select_dtypes("number").astype(float)}


def told(array: Any) -> Any:
    """Return a hash of whole numbers, and of real ones some entries and their mean size."""
    array = np.asarray(array)
    if array.dtype.kind in "biu" or not array.size:
        return hashlib.sha1(np.ascontiguousarray(array, dtype=np.int64)).hexdigest()[:12]
    flat = np.nan_to_num(np.ravel(array).astype(np.float64), nan=-1.0)
    places = np.unique(np.linspace(0, flat.size - 1, ENTRIES).astype(int))
    return [float(f"{value:.9g}") for value in (np.abs(flat).mean(), *flat[places])]


def answers() -> Iterator[tuple[str, Any]]:
    """Yield names and what is stored of them; time goes to standard error."""
    rooms: list[Callable[[], Any]] = [bernoulli, topics, counts, covariates, tensors, studies]
    for room in rooms:
        begun = time.process_time()
        for name, found in room():
            yield from ((f"{name}: {part}", told(array)) for part, array in found.items())
        sys.stderr.write(f"{room.__name__}: {time.process_time() - begun:.1f} s\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kernels = [one.get("architecture", "") for one in threadpool_info()]
    json.dump({"kernels": kernels, "answers": dict(answers())}, sys.stdout, indent=1)
