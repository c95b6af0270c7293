"""Every estimator under one address; each lies with its subject."""

from lvmkit.covariates.baselines import (
    CovariateConvexClustering,
    CovariateKMeans,
    covariate_baseline_path,
)
from lvmkit.covariates.classifier import CovariateClusteringClassifier
from lvmkit.covariates.path import covariate_path
from lvmkit.covariates.selection import CovariateSelection, select_covariates
from lvmkit.covariates.solutions import (
    CovariateClusterPath,
    CovariateSolution,
    CrossValidation,
)
from lvmkit.mixtures.bernoulli import BernoulliMixture
from lvmkit.mixtures.latent_dirichlet import LatentDirichlet
from lvmkit.mixtures.poisson import PoissonMixture
from lvmkit.mixtures.single_topic import SingleTopic
from lvmkit.sustain.baselines import Factorization, factor_baselines, truncated
from lvmkit.sustain.sustain import SUSTain
from lvmkit.tensors.mixture import TensorNormalMixture
from lvmkit.tensors.selection import (
    ComponentsPath,
    PenaltyPath,
    select_penalty,
    select_tensor_components,
)
from lvmkit.trees.baselines import baselines
from lvmkit.trees.cut import TreeCut
from lvmkit.trees.spectral_tree import SpectralTree

# Models that `lvmkit.save` writes: one is added here and knows the rest itself (`lvmkit.core.stored`).
Model = (
    BernoulliMixture
    | CovariateClusteringClassifier
    | CovariateClusterPath
    | CovariateConvexClustering
    | CovariateKMeans
    | LatentDirichlet
    | PoissonMixture
    | SingleTopic
    | SpectralTree
    | SUSTain
    | TensorNormalMixture
    | TreeCut
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

# With a path, if an empty one, Python asks for what lay below this address (`core.moved`).
__path__: list[str] = []
