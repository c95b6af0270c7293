"""Estimators keep scikit-learn's contract; every exception is listed with its reason."""

import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from lvmkit import models
from lvmkit.models import (
    BernoulliMixture,
    CovariateClusteringClassifier,
    CovariateConvexClustering,
    CovariateKMeans,
    LatentDirichlet,
    PoissonMixture,
    SingleTopic,
    SpectralTree,
    SUSTain,
    TensorNormalMixture,
)

TAKEN_FOR_CLASSIFIER = (
    "the check reads the tags of a classifier from anything sparse with predict_proba; that sparse and dense "
    "rows give the same is tested in tests/mixtures/"
)


NEGATIVE = "the check feeds a clusterer negative numbers, whatever its tags say; counts have none"

FEW = (
    "the check's samples are too few, or too much alike, for a covariance, which a ValueError says; that weights are "
    "the same as repeated samples is tested in tests/tensors/test_sample_weight.py"
)


def expected_failures(estimator: object) -> dict[str, str]:
    failures = {}
    sparse = get_tags(estimator).input_tags.sparse and not is_classifier(estimator)
    if sparse and hasattr(estimator, "predict_proba"):
        failures |= {
            "check_estimator_sparse_array": TAKEN_FOR_CLASSIFIER,
            "check_estimator_sparse_matrix": TAKEN_FOR_CLASSIFIER,
        }
    if isinstance(estimator, (SingleTopic, PoissonMixture)):
        failures["check_clustering"] = NEGATIVE
    if isinstance(estimator, TensorNormalMixture):
        failures["check_sample_weights_not_overwritten"] = FEW
        failures["check_sample_weight_equivalence_on_dense_data"] = FEW
        if estimator.method == "deem":
            failures["check_sample_weights_shape"] = FEW
    return failures


# Models are tried as they are, or, where that does not fit the checks' data, with these options.
EXAMPLES = {
    # The checks feed real numbers: with binarize=0 they count as present above 0; without it they are refused,
    # as data that are not 0/1 should be.
    BernoulliMixture: [
        BernoulliMixture(n_components=2, binarize=0.0, init=init)
        for init in ("corrected", "asvtd", "random")
    ],
    # The checks feed real numbers, which round_counts turns into counts; without it they are refused.
    SingleTopic: [
        SingleTopic(n_components=2, em=True, round_counts=True),
        SingleTopic(n_components=2, em=True, moments="equal_rows", round_counts=True),
    ],
    PoissonMixture: [PoissonMixture(n_components=2, round_counts=True)],
    LatentDirichlet: [LatentDirichlet(n_components=2, round_counts=True)],
    # Their rows often cannot be split: a DataWarning says why.
    SpectralTree: [
        SpectralTree(max_depth=2),
        SpectralTree(max_depth=None, max_leaf_nodes=3, min_support=0.5, n_resamples=3),
        SpectralTree(max_depth=2, split="pddp"),
        SpectralTree(max_depth=2, split="kmeans"),
    ],
    # The checks feed real numbers, and rows of which some round to nothing, which a DataWarning says.
    SUSTain: [
        SUSTain(n_components=2, round_counts=True, n_jobs=1),
        SUSTain(n_components=1, round_counts=True, init="sampling", max_score=[2, 3], n_jobs=1),
        SUSTain(n_components=2, round_counts=True, init="round", min_score=-3, n_jobs=1),
    ],
    # The checks' data are small: some paths end before the gap, and cross-validation has few samples.
    CovariateClusteringClassifier: [
        CovariateClusteringClassifier(nu=0.1),
        CovariateClusteringClassifier(nu=0.1, selection=0.5, refit=True),
        CovariateClusteringClassifier(nu=0.1, selection="before"),
        CovariateClusteringClassifier(n_clusters=2),
    ],
    CovariateKMeans: [CovariateKMeans(2)],
    CovariateConvexClustering: [CovariateConvexClustering(0.01)],
    # Matrices are tensors of order one. The checks' data are small, and often do not speak for clusters.
    TensorNormalMixture: [
        TensorNormalMixture(init="kmeans", n_jobs=1),
        TensorNormalMixture(method="em", n_jobs=1),
        TensorNormalMixture(n_components=3, penalty=0.3, init="random"),
    ],
}
ESTIMATORS = [
    kind
    for kind in map(vars(models).get, models.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]


# Their tiny random data often cannot carry two clusters, which a DataWarning says.
@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
@parametrize_with_checks(
    [example for kind in ESTIMATORS for example in EXAMPLES.get(kind) or [kind()]],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
