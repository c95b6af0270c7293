"""Estimators with scikit-learn's interface."""

from lvmkit.models.baselines import baselines
from lvmkit.models.bernoulli_mixture import BernoulliMixture
from lvmkit.models.covariate_baselines import (
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_baseline_path,
)
from lvmkit.models.covariate_clustering import CovariateClusteringClassifier
from lvmkit.models.covariate_path import covariate_path
from lvmkit.models.covariate_selection import CovariateSelection, select_covariates
from lvmkit.models.covariate_solutions import (
    CovariateClusterPath,
    CovariateSolution,
    CrossValidation,
)
from lvmkit.models.factor_baselines import Factorization, factor_baselines, truncated
from lvmkit.models.latent_dirichlet import LatentDirichlet
from lvmkit.models.poisson_mixture import PoissonMixture
from lvmkit.models.single_topic import SingleTopic
from lvmkit.models.spectral_tree import SpectralTree
from lvmkit.models.sustain import SUSTain
from lvmkit.models.tensor_normal_mixture import TensorNormalMixture
from lvmkit.models.tensor_selection import (
    ComponentsPath,
    PenaltyPath,
    select_penalty,
    select_tensor_components,
)

__all__ = [
    "BernoulliMixture",
    "ComponentsPath",
    "CovariateClusterPath",
    "CovariateClusteringClassifier",
    "CovariateConvexClustering",
    "CovariateKMeans",
    "CovariateSelection",
    "CovariateSolution",
    "CrossValidation",
    "Factorization",
    "LatentDirichlet",
    "PenaltyPath",
    "PoissonMixture",
    "SUSTain",
    "SingleTopic",
    "SpectralTree",
    "TensorNormalMixture",
    "baselines",
    "covariate_baseline_path",
    "covariate_path",
    "factor_baselines",
    "select_covariates",
    "select_penalty",
    "select_tensor_components",
    "truncated",
]
